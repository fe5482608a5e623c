"""Rank correlation and distance of two tables of win rates, without what chance in their games adds."""

import numpy as np
from scipy.stats import rankdata

DRAWS = 2_000
LARGEST = 0.9995
"""Of the prior's correlation, so that its covariance can be inverted."""


def rank_correlation(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Spearman's, along the last axis."""
    ranks = [rankdata(values, axis=-1) for values in (one, other)]
    a, b = (own - own.mean(axis=-1, keepdims=True) for own in ranks)
    found: np.ndarray = (a * b).sum(axis=-1) / np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    return found


def true_correlation(
    wins: np.ndarray, games: np.ndarray, pick: np.random.Generator
) -> tuple[float, float, float]:
    """Rank correlation of two tables' true win rates.

    Args:
        wins: shape (2, cells), by table.
        games: of each cell, the same shape; those of different cells and tables are independent.
        pick: draws the rates.

    Returns:
        The median and the 95% interval of the correlation.
    """
    drawn = draw_true_rates(wins, games, pick)
    return middle(rank_correlation(drawn[:, 0], drawn[:, 1]))


def middle(values: np.ndarray) -> tuple[float, float, float]:
    """Median and 95% interval of drawn values."""
    low, value, high = np.quantile(values, (0.025, 0.5, 0.975))
    return float(value), float(low), float(high)


def draw_true_rates(wins: np.ndarray, games: np.ndarray, pick: np.random.Generator) -> np.ndarray:
    """True win rates of two tables' cells given their games, by empirical Bayes.

    Chance in the games makes two tables look less alike than they are. So the true rates of each cell are
    drawn given the games: the prior is normal over the cells, with the observed covariance less that of
    chance.

    Args:
        wins: shape (2, cells), by table.
        games: of each cell, the same shape; those of different cells and tables are independent.
        pick: draws the rates.

    Returns:
        Shape (`DRAWS`, 2, cells).
    """
    rates = wins / games
    smooth = (wins + 1) / (games + 2)
    noise = smooth * (1 - smooth) / games
    mean = rates.mean(axis=1)
    prior = np.cov(rates) - np.diag(noise.mean(axis=1))
    most = LARGEST * np.sqrt(prior[0, 0] * prior[1, 1])
    prior[0, 1] = prior[1, 0] = np.clip(prior[0, 1], -most, most)
    drawn = np.empty((DRAWS, *rates.shape))
    for cell in range(rates.shape[1]):
        gain = prior @ np.linalg.inv(prior + np.diag(noise[:, cell]))
        spread = prior - gain @ prior
        centre = mean + gain @ (rates[:, cell] - mean)
        drawn[:, :, cell] = pick.multivariate_normal(centre, (spread + spread.T) / 2, DRAWS)
    return drawn
