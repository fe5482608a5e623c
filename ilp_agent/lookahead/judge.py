"""What an end of a turn is worth: after the opponent's reply, or the own next turn as well; compiled."""

from typing import NamedTuple

import numpy as np

from engine.codes import DECK_SIZE, ActionKind, Outcome
from engine.events import EVENTS
from engine.jit import njit, njit_borrowing
from engine.rules import apply, encode, outcome
from engine.state import STATE
from engine.streams import below, derive
from ilp_agent.exact.kernel import solve_turn
from ilp_agent.exact.steps import MAX_STEPS, PLAN
from ilp_agent.exact.tracker import TRACKER, follow
from ilp_agent.exact.work import MAX_LAYERS, USUAL_STATES, WORK
from ilp_agent.features import N_FEATURES, read_features
from ilp_agent.lookahead.hands import Hands, drop_hidden, hold_hand, keep_hidden, new_hands
from ilp_agent.lookahead.records import Pool, new_pool
from ilp_agent.lookahead.weights import REPLY_PART, TURN_PART, VALUE_PART
from ilp_agent.search.work import SOLVED
from ilp_agent.turnrecord import TURN, read_turn

WON, LOST = 1e9, -1e9
"""What a position is worth in which a hero is dead; both dead, it is worth `DRAWN`."""

DRAWN = 0.0

AT_ONCE, AFTER_REPLY, AFTER_NEXT_TURN = 1, 2, 3
"""Depths: an end is judged at once, after the opponent's reply, or after the own turn that follows."""

HELD = 3
"""Stream of the hand that the opponent is taken to hold, below that of a turn."""


class Memory(NamedTuple):
    """What turns are looked ahead in, for one thread. Modified in place."""

    pool: Pool
    here: np.ndarray  # the position as its player sees it, dtype STATE, shape (1,)
    then: np.ndarray  # what follows it, dtype STATE, shape (1,)
    turns: np.ndarray  # memory of the exact solver, each of shape (1,)
    plans: np.ndarray
    works: np.ndarray
    trackers: np.ndarray
    codes: np.ndarray  # actions, shape (`MAX_STEPS`,)
    layers: np.ndarray
    features: np.ndarray  # of the position judged last, shape (N_FEATURES,)
    leaf: np.ndarray  # of the position that the chosen end leads to, shape (N_FEATURES,)
    judged: np.ndarray  # shape (1,): positions judged; 0 where there was nothing to choose
    plan: np.ndarray  # what is played, dtype SOLVED, shape (1,)
    luck: np.ndarray  # the chance of the game that is played, dtype EVENTS, shape (1,)
    deck_keys: np.ndarray  # of `ilp_agent.lookahead.unseen.order_deck`, shape (DECK_SIZE,)
    hands: Hands  # what the opponent may hold


@njit
def new_memory() -> Memory:
    """Memory for one thread: some thirteen megabytes."""
    return Memory(
        new_pool(),
        np.zeros(1, STATE),
        np.zeros(1, STATE),
        np.zeros(1, TURN),
        np.zeros(1, PLAN),
        np.zeros(1, WORK),
        np.zeros(1, TRACKER),
        np.zeros(MAX_STEPS, np.int64),
        np.empty((MAX_LAYERS, 2, USUAL_STATES), np.float64),
        np.zeros(N_FEATURES, np.float64),
        np.zeros(N_FEATURES, np.float64),
        np.zeros(1, np.int64),
        np.zeros(1, SOLVED),
        np.zeros(1, EVENTS),
        np.zeros(DECK_SIZE, np.uint64),
        new_hands(),
    )


@njit_borrowing
def judge(
    state: np.void, cards: np.ndarray, row: np.ndarray, seat: int, depth: int, key: np.uint64, memory: Memory
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
def play_board(state: np.void, cards: np.ndarray, weights: np.ndarray, memory: Memory) -> None:
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
def play_hand(state: np.void, cards: np.ndarray, weights: np.ndarray, memory: Memory) -> None:
    """Play the active player's best turn with its board and the cards of its hand that are not hidden.

    `state` and `memory` are modified in place. The turn is not ended.
    """
    own = state["sides"][state["active"]]
    hidden = drop_hidden(own)
    play_turn(state, cards, weights, memory)
    keep_hidden(own, hidden)


@njit_borrowing
def play_turn(state: np.void, cards: np.ndarray, weights: np.ndarray, memory: Memory) -> None:
    """Play the active player's best turn; it is not ended. `state` and `memory` are modified in place."""
    turn, plan, tracker = memory.turns[0], memory.plans[0], memory.trackers[0]
    again = True
    while again and outcome(state) == Outcome.ONGOING:
        read_turn(state, cards, turn)
        solve_turn(turn, weights, memory.works[0], memory.layers, plan)
        _, again = follow(state, cards, turn, plan, tracker, memory.luck[0], memory.codes)


@njit_borrowing
def put_on_top(side: np.void, key: np.uint64) -> None:
    """Put a card of a deck, drawn from a stream, on top of it. `side` is modified in place."""
    n = side["n_deck"]
    if n > 1:
        place = below(key, 0, n)
        card = side["deck"][place]
        side["deck"][place] = side["deck"][n - 1]
        side["deck"][n - 1] = card


@njit_borrowing
def keep_features(features: np.ndarray, kept: np.ndarray) -> None:
    """Copy features one by one: a slice would make an array. `kept` is modified in place."""
    for number in range(N_FEATURES):
        kept[number] = features[number]


@njit_borrowing
def value_of(
    state: np.void, cards: np.ndarray, seat: int, weights: np.ndarray, features: np.ndarray
) -> float:
    """The linear value of a position for the player at `seat`.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        seat: 0 or 1.
        weights: of the features, shape (`N_FEATURES`,).
        features: modified in place.
    """
    own_dead = state["sides"][seat]["health"] <= 0
    if state["sides"][1 - seat]["health"] <= 0:
        return DRAWN if own_dead else WON
    if own_dead:
        return LOST
    read_features(state, cards, seat, features)
    total = 0.0
    for number in range(N_FEATURES):
        total += weights[number] * features[number]
    return total
