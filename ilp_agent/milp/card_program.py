"""Sequential program of a turn with card effects (class A): spells, weapons, Deathrattles and buffs.

A damage spell ("bolt") hits as an attacker does (x, p, f on minions, g, G on the hero), but takes no damage
and ignores Taunt; `cast` says whether its card is played. The own hero attacks once, with one of its weapons,
and takes damage from its target.

A Deathrattle is an equality, so that a solver cannot skip a harmful one: it triggers if its minion dies, by
`d` of an own minion and by `1 - z` of an enemy's, minus removals that do not kill.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from engine import MinionSpec
from engine.codes import HERO
from engine.effect_codes import HEROES, Filter, Trait
from ilp_agent.milp.card_turn import (
    CardProblem,
    buff_targets,
    cast_gain,
    casts_at_own_characters,
    harmless_silence_target,
    hero_attack_options,
    may_attack,
    removable_friends,
    silenceable_taunts,
    targets_of,
)
from ilp_agent.milp.formulations import SequentialModel, add_hits, add_rows, begin_model
from ilp_agent.milp.spell_sources import Cast
from ilp_agent.weights import Weights


@dataclass
class CardModel:
    """The program of a turn with card effects and the meaning of its variables."""

    found: CardProblem
    model: SequentialModel
    casts: list[int] = field(default_factory=list)
    """Variables: whether each cast of `found` is played."""
    bolts: dict[int, int] = field(default_factory=dict)
    """Cast that deals damage -> its source of hits."""
    own_hero: dict[int, int] = field(default_factory=dict)
    """Cast -> variable: it targets the own hero."""
    own_minions: dict[tuple[int, int], int] = field(default_factory=dict)
    """(cast, friendly minion) -> variable: it removes the minion from the board, after its attack."""
    removals: dict[tuple[int, int], int] = field(default_factory=dict)
    """(cast, enemy) -> variable: it removes the enemy from the board."""
    late_buffs: dict[int, int] = field(default_factory=dict)
    """Cast -> variable: it buffs some minion after all attacks."""
    buffs_of: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Source that is a buffed minion -> the casts that buff it before its attack."""
    last: dict[int, int] = field(default_factory=dict)
    """Cast -> variable: its weapon is equipped at the end; key -1 for the weapon of the start."""
    hero_attacks: dict[int, tuple[Cast | None, tuple[Cast, ...]]] = field(default_factory=dict)
    """Source that is the hero's attack -> the cast that equips its weapon, and the casts before it."""
    silences: dict[tuple[int, int], int] = field(default_factory=dict)
    """(cast, enemy) -> variable: it silences the Taunt minion."""
    idle: dict[int, int] = field(default_factory=dict)
    """Cast -> variable: it silences a minion on which that has no effect."""
    deathrattles: dict[int, int] = field(default_factory=dict)
    """Friendly minion -> source of its Deathrattle's damage."""

    def death_of(self, i: int) -> list[tuple[int, float]]:
        """Whether a friendly minion dies, as a sum of variables."""
        model = self.model
        sources = [i, *(source for source, friend in model.buffed.items() if friend == i)]
        return [(model.dies[source], 1.0) for source in sources if source in model.dies]


Sum = tuple[list[tuple[int, float]], float]
"""Terms of a sum, (variable, factor), and a constant."""


def add_silence(built: CardModel, n: int) -> None:
    """Add the targets of a silence: a Taunt minion, or a minion on which the silence has no effect."""
    found, model = built.found, built.model
    cast = found.casts[n]
    for j in silenceable_taunts(found, cast):
        silenced = model.milp.binary(f"s[{cast.label},{j}]")
        built.silences[n, j] = silenced
        model.silenced.setdefault(j, []).append(silenced)
        model.milp.add("a silenced minion survives", [(silenced, 1.0), (model.alive[j], -1.0)], upper=0)
    if harmless_silence_target(found, cast) is not None:
        built.idle[n] = model.milp.binary(f"idle[{cast.label}]")


def add_deathrattles(built: CardModel, w: Weights) -> None:
    """Add the effects of Deathrattles, except summoned enemies."""
    found, model = built.found, built.model
    milp = model.milp
    for i, deathrattle in found.deathrattles.items():
        deaths = built.death_of(i)
        health = sum(int(found.cards[token]["health"]) for token in deathrattle.tokens)
        for v, _ in deaths:
            milp.cost[v] += w.survive * health + w.draw * deathrattle.draws
        if deathrattle.hero_damage and deaths:
            model.sources.append(MinionSpec(deathrattle.hero_damage, 1))
            model.labels.append(f"Deathrattle of {model.labels[i]}")
            source = built.deathrattles[i] = len(model.sources) - 1
            model.extra_sources.append(source)
            add_hits(model, source, 1, {HERO: w.face * deathrattle.hero_damage})
            hits = model.any_hit(source, 1, [HERO])
            minus = [(v, -1.0) for v, _ in deaths]
            milp.add("a Deathrattle hits if its minion dies", [*hits, *minus], lower=0, upper=0)
    for j, deathrattle in found.enemy_deathrattles.items():
        terms, constant = _death_of_enemy(built, j)
        for v, factor in terms:
            milp.cost[v] -= w.hero * deathrattle.hero_damage * factor
        milp.offset -= w.hero * deathrattle.hero_damage * constant


def _death_of_enemy(built: CardModel, j: int) -> Sum:
    """Whether an enemy on board at the start dies, as a sum of variables."""
    casts = built.found.casts
    spared = [v for (n, target), v in built.removals.items() if target == j and casts[n].spares]
    return [(built.model.alive[j], -1.0), *((v, -1.0) for v in spared)], 1.0


def add_summoned_enemies(built: CardModel, w: Weights) -> None:
    """Add the presence of enemies summoned during the turn, and their Taunt."""
    found, model = built.found, built.model
    milp = model.milp
    for t, foe in found.summoned_by_index():
        terms: list[tuple[int, float]] = []
        constant = 0.0
        if foe.dead >= 0:
            terms, constant = _death_of_enemy(built, foe.dead)
        else:
            terms = [(v, 1.0) for (n, _), v in built.removals.items() if n == foe.cast]
        model.presence[t] = terms, constant
        health = w.wound * model.problem.enemy[t].health
        for v, factor in terms:
            milp.cost[v] += health * factor
        milp.offset += health * (constant - 1.0)
        minus = [(v, -factor) for v, factor in terms]
        for kind in "xpf":
            for _, v in model.hits_of_kind(kind, t):
                milp.add("a summoned enemy is hit only if summoned", [(v, 1.0), *minus], upper=constant)
        if t in model.guards:
            _add_summoned_taunt(built, t)


def _add_summoned_taunt(built: CardModel, t: int) -> None:
    """Add the Taunt of a summoned enemy: it replaces another Taunt, or else blocks only the last blow."""
    found, model = built.found, built.model
    foe = dict(found.summoned_by_index())[t]
    guards = set(model.guards)
    always = foe.dead >= 0 and foe.dead in guards
    before = [(v, 1.0) for (n, j), v in built.removals.items() if n == foe.cast and j in guards]
    for i in (*model.attacks, *model.hero_sources, *model.buffed):
        for s in range(1, model.attacks.get(i, 1) + 1):
            hits = model.any_hit(i, s, [*model.unguarded, HERO])
            stands = (model.alive[t], 1.0)
            if always:
                model.milp.add("a summoned Taunt minion replaces another", [*hits, stands], upper=1)
            elif before:
                model.milp.add("a summoned Taunt minion replaces another", [*hits, stands, *before], upper=2)
            blow = [(v, 1.0) for kind, v in model.hits.get((i, s, HERO), ()) if kind == "G"]
            model.milp.add("no Taunt minion is left at the last blow", [*blow, stands], upper=1)


def card_model(found: CardProblem, w: Weights) -> CardModel:
    """Build the program of a turn with card effects (class A)."""
    model = begin_model(found.problem, w, found.most, found.labels)
    built = CardModel(found, model)
    for n, cast in enumerate(found.casts):
        _add_cast(built, n, cast, w)
    _add_hero_attacks(built, w)
    _add_buffs(built, w)
    add_deathrattles(built, w)
    add_summoned_enemies(built, w)
    _add_own_hero_survival(built)
    _add_own_removals(built)
    _add_heals(built, w)
    _add_target_conditions(built)
    if w.weapon:
        _add_final_weapon(built, w)
    if w.frozen:
        _add_frozen(built, w)
    add_rows(model, w)
    model.milp.offset -= w.overload * float(found.own["overload"])
    model.milp.notes = _enemy_legend(built)
    return built


def _add_cast(built: CardModel, n: int, cast: Cast, w: Weights) -> None:
    """Add the variables and constraints of one cast: play, mana, damage and targets."""
    found, model = built.found, built.model
    milp, gain = model.milp, cast_gain(found, cast, w)
    if cast.minion >= 0:
        played = model.plays[cast.minion]
        milp.cost[played] += gain
    else:
        played = milp.binary(f"cast[{cast.label}]", gain, float(cast.cost <= found.most))
        model.spent.append((played, float(cast.cost)))
    if cast.mana:
        model.spent.append((played, -float(cast.mana)))
    built.casts.append(played)
    aims: list[tuple[int, float]] = []
    if cast.damage:
        source = _add_source(model, cast.label, MinionSpec(cast.damage, 1))
        built.bolts[n] = source
        targets = targets_of(found, cast)
        add_hits(model, source, 1, {j: cast.damage * (w.face if j == HERO else w.damage) for j in targets})
        aims = model.any_hit(source, 1, targets)
    elif cast.destroys:
        for j in targets_of(found, cast):
            built.removals[n, j] = milp.binary(f"k[{cast.label},{j}]")
            model.removed.setdefault(j, []).append(built.removals[n, j])
            aims.append((built.removals[n, j], 1.0))
        if cast in casts_at_own_characters(found, w):
            left = int(found.cards[cast.becomes]["health"]) if cast.becomes >= 0 else 0
            for i in removable_friends(found, cast):
                lost = -w.survive * (model.sources[i].health - left)
                built.own_minions[n, i] = milp.binary(f"k[{cast.label},{model.labels[i]}]", lost)
                aims.append((built.own_minions[n, i], 1.0))
    elif cast.silences:
        add_silence(built, n)
        aims = [(v, 1.0) for (cast_n, _), v in built.silences.items() if cast_n == n]
        aims += [(built.idle[n], 1.0)] if n in built.idle else []
    else:
        return
    if cast in casts_at_own_characters(found, w) and cast.aim_kind & HEROES:
        built.own_hero[n] = milp.binary(f"own[{cast.label}]", -w.hero * cast.damage)
        aims.append((built.own_hero[n], 1.0))
    milp.add("a targeted card has one target", [*aims, (played, -1.0)], lower=0, upper=0)


def _add_source(model: SequentialModel, label: str, spec: MinionSpec) -> int:
    """Add a source of hits that is no minion of the problem; returns its number."""
    model.sources.append(spec)
    model.labels.append(label)
    model.extra_sources.append(len(model.sources) - 1)
    return model.extra_sources[-1]


def _add_hero_attacks(built: CardModel, w: Weights) -> None:
    """Add the own hero's attack, with each available weapon and each set of attack bonuses cast before."""
    found, model = built.found, built.model
    milp, enemies = model.milp, found.problem.enemy
    every: list[tuple[int, float]] = []
    for equip, before, attack in hero_attack_options(found):
        name = equip.label if equip else _weapon_name(found)
        label = " + ".join([name, *(cast.label for cast in before)])
        source = _add_source(model, label, MinionSpec(attack, 1))
        gains = {HERO: w.face * attack} | {
            j: w.damage * attack - (w.trade + w.hero) * enemies[j].attack for j in model.open_targets
        }
        add_hits(model, source, 1, {j: gain for j, gain in gains.items() if j not in found.hero_barred})
        model.hero_sources.append(source)
        built.hero_attacks[source] = equip, before
        hits = model.any_hit(source, 1, model.all_targets)
        for cast in (*((equip,) if equip else ()), *before):
            played = (built.casts[found.casts.index(cast)], -1.0)
            milp.add("the hero attacks with what is played", [*hits, played], upper=0)
        last_blow = [(v, 1.0) for kind, v in model.hits.get((source, 1, HERO), ()) if kind == "G"]
        for other, played_too in zip(found.casts, built.casts, strict=True):
            if (not equip and other.weapon >= 0) or (other.hero_attack and other not in before):
                milp.add("nothing follows the last blow", [*last_blow, (played_too, 1.0)], upper=1)
            if not found.own_hero_safe and other.armour and other.hero_attack and other not in before:
                milp.add("armour is gained before the hero takes damage", [*hits, (played_too, 1.0)], upper=1)
        every += hits
    milp.add("the hero attacks once", every, upper=1)


def _add_buffs(built: CardModel, w: Weights) -> None:
    """Add buffs: minions buffed before their attack, and buffs of any minion after the attacks.

    A buff is never worse than none, since it can come after the minion's attack.
    """
    found, milp = built.found, built.model.milp
    buffs = [n for n, cast in enumerate(found.casts) if cast.buff]
    for chosen in range(1, 1 << len(buffs)):
        subset = tuple(n for place, n in enumerate(buffs) if chosen >> place & 1)
        targets = set.intersection(*(set(buff_targets(found, found.casts[n])) for n in subset))
        for i in sorted(targets):
            if may_attack(found, i):
                _add_buffed(built, i, subset, w)
    used = {n: _buffed_attacks(built, n) for n in buffs}
    for n in buffs:
        cast, (_, health, lasting) = found.casts[n], found.casts[n].buff or (0, 0, 0)
        rest = milp.binary(f"rest[{cast.label}]", w.body * (lasting + health))
        needed = 0.0 if cast.spell else -np.inf
        row = [*used[n], (rest, 1.0), (built.casts[n], -1.0)]
        milp.add("a buff has a target", row, lower=needed, upper=0)
        standing, constant = _buffable_minions(built, n)
        milp.add("a minion buffed after the attacks is alive", [(rest, 1.0), *standing], upper=constant)
        built.late_buffs[n] = rest
    cries = [n for n in buffs if not found.casts[n].spell]
    if len(cries) > 1:
        standing, constant = _buffable_minions(built, cries[0], others=False)
        rests = [(built.late_buffs[n], 1.0) for n in cries]
        scaled = [(v, len(cries) * value) for v, value in standing]
        most = len(cries) * constant + len(cries) - 1
        milp.add("the first Battlecry buff needs another minion", [*rests, *scaled], upper=most)


def _buffed_attacks(built: CardModel, n: int) -> list[tuple[int, float]]:
    """The attacks of minions buffed by cast `n`, as terms of a sum."""
    model = built.model
    return [
        hit
        for source, buffs in built.buffs_of.items()
        if n in buffs
        for hit in model.any_hit(source, 1, model.all_targets)
    ]


def _add_buffed(built: CardModel, i: int, subset: tuple[int, ...], w: Weights) -> None:
    """Add a friendly minion that attacks after some buffs, as another source of hits."""
    found, model = built.found, built.model
    friend, enemies = model.sources[i], found.problem.enemy
    buffs = [found.casts[n].buff or (0, 0, 0) for n in subset]
    attack, health = (sum(buff[part] for buff in buffs) for part in (0, 1))
    body = w.body * sum(buff[1] + buff[2] for buff in buffs)
    buffed = replace(friend, attack=friend.attack + attack, health=friend.health + health)
    if buffed.attack == 0:
        return
    label = " + ".join([model.labels[i], *(found.casts[n].label for n in subset)])
    source = _add_source(model, label, buffed)
    model.buffed[source], built.buffs_of[source] = i, subset
    gains = {
        j: w.damage * buffed.attack - w.trade * enemies[j].attack + body
        for j in model.open_targets
        if (i, j) not in found.problem.barred
    }
    if found.problem.record["friends"][i]["hits_hero"]:
        gains[HERO] = w.face * buffed.attack + body
    add_hits(model, source, 1, gains)
    lost = -w.survive * friend.health - w.body * (friend.attack + friend.health) - body
    model.dies[source] = model.milp.binary(f"d[{label}]", lost)


def _buffable_minions(built: CardModel, n: int, others: bool = True) -> tuple[list[tuple[int, float]], float]:
    """Minus the number of minions that cast `n` may buff after all attacks, as terms and a constant.

    Args:
        built: the model so far.
        n: index of the cast.
        others: whether minions with a Battlecry buff are counted.
    """
    found, model = built.found, built.model
    cast, m = found.casts[n], len(found.problem.friendly)
    terms, constant = [], 0.0
    cries = {other.minion for other in found.casts if other.buff and not other.spell}
    for i in buff_targets(found, cast):
        if i < m:
            constant += 1.0
        elif others or i - m not in cries:
            terms.append((model.plays[i - m], -1.0))
        terms += built.death_of(i)
    for other, played in zip(found.casts, built.casts, strict=True):
        if any(cast.is_of(int(found.cards[token]["race"])) for token in other.tokens):
            terms.append((played, -1.0))
    return terms, constant


def _weapon_name(found: CardProblem) -> str:
    """Name of the own hero's weapon at the start of the turn; "hero" without one."""
    return found.position.card_name(int(found.own["weapon"])) if found.own["durability"] > 0 else "hero"


def _add_own_hero_survival(built: CardModel) -> None:
    """Add the survival of the own hero: damage from its target and from own cards."""
    found, model = built.found, built.model
    hurt: list[tuple[int, float]] = []
    for source in built.hero_attacks:
        for j in model.open_targets:
            hurt += [(v, float(found.problem.enemy[j].attack)) for v, _ in model.any_hit(source, 1, [j])]
    hurt += [(v, float(found.casts[n].damage)) for n, v in built.own_hero.items()]
    for played, cast in zip(built.casts, found.casts, strict=True):
        hurt.append((played, float(cast.self_damage - cast.armour)))
    health = int(found.own["health"] + found.own["armour"])
    if not found.own_hero_safe:
        model.milp.add("the own hero survives", hurt, upper=health - 1)


def _add_own_removals(built: CardModel) -> None:
    """Add removals of own minions: at most once, after the attack, and only if on board."""
    model, m = built.model, len(built.found.problem.friendly)
    for i in sorted({i for _, i in built.own_minions}):
        gone = [(v, 1.0) for (_, friend), v in built.own_minions.items() if friend == i]
        gone += [(model.dies[i], 1.0)] if i in model.dies else []
        gone += [(model.plays[i - m], -1.0)] if i >= m else []
        model.milp.add("a minion leaves the board once", gone, upper=float(i < m))
        blows = [(v, 1.0) for kind, v in model.hits.get((i, 1, HERO), ()) if kind == "G"]
        for (_, friend), v in built.own_minions.items() if blows else ():
            if friend == i:
                model.milp.add("nothing follows the last blow", [*blows, (v, 1.0)], upper=1)


def _add_heals(built: CardModel, w: Weights) -> None:
    """Add the own hero's restored health (weight `hero`)."""
    found, milp = built.found, built.model.milp
    heals = [(v, -float(cast.heal)) for v, cast in zip(built.casts, found.casts, strict=True) if cast.heal]
    if w.hero and heals:
        healed = milp.continuous("healed", max(0, int(found.own["max_health"] - found.own["health"])), w.hero)
        milp.add("restored health is limited by the heals", [(healed, 1.0), *heals], upper=0)


def _add_target_conditions(built: CardModel) -> None:
    """Add target conditions: damaged or undamaged enemies."""
    found, model = built.found, built.model
    for j in model.open_targets:
        minion = found.foes[j]
        damaged = minion["health"] < minion["max_health"]
        plain = model.hits_of_kind("x", j)
        whole = [
            n for n, cast in enumerate(found.casts) if cast.target_filter & Filter.UNDAMAGED and cast.damage
        ]
        for n in whole:
            source = built.bolts[n]
            finish = [(v, 1.0) for hitter, v in model.hits_of_kind("f", j) if hitter == source]
            own = [(v, 1.0) for hitter, v in plain if hitter == source]
            for other, v in plain:
                if other != source:
                    model.milp.add(
                        f"{found.casts[n].label} hits an undamaged enemy", [*finish, (v, 1.0)], upper=1
                    )
                    if any(built.bolts.get(cast) == other for cast in whole):
                        model.milp.add(
                            f"{found.casts[n].label} hits an undamaged enemy", [*own, (v, 1.0)], upper=1
                        )
            if damaged:
                hit = model.any_hit(source, 1, [j])
                model.milp.add(f"{found.casts[n].label} hits an undamaged enemy", hit, upper=0)
        for (n, target), v in built.removals.items():
            if target == j and found.casts[n].target_filter & Filter.DAMAGED and not damaged:
                wounds = [(x, -1.0) for _, x in plain]
                model.milp.add(
                    f"{found.casts[n].label} removes a damaged enemy", [(v, 1.0), *wounds], upper=0
                )


def _add_final_weapon(built: CardModel, w: Weights) -> None:
    """Add attack times durability of the weapon equipped at the end (weight `weapon`)."""
    found, milp = built.found, built.model.milp
    weapons = {n: found.cards[cast.weapon] for n, cast in enumerate(found.casts) if cast.weapon >= 0}
    for n, card in weapons.items():
        _add_weapon_state(built, n, int(card["attack"]), int(card["health"]), w)
        milp.add("the final weapon was equipped", [(built.last[n], 1.0), (built.casts[n], -1.0)], upper=0)
    if found.own["durability"] > 0:
        _add_weapon_state(built, -1, int(found.own["weapon_attack"]), int(found.own["durability"]), w)
        for n in weapons:
            both = [(built.last[-1], 1.0), (built.casts[n], 1.0)]
            milp.add("an equipped weapon replaces the first", both, upper=1)
    milp.add("at most one final weapon", [(v, 1.0) for v in built.last.values()], upper=1)


def _add_weapon_state(built: CardModel, n: int, attack: int, durability: int, w: Weights) -> None:
    """Add whether a weapon is equipped at the end, and whether an attack used its durability."""
    found, model = built.found, built.model
    name = found.casts[n].label if n >= 0 else _weapon_name(found)
    built.last[n] = model.milp.binary(f"last[{name}]", w.weapon * attack * durability)
    hits = [
        hit
        for source, (equip, _) in built.hero_attacks.items()
        if (found.casts.index(equip) if equip else -1) == n
        for hit in model.any_hit(source, 1, model.all_targets)
    ]
    blows = [
        (v, 1.0)
        for source, (equip, _) in built.hero_attacks.items()
        if equip and found.casts.index(equip) != n and n >= 0
        for kind, v in model.hits.get((source, 1, HERO), ())
        if kind == "G"
    ]
    if blows:
        model.milp.add("nothing follows the last blow", [*blows, (built.last[n], 1.0)], upper=1)
    if hits:
        worn = (model.milp.binary(f"worn[{name}]", -w.weapon * attack), -1.0)
        model.milp.add("an attack uses up durability", [*hits, (built.last[n], 1.0), worn], upper=1)


def _add_frozen(built: CardModel, w: Weights) -> None:
    """Add the attack of enemies that are frozen at the end (weight `frozen`)."""
    found, model = built.found, built.model
    freezers = found.freezers
    freezers |= {source for source, i in model.buffed.items() if i in freezers}
    bolts = {source: found.casts[n].freezes for n, source in built.bolts.items()}
    for j, enemy in enumerate(found.problem.enemy):
        gain = w.frozen * enemy.attack
        if found.foes[j]["traits"] & Trait.FROZEN:
            model.milp.cost[model.alive[j]] += gain
            continue
        by = [v for source, v in model.hits_of_kind("x", j) if source in freezers or bolts.get(source, False)]
        by += [v for source, v in model.hits_of_kind("p", j) if bolts.get(source, False)]
        by += [v for v, cast in zip(built.casts, found.casts, strict=True) if cast.freezes_all]
        if by and gain:
            frozen = model.milp.binary(f"frozen[{j}]", gain)
            model.milp.add(
                "frozen only by a freezing effect", [(frozen, 1.0), *((v, -1.0) for v in by)], upper=0
            )
            model.milp.add("frozen only if alive", [(frozen, 1.0), (model.alive[j], -1.0)], upper=0)


def _enemy_legend(built: CardModel) -> list[str]:
    """Legend of the numbered enemies, printed before the program."""
    found, name = built.found, built.found.position.card_name
    origin = dict.fromkeys(range(len(found.foes)), "")
    for j, foe in found.summoned_by_index():
        origin[j] = f", if enemy {foe.dead} dies" if foe.dead >= 0 else f", by {found.casts[foe.cast].label}"
    return [
        f"enemy {j}: {name(int(found.foes[j]['card']))} {enemy.attack}/{enemy.health}{origin[j]}"
        for j, enemy in enumerate(found.problem.enemy)
    ]
