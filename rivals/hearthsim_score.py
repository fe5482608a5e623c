"""HearthSim's score of a position: a weighted sum of whole numbers that are counted in the position.

The counts stay whole numbers until they are weighed, so that a position has the same score to the last bit
whichever way it was reached.
"""

import numpy as np

from engine.codes import COIN, Keyword
from engine.jit import njit

N_WEIGHTS = 8
ATTACK, HEALTH, ENEMY_ATTACK, ENEMY_HEALTH, HAND, HERO, ENEMY_HERO, SHIELD = range(N_WEIGHTS)


TIE = 1e-10
"""Scores that differ by less than this share of the sum of weights count as equal: the rest is rounding."""


@njit
def tie_of(weights: np.ndarray) -> float:
    """The largest difference of two scores that are equal but for rounding."""
    return float(np.abs(weights).sum() * TIE)


@njit
def read_counts(state: np.void, cards: np.ndarray, seat: int, counts: np.ndarray) -> None:
    """Count what the weights are for, from the view of the player at `seat`.

    Args:
        state: dtype `engine.state.STATE`.
        cards: the card table, dtype `engine.state.CARD`.
        seat: 0 or 1.
        counts: integers, shape (`N_WEIGHTS`,), in the order of `HearthSimWeights`. Modified in place.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    counts[:] = 0
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        counts[ATTACK] += minion["attack"]
        counts[HEALTH] += minion["health"]
        if minion["keywords"] & Keyword.DIVINE_SHIELD:
            counts[SHIELD] += minion["attack"] + minion["health"]
    for slot in range(enemy["n_board"]):
        minion = enemy["board"][slot]
        counts[ENEMY_ATTACK] += minion["attack"]
        counts[ENEMY_HEALTH] += minion["health"]
    for place in range(own["n_hand"]):
        card = own["hand"][place]
        if card != COIN:
            counts[HAND] += cards[card]["cost"]
    counts[HERO] = own["health"] + own["armour"]
    counts[ENEMY_HERO] = enemy["health"] + enemy["armour"]


@njit
def weigh(counts: np.ndarray, weights: np.ndarray) -> float:
    """S of these numbers, both heroes alive."""
    score: float = weights[ATTACK] * counts[ATTACK] + weights[HEALTH] * counts[HEALTH]
    score -= weights[ENEMY_ATTACK] * counts[ENEMY_ATTACK] + weights[ENEMY_HEALTH] * counts[ENEMY_HEALTH]
    score += weights[HAND] * counts[HAND] + weights[SHIELD] * counts[SHIELD]
    score += weights[HERO] * counts[HERO] - weights[ENEMY_HERO] * counts[ENEMY_HERO]
    return score


@njit
def score_position(
    state: np.void, cards: np.ndarray, seat: int, weights: np.ndarray, counts: np.ndarray
) -> float:
    """S of a position for the player at `seat`: infinite over a dead enemy hero, minus infinity over the own.

    Args:
        state: dtype `engine.state.STATE`.
        cards: the card table.
        seat: 0 or 1.
        weights: shape (`N_WEIGHTS`,).
        counts: workspace of integers, shape (`N_WEIGHTS`,). Modified in place.
    """
    if state["sides"][1 - seat]["health"] <= 0:
        return np.inf
    if state["sides"][seat]["health"] <= 0:
        return -np.inf
    read_counts(state, cards, seat, counts)
    return weigh(counts, weights)
