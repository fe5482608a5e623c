"""The two MILP formulations of a turn without card effects: sequential, and that of the turn-ILP thesis.

Notation of the turn-ILP thesis, chapter 4: A, B attack and health of friendly minions; P, Q of enemies; C
cost, S value; M mana; H the enemy hero. A hit is plain (x), pops a shield (p) or finishes (f); on the hero it
is plain (g) or the last blow (G). Surviving minions lose health: enemies w (`wound`), friendly minions with
two attacks b (`body`). Rows are named after the rules of the game.

Thesis formulation: damage must reach an enemy's health for it to die (the printed ceilings would let any
damage kill), a living Taunt forbids each attack elsewhere (as in the code of 6.3; the printed sums cannot
hold with two living Taunts), a Divine Shield is one more health, and the attack limit holds for every
attacker. Its plans can be illegal: they may attack dead minions, or declare survivors dead to make room. A
Windfury minion's two attacks are compared with its health one by one, so it may die although the program
predicts survival.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from engine.codes import BOARD_SIZE, HERO, MAX_MANA
from engine.minion import MinionSpec
from ilp_agent.milp.program import Milp
from ilp_agent.problem import TurnProblem
from ilp_agent.weights import Weights


@dataclass
class SequentialModel:
    """The sequential program with the meaning of its variables.

    Sources of hits are numbered: first the problem's friendly minions, on board and in hand; card effects add
    others (`ilp_agent.milp.card_program`).
    """

    problem: TurnProblem
    milp: Milp = field(default_factory=Milp)
    sources: list[MinionSpec] = field(default_factory=list)
    """Sources of hits, by number."""
    labels: list[str] = field(default_factory=list)
    """Labels of the sources in names of variables."""
    attacks: dict[int, int] = field(default_factory=dict)
    """Sources that are minions -> number of attacks."""
    extra_sources: list[int] = field(default_factory=list)
    """Other sources, with one hit each."""
    hero_sources: list[int] = field(default_factory=list)
    """Those of them that Taunt blocks: attacks of the own hero."""
    buffed: dict[int, int] = field(default_factory=dict)
    """Sources that are a buffed friendly minion -> that minion; only one of the two attacks."""
    hits: dict[tuple[int, int, int], list[tuple[str, int]]] = field(default_factory=dict)
    """(source, attack number, enemy or HERO) -> (kind, variable)."""
    plays: list[int] = field(default_factory=list)
    alive: list[int] = field(default_factory=list)
    dies: dict[int, int] = field(default_factory=dict)
    removed: dict[int, list[int]] = field(default_factory=dict)
    """Enemy -> variables: an effect removes it from the board without a hit."""
    presence: dict[int, tuple[list[tuple[int, float]], float]] = field(default_factory=dict)
    """Enemy summoned during the turn -> whether it is on board, as terms and a constant."""
    silenced: dict[int, list[int]] = field(default_factory=dict)
    """Taunt minion -> variables: it is silenced."""
    spent: list[tuple[int, float]] = field(default_factory=list)
    """(variable, mana) of all costs; negative for mana gains."""
    lethal: int = 0
    clear: int = 0
    coin: int = 0

    @property
    def open_targets(self) -> list[int]:
        """Enemies without Stealth, which may be attacked."""
        return [j for j, enemy in enumerate(self.problem.enemy) if not enemy.stealth]

    @property
    def guards(self) -> list[int]:
        """Enemies with Taunt (guards), which must be attacked first."""
        return [j for j in self.open_targets if self.problem.enemy[j].taunt]

    @property
    def unguarded(self) -> list[int]:
        """Enemies without Taunt and Stealth, which may be attacked once the guards are dead."""
        return [j for j in self.open_targets if not self.problem.enemy[j].taunt]

    @property
    def all_targets(self) -> list[int]:
        """All targets of attacks, the hero included."""
        return [*self.open_targets, HERO]

    def any_hit(self, source: int, number: int, targets: list[int]) -> list[tuple[int, float]]:
        """All kinds of hits by a source's attack on these targets, as terms of a sum."""
        return [
            (variable, 1.0)
            for target in targets
            for _, variable in self.hits.get((source, number, target), ())
        ]

    def hits_of_kind(self, kind: str, target: int) -> list[tuple[int, int]]:
        """(source, variable) of all hits of one kind on a target."""
        return [
            (source, variable)
            for (source, _, aim), kinds in self.hits.items()
            if aim == target
            for name, variable in kinds
            if name == kind
        ]


def kills(friend: MinionSpec, enemy: MinionSpec) -> bool:
    """Whether an enemy's damage kills a friendly minion without Divine Shield."""
    return enemy.attack > 0 and (enemy.poisonous or enemy.attack >= friend.health)


def end_value(minion: MinionSpec, w: Weights) -> float:
    """Value of an undamaged own minion at the turn's end, by the full weights."""
    shield = w.shield * (minion.attack + minion.health) if minion.divine_shield else 0.0
    taunt = w.taunt if minion.taunt else 0.0
    return w.attack * minion.attack + (w.health + taunt) * minion.health + shield


def damage_cost(minion: MinionSpec, w: Weights) -> float:
    """Cost of each point of health that an own minion loses and survives."""
    return w.body + w.health + (w.taunt if minion.taunt else 0.0)


def sequential_model(problem: TurnProblem, weights: Weights) -> SequentialModel:
    """Build the sequential program of a turn without card effects."""
    model = begin_model(problem, weights, min(problem.mana + problem.coin, MAX_MANA))
    add_rows(model, weights)
    return model


def begin_model(problem: TurnProblem, w: Weights, most: int, names: Sequence[str] = ()) -> SequentialModel:
    """Start a model: the variables of a turn's minions with their objective; `add_rows` adds constraints.

    Args:
        problem: the turn.
        w: the weights.
        most: mana that can be spent at once.
        names: labels of the friendly minions in names of variables; numbers by default.
    """
    model = SequentialModel(problem)
    milp, m = model.milp, len(problem.friendly)
    model.sources = [*problem.friendly, *problem.hand]
    model.labels = list(names) or [str(i) for i in range(len(model.sources))]
    for k, card in enumerate(problem.hand):
        gain = w.play * card.worth + w.survive * card.health + end_value(card, w)
        gain -= w.hand + w.hand_mana * card.cost
        model.plays.append(milp.binary(f"u[{model.labels[m + k]}]", gain, float(card.cost <= most)))
        model.spent.append((model.plays[-1], float(card.cost)))
    milp.offset += sum(w.survive * minion.health + end_value(minion, w) for minion in problem.friendly)
    milp.offset += w.wound * sum(minion.health for minion in problem.enemy)
    milp.offset += sum(w.hand + w.hand_mana * card.cost for card in problem.hand)
    model.alive = [
        milp.binary(f"z[{j}]", -w.threat * enemy.attack - (w.wound + w.enemy_health) * enemy.health)
        for j, enemy in enumerate(problem.enemy)
    ]
    model.lethal = milp.binary("L", w.lethal)
    model.clear = milp.binary("c", w.clear)
    model.coin = milp.binary("coin", 0.0, float(problem.coin))
    model.spent.append((model.coin, -1.0))
    _add_attackers(model, w, most)
    return model


def _add_attackers(model: SequentialModel, w: Weights, most: int) -> None:
    """Add the variables of minions' attacks, and of the attackers' deaths by these."""
    problem, m = model.problem, len(model.problem.friendly)
    room = m < BOARD_SIZE
    for i, friend in enumerate(model.sources):
        record = problem.record["friends"][i]
        if not record["attacks"] or (i >= m and (friend.cost > most or not room)):
            continue
        model.attacks[i] = int(record["attacks"])
        gains = {
            j: w.damage * friend.attack - w.trade * problem.enemy[j].attack
            for j in model.open_targets
            if (i, j) not in problem.barred
        }
        if record["hits_hero"]:
            gains[HERO] = (w.face + w.enemy_hero) * friend.attack
        for s in range(1, model.attacks[i] + 1):
            add_hits(model, i, s, gains)
        body = friend.attack + friend.health
        lost = -w.survive * friend.health - w.body * body - end_value(friend, w)
        model.dies[i] = model.milp.binary(f"d[{model.labels[i]}]", lost)


def add_hits(model: SequentialModel, i: int, s: int, gains: Mapping[int, float]) -> None:
    """Add the hit variables of attack s of source i on each target in `gains`, with their objective gain."""
    milp, source, label = model.milp, model.sources[i], model.labels[i]
    for j, gain in gains.items():
        if j == HERO:
            plain = milp.binary(f"g[{label},{s}]", gain, float(source.attack < model.problem.enemy_hero))
            model.hits[i, s, HERO] = [("g", plain), ("G", milp.binary(f"G[{label},{s}]", gain))]
            continue
        enemy = model.problem.enemy[j]
        kinds = [("f", milp.binary(f"f[{label},{s},{j}]", gain))]
        if not source.poisonous and source.attack < enemy.health:
            kinds.append(("x", milp.binary(f"x[{label},{s},{j}]", gain)))
        if enemy.divine_shield:
            kinds.append(("p", milp.binary(f"p[{label},{s},{j}]", gain)))
        model.hits[i, s, j] = kinds


def add_rows(model: SequentialModel, w: Weights) -> None:
    """Add all constraints of a turn, for the minions' attacks and for added sources of hits."""
    milp, m = model.milp, len(model.problem.friendly)
    for i in dict.fromkeys((*model.attacks, *model.buffed.values())):
        hits = model.any_hit(i, 1, model.all_targets)
        hits += [
            hit
            for n, one in model.buffed.items()
            if one == i
            for hit in model.any_hit(n, 1, model.all_targets)
        ]
        if i < m:
            milp.add("an attack has one target", hits, upper=1)
        else:
            milp.add("a hand minion attacks only if played", [*hits, (model.plays[i - m], -1.0)], upper=0)
    _add_enemy_rows(model, w)
    _add_hero_rows(model, w)
    _add_shared_rows(model)
    for i, count in model.attacks.items():
        _add_taunt_rows(model, i, count)
        if count == 1:
            _add_one_attack_rows(model, w, i)
        else:
            _add_windfury_rows(model, i)
            if damage_cost(model.sources[i], w):
                _add_windfury_loss(model, w, i)
    for i in model.hero_sources:
        _add_taunt_rows(model, i, 1)
    for i in model.buffed:
        _add_taunt_rows(model, i, 1)
        _add_one_attack_rows(model, w, i)
    double = [i for i, count in model.attacks.items() if count == 2]
    if len(double) >= 2 and len(model.open_targets) >= 2:
        _add_order_rows(model, double)


def _add_taunt_rows(model: SequentialModel, i: int, count: int) -> None:
    """Taunt: a source attacks other targets only when all guards are dead or silenced."""
    for s in range(1, count + 1):
        for t in model.guards:
            if t not in model.presence:
                behind = [*model.any_hit(i, s, [*model.unguarded, HERO]), (model.alive[t], 1.0)]
                behind += [(v, -1.0) for v in model.silenced.get(t, ())]
                model.milp.add("Taunt minions die before other targets are attacked", behind, upper=1)


def _add_shared_rows(model: SequentialModel) -> None:
    """Add the constraints on mana, board slots and board clear."""
    milp, m = model.milp, len(model.problem.friendly)
    free = BOARD_SIZE - m
    milp.add("mana, and The Coin", model.spent, upper=model.problem.mana)
    from_hand = [hit for i in model.attacks if i >= m for hit in model.any_hit(i, 1, model.all_targets)]
    milp.add("hand attackers use board slots free at the start", from_hand, upper=free)
    freed = [(d, -1.0) for i, d in model.dies.items() if i < m]
    milp.add(
        "other plays also use board slots freed by deaths",
        [*((u, 1.0) for u in model.plays), *freed],
        upper=free,
    )
    for z in model.alive:
        milp.add("board clear only if no enemy lives", [(model.clear, 1.0), (z, 1.0)], upper=1)
    milp.add("board clear if no enemy lives", [(model.clear, 1.0), *((z, 1.0) for z in model.alive)], lower=1)


def _add_enemy_rows(model: SequentialModel, w: Weights) -> None:
    """Add the constraints on enemies' deaths, survival, lost health and shields."""
    milp, sources = model.milp, model.sources
    for j, enemy in enumerate(model.problem.enemy):
        z = model.alive[j]
        finish, plain, pop = (model.hits_of_kind(kind, j) for kind in "fxp")
        removed = [(v, 1.0) for v in model.removed.get(j, ())]
        terms, present = model.presence.get(j, ([], 1.0))
        absent = [(v, -value) for v, value in terms]
        milp.add(
            "one hit finishes an enemy that dies",
            [*((v, 1.0) for _, v in finish), (z, 1.0), *removed, *absent],
            lower=present,
            upper=present,
        )
        plain_sum = [(v, float(sources[i].attack)) for i, v in plain]
        milp.add("plain hits leave an enemy alive", plain_sum, upper=enemy.health - 1)
        if w.wound + w.enemy_health and plain:
            lost = milp.continuous(f"w[{j}]", enemy.health - 1, w.wound + w.enemy_health)
            minus = [(v, -a) for v, a in plain_sum]
            milp.add("plain hits take health off", [(lost, 1.0), *minus], upper=0)
            milp.add("partial health loss only of survivors", [(lost, 1.0), (z, 1.0 - enemy.health)], upper=0)
        missing = [
            (v, float(sources[i].attack - enemy.health))
            for i, v in finish
            if not sources[i].poisonous and sources[i].attack < enemy.health
        ]
        milp.add("a finishing hit needs the plain ones before it", [*plain_sum, *missing], lower=0)
        if enemy.divine_shield:
            popped = [(v, 1.0) for _, v in pop]
            milp.add("one hit pops a shield", popped, upper=1)
            milp.add(
                "a shield pops before its minion dies", [*popped, (z, 1.0), *removed, *absent], lower=present
            )
            for _, v in plain:
                milp.add("a shield pops before a plain hit", [*popped, (v, -1.0)], lower=0)


def _add_hero_rows(model: SequentialModel, w: Weights) -> None:
    """Add the constraints on damage to the enemy hero and on the last blow."""
    milp, sources = model.milp, model.sources
    health = model.problem.enemy_hero
    plain, blow = model.hits_of_kind("g", HERO), model.hits_of_kind("G", HERO)
    milp.add(
        "a kill has one last blow", [*((v, 1.0) for _, v in blow), (model.lethal, -1.0)], lower=0, upper=0
    )
    damage = [(v, float(sources[i].attack)) for i, v in plain]
    milp.add("the enemy hero lives until the last blow", damage, upper=health - 1)
    total = [*damage, *((v, float(sources[i].attack)) for i, v in blow), (model.lethal, -float(health))]
    milp.add("a kill takes all the enemy hero's health", total, lower=0)
    if w.enemy_hero:
        most = float(sum(sources[i].attack for i, _ in (*plain, *blow)))
        over = milp.continuous("overkill", most, -w.enemy_hero)
        alive = [(v, a) for v, a in total if v != model.lethal]
        milp.add(
            "damage beyond the enemy hero's health",
            [(over, 1.0), *((v, -a) for v, a in alive)],
            lower=-health,
        )


def _add_one_attack_rows(model: SequentialModel, w: Weights, i: int) -> None:
    """Add the death and health loss of an attacker with one attack."""
    enemies, friend, targets = model.problem.enemy, model.sources[i], model.open_targets
    deadly = [j for j in targets if kills(friend, enemies[j])] if not friend.divine_shield else []
    terms = [*model.any_hit(i, 1, deadly), (model.dies[i], -1.0)]
    model.milp.add("an attacker dies if its target deals lethal damage", terms, lower=0, upper=0)
    for j in targets:
        if j not in deadly and not friend.divine_shield:
            for v, _ in model.any_hit(i, 1, [j]):
                model.milp.cost[v] -= damage_cost(friend, w) * enemies[j].attack


def _add_windfury_rows(model: SequentialModel, i: int) -> None:
    """Add the constraints on a Windfury minion's two attacks and its death."""
    milp, d, friend = model.milp, model.dies[i], model.sources[i]
    enemies, guards, elsewhere = model.problem.enemy, model.guards, model.unguarded
    targets = [*guards, *elsewhere]
    first, second = (model.any_hit(i, s, [*targets, HERO]) for s in (1, 2))
    deadly = [j for j in targets if kills(friend, enemies[j])]
    minus = [(v, -a) for v, a in first]
    if friend.divine_shield:
        milp.add("a second attack follows a first", [*second, *minus], upper=0)
        hurt = model.any_hit(i, 1, [j for j in targets if enemies[j].attack > 0])
        fatal = model.any_hit(i, 2, deadly)
        milp.add(
            "Windfury with shield: death only if the first hit pops the shield",
            [(d, 1.0), *((v, -a) for v, a in hurt)],
            upper=0,
        )
        milp.add(
            "Windfury with shield: death only if the second hit kills",
            [(d, 1.0), *((v, -a) for v, a in fatal)],
            upper=0,
        )
        milp.add("Windfury with shield: death if both happen", [(d, -1.0), *hurt, *fatal], upper=1)
    else:
        killed = model.any_hit(i, 1, deadly)
        milp.add("a second attack follows a first that it survived", [*second, *minus, *killed], upper=0)
        taken = [
            (v, float(friend.health if j in deadly else enemies[j].attack))
            for s in (1, 2)
            for j in targets
            for v, _ in model.any_hit(i, s, [j])
        ]
        health = float(friend.health)
        milp.add("Windfury: death only by lethal damage", [*taken, (d, -health)], lower=0)
        milp.add("Windfury: death by lethal damage", [*taken, (d, -health)], upper=health - 1)
    mixed = [*model.any_hit(i, 1, [*elsewhere, HERO]), *model.any_hit(i, 2, guards)]
    milp.add("Windfury: Taunt minions first", mixed, upper=1)
    blow = [(v, 1.0) for kind, v in model.hits.get((i, 1, HERO), ()) if kind == "G"]
    if blow:
        milp.add("nothing follows the last blow", [*blow, *second], upper=1)
    for j in targets:
        for kind, v in model.hits.get((i, 1, j), ()):
            if kind == "f":
                milp.add(
                    "no second hit on an enemy that the first killed",
                    [(v, 1.0), *model.any_hit(i, 2, [j])],
                    upper=1,
                )
        for kind, v in model.hits.get((i, 2, j), ()):
            if kind == "p":
                milp.add(
                    "of two hits the first pops the shield", [(v, 1.0), *model.any_hit(i, 1, [j])], upper=1
                )


def _add_windfury_loss(model: SequentialModel, w: Weights, i: int) -> None:
    """Add the health that a surviving Windfury minion loses by two attacks (`damage_cost`)."""
    milp, enemies, friend, targets = model.milp, model.problem.enemy, model.sources[i], model.open_targets
    lost = (milp.continuous(f"b[{model.labels[i]}]", friend.health - 1, -damage_cost(friend, w)), -1.0)
    taken = {s: [(v, j) for j in targets for v, _ in model.any_hit(i, s, [j])] for s in (1, 2)}
    if friend.divine_shield:
        most = friend.health - 1.0
        popped = [(v, most) for v, j in taken[1] if enemies[j].attack > 0]
        second = [(v, float(enemies[j].attack)) for v, j in taken[2] if not kills(friend, enemies[j])]
        milp.add("health lost after the shield pops", [*second, *popped, lost], upper=most)
    else:
        damages = [
            (v, float(friend.health if kills(friend, enemies[j]) else enemies[j].attack))
            for v, j in [*taken[1], *taken[2]]
        ]
        dead = (model.dies[i], 1.0 - 2 * friend.health)
        milp.add("health lost by both hits if it lives", [*damages, dead, lost], upper=0)


def _add_order_rows(model: SequentialModel, double: list[int]) -> None:
    """Add one order for all attacks: times of attacks (tau), of each target's finish (phi) and pop (pi)."""
    milp, targets = model.milp, model.open_targets
    span = 2.0 * (len(double) + len(targets))
    phi = {j: milp.continuous(f"phi[{j}]", span) for j in targets}
    pi = {j: milp.continuous(f"pi[{j}]", span) for j in targets}
    for j in targets:
        milp.add("a target is popped before it is finished", [(phi[j], 1.0), (pi[j], -1.0)], lower=1)
    for i in (*model.attacks, *model.extra_sources):
        numbers = sorted({s for source, s, _ in model.hits if source == i})
        tau = {s: milp.continuous(f"tau[{model.labels[i]},{s}]", span) for s in numbers}
        for earlier, later in pairwise(numbers):
            milp.add("attacks of one minion in order", [(tau[later], 1.0), (tau[earlier], -1.0)], lower=1)
        for s in numbers:
            for j in targets:
                for kind, v in model.hits.get((i, s, j), ()):
                    now, end, pop = (tau[s], 1.0), (phi[j], -1.0), (pi[j], -1.0)
                    if kind == "f":
                        milp.add(
                            "the finishing hit is at the finish time", [now, end, (v, -span)], lower=-span
                        )
                    else:
                        milp.add(
                            "other hits come before the finish time", [now, end, (v, span + 1)], upper=span
                        )
                    if kind == "p":
                        milp.add("the popping hit is at the pop time", [now, pop, (v, span)], upper=span)
                    else:
                        milp.add(
                            "other hits come after the pop time", [now, pop, (v, -span - 1)], lower=-span
                        )


@dataclass
class ThesisModel:
    """The program of the thesis with the meaning of its variables."""

    problem: TurnProblem
    milp: Milp = field(default_factory=Milp)
    attacks: dict[tuple[int, int], int] = field(default_factory=dict)
    """(friend, enemy or HERO) -> x."""
    plays: list[int] = field(default_factory=list)
    survives: list[int] = field(default_factory=list)
    alive: list[int] = field(default_factory=list)
    hero_alive: int = 0
    clear: int = 0


def kills_in_thesis(friend: MinionSpec, enemy: MinionSpec) -> bool:
    """Whether one attack kills a friendly minion in the thesis: a Divine Shield counts as one more health."""
    return enemy.attack > 0 and enemy.attack >= friend.health + friend.divine_shield


def thesis_model(problem: TurnProblem, weights: Weights) -> ThesisModel:
    """Build the thesis program of a turn; constraints carry the equation numbers of its section 5.4.4."""
    model = ThesisModel(problem)
    milp, w = model.milp, weights
    friends = (*problem.friendly, *problem.hand)
    m, n = len(problem.friendly), len(problem.enemy)
    most = min(problem.mana + problem.coin, MAX_MANA)
    record = problem.record
    milp.offset = w.lethal
    model.hero_alive = milp.binary("z_hero", -w.lethal)
    model.clear = milp.binary("c", w.clear)
    model.alive = [milp.binary(f"z[{j}]", -w.threat * enemy.attack) for j, enemy in enumerate(problem.enemy)]
    model.survives = [milp.binary(f"y[{i}]", w.survive * friend.health) for i, friend in enumerate(friends)]
    for k, card in enumerate(problem.hand):
        model.plays.append(milp.binary(f"u[{m + k}]", w.play * card.worth, float(card.cost <= most)))
    coin = milp.binary("coin", 0.0, float(problem.coin))
    for i, friend in enumerate(friends):
        able = bool(record["friends"][i]["attacks"])
        for j, enemy in enumerate(problem.enemy):
            gain = w.damage * friend.attack - w.trade * enemy.attack
            allowed = float(able and not enemy.stealth and (i, j) not in problem.barred)
            model.attacks[i, j] = milp.binary(f"x[{i},{j}]", gain, allowed)
        allowed = float(able and bool(record["friends"][i]["hits_hero"]))
        model.attacks[i, HERO] = milp.binary(f"x[{i},hero]", w.face * friend.attack, allowed)
    every = [*range(n), HERO]
    for i in range(len(friends)):
        limit = float(record["friends"][i]["attacks"])
        milp.add("(1) attack limit", [(model.attacks[i, j], 1.0) for j in every], upper=limit)
        for j, enemy in enumerate(problem.enemy):
            if kills_in_thesis(friends[i], enemy):
                milp.add("(5) death", [(model.survives[i], 1.0), (model.attacks[i, j], 1.0)], upper=1)
    for j, enemy in enumerate(problem.enemy):
        health = float(enemy.health + enemy.divine_shield)
        damage = [(model.attacks[i, j], float(friend.attack)) for i, friend in enumerate(friends)]
        milp.add("(2) damage kills", [*damage, (model.alive[j], health)], lower=health)
        milp.add("(4) cleared", [(model.clear, 1.0), (model.alive[j], 1.0)], upper=1)
    damage = [(model.attacks[i, HERO], float(friend.attack)) for i, friend in enumerate(friends)]
    hero = float(problem.enemy_hero)
    milp.add("(3) lethal", [*damage, (model.hero_alive, hero)], lower=hero)
    plays = [(u, 1.0) for u in model.plays]
    milp.add("(6) board", [*((y, 1.0) for y in model.survives[:m]), *plays], upper=BOARD_SIZE)
    spent = [(u, float(card.cost)) for u, card in zip(model.plays, problem.hand, strict=True)]
    milp.add("(8) mana, and The Coin", [*spent, (coin, -1.0)], upper=problem.mana)
    for i, u in enumerate(model.plays, m):
        milp.add("(7) only played minions survive", [(model.survives[i], 1.0), (u, -1.0)], upper=0)
        for j in range(n):
            milp.add("(9) Charge or Rush", [(model.attacks[i, j], 1.0), (u, -1.0)], upper=0)
        milp.add("(10) Charge", [(model.attacks[i, HERO], 1.0), (u, -1.0)], upper=0)
    guards = [j for j, enemy in enumerate(problem.enemy) if enemy.taunt and not enemy.stealth]
    for t in guards:
        for i in range(len(friends)):
            for j in every:
                if j == HERO or j not in guards:
                    name = "(11) Taunt before the hero" if j == HERO else "(12) Taunt before others"
                    milp.add(name, [(model.attacks[i, j], 1.0), (model.alive[t], 1.0)], upper=1)
    return model
