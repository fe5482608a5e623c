"""HearthSim's score of a position with real cards: the posts' terms, and those of the authors' program.

To the eight terms of `rivals.hearthsim` come, of the cards in hand and of weapons:

    S_c = w_m sum of the costs of cards but spells that deal damage + w_c for each minion with Charge
          + sum over spells that deal damage (w_dds a + c_dds), a the damage as printed
    S_w = w_w (attack times durability of the own weapon, less that of the enemy's)

Source of S_c: the post "Direct damage spells". Its formula has w_dds (a + c_dds), its examples (a Holy Smite
is worth 1.9 at w_dds = 0.5, and 4.9 at 2) and the authors' program have c_dds outside of the weight, as here.
Source of S_w and of w_c: that program, the class WeightedScorer of github.com/oyachai/HearthSim, in which w_w
is 0.5 and w_c is 0.
"""

import numpy as np

from engine.jit import njit, njit_borrowing
from ilp_agent.lookahead.features import (
    CHARGE,
    DIRECT,
    DRAWN,
    HAND_MANA,
    N_CARD_COUNTS,
    SPELLS,
    WEAPON,
    count_held,
    read_card_counts,
)
from rivals.hearthsim_score import weigh


@njit_borrowing
def _worth_of_hand(counts: np.ndarray, weights: np.ndarray) -> float:
    """S_c, but for w_m times the costs."""
    worth: float = weights[DIRECT] * counts[DIRECT] + weights[SPELLS] * counts[SPELLS]
    return float(worth + weights[CHARGE] * counts[CHARGE])


@njit
def value_of_draw(state: np.void, cards: np.ndarray, seat: int, weights: np.ndarray) -> float:
    """What a card drawn adds to S in the mean: the mean of the own deck, whose order nobody knows."""
    side = state["sides"][seat]
    if side["n_deck"] == 0:
        return 0.0
    counts = np.zeros(N_CARD_COUNTS, np.int64)
    for place in range(side["n_deck"]):
        count_held(cards[side["deck"][place]], counts)
    total = _worth_of_hand(counts, weights) + weights[HAND_MANA] * counts[HAND_MANA]
    return float(total / side["n_deck"])


@njit_borrowing
def score_position(
    state: np.void, cards: np.ndarray, seat: int, weights: np.ndarray, drawn: float, counts: np.ndarray
) -> float:
    """S of a position for the player at `seat`: -infinity over a dead own hero, infinite over the enemy's.

    Args:
        state: dtype `engine.state.STATE`, of a game with effects.
        cards: the card table.
        seat: 0 or 1.
        weights: in the order of the fields of `HearthSimWeights`.
        drawn: what a card that nobody knows counts.
        counts: workspace of integers, shape (`N_CARD_COUNTS`,). Modified in place.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if own["health"] <= 0:
        return -np.inf
    if enemy["health"] <= 0:
        return np.inf
    read_card_counts(state, cards, seat, counts)
    score = weigh(counts, weights) + _worth_of_hand(counts, weights)
    return float(score + weights[WEAPON] * counts[WEAPON] + drawn * counts[DRAWN])
