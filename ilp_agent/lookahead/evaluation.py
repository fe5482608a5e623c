"""Linear evaluation of a position, and the working memory of the lookahead search; compiled."""

from typing import Generic, NamedTuple, TypeVar

import numpy as np

from engine.codes import DECK_SIZE
from engine.jit import njit_no_alloc
from engine.state import EVENTS, STATE
from ilp_agent.features import N_FEATURES, compute_features
from ilp_agent.lookahead.determinization import HandModel, new_hand_model
from ilp_agent.lookahead.weights import CARD_PART, VALUE_PART
from ilp_agent.search.work import SOLUTION

WON, LOST = 1e9, -1e9
"""Values of won and lost games; a draw is worth `DRAWN`."""

DRAWN = 0.0

AFTER_TURN, AFTER_REPLY, AFTER_NEXT_TURN = 1, 2, 3
"""Depths: evaluate at the end of the turn, after the opponent's reply, or after the next own turn."""


E = TypeVar("E")
"""Memory for candidates: `body_ends.BodyMemory` or `card_ends.CardMemory`."""


class LookaheadMemory(NamedTuple, Generic[E]):
    """Working memory of the lookahead search, for one thread. Modified in place."""

    here: np.ndarray  # position as its player sees it, dtype STATE, shape (1,)
    then: np.ndarray  # hypothetical later position, dtype STATE, shape (1,)
    plan: np.ndarray  # the chosen plan, dtype SOLUTION, shape (1,)
    events: np.ndarray  # chance events of the game in progress, dtype EVENTS, shape (1,)
    features: np.ndarray  # of the position evaluated last; shape (N_FEATURES,), or with card counts
    leaf: np.ndarray  # of the last evaluated position of the chosen candidate; shape as `features`
    judged: np.ndarray  # number of evaluated positions, 0 without a choice, shape (1,)
    deck_keys: np.ndarray  # workspace of `ilp_agent.lookahead.determinization.sort_deck`, shape (DECK_SIZE,)
    hands: HandModel  # model of the opponent's hand
    ends: E


def new_lookahead_memory(ends: E) -> LookaheadMemory[E]:
    """Allocate working memory for one thread."""
    return LookaheadMemory(
        np.zeros(1, STATE),
        np.zeros(1, STATE),
        np.zeros(1, SOLUTION),
        np.zeros(1, EVENTS),
        np.zeros(N_FEATURES, np.float64),
        np.zeros(N_FEATURES, np.float64),
        np.zeros(1, np.int64),
        np.zeros(DECK_SIZE, np.uint64),
        new_hand_model(),
        ends,
    )


@njit_no_alloc
def copy_features(features: np.ndarray, kept: np.ndarray) -> None:
    """Copy features element by element: a slice would allocate. `kept` is modified in place."""
    for number in range(len(features)):
        kept[number] = features[number]


@njit_no_alloc
def linear_value(
    state: np.void, cards: np.ndarray, seat: int, row: np.ndarray, features: np.ndarray
) -> float:
    """Linear value of a position for the player at `seat`: its features, and its cards if they have values.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        seat: 0 or 1.
        row: of `ilp_agent.lookahead.weights.kernel_rows`.
        features: shape (`N_FEATURES`,), or with room for card counts (`value_of_cards`). Modified in place.
    """
    own_dead = state["sides"][seat]["health"] <= 0
    if state["sides"][1 - seat]["health"] <= 0:
        return DRAWN if own_dead else WON
    if own_dead:
        return LOST
    compute_features(state, cards, seat, features)
    weights, card_values = row[VALUE_PART], row[CARD_PART]
    total = 0.0
    for number in range(N_FEATURES):
        total += weights[number] * features[number]
    if len(card_values) > 0:
        total += value_of_cards(state, cards, seat, card_values, features)
    return total


@njit_no_alloc
def value_of_cards(
    state: np.void, cards: np.ndarray, seat: int, card_values: np.ndarray, features: np.ndarray
) -> float:
    """Values of the cards in the own hand, and of minions and weapons in play, enemy ones against.

    Hidden cards and The Coin have none.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        seat: 0 or 1.
        card_values: by card number, first in hand, then on board; shape (2 cards,).
        features: if it is longer than `N_FEATURES`, counts of cards in the order of `card_values` are added
            after the features. Modified in place.
    """
    own, enemy, n = state["sides"][seat], state["sides"][1 - seat], len(cards)
    total = 0.0
    for place in range(own["n_hand"]):
        if own["hand"][place] >= 0:
            total += _value_of_card(cards[own["hand"][place]]["number"], 1.0, card_values, features)
    for slot in range(own["n_board"]):
        number = cards[own["board"][slot]["card"]]["number"]
        total += _value_of_card(n + number, 1.0, card_values, features)
    for slot in range(enemy["n_board"]):
        number = cards[enemy["board"][slot]["card"]]["number"]
        total += _value_of_card(n + number, -1.0, card_values, features)
    if own["durability"] > 0:
        total += _value_of_card(n + cards[own["weapon"]]["number"], 1.0, card_values, features)
    if enemy["durability"] > 0:
        total += _value_of_card(n + cards[enemy["weapon"]]["number"], -1.0, card_values, features)
    return total


@njit_no_alloc
def _value_of_card(column: int, sign: float, card_values: np.ndarray, features: np.ndarray) -> float:
    """Signed value of a card, counted in `features` if there is room; `features` is modified in place."""
    if len(features) > N_FEATURES:
        features[N_FEATURES + column] += sign
    return float(sign * card_values[column])
