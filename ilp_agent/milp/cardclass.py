"""Class A: which turns on real cards the integer program can count exactly, and what it needs of them.

Whatever is accepted has the search's optimum. Cards that cannot be paid for this turn are left out, whatever
they do; of all others every row must be one that `ilp_agent.milp.casts` has a word for, and no two of them
may meet in a way that the program does not see (`_check_together`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from engine import MinionSpec, Position
from engine.codes import BOARD_SIZE, COIN, HAND_SIZE, HERO, MAX_MANA, OWN_SIDE, ActionKind, Keyword
from engine.effects.legal import BARRED, SPARING
from engine.minion import keyword_flags_of
from engine.vocabulary import (
    ENEMY,
    HEROES,
    MINIONS,
    OWN,
    CardKind,
    Need,
    Op,
    Pick,
    Trait,
    Trigger,
)
from ilp_agent.cardturn import ANY_TARGET, ARRIVED, HERO_ATTACKS, CardTurn
from ilp_agent.milp.casts import Cast, OutsideError, read_cast
from ilp_agent.problem import TurnProblem
from ilp_agent.turn import attacks_on_arrival
from ilp_agent.weights import Weights


OWN_HERO = -1 - OWN_SIDE - HERO
"""The own hero, as what is left out names it."""

MOST_BUFFS = 2
"""Most cards that strengthen a minion: each doubles the sources of every attacker."""


@dataclass(frozen=True)
class CardProblem:
    """A turn of class A.

    Attributes:
        turn: where it comes from.
        problem: its minions, as the sequential program has them; in hand those that can be paid for.
        labels: names of the friends, each once.
        numbers: card numbers of the minions in hand.
        casts: what else can be played.
        most: mana that can be spent at once.
        swings: whether the own hero may attack.
        swing_barred: enemies, or `HERO`, that the own hero must not attack.
        reach: damage that the enemy hero can take at most.
        outlasts: whether nothing that the own hero may suffer kills it.
    """

    turn: CardTurn
    problem: TurnProblem
    labels: tuple[str, ...]
    numbers: tuple[int, ...]
    casts: tuple[Cast, ...]
    most: int
    swings: bool
    swing_barred: frozenset[int]
    reach: int
    outlasts: bool

    @property
    def position(self) -> Position:
        """Where the turn begins."""
        return self.turn.position

    @property
    def own(self) -> np.void:
        """The half of the player to move, dtype `engine.state.SIDE`."""
        side: np.void = self.position.state["sides"][self.position.active]
        return side

    @property
    def enemy(self) -> np.void:
        """The other half."""
        side: np.void = self.position.state["sides"][1 - self.position.active]
        return side

    @property
    def cards(self) -> np.ndarray:
        """The card table."""
        return self.position.table.array

    @property
    def freezers(self) -> set[int]:
        """Friends whose damage freezes, by index."""
        m = len(self.problem.friendly)
        found = {i for i in range(m) if self.own["board"][i]["traits"] & Trait.FREEZES}
        return found | {m + k for k, n in enumerate(self.numbers) if self.cards[n]["traits"] & Trait.FREEZES}

    def bars(self, kind: ActionKind, source: int, target: int) -> bool:
        """Whether an action is left out; `target` is an enemy, or `HERO`."""
        who = int(self.enemy["board"][target]["born"]) if target < HERO else -1 - target
        return any(
            one.kind == kind and one.source == source and one.target in (ANY_TARGET, who)
            for one in self.turn.barred
        )


def read_turn(turn: CardTurn, weights: Weights) -> CardProblem:
    """What the integer program needs of a turn.

    Raises:
        OutsideError: the turn is outside of class A; the message names the card and the reason.
    """
    position = turn.position
    state, cards = position.state, position.table.array
    own, enemy = (state["sides"][seat] for seat in (position.active, 1 - position.active))
    _check_heroes(position, own, enemy)
    hand = _playable(turn, own, cards)
    coin = COIN in hand
    if hand.count(COIN) > 1:
        raise OutsideError("The Coin", "two of them")
    given = sum(read_cast(cards[n], Cast(position.card_name(n), n)).mana for n in _innervates(hand, cards))
    most = min(int(own["mana"]) + coin + given, MAX_MANA)
    hand = [n for n in hand if n != COIN and cards[n]["cost"] <= most and _can_be_met(cards[n], enemy)]
    friendly = tuple(_on_board(minion) for minion in own["board"][: own["n_board"]])
    enemies = tuple(_on_board(minion) for minion in enemy["board"][: enemy["n_board"]])
    numbers = tuple(n for n in hand if cards[n]["kind"] == CardKind.MINION)
    in_hand = tuple(_in_hand(cards[n]) for n in numbers)
    titles = [position.card_name(int(minion["card"])) for minion in own["board"][: own["n_board"]]]
    labels = tuple(_each_once([*titles, *map(position.card_name, numbers)]))
    problem = TurnProblem(
        friendly,
        in_hand,
        enemies,
        int(own["mana"]),
        int(enemy["health"] + enemy["armour"]),
        coin,
        *_barred(turn, own, enemy, numbers, friendly),
    )
    casts = tuple(_casts(turn, own, enemy, hand, numbers, most))
    armed = own["hero_attacks_left"] > 0 and not own["traits"] & BARRED
    found = CardProblem(turn, problem, labels, numbers, casts, most, bool(armed), frozenset(), 0, True)
    barred = [j for j in (*range(len(enemies)), HERO) if found.bars(ActionKind.ATTACK, HERO_ATTACKS, j)]
    found = replace(found, swing_barred=frozenset(barred))
    found = replace(found, reach=_reach(found), outlasts=_harm(found) < own["health"] + own["armour"])
    _check_minions(found, weights)
    _check_places(found)
    _check_together(found, weights)
    return found


def swing_attacks(found: CardProblem) -> Iterator[tuple[Cast | None, tuple[Cast, ...], int]]:
    """The weapons with which the own hero may attack: (cast that equips it, casts before it, attack)."""
    if not found.swings:
        return
    before = [cast for cast in found.casts if cast.hero_attack]
    arms: list[Cast | None] = [None, *(cast for cast in found.casts if cast.weapon >= 0)]
    for chosen in range(1 << len(before)):
        some = tuple(cast for n, cast in enumerate(before) if chosen >> n & 1)
        for arm in arms:
            weapon = found.own["weapon_attack"] if arm is None else found.cards[arm.weapon]["attack"]
            attack = int(found.own["hero_attack"] + weapon) + sum(cast.hero_attack for cast in some)
            if attack > 0:
                yield arm, some, attack


def targets_of(found: CardProblem, cast: Cast) -> list[int]:
    """Enemies that a cast may be aimed at when the turn begins, and `HERO`."""
    if cast.fixed:
        return [HERO]
    targets = []
    if cast.aim_side & ENEMY and cast.aim_kind & MINIONS:
        hidden = Trait.ELUSIVE if cast.spell else 0
        for j, minion in enumerate(found.enemy["board"][: found.enemy["n_board"]]):
            if minion["keywords"] & Keyword.STEALTH or minion["traits"] & hidden:
                continue
            if cast.allows(int(minion["attack"]), int(minion["keywords"])):
                targets.append(j)
    if cast.aim_side & ENEMY and cast.aim_kind & HEROES:
        targets.append(HERO)
    kind = ActionKind.POWER if cast.power else ActionKind.PLAY
    return [j for j in targets if not found.bars(kind, 0 if cast.power else cast.number, j)]


def strengthened(found: CardProblem, cast: Cast) -> list[int]:
    """Friends, by index, that a cast may strengthen."""
    own, race = found.own["board"]["race"][: found.own["n_board"]], found.cards["race"]
    races = [*map(int, own), *(int(race[n]) for n in found.numbers)]
    itself = len(own) + cast.minion if cast.minion >= 0 else -1
    return [i for i in range(len(races)) if i != itself and cast.is_of(races[i])]


def may_attack(found: CardProblem, i: int) -> bool:
    """Whether a friend may attack once this turn, if it has attack then."""
    m = len(found.problem.friendly)
    if i < m:
        return bool(found.problem.friendly[i].attacks_left)
    return found.problem.hand[i - m].charge or found.problem.hand[i - m].rush


def gain_of(found: CardProblem, cast: Cast, w: Weights) -> float:
    """What a cast is worth by itself, beside what its bolt hits and the weapon it equips."""
    gain = w.play * cast.worth - w.hold * cast.held - w.overload * cast.overload + w.draw * cast.draws
    gain += w.hero * (cast.armour - cast.harm)
    return float(gain + w.survive * sum(int(found.cards[n]["health"]) for n in cast.tokens))


def _each_once(titles: list[str]) -> Iterator[str]:
    """Titles with numbers where there are several: "Fireball", "Fireball 2"."""
    seen: dict[str, int] = {}
    for title in titles:
        seen[title] = seen.get(title, 0) + 1
        yield title if seen[title] == 1 else f"{title} {seen[title]}"


def _playable(turn: CardTurn, own: np.void, cards: np.ndarray) -> list[int]:
    """Numbers of the cards in hand that are not left out."""
    barred = {one.source for one in turn.barred if one.kind == ActionKind.PLAY and one.target == ANY_TARGET}
    return [n for n in own["hand"][: own["n_hand"]].tolist() if n not in barred]


def _innervates(hand: list[int], cards: np.ndarray) -> list[int]:
    """Cards in hand that give mana and cost none."""
    found = []
    for n in hand:
        if n == COIN or cards[n]["kind"] != CardKind.SPELL:
            continue
        ops = cards[n]["effects"][: cards[n]["n_effects"]]
        if len(ops) and all(row["op"] == Op.MANA for row in ops):
            found.append(n)
    return found


def _can_be_met(card: np.void, enemy: np.void) -> bool:
    """Whether what a card needs can be there this turn: enemy minions only become fewer."""
    needed = 2 if card["needs"] & Need.TWO_ENEMY_MINIONS else 1 if card["needs"] & Need.ENEMY_MINION else 0
    return bool(enemy["n_board"] >= needed)


def _check_heroes(position: Position, own: np.void, enemy: np.void) -> None:
    """Refuse what befell a hero and the program does not see."""
    for side, name in ((own, "the own hero"), (enemy, "the enemy hero")):
        if side["traits"] & Trait.IMMUNE:
            raise OutsideError(name, "immune")
    if own["hero_attacks_left"] > 1:
        raise OutsideError("the own hero", "two attacks")
    if own["durability"] > 0:
        _check_weapon(position, int(own["weapon"]))
    if enemy["durability"] > 0 and position.table.array[enemy["weapon"]]["n_effects"]:
        raise OutsideError(position.card_name(int(enemy["weapon"])), "a weapon with a text")


def _check_weapon(position: Position, number: int) -> None:
    """Refuse weapons that do more than hit."""
    card = position.table.array[number]
    if card["n_effects"] or card["keywords"] or card["traits"]:
        raise OutsideError(position.card_name(number), "a weapon with a text")


def _on_board(minion: np.void) -> MinionSpec:
    """A minion on a board, with the attacks that it may make."""
    flags = keyword_flags_of(int(minion["keywords"]))
    left = 0 if minion["traits"] & BARRED else int(minion["attacks_left"])
    return MinionSpec(int(minion["attack"]), int(minion["health"]), **flags, attacks_left=left)


def _in_hand(card: np.void) -> MinionSpec:
    """A minion in hand."""
    flags = keyword_flags_of(int(card["keywords"]))
    return MinionSpec(
        int(card["attack"]), int(card["health"]), int(card["cost"]), float(card["value"]), **flags
    )


def _barred(
    turn: CardTurn, own: np.void, enemy: np.void, numbers: tuple[int, ...], friendly: tuple[MinionSpec, ...]
) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    """Friends that must not attack the hero, and (friend, enemy) left out."""
    m = len(friendly)
    no_hero, pairs = set(), set()
    for i in range(m):
        minion = own["board"][i]
        arrived = minion["arrived"] and not minion["keywords"] & Keyword.CHARGE
        if arrived or minion["traits"] & SPARING:
            no_hero.add(i)
    sources = [int(own["board"][i]["born"]) for i in range(m)] + [ARRIVED - n for n in numbers]
    born = {int(enemy["board"][j]["born"]): j for j in range(enemy["n_board"])}
    for one in turn.barred:
        for i, source in enumerate(sources):
            if one.kind == ActionKind.ATTACK and one.source == source:
                if one.target in (ANY_TARGET, -1 - HERO):
                    no_hero.add(i)
                pairs |= {(i, j) for birth, j in born.items() if one.target in (ANY_TARGET, birth)}
    return frozenset(no_hero), frozenset(pairs)


def _casts(
    turn: CardTurn, own: np.void, enemy: np.void, hand: list[int], numbers: tuple[int, ...], most: int
) -> Iterator[Cast]:
    """All that can be played beside bodies."""
    position = turn.position
    cards = position.table.array
    spells = [n for n in hand if cards[n]["kind"] != CardKind.MINION]
    power = int(own["power"]) - 1
    able = power >= 0 and not own["power_used"] and cards[power]["cost"] <= most
    barred = any(one.kind == ActionKind.POWER and one.target == ANY_TARGET for one in turn.barred)
    if able and not barred and _can_be_met(cards[power], enemy):
        spells.append(power)
    cries = [(k, n) for k, n in enumerate(numbers) if _cries(cards[n])]
    each = [*((-1, n) for n in spells), *cries]
    for (k, n), label in zip(each, _each_once([position.card_name(n) for _, n in each]), strict=True):
        card = cards[n]
        cast = Cast(label, n, power=card["kind"] == CardKind.POWER, minion=k)
        if k < 0:
            cast = replace(
                cast,
                cost=int(card["cost"]),
                worth=0.0 if cast.power else float(card["value"]),
                overload=int(card["overload"]),
            )
        cast = read_cast(card, cast)
        if card["needs"] & ~(Need.ROOM | Need.ENEMY_MINION | Need.TWO_ENEMY_MINIONS):
            raise OutsideError(label, "what it needs to be played")
        yield cast


def _cries(card: np.void) -> bool:
    """Whether a minion does something when it is played, overload included."""
    rows = card["effects"][: card["n_effects"]]
    return bool((rows["trigger"] == Trigger.PLAY).any())


def _reach(found: CardProblem) -> int:
    """Damage that the enemy hero can take at most this turn."""
    problem, m = found.problem, len(found.problem.friendly)
    total = 0
    for i, friend in enumerate((*problem.friendly, *problem.hand)):
        record = problem.record["friends"][i]
        total += int(record["attacks"]) * friend.attack if record["hits_hero"] or i >= m else 0
    for cast in found.casts:
        total += cast.damage if HERO in targets_of(found, cast) else 0
    total += sum(cast.buff[0] for cast in found.casts if cast.buff)
    return total + max((attack for _, _, attack in swing_attacks(found)), default=0)


def _harm(found: CardProblem) -> int:
    """Damage that the own hero can take at most this turn."""
    total = sum(cast.harm for cast in found.casts)
    for cast in found.casts:
        total += cast.damage if cast.aim_side & OWN and cast.aim_kind & HEROES else 0
    if any(True for _ in swing_attacks(found)):
        total += max((enemy.attack for enemy in found.problem.enemy), default=0)
    return total


def _check_minions(found: CardProblem, w: Weights) -> None:
    """Refuse minions that do more than their keywords say, as far as it can matter this turn."""
    name = found.position.card_name
    problem = found.problem
    doubles = any(record["attacks"] == 2 for record in problem.record["friends"])
    for side, minions in ((0, found.own["board"]), (1, found.enemy["board"])):
        n = found.own["n_board"] if side == 0 else found.enemy["n_board"]
        for place in range(n):
            minion = minions[place]
            title, card = name(int(minion["card"])), found.cards[minion["card"]]
            if minion["turn_attack"]:
                raise OutsideError(title, "attack of this turn alone")
            if minion["traits"] & (Trait.IMMUNE | Trait.DOOMED):
                raise OutsideError(title, "immune or doomed")
            if minion["traits"] & Trait.DEATHRATTLE and _may_die(found, side, place):
                raise OutsideError(title, "Deathrattle")
            if minion["keywords"] & Keyword.LIFESTEAL and minion["attack"] > 0:
                raise OutsideError(title, "Lifesteal")
            if side == 1 and doubles and minion["traits"] & Trait.FREEZES:
                raise OutsideError(title, "it freezes who attacks twice")
            if side == 0 and not minion["traits"] & Trait.SILENCED:
                _check_end(title, card, w)
    for k, number in enumerate(found.numbers):
        title, card = name(number), found.cards[number]
        attacks = attacks_on_arrival(int(card["attack"]), int(card["keywords"]))
        if card["keywords"] & Keyword.LIFESTEAL and attacks:
            raise OutsideError(title, "Lifesteal")
        if card["traits"] & Trait.DEATHRATTLE and (attacks or own_targets(found, w)):
            raise OutsideError(title, "Deathrattle")
        if card["overload"]:
            raise OutsideError(title, "overload of a minion")
        if attacks and card["traits"] & (BARRED | SPARING):
            raise OutsideError(title, "attacks that it may not make")
        _check_end(title, card, w)
        assert problem.hand[k].attack == card["attack"]


def _check_end(title: str, card: np.void, w: Weights) -> None:
    """Refuse own minions that do something at the end of the turn, unless they heal what does not count."""
    for row in card["effects"][: card["n_effects"]]:
        healing = row["op"] == Op.HEAL and row["pick"] == Pick.ALL and row["side"] == OWN
        if row["trigger"] == Trigger.TURN_END and not (healing and row["kind"] == MINIONS and not w.body):
            raise OutsideError(title, "the end of the turn")


def _may_die(found: CardProblem, side: int, place: int) -> bool:
    """Whether a minion on board can die this turn, as far as is seen at once."""
    if side == 0:
        record = found.problem.record["friends"][place]
        return bool(record["attacks"]) or any(cast.aim_side & OWN for cast in found.casts)
    return True


def _check_places(found: CardProblem) -> None:
    """Refuse turns on which the places on the own board may run out."""
    budget = int(found.own["mana"]) + found.problem.coin + sum(cast.mana for cast in found.casts)
    best = [0] * (budget + 1)
    items = [
        (card.cost, 1 + sum(len(cast.tokens) for cast in found.casts if cast.minion == k))
        for k, card in enumerate(found.problem.hand)
    ]
    items += [(cast.cost, len(cast.tokens)) for cast in found.casts if cast.minion < 0 and cast.tokens]
    for cost, n in items:
        for left in range(budget, cost - 1, -1):
            best[left] = max(best[left], best[left - cost] + n)
    if len(found.problem.friendly) + best[budget] > BOARD_SIZE:
        raise OutsideError("the own board", "its places may run out")


def own_removed(found: CardProblem, cast: Cast) -> list[int]:
    """Own minions, by index, that a cast may take off the board."""
    m = len(found.problem.friendly)
    barred = {one.target for one in found.turn.barred if one.source == cast.number}
    chosen = []
    for i, friend in enumerate((*found.problem.friendly, *found.problem.hand)):
        card = found.own["board"][i] if i < m else found.cards[found.numbers[i - m]]
        left_out = i < m and int(card["born"]) in barred
        if not left_out and not card["traits"] & Trait.ELUSIVE:
            chosen += [i] if cast.allows(friend.attack, friend.keywords) else []
    return chosen


def _bodies(found: CardProblem) -> list[MinionSpec]:
    """All minions that may stand on the own board this turn; of those that are summoned, their cards."""
    tokens = [_in_hand(found.cards[n]) for cast in found.casts for n in cast.tokens]
    return [*found.problem.friendly, *found.problem.hand, *tokens]


def own_targets(found: CardProblem, w: Weights) -> list[Cast]:
    """Casts that may be best aimed at an own character: those that pay, where no other target always serves.

    An enemy hero that cannot die this turn always serves, for a bolt that may be aimed there: it costs nothing
    to be hit, and all other actions stay what they were.
    """
    found_casts = []
    for cast in found.casts:
        aimed = cast.damage or cast.destroys
        if not aimed or not cast.aim_side & OWN:
            continue
        serves = HERO in targets_of(found, cast) and found.reach < found.problem.enemy_hero
        least = 0.0
        if cast.destroys:  # without it the own minion would stand at the end
            least = w.survive * min((friend.health for friend in _bodies(found)), default=0)
        pays = cast.minion >= 0 or gain_of(found, cast, w) > least
        if pays and not serves:
            found_casts.append(cast)
    return found_casts


def _check_together(found: CardProblem, w: Weights) -> None:
    """Refuse words of which each alone can be counted, but not beside each other."""
    casts = found.casts
    bodies = [found.own["board"][i]["spell_damage"] for i in range(found.own["n_board"])]
    spells = [cast for cast in casts if cast.damage and not cast.power and cast.spell]
    if spells and (any(bodies) or any(found.cards[n]["spell_damage"] for n in found.numbers)):
        raise OutsideError(spells[0].label, "beside Spell Damage")
    for cast in casts:
        _check_cast(found, cast, w)
    drawn = sum(cast.draws for cast in casts)
    if drawn:
        label = next(cast.label for cast in casts if cast.draws)
        if found.own["n_deck"] < drawn:
            raise OutsideError(label, "fatigue")
        power = any(cast.draws and cast.power for cast in casts)
        if w.draw and found.own["n_hand"] - 1 + power + drawn > HAND_SIZE:
            raise OutsideError(label, "cards that may burn")
    crystals = sum(cast.crystals for cast in casts)
    if crystals and found.own["crystals"] + crystals > MAX_MANA:
        raise OutsideError(next(cast.label for cast in casts if cast.crystals), "full mana crystals")
    if sum(1 for cast in casts if cast.hero_attack) > 3:
        raise OutsideError(next(c.label for c in casts if c.hero_attack), "more than three of its kind")
    _check_removals(found)
    _check_heals(found, w)
    _check_buffs(found, w)


def _check_cast(found: CardProblem, cast: Cast, w: Weights) -> None:
    """Refuse a cast for what else is there."""
    name = found.position.card_name
    if cast.weapon >= 0:
        _check_weapon(found.position, cast.weapon)
    for number in cast.tokens:
        card = found.cards[number]
        if card["n_effects"] or card["spell_damage"] or card["keywords"] & (Keyword.CHARGE | Keyword.RUSH):
            raise OutsideError(cast.label, f"{name(number)} does more than stand there")
    if cast.minion >= 0 and (cast.destroys or (cast.asked and not cast.buff)):
        raise OutsideError(cast.label, "a Battlecry that asks for its target")
    if cast.minion >= 0 and cast.damage and not cast.fixed and cast.aim_kind & HEROES == 0:
        raise OutsideError(cast.label, "a Battlecry that may lack a target")
    served = cast.aim_kind & HEROES and not w.hero and found.outlasts
    barred = any(one.source == cast.number and one.target == OWN_HERO for one in found.turn.barred)
    counted = cast.destroys and not w.body and not any(one.buff or one.tokens for one in found.casts)
    if cast in own_targets(found, w) and not counted and (barred or not served):
        raise OutsideError(cast.label, "it may be best aimed at an own character")


def _check_removals(found: CardProblem) -> None:
    """Refuse what takes minions off the board without a hit where its time matters."""
    removals = [cast for cast in found.casts if cast.destroys]
    asking = [cast for cast in found.casts if cast.asked and cast.damage]
    doubles = any(record["attacks"] == 2 for record in found.problem.record["friends"])
    if doubles and (removals or asking):
        raise OutsideError((removals or asking)[0].label, "beside a minion that attacks twice")


def _check_heals(found: CardProblem, w: Weights) -> None:
    """Refuse heals where it matters when they come, or whom they heal."""
    heals = [cast for cast in found.casts if cast.heal or cast.heals_minions]
    if not heals:
        return
    label, harm = heals[0].label, _harm(found)
    if not found.outlasts or (w.hero and harm):
        raise OutsideError(label, "heals while the own hero may be hurt")
    if any(cast.heals_minions for cast in heals) and w.body:
        raise OutsideError(label, "heals of minions while `body` counts")
    if not any(cast.heals_chosen for cast in heals):
        return
    records = found.problem.record["friends"]
    for i in range(found.own["n_board"]):
        minion = found.own["board"][i]
        weak = records[i]["attacks"] == 2 or minion["health"] < minion["max_health"]
        if records[i]["attacks"] and weak:
            raise OutsideError(label, f"it may save {found.labels[i]}")
    if found.reach >= found.problem.enemy_hero:
        raise OutsideError(label, "heals of an enemy hero who may die")
    if found.problem.enemy and _hitters(found) > 1 and (w.damage or w.frozen):
        raise OutsideError(label, "heals of enemies that are hit")


def _check_buffs(found: CardProblem, w: Weights) -> None:
    """Refuse buffs that may be best given to an enemy, and those beside what the program does not see."""
    buffs = [cast for cast in found.casts if cast.buff]
    if len(buffs) > MOST_BUFFS:
        raise OutsideError(buffs[0].label, f"more than {MOST_BUFFS} cards that strengthen a minion")
    friends = (*found.problem.friendly, *found.problem.hand)
    for cast in buffs:
        if any(friends[i].windfury and may_attack(found, i) for i in strengthened(found, cast)):
            raise OutsideError(cast.label, "beside a minion that attacks twice")
        if cast.spell and any(minion["traits"] & Trait.ELUSIVE for minion in found.own["board"]):
            raise OutsideError(cast.label, "beside a minion that spells cannot choose")
        if any(one.source == cast.number and one.target != ANY_TARGET for one in found.turn.barred):
            raise OutsideError(cast.label, "a target that is left out")
        idle = any(not friend.attacks_left for friend in found.problem.friendly)
        harmless = idle and not w.frozen and (not w.damage or _hitters(found) <= 1)
        hidden = all(enemy.stealth for enemy in found.problem.enemy)
        if cast.aim_side & ENEMY and not hidden and not harmless:
            raise OutsideError(cast.label, "it may be best given to an enemy")


def _hitters(found: CardProblem) -> int:
    """How many hits on enemy minions there can be."""
    hits = sum(int(record["attacks"]) for record in found.problem.record["friends"])
    return hits + sum(1 for c in found.casts if c.damage) + any(True for _ in swing_attacks(found))

