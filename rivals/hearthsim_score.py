"""HearthSim's score of a position: a weighted sum of what `ilp_agent.lookahead.features` counts for it."""

import numpy as np

from engine.jit import njit
from ilp_agent.lookahead.features import (
    ATTACK,
    ENEMY_ATTACK,
    ENEMY_HEALTH,
    ENEMY_HERO,
    HAND_MANA,
    HEALTH,
    HERO,
    SHIELD,
    read_counts,
)

TIE = 1e-10
"""Scores that differ by less than this share of the sum of weights count as equal: the rest is rounding."""


@njit
def tie_of(weights: np.ndarray) -> float:
    """The largest difference of two scores that are equal but for rounding."""
    return float(np.abs(weights).sum() * TIE)


@njit
def weigh(counts: np.ndarray, weights: np.ndarray) -> float:
    """S of these numbers, both heroes alive."""
    score: float = weights[ATTACK] * counts[ATTACK] + weights[HEALTH] * counts[HEALTH]
    score -= weights[ENEMY_ATTACK] * counts[ENEMY_ATTACK] + weights[ENEMY_HEALTH] * counts[ENEMY_HEALTH]
    score += weights[HAND_MANA] * counts[HAND_MANA] + weights[SHIELD] * counts[SHIELD]
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
        weights: shape (`N_COUNTS`,).
        counts: workspace of integers, shape (`N_COUNTS`,). Modified in place.
    """
    if state["sides"][1 - seat]["health"] <= 0:
        return np.inf
    if state["sides"][seat]["health"] <= 0:
        return -np.inf
    read_counts(state, cards, seat, counts)
    return weigh(counts, weights)
