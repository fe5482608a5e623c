"""One record: played here, and compared with what the other engine recorded."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from engine import Outcome, Position, rules
from engine.actions import Action
from engine.codes import ActionKind
from engine.effects.auras import refresh_auras
from engine.effects.chance import Chance
from engine.errors import IllegalActionError
from tests.oracle.cards import Cards, SkippedError
from tests.oracle.counters import COIN_ID
from tests.oracle.facts import facts_by_name, facts_of, facts_of_record
from tests.oracle.importer import import_action, import_state
from tests.oracle.pools import appeared, skip_what_is_not_in_the_pool

MOST_OUTCOMES = 3_000
"""Outcomes of an action that are tried."""
FAR = 1_000
"""Further off than any outcome that is not that of another action."""
OVER = {"first": Outcome.FIRST_WINS, "second": Outcome.SECOND_WINS, "draw": Outcome.DRAW}


class Step(NamedTuple):
    """A record that was played here.

    Attributes:
        found: what differs; [] where both engines agree.
        position: before the step.
        action: ours.
        after: the position after it that is nearest to the recorded one; None where it is not legal.
        outcomes: of chance, that lead there.
    """

    found: list[str]
    position: Position
    action: Action
    after: Position | None = None
    outcomes: tuple[int, ...] = ()


def results(position: Position, action: Action) -> Iterator[Position]:
    """Every position that an action can lead to."""
    return (after for _, after in results_by_outcomes(position, action))


def results_by_outcomes(position: Position, action: Action) -> Iterator[tuple[tuple[int, ...], Position]]:
    """Every position that an action can lead to, with the outcomes of chance that lead there."""
    table = position.table.array
    waiting: list[tuple[int, ...]] = [()]
    tried = 0
    while waiting:
        outcomes = waiting.pop()
        tried += 1
        if tried > MOST_OUTCOMES:
            raise SkippedError("more outcomes than are tried")
        after, chance = position.copy(), Chance.given(outcomes)
        # the kernel alone: an exception would write the position out each time
        if rules.play_checked(after.states, table, action.code, chance.array) == rules.ILLEGAL:
            raise IllegalActionError(f"{position.describe(action)} is not legal")
        if chance.n_pending_outcomes:
            waiting += [(*outcomes, one) for one in range(chance.n_pending_outcomes)]
        else:
            yield outcomes, after


def legal_differences(record: dict[str, Any], position: Position, cards: Cards) -> list[str]:
    """Actions that are legal in one engine alone; plays of cards that are not covered are left out."""
    state = record["before"]
    hand = state["players"][state["active"]]["hand"]

    def counts(place: int) -> bool:
        return hand[place]["id"] == COIN_ID or not cards.reason(cards.name_of(hand[place]))

    theirs = {
        import_action(action, state, cards)
        for action in record["legal"]
        if not (action["type"] == "play" and not counts(action["hand"]))
    }
    ours = {
        action._replace(place=-1)
        for action in position.legal_actions()
        if action.kind != ActionKind.PLAY or counts(action.source)
    }
    missing = [f"legal there alone: {position.describe(action)}" for action in theirs - ours]
    return missing + [f"legal here alone: {position.describe(action)}" for action in ours - theirs]


def _skip_what_acts_unseen(state: dict[str, Any], action: dict[str, Any], cards: Cards) -> None:
    """Skip a step in which a card in a hand does something by itself."""
    if action["type"] == "end_turn":
        for player in state["players"]:
            if any(card.get("custom") or cards.changes_in_hand(card["id"]) for card in player["hand"]):
                raise SkippedError("a card that acts in the hand")


def _skip_what_comes_unknown(record: dict[str, Any], cards: Cards) -> None:
    """Skip a step in which a minion comes into play whose text is not covered."""
    there = {one["order"] for player in record["before"]["players"] for one in player["board"]}
    for player in record["after"]["players"]:
        for one in player["board"]:
            if one["order"] not in there and cards.reason_in_play(one["id"]):
                raise SkippedError("a minion that comes into play and is not covered")


def placed(record: dict[str, Any], position: Position, cards: Cards) -> tuple[Action, bool]:
    """The recorded action as ours, and whether the board is out of order after it.

    Places are offered here where it matters who stands beside whom.
    """
    action, state = record["action"], record["before"]
    ours = import_action(action, state, cards)
    index = action.get("board_index")
    if action["type"] != "play" or index in (None, len(state["players"][state["active"]]["board"])):
        return ours, False
    at = ours._replace(place=index)
    return (at, False) if at in position.legal_actions() else (ours, True)


def before_differences(record: dict[str, Any], position: Position, cards: Cards) -> list[str]:
    """What our auras and costs make of the state before the step that the other engine's do not."""
    wanted = facts_of_record(record["before"], cards, int(position.table.array[0]["game_features"]))
    refresh_auras(position.states, position.table.array)
    return [f"before: {text}" for text in _differing(wanted, position, FAR)[1]]


def differences(record: dict[str, Any], cards: Cards) -> list[str]:
    """What differs between the recorded outcome and ours; [] where they agree.

    Raises:
        SkippedError: the record cannot be played here.
    """
    return play(record, cards).found


def play(record: dict[str, Any], cards: Cards) -> Step:
    """Play a record here.

    Raises:
        SkippedError: it cannot be played here.
    """
    state, action = record["before"], record["action"]
    if action["type"] == "mulligan":
        raise SkippedError("a mulligan")
    if action["type"] == "play" and action["card"] != COIN_ID:
        item = state["players"][state["active"]]["hand"][action["hand"]]
        if cards.reason(cards.name_of(item)):
            raise SkippedError(f"the card played: {cards.reason(cards.name_of(item))}")
    _skip_what_acts_unseen(state, action, cards)
    position = import_state(state, cards, appeared(record, cards))
    ours, unordered = placed(record, position, cards)
    found = before_differences(record, position, cards)
    if not found and "legal" in record:
        found = legal_differences(record, position, cards)
    if found:
        return Step(found, position, ours)
    skip_what_is_not_in_the_pool(record, position.table)
    if ours not in position.legal_actions():
        return Step([f"not legal here: {position.describe(ours)}"], position, ours)
    if record["after"]["over"]:
        return _play_to_the_end(record, position, ours)
    wanted = facts_of_record(record["after"], cards, int(position.table.array[0]["game_features"]))
    board = {f"board {state['active']}", f"traits {state['active']}"} if unordered else set()
    decks = {"deck 0", "deck 1"} if _shuffles(record) else set()
    nearest: Step | None = None
    least = FAR
    for outcomes, after in results_by_outcomes(position, ours):
        off, found = _differing(wanted, after, least, board | decks)
        if after.outcome != Outcome.ONGOING:
            off, found = off + FAR, [*found, f"over here: {after.outcome.name}"]
        if nearest is None or off < least:
            nearest, least = Step(found, position, ours, after, outcomes), off
        if not found:
            break
    if nearest and nearest.found:
        _skip_what_comes_unknown(record, cards)
    assert nearest is not None, "an action has an outcome"
    return nearest


def _play_to_the_end(record: dict[str, Any], position: Position, action: Action) -> Step:
    """A step after which the game is over: who has won is compared, and nothing else."""
    over = OVER[record["after"]["over"]]
    seen = set()
    for outcomes, after in results_by_outcomes(position, action):
        if after.outcome == over:
            return Step([], position, action, after, outcomes)
        seen.add(after.outcome.name)
    return Step([f"over: {over.name}, here {', '.join(sorted(seen))}"], position, action)


def _shuffles(record: dict[str, Any]) -> bool:
    return any(draw[0] == "shuffle" for draw in record.get("draws") or ())


def _differing(
    wanted: dict[str, Any], position: Position, most: int, unordered: frozenset[str] | set[str] = frozenset()
) -> tuple[int, list[str]]:
    """Facts that are not as they should be, and how far off; of some the order does not count.

    What is further off than `most` is not looked at to the end.
    """
    found: list[str] = []
    off = 0
    facts: dict[str, Callable[[], Any]] = facts_by_name(position)
    for key, fact in facts.items():
        if key not in wanted:
            continue
        ours, theirs = fact(), wanted[key]
        if key in unordered:
            ours, theirs = sorted(ours), sorted(theirs)
        if ours != theirs:
            found.append(f"{key}: {theirs} here {ours}")
            off += _distance(ours, theirs)
            if off > most:
                break
    return off, found


def _distance(ours: Any, theirs: Any) -> int:
    """How many items of two lists are in one of them alone; 1 for other facts and for another order."""
    if not isinstance(ours, list):
        return 1
    one, other = Counter(map(str, ours)), Counter(map(str, theirs))
    return max(1, sum(((one - other) + (other - one)).values()))


__all__ = ["differences", "facts_of", "play", "results"]
