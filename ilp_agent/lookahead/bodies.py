"""Ends of a turn of bodies: an accelerator of lookahead (`ilp_agent.lookahead.selfplay`) for them, compiled.

All ends are listed, where the way for real cards (`ilp_agent.lookahead.cards`) lists the best of what a
search leaves for the end of a turn; replies are turns of the exact solver.
"""

from typing import NamedTuple

import numpy as np

from engine.codes import ActionKind, Outcome
from engine.jit import njit_borrowing
from engine.rules import apply, encode, outcome
from engine.streams import below, derive
from ilp_agent.exact.kernel import solve_turn
from ilp_agent.exact.steps import MAX_STEPS, PLAN
from ilp_agent.exact.tracker import TRACKER, follow
from ilp_agent.exact.work import MAX_LAYERS, USUAL_STATES, WORK
from ilp_agent.lookahead.hands import drop_hidden, hold_hand, keep_hidden
from ilp_agent.lookahead.judge import AFTER_NEXT_TURN, AFTER_REPLY, Memory, value_of
from ilp_agent.lookahead.pool import find_ends, write_actions
from ilp_agent.lookahead.records import MAX_NODES, Pool, new_pool
from ilp_agent.lookahead.unseen import order_deck
from ilp_agent.lookahead.weights import BUDGET, DEPTH, REPLY_PART, SAMPLES, TURN_PART, VALUE_PART
from ilp_agent.turnrecord import TURN, read_turn

HELD = 3
"""Stream of the hand that the opponent is taken to hold, below that of a turn."""


class Bodies(NamedTuple):
    """Memory for ends of turns of bodies: some thirteen megabytes. Modified in place."""

    pool: Pool
    turns: np.ndarray  # memory of the exact solver, each of shape (1,)
    plans: np.ndarray
    works: np.ndarray
    trackers: np.ndarray
    codes: np.ndarray  # actions, shape (`MAX_STEPS`,)
    layers: np.ndarray


def new_bodies() -> Bodies:
    """Memory for one thread."""
    return Bodies(
        new_pool(),
        np.zeros(1, TURN),
        np.zeros(1, PLAN),
        np.zeros(1, WORK),
        np.zeros(1, TRACKER),
        np.zeros(MAX_STEPS, np.int64),
        np.empty((MAX_LAYERS, 2, USUAL_STATES), np.float64),
    )


@njit_borrowing
def find(cards: np.ndarray, row: np.ndarray, memory: Memory[Bodies]) -> int:
    """Find the ends of the turn in `memory.here`; see `ilp_agent.lookahead.selfplay.Ends`.

    The best plan of the turn program stands where it kills the enemy hero, or the budget allows one end.
    """
    here, ends, chosen = memory.here[0], memory.ends, memory.plan[0]
    order_deck(here["sides"][here["active"]], cards, memory.deck_keys)
    chosen["again"], chosen["unproven"] = 0, 0
    turn, plan = ends.turns[0], ends.plans[0]
    read_turn(here, cards, turn)
    solve_turn(turn, row[TURN_PART], ends.works[0], ends.layers, plan)
    if plan["lethal"] or row[BUDGET] <= 1.0:
        n, again = follow(here, cards, turn, plan, ends.trackers[0], memory.luck[0], chosen["actions"])
        chosen["n"] = n
        chosen["again"] = 1 if again else 0
        return 0
    return find_ends(here, cards, row[TURN_PART], int(row[BUDGET]), MAX_NODES, False, ends.pool)


@njit_borrowing
def worth(
    number: int, cards: np.ndarray, row: np.ndarray, stream: np.uint64, memory: Memory[Bodies]
) -> float:
    """What an end is worth, on several of the opponent's hands where something is said of them.

    See `ilp_agent.lookahead.selfplay.Ends`. The hands are the same for all ends.
    """
    depth, samples, total = int(row[DEPTH]), 1, 0.0
    if memory.hands.n_decks[0] > 0 and depth >= AFTER_REPLY:
        samples = max(1, int(row[SAMPLES]))
    for sample in range(samples):
        luck = stream if sample == 0 else derive(stream, sample)
        memory.then[0] = memory.ends.pool.end_states[number]
        total += judge(memory.then[0], cards, row, memory.here[0]["active"], depth, luck, memory) / samples
    memory.judged[0] += 1
    return total


@njit_borrowing
def is_before(number: int, other: int, memory: Memory[Bodies]) -> bool:
    """Whether of two ends that are worth the same the first is played: where its objective is higher."""
    ends = memory.ends.pool.ends
    return bool(ends[number]["value"] > ends[other]["value"])


@njit_borrowing
def take(number: int, cards: np.ndarray, memory: Memory[Bodies]) -> None:
    """Write the actions that lead to an end to `memory.plan`."""
    chosen, pool = memory.plan[0], memory.ends.pool
    if memory.judged[0] > 0:
        chosen["unproven"] = pool.unproven[0]
    chosen["n"] = write_actions(number, cards, pool, chosen["actions"])


@njit_borrowing
def judge(
    state: np.void,
    cards: np.ndarray,
    row: np.ndarray,
    seat: int,
    depth: int,
    key: np.uint64,
    memory: Memory[Bodies],
) -> float:
    """What a position at the end of the turn of the player at `seat` is worth to that player.

    Args:
        state: dtype `STATE`, before the end of the turn, hidden cards hidden. Modified in place.
        cards: the card table.
        row: as `ilp_agent.lookahead.weights.kernel_rows` makes it.
        seat: 0 or 1; the active player.
        depth: `AT_ONCE`, `AFTER_REPLY` or `AFTER_NEXT_TURN`.
        key: of the card that is drawn for the next turn, and of the hand that the opponent is taken to hold:
            the same for all ends of a turn.
        memory: modified in place: `features` are those of the position that is judged. `hands` say what the
            opponent may hold; where they say nothing, it plays its board alone.
    """
    if depth >= AFTER_REPLY and outcome(state) == Outcome.ONGOING:
        holds = hold_hand(state["sides"][1 - seat], derive(key, HELD), False, memory.hands)
        apply(state, cards, encode(ActionKind.END_TURN, 0, 0), memory.luck[0])
        if holds:
            play_hand(state, cards, row[REPLY_PART], memory)
        else:
            play_board(state, cards, row[REPLY_PART], memory)
    if depth >= AFTER_NEXT_TURN and outcome(state) == Outcome.ONGOING:
        put_on_top(state["sides"][seat], key)
        apply(state, cards, encode(ActionKind.END_TURN, 0, 0), memory.luck[0])
        play_turn(state, cards, row[TURN_PART], memory)
    return value_of(state, cards, seat, row[VALUE_PART], memory.features)


@njit_borrowing
def play_board(state: np.void, cards: np.ndarray, weights: np.ndarray, memory: Memory[Bodies]) -> None:
    """Play the active player's best turn with what stands on its board: its hand is hidden.

    `state` and `memory` are modified in place. The turn is not ended.
    """
    own = state["sides"][state["active"]]
    held = own["n_hand"]
    own["n_hand"] = 0
    if own["n_board"] > 0:
        play_turn(state, cards, weights, memory)
    own["n_hand"] = held


@njit_borrowing
def play_hand(state: np.void, cards: np.ndarray, weights: np.ndarray, memory: Memory[Bodies]) -> None:
    """Play the active player's best turn with its board and the cards of its hand that are not hidden.

    `state` and `memory` are modified in place. The turn is not ended.
    """
    own = state["sides"][state["active"]]
    hidden = drop_hidden(own)
    play_turn(state, cards, weights, memory)
    keep_hidden(own, hidden)


@njit_borrowing
def play_turn(state: np.void, cards: np.ndarray, weights: np.ndarray, memory: Memory[Bodies]) -> None:
    """Play the active player's best turn; it is not ended. `state` and `memory` are modified in place."""
    ends = memory.ends
    turn, plan, tracker = ends.turns[0], ends.plans[0], ends.trackers[0]
    again = True
    while again and outcome(state) == Outcome.ONGOING:
        read_turn(state, cards, turn)
        solve_turn(turn, weights, ends.works[0], ends.layers, plan)
        _, again = follow(state, cards, turn, plan, tracker, memory.luck[0], ends.codes)


@njit_borrowing
def put_on_top(side: np.void, key: np.uint64) -> None:
    """Put a card of a deck, drawn from a stream, on top of it. `side` is modified in place."""
    n = side["n_deck"]
    if n > 1:
        place = below(key, 0, n)
        card = side["deck"][place]
        side["deck"][place] = side["deck"][n - 1]
        side["deck"][n - 1] = card
