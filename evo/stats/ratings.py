"""Statistics of games, pure: rates with intervals, paired games, Bradley-Terry ratings, superiority.

A score counts a draw half. Games that share a deal are not independent, so whatever is uncertain is computed
from clusters: all games of one setup stand and fall together.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, expit, ndtr, ndtri, stdtrit  # scipy.stats takes half a second to import

ELO = 400 / np.log(10)
"""Elo points of one unit of log-odds."""

PAIR_SCORES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""Score per game of a pair of games that brought 0, 1/2, 1, 3/2 or 2 points: the pentanomial counts."""

MAX_BLOCKS = 1000
BOOTSTRAP = 2000


class Rate(NamedTuple):
    """A score per game with an interval, all in [0, 1]."""

    value: float
    low: float
    high: float


def exact_rate(wins: int, draws: int, games: int, confidence: float = 0.95) -> Rate:
    """Score per game of independent games, with the interval of Clopper and Pearson (1934), never too narrow.

    With draws, which that interval does not know, their halves count as if they were wins or losses.
    """
    if games == 0:
        return Rate(float("nan"), 0.0, 1.0)
    points, tail = wins + draws / 2, (1 - confidence) / 2
    low = float(betaincinv(points, games - points + 1, tail)) if points > 0 else 0.0
    high = float(betaincinv(points + 1, games - points, 1 - tail)) if points < games else 1.0
    return Rate(points / games, low, high)


def standard_error(points: np.ndarray, games: np.ndarray, strata: np.ndarray | None = None) -> float:
    """Standard error of the score per game, from independent clusters of games.

    A ratio estimate. It is never less than if one cluster had gone as badly as a cluster can: few clusters
    that happen to agree prove nothing yet.

    Args:
        points: of each cluster, draws half; shape (clusters,).
        games: of each cluster, shape (clusters,).
        strata: which clusters are of one kind, whose number is fixed, such as one pair of decks: what kinds
            differ by is then no uncertainty. Small integers, shape (clusters,); without them all are of one.
    """
    value = points.sum() / games.sum()
    kind = np.zeros(len(games), np.int64) if strata is None else strata
    n, won, played = (np.bincount(kind, weights) for weights in (None, points, games))
    # A kind seen once says nothing of its spread: it is held against all.
    means = np.where(n > 1, won / np.maximum(played, 1), value)
    squares = (points - means[kind] * games) ** 2 * np.where(n > 1, n / np.maximum(n - 1, 1), 1.0)[kind]
    worst = games.mean() * max(value, 1 - value)
    return float(np.sqrt(max(squares.sum(), worst**2)) / games.sum())


def cluster_rate(
    points: np.ndarray, games: np.ndarray, strata: np.ndarray | None = None, confidence: float = 0.95
) -> Rate:
    """Score per game with an interval by Student's t over independent clusters; (nan, 0, 1) without games.

    Args:
        points: of each cluster (a setup or a pair of games), draws half; shape (clusters,).
        games: of each cluster, shape (clusters,).
        strata: see `standard_error`.
        confidence: that the interval holds the true rate.
    """
    some = games > 0
    points, games = points[some], games[some]
    if len(games) == 0:
        return Rate(float("nan"), 0.0, 1.0)
    kinds = None if strata is None else strata[some]
    freedom = max(1, len(games) - (1 if kinds is None else len(np.unique(kinds))))
    value = float(points.sum() / games.sum())
    half = float(stdtrit(freedom, 0.5 + confidence / 2)) * standard_error(points, games, kinds)
    return Rate(value, max(0.0, value - half), min(1.0, value + half))


def elo(score: float) -> float:
    """Elo difference that means a score per game (logistic); infinite at 0 and 1."""
    if not 0 < score < 1:
        return float("nan") if np.isnan(score) else float("inf") if score >= 1 else float("-inf")
    return float(ELO * np.log(score / (1 - score)))


def expected_score(difference: float) -> float:
    """Score per game that an Elo difference means."""
    return float(expit(difference / ELO))


@dataclass(frozen=True)
class PairStatistics:
    """What pairs of games say: each pair is one deal played twice with the agents exchanged.

    Attributes:
        counts: int, shape (5,): pairs that brought 0, 1/2, 1, 3/2 and 2 points.
        rate: score per game with interval.
        elo: Elo difference and its interval.
        normalized_elo: difference in units of the spread of a game, which draws and decks do not change.
        variance: of a game's score, had independent games the spread that pairs of them show.
        superiority: likelihood that the first is better.
    """

    counts: np.ndarray
    rate: Rate
    elo: Rate
    normalized_elo: Rate
    variance: float
    superiority: float


def pair_statistics(counts: np.ndarray, confidence: float = 0.95) -> PairStatistics:
    """Statistics of pentanomial counts.

    Source: Van den Bergh, "Normalized Elo", 2020 (normalized Elo, which fishtest and fastchess print).

    Args:
        counts: pairs with 0, 1/2, 1, 3/2 and 2 points, shape (5,); at least one pair.
        confidence: of the intervals.
    """
    pairs = int(counts.sum())
    points, games = np.repeat(2 * PAIR_SCORES, counts), np.full(pairs, 2)
    rate = cluster_rate(points, games, confidence=confidence)
    variance = 2 * float(((PAIR_SCORES - rate.value) ** 2 * counts).sum() / pairs)
    error = standard_error(points, games)
    unit = 2 * ELO * (2 * pairs) ** -0.5
    # Where every pair was won or lost the spread of a game is unknown.
    middle = unit * (rate.value - 0.5) / error if 0 < rate.value < 1 else float("nan")
    half = unit * float(ndtri(0.5 + confidence / 2))
    return PairStatistics(
        counts,
        rate,
        Rate(*(elo(value) for value in rate)),
        Rate(middle, middle - half, middle + half),
        variance,
        float(ndtr((rate.value - 0.5) / error)),
    )


def bradley_terry(points: np.ndarray, games: np.ndarray, prior: float = 1.0) -> np.ndarray:
    """Ratings by maximum likelihood in the model of Bradley and Terry (1952), in Elo, their mean 0.

    Newton's method on all tables at once. A draw is half a win.

    Args:
        points: of i against j, draws half; shape (..., entrants, entrants).
        games: of i against j, symmetric, the same shape; the diagonal is ignored. Every entrant must be tied
            to every other by a chain of meetings.
        prior: drawn games added to each two who met: they keep the unbeaten finite, and weigh next to
            nothing beside hundreds of games.

    Returns:
        Ratings, shape (..., entrants).
    """
    n = points.shape[-1]
    off = ~np.eye(n, dtype=bool)
    met = (games > 0) & off
    won = np.where(met, points + prior / 2, 0.0)
    all_games = np.where(met, games + prior, 0.0)
    strengths = np.zeros(points.shape[:-1])
    for _ in range(100):
        chance = expit(strengths[..., :, None] - strengths[..., None, :])
        gradient = (won - all_games * chance).sum(axis=-1)
        weight = all_games * chance * (1 - chance)
        hessian = np.einsum("...i,ij->...ij", weight.sum(axis=-1), np.eye(n)) - weight + 1 / n
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        step = np.clip(step, -2, 2)
        strengths += step
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    ratings: np.ndarray = ELO * (strengths - strengths.mean(axis=-1, keepdims=True))
    return ratings


def bootstrap_tables(
    points: np.ndarray, games: np.ndarray, strata: np.ndarray, replicates: int = BOOTSTRAP
) -> tuple[np.ndarray, np.ndarray]:
    """What the sums over setups might have been: setups drawn again with replacement within each stratum.

    Many setups are first summed to at most `MAX_BLOCKS` blocks a stratum, which changes no variance. The
    draws are always the same, and spread by n / (n - 1) as the variance of n clusters does.

    Args:
        points: by setup and whatever else, shape (setups, columns).
        games: the same shape.
        strata: shape (setups,): which setups are of one kind, such as one pair of decks.
        replicates: how many tables.

    Returns:
        Sums of points and of games, each of shape (replicates, columns); points within [0, games].
    """
    pick = np.random.default_rng(20_261_121)
    sums = np.zeros((2, replicates, points.shape[1]))
    for stratum in np.unique(strata):
        own = np.flatnonzero(strata == stratum)
        n = min(len(own), MAX_BLOCKS)
        edges = np.linspace(0, len(own), n + 1).astype(int)[:-1]
        draws = pick.multinomial(n, np.full(n, 1 / n), size=replicates).astype(float)
        wider = np.sqrt(n / (n - 1)) if n > 1 else 1.0
        for place, values in enumerate((points, games)):
            blocks = np.add.reduceat(values[own], edges, axis=0)
            sums[place] += blocks.sum(axis=0) + wider * ((draws - 1) @ blocks)
    # As in `standard_error`: few setups that agree prove nothing yet.
    won, played = points.sum(axis=0), games.sum(axis=0)
    share = won / np.maximum(played, 1)
    worst = played / np.maximum((games > 0).sum(axis=0), 1) * np.maximum(share, 1 - share)
    missing = np.sqrt(np.maximum(worst**2 - (sums[0] - share * sums[1]).var(axis=0), 0.0))
    sums[0] += pick.standard_normal(sums[0].shape) * missing
    return np.clip(sums[0], 0, sums[1]), sums[1]
