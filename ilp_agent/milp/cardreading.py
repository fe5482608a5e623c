"""Class A: which turns on real cards the integer program can count exactly; read from a turn.

Whatever is accepted has the search's optimum. Cards that cannot be paid for this turn are left out, whatever
they do; of all others every row must be one that `ilp_agent.milp.casts` has a word for, and no two of them
may meet in a way that the program does not see (`ilp_agent.milp.cardchecks`).
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from engine import MinionSpec, Position
from engine.codes import BOARD_SIZE, COIN, HERO, MAX_MANA, ActionKind, Keyword
from engine.effects.legal import BARRED, SPARING
from engine.minion import keyword_flags_of
from engine.vocabulary import (
    CardKind,
    Need,
    Op,
    Trait,
    Trigger,
)
from ilp_agent.milp.cardchecks import check_heroes, check_turn
from ilp_agent.milp.cardclass import CardProblem, harm_of, spec_of, swing_attacks, targets_of
from ilp_agent.milp.casts import Cast, OutsideError, read_cast
from ilp_agent.milp.newcomers import Newcomer, Rattle, read_rattle
from ilp_agent.problem import TurnProblem
from ilp_agent.turn import ANY_TARGET, ARRIVED, HERO_ATTACKS, Turn
from ilp_agent.weights import Weights


def read_turn(turn: Turn, weights: Weights) -> CardProblem:
    """What the integer program needs of a turn.

    Raises:
        OutsideError: the turn is outside of class A; the message names the card and the reason.
    """
    position = turn.position
    state, cards = position.state, position.table.array
    own, enemy = (state["sides"][seat] for seat in (position.active, 1 - position.active))
    check_heroes(position, own, enemy)
    hand = _playable(turn, own)
    coin = COIN in hand
    if hand.count(COIN) > 1:
        raise OutsideError("The Coin", "two of them")
    given = sum(read_cast(cards[n], Cast(position.card_name(n), n)).mana for n in _innervates(hand, cards))
    most = min(int(own["mana"]) + coin + given, MAX_MANA)
    hand = [n for n in hand if n != COIN and cards[n]["cost"] <= most and _can_be_met(cards[n], enemy)]
    friendly = tuple(_on_board(minion) for minion in own["board"][: own["n_board"]])
    enemies = tuple(_on_board(minion) for minion in enemy["board"][: enemy["n_board"]])
    numbers = tuple(n for n in hand if cards[n]["kind"] == CardKind.MINION)
    in_hand = tuple(spec_of(cards[n]) for n in numbers)
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
    rattles, enemy_rattles = _rattles(position, own, numbers), _rattles(position, enemy, ())
    newcomers = tuple(_newcomers(casts, enemy_rattles))
    if len(enemies) + len(newcomers) > BOARD_SIZE:
        raise OutsideError("the enemy board", f"more than {BOARD_SIZE} minions with those that may come")
    problem = replace(problem, enemy=(*enemies, *(spec_of(cards[one.card]) for one in newcomers)))
    armed = own["hero_attacks_left"] > 0 and not own["traits"] & BARRED
    found = CardProblem(turn, problem, labels, numbers, casts, most, bool(armed), frozenset(), 0, True)
    found = replace(found, newcomers=newcomers, rattles=rattles, enemy_rattles=enemy_rattles)
    barred = [j for j in (*range(len(problem.enemy)), HERO) if found.bars(ActionKind.ATTACK, HERO_ATTACKS, j)]
    found = replace(found, swing_barred=frozenset(barred))
    found = replace(found, reach=_reach(found), outlasts=harm_of(found) < own["health"] + own["armour"])
    check_turn(found, weights)
    return found


def _rattles(position: Position, side: np.void, numbers: tuple[int, ...]) -> dict[int, Rattle]:
    """The Deathrattles of minions on a board, and in hand behind them, by place."""
    cards, found = position.table.array, {}
    for place in range(side["n_board"]):
        minion = side["board"][place]
        if not minion["traits"] & Trait.SILENCED:
            title = position.card_name(int(minion["card"]))
            found[place] = read_rattle(title, cards[minion["card"]], minion["gifts"])
    for place, number in enumerate(numbers, int(side["n_board"])):
        found[place] = read_rattle(position.card_name(number), cards[number])
    return {place: rattle for place, rattle in found.items() if rattle != Rattle()}


def _newcomers(casts: tuple[Cast, ...], enemy_rattles: dict[int, Rattle]) -> Iterator[Newcomer]:
    """Enemies that may come: of those that die, and what a card turns one into."""
    for j, rattle in enemy_rattles.items():
        for token in rattle.tokens:
            yield Newcomer(token, dead=j)
    for n, cast in enumerate(casts):
        if cast.becomes >= 0:
            yield Newcomer(cast.becomes, cast=n)


def _each_once(titles: list[str]) -> Iterator[str]:
    """Titles with numbers where there are several: "Fireball", "Fireball 2"."""
    seen: dict[str, int] = {}
    for title in titles:
        seen[title] = seen.get(title, 0) + 1
        yield title if seen[title] == 1 else f"{title} {seen[title]}"


def _playable(turn: Turn, own: np.void) -> list[int]:
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


def _on_board(minion: np.void) -> MinionSpec:
    """A minion on a board, with the attacks that it may make."""
    flags = keyword_flags_of(int(minion["keywords"]))
    left = 0 if minion["traits"] & BARRED else int(minion["attacks_left"])
    return MinionSpec(int(minion["attack"]), int(minion["health"]), **flags, attacks_left=left)


def _barred(
    turn: Turn, own: np.void, enemy: np.void, numbers: tuple[int, ...], friendly: tuple[MinionSpec, ...]
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
    turn: Turn, own: np.void, enemy: np.void, hand: list[int], numbers: tuple[int, ...], most: int
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
    total += sum(rattle.blow for rattle in found.rattles.values())
    return total + max((attack for _, _, attack in swing_attacks(found)), default=0)
