"""Plain enumeration of a turn's lines: every legal sequence of actions, one by one; compiled.

The reference of the lethal search (`ilp_agent.search.lethal`) and the proof of puzzles. It shares no
shortcut with the searches: no transposition table, no bound, no order of actions, no equal cards left out. It
knows only the rules (`engine.rules`), and stops where a turn is not certain.

A line is a sequence of actions up to the kill. What an action does is written without places
(`describe_action`), so that lines that differ only in order, in the choice among equal cards or among minions
that were equal at the start, or in board positions have the same actions. The necessary actions are those
that every line that kills contains. If they alone kill, in some order, the lethal is unique: no action of it
can be left out, and no line does without one of them.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from engine import Action, Position
from engine.bitfields import AIMED, choose_one_option
from engine.codes import BOARD_SIZE, HERO, MAX_ACTIONS, OWN_TARGETS, ActionKind, Outcome
from engine.effects.chance import begin_hypothetical
from engine.jit import njit
from engine.rules import apply, decode, legal_actions, outcome
from engine.state import EVENTS, STATE, TO_HERO
from engine.view import hide_information
from ilp_agent.search.objective import has_end_of_turn_effect

MAX_STEPS = 32
"""Longest line in actions."""


class Enumerated(IntEnum):
    """What an enumeration found out."""

    NO_LETHAL = 0  # no line kills
    UNIQUE = 1  # the necessary actions kill
    SEVERAL = 2  # there are different ways to kill
    TOO_MANY = 3  # the limit of positions was met
    UNCERTAIN = 4  # an action with a chance event, hidden cards or an effect at the end of the turn was met


LINES = np.dtype(
    [
        ("status", "i4"),  # an `Enumerated`
        ("tried", "i8"),  # positions, counted once for every sequence of actions that reaches them
        ("cut", "i4"),  # 1: a line was longer than the depth of the walk
        ("kills", "i8"),  # lines that kill, in the complete enumeration
        ("n", "i4"),  # length of the shortest line
        ("line", "i8", (MAX_STEPS,)),  # the first of the shortest lines
        ("n_common", "i4"),  # number of necessary actions
        ("common", "i8", (MAX_STEPS,)),  # necessary actions as `describe_action` writes them
    ]
)
"""Result of an enumeration."""

NO_TARGET_CODE, ENEMY_HERO_CODE, OWN_HERO_CODE = 0, 30_001, 30_002
ARRIVED = 10_000, 20_000
"""Codes of minions that came this turn: this number of their side, the opponent's second, plus their card."""

_option_of = njit(choose_one_option)


@njit
def minion_code(state: np.void, seat: int, place: int, equal: np.ndarray) -> int:
    """Code of a minion of the player at `seat`: the first one that was equal at the start; or of its card."""
    minion = state["sides"][seat]["board"][place]
    if minion["entity_id"] < len(equal):
        return int(equal[minion["entity_id"]])
    return int(ARRIVED[0 if seat == state["active"] else 1] + minion["card"])


@njit
def describe_action(state: np.void, action: int, equal: np.ndarray) -> int:
    """What an action does, independent of places, as an integer: kind, option, source and target.

    Args:
        state: the position before it, dtype `engine.state.STATE`.
        action: as `engine.rules.encode` packs it.
        equal: by entity id, the first minion that was equal at the start (`equal_minions`).
    """
    kind, source, target = decode(action)
    seat = state["active"]
    own = state["sides"][seat]
    by, modifiers, on = 0, 0, NO_TARGET_CODE
    if kind == ActionKind.PLAY:
        held = own["hand_modifiers"][source]
        by = int(own["hand"][source]) & 0xFFFF
        for change in (held["cost"], held["attack"], held["health"]):
            modifiers = (modifiers << 8) | (int(change) & 0xFF)
    elif kind == ActionKind.POWER:
        by = int(own["power"])
    elif kind == ActionKind.CHOOSE:
        by = int(state["options"][source]) & 0xFFFF
    else:
        by = OWN_HERO_CODE if source == HERO else minion_code(state, seat, source, equal)
    if kind == ActionKind.ATTACK or action & AIMED:
        if target == HERO:
            on = ENEMY_HERO_CODE
        elif target < OWN_TARGETS:
            on = minion_code(state, 1 - seat, target, equal)
        elif target == OWN_TARGETS + BOARD_SIZE:
            on = OWN_HERO_CODE
        else:
            on = minion_code(state, seat, target - OWN_TARGETS, equal)
    return ((((kind << 2 | _option_of(action)) << 16 | by) << 24 | modifiers) << 16) | on


@njit
def keep_common(common: np.ndarray, n_common: int, path: np.ndarray, n_path: int) -> int:
    """Keep the actions of `common` that `path` has as well, with multiplicity; return their number."""
    kept, used = 0, 0
    for place in range(n_common):
        for other in range(n_path):
            if not used >> other & 1 and path[other] == common[place]:
                used |= 1 << other
                common[kept] = common[place]
                kept += 1
                break
    return kept


@njit
def walk_lines(
    starts: np.ndarray,
    cards: np.ndarray,
    equal: np.ndarray,
    depth: int,
    limit: int,
    needed: int,
    found: np.void,
) -> None:
    """Walk all lines of at most `depth` actions. `found` is modified in place.

    Args:
        starts: the position, dtype `engine.state.STATE`, shape (1,); not over.
        cards: the card table.
        equal: of `equal_minions`.
        depth: longest line.
        limit: largest number of positions in `found["tried"]`, which is not reset.
        needed: stop when fewer actions than this are common to all lines that kill.
        found: dtype `LINES`.
    """
    states, events = np.zeros(depth + 1, STATE), np.zeros(1, EVENTS)
    actions = np.empty((depth + 1, MAX_ACTIONS), np.int64)
    counts, following = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64)
    path, taken = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64)
    states[0] = starts[0]
    seat = states[0]["active"]
    hide_information(states[0], cards, seat)
    found["kills"], found["n"], found["n_common"], found["cut"] = 0, MAX_STEPS + 1, 0, 0
    level, enter = 0, True
    while level >= 0:
        state = states[level]
        if enter:
            enter = False
            found["tried"] += 1
            following[level], counts[level] = 0, 0
            if found["tried"] > limit:
                found["status"] = Enumerated.TOO_MANY
                return
            if outcome(state) != Outcome.ONGOING:
                if state["sides"][1 - seat]["health"] <= 0 < state["sides"][seat]["health"]:
                    found["kills"] += 1
                    if found["kills"] == 1:
                        found["common"][:level] = path[:level]
                        found["n_common"] = level
                    found["n_common"] = keep_common(found["common"], found["n_common"], path, level)
                    if level < found["n"]:
                        found["n"] = level
                        found["line"][:level] = taken[:level]
                    if found["n_common"] < needed:
                        found["status"] = Enumerated.SEVERAL
                        return
            else:
                if has_end_of_turn_effect(state, cards, seat):
                    found["status"] = Enumerated.UNCERTAIN
                    return
                counts[level] = legal_actions(state, cards, actions[level])
                if state["n_options"] == 0:
                    counts[level] -= 1  # the end of the turn
                if level == depth and counts[level] > 0:
                    counts[level], found["cut"] = 0, 1
        if following[level] == counts[level]:
            level -= 1
            continue
        action = actions[level, following[level]]
        following[level] += 1
        path[level], taken[level] = describe_action(state, action, equal), action
        states[level + 1] = state
        begin_hypothetical(events[0])
        apply(states[level + 1], cards, action, events[0])
        if events[0]["n_pending_outcomes"] or events[0]["depends_on_hidden"]:
            found["status"] = Enumerated.UNCERTAIN
            return
        level += 1
        enter = True
    found["status"] = Enumerated.UNIQUE if found["kills"] else Enumerated.NO_LETHAL


@njit
def enumerate_lethal(
    starts: np.ndarray, cards: np.ndarray, equal: np.ndarray, limit: int, lines: np.ndarray
) -> None:
    """Find the shortest line that kills, by length, and then walk all lines for the necessary actions.

    Args:
        starts: the position, dtype `engine.state.STATE`, shape (1,); not over. Unchanged.
        cards: the card table.
        equal: of `equal_minions`.
        limit: largest number of positions.
        lines: dtype `LINES`, shape (1,). Modified in place.
    """
    found = lines[0]
    found["tried"], found["status"], found["cut"] = 0, Enumerated.NO_LETHAL, 1
    depth = 0
    while found["status"] == Enumerated.NO_LETHAL and found["cut"] and depth < MAX_STEPS:
        depth += 1
        walk_lines(starts, cards, equal, depth, limit, depth, found)
    if found["status"] == Enumerated.UNIQUE:
        walk_lines(starts, cards, equal, MAX_STEPS, limit, int(found["n"]), found)
    if found["cut"] and found["status"] in (Enumerated.NO_LETHAL, Enumerated.UNIQUE):
        found["status"] = Enumerated.TOO_MANY  # a line has more than `MAX_STEPS` actions


@njit
def greedy_lines(starts: np.ndarray, cards: np.ndarray, kills: np.ndarray) -> None:
    """Whether two greedy lines kill: attacks on the hero alone, and always the most damage to the hero.

    Args:
        starts: positions, dtype `engine.state.STATE`, shape (positions,); not over. Unchanged.
        cards: the card table.
        kills: bool, shape (positions, 2). Modified in place.
    """
    states, events, actions = np.zeros(2, STATE), np.zeros(1, EVENTS), np.empty(MAX_ACTIONS, np.int64)
    for number in range(len(starts)):
        for greed in range(2):
            states[0] = starts[number]
            seat = states[0]["active"]
            hide_information(states[0], cards, seat)
            while outcome(states[0]) == Outcome.ONGOING:
                most, chosen = 0, 0
                for place in range(legal_actions(states[0], cards, actions)):
                    kind, _, target = decode(actions[place])
                    if kind == ActionKind.END_TURN or (
                        greed == 0 and (kind != ActionKind.ATTACK or target != HERO)
                    ):
                        continue
                    states[1] = states[0]
                    begin_hypothetical(events[0])
                    apply(states[1], cards, actions[place], events[0])
                    damage = events[0]["hits"][1 - seat, TO_HERO]
                    if damage > most and not events[0]["n_pending_outcomes"]:
                        most, chosen = damage, int(actions[place])
                if most == 0:
                    break
                begin_hypothetical(events[0])
                apply(states[0], cards, chosen, events[0])
            own, enemy = states[0]["sides"][seat], states[0]["sides"][1 - seat]
            kills[number, greed] = enemy["health"] <= 0 < own["health"]


def equal_minions(position: Position) -> np.ndarray:
    """By entity id, the first minion of the same side that is equal in all but its place; int64.

    Attacks left of enemy minions, and whether they are new, do not matter. Entity ids without a minion on
    board have themselves.
    """
    equal = np.arange(int(position.state["last_entity_id"]) + 1)
    for seat, side in enumerate(position.state["sides"]):
        first: dict[bytes, int] = {}
        for minion in side["board"][: side["n_board"]]:
            alike = minion.copy()
            alike["entity_id"] = 0
            if seat != position.active:
                alike["attacks_left"], alike["arrived"] = 0, 0
            equal[minion["entity_id"]] = first.setdefault(alike.tobytes(), int(minion["entity_id"]))
    return equal


class LethalLines(NamedTuple):
    """All lines of a turn that kill the enemy hero.

    Attributes:
        status: what is known of them; the other attributes hold for `UNIQUE`, and the first two for all.
        positions: positions tried, counted once for every sequence of actions that reaches them.
        kills: lines that kill.
        line: the first of the shortest lines; its actions are the necessary ones.
    """

    status: Enumerated
    positions: int
    kills: int
    line: tuple[Action, ...]


def enumerate_lines(position: Position, limit: int) -> LethalLines:
    """Try every legal sequence of actions of the player to move, up to `limit` positions.

    Args:
        position: not over; unchanged.
        limit: largest number of positions, at least 1.
    """
    lines = np.zeros(1, LINES)
    enumerate_lethal(position.states, position.table.array, equal_minions(position), limit, lines)
    found = lines[0]
    shown = found["line"][: found["n"]] if found["status"] == Enumerated.UNIQUE else []
    actions = tuple(Action.from_code(int(code)) for code in shown)
    return LethalLines(Enumerated(int(found["status"])), int(found["tried"]), int(found["kills"]), actions)
