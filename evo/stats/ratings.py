"""Ratings and intervals: cluster-robust scores, pentanomial pairs, Bradley-Terry, Nash averaging.

A draw scores one half. Games that share a deal are not independent, so uncertainty is computed from clusters:
all games of a setup are one cluster.

Source: Balduzzi, Tuyls, Perolat, Graepel, "Re-evaluating Evaluation" (NeurIPS 2018).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, expit, logsumexp, ndtr, ndtri, softmax, stdtrit

from engine import Outcome

ELO = 400 / np.log(10)
"""Elo points per unit of log-odds."""

PAIR_SCORES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""Score per game of a pair of games worth 0, 1/2, 1, 3/2 or 2 points, in the order of pentanomial counts."""

MAX_BOOTSTRAP_BLOCKS = 1000
"""Most blocks per stratum in the bootstrap."""

BOOTSTRAP_REPLICATES = 2000
"""Number of bootstrap replicates."""


class Rate(NamedTuple):
    """A score per game with its confidence interval, all in [0, 1]."""

    value: float
    low: float
    high: float


def exact_rate(wins: int, draws: int, games: int, confidence: float = 0.95) -> Rate:
    """Score per game of independent games, with the exact interval of Clopper and Pearson (1934).

    The interval is for wins and losses: a draw counts as half of each.
    """
    if games == 0:
        return Rate(float("nan"), 0.0, 1.0)
    points, tail = wins + draws / 2, (1 - confidence) / 2
    low = float(betaincinv(points, games - points + 1, tail)) if points > 0 else 0.0
    high = float(betaincinv(points + 1, games - points, 1 - tail)) if points < games else 1.0
    return Rate(points / games, low, high)


def standard_error(points: np.ndarray, games: np.ndarray, strata: np.ndarray | None = None) -> float:
    """Standard error of the score per game, from independent clusters of games.

    A ratio estimate, at least the error that one cluster with the worst possible result would make: a few
    agreeing clusters prove nothing yet.

    Args:
        points: of each cluster, draws half; shape (clusters,).
        games: of each cluster, shape (clusters,).
        strata: the stratum of each cluster, such as its pair of decks: small integers, shape (clusters,).
            Clusters per stratum are fixed by design, so differences between strata are no uncertainty.
            None: one stratum.
    """
    value = points.sum() / games.sum()
    stratum = np.zeros(len(games), np.int64) if strata is None else strata
    n, won, played = (np.bincount(stratum, weights) for weights in (None, points, games))
    # A stratum of one cluster has no variance of its own: use its deviation from the overall mean.
    means = np.where(n > 1, won / np.maximum(played, 1), value)
    correction = np.where(n > 1, n / np.maximum(n - 1, 1), 1.0)
    squares = (points - means[stratum] * games) ** 2 * correction[stratum]
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
        confidence: coverage of the interval.
    """
    used = games > 0
    points, games = points[used], games[used]
    if len(games) == 0:
        return Rate(float("nan"), 0.0, 1.0)
    strata = None if strata is None else strata[used]
    freedom = max(1, len(games) - (1 if strata is None else len(np.unique(strata))))
    value = float(points.sum() / games.sum())
    half_width = float(stdtrit(freedom, 0.5 + confidence / 2)) * standard_error(points, games, strata)
    return Rate(value, max(0.0, value - half_width), min(1.0, value + half_width))


def elo(score: float) -> float:
    """Elo difference of a score per game (logistic); infinite at 0 and 1."""
    if not 0 < score < 1:
        return float("nan") if np.isnan(score) else float("inf") if score >= 1 else float("-inf")
    return float(ELO * np.log(score / (1 - score)))


def expected_score(difference: float) -> float:
    """Expected score per game of an Elo difference."""
    return float(expit(difference / ELO))


@dataclass(frozen=True)
class PairStatistics:
    """Statistics of game pairs; a pair is one deal, played twice with the agents exchanged.

    Attributes:
        counts: int, shape (5,): pairs with 0, 1/2, 1, 3/2 and 2 points.
        rate: score per game with interval.
        elo: Elo difference and its interval.
        normalized_elo: difference in units of a game's standard deviation, comparable over draws and decks.
        variance: of a game's score, estimated from the variance of pairs as if games were independent.
        superiority: likelihood that the first entrant is better (LOS).
    """

    counts: np.ndarray
    rate: Rate
    elo: Rate
    normalized_elo: Rate
    variance: float
    superiority: float


def pair_statistics(counts: np.ndarray, confidence: float = 0.95) -> PairStatistics:
    """Compute pair statistics from pentanomial counts.

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
    # With all pairs won, or all lost, the variance of a game is unknown.
    middle = unit * (rate.value - 0.5) / error if 0 < rate.value < 1 else float("nan")
    half_width = unit * float(ndtri(0.5 + confidence / 2))
    return PairStatistics(
        counts,
        rate,
        Rate(*(elo(value) for value in rate)),
        Rate(middle, middle - half_width, middle + half_width),
        variance,
        float(ndtr((rate.value - 0.5) / error)),
    )


def bradley_terry(points: np.ndarray, games: np.ndarray, prior: float = 1.0) -> np.ndarray:
    """Maximum-likelihood ratings of the Bradley-Terry model (1952), in Elo with mean 0.

    Newton's method, vectorized over tables. A draw is half a win.

    Args:
        points: of i against j, draws half; shape (..., entrants, entrants).
        games: of i against j, symmetric, the same shape; the diagonal is ignored. Every entrant must be
            connected to every other by a chain of matchups.
        prior: drawn games added to each matchup: they keep ratings of unbeaten entrants finite, and are
            negligible beside hundreds of games.

    Returns:
        Ratings, shape (..., entrants).
    """
    n = points.shape[-1]
    off_diagonal = ~np.eye(n, dtype=bool)
    met = (games > 0) & off_diagonal
    won = np.where(met, points + prior / 2, 0.0)
    all_games = np.where(met, games + prior, 0.0)
    strengths = np.zeros(points.shape[:-1])
    for _ in range(100):
        probability = expit(strengths[..., :, None] - strengths[..., None, :])
        gradient = (won - all_games * probability).sum(axis=-1)
        weight = all_games * probability * (1 - probability)
        hessian = np.einsum("...i,ij->...ij", weight.sum(axis=-1), np.eye(n)) - weight + 1 / n
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        step = np.clip(step, -2, 2)
        strengths += step
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    ratings: np.ndarray = ELO * (strengths - strengths.mean(axis=-1, keepdims=True))
    return ratings


def bootstrap_tables(
    points: np.ndarray, games: np.ndarray, strata: np.ndarray, replicates: int = BOOTSTRAP_REPLICATES
) -> tuple[np.ndarray, np.ndarray]:
    """Stratified bootstrap of sums over setups: setups are resampled within each stratum.

    Many setups are first summed to at most `MAX_BOOTSTRAP_BLOCKS` blocks per stratum, which changes no
    variance. The resampling is reproducible; its variance is scaled by n / (n - 1), as for n clusters.

    Args:
        points: by setup and matchup, shape (setups, columns).
        games: the same shape.
        strata: shape (setups,): the stratum of each setup, such as its pair of decks.
        replicates: number of replicates.

    Returns:
        Sums of points and of games, each of shape (replicates, columns); points within [0, games].
    """
    rng = np.random.default_rng(20_261_121)
    sums = np.zeros((2, replicates, points.shape[1]))
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        n = min(len(members), MAX_BOOTSTRAP_BLOCKS)
        edges = np.linspace(0, len(members), n + 1).astype(int)[:-1]
        draws = rng.multinomial(n, np.full(n, 1 / n), size=replicates).astype(float)
        scale = np.sqrt(n / (n - 1)) if n > 1 else 1.0
        for i, values in enumerate((points, games)):
            blocks = np.add.reduceat(values[members], edges, axis=0)
            sums[i] += blocks.sum(axis=0) + scale * ((draws - 1) @ blocks)
    # As in `standard_error`: at least the variance of one setup with the worst possible result.
    won, played = points.sum(axis=0), games.sum(axis=0)
    share = won / np.maximum(played, 1)
    worst = played / np.maximum((games > 0).sum(axis=0), 1) * np.maximum(share, 1 - share)
    missing = np.sqrt(np.maximum(worst**2 - (sums[0] - share * sums[1]).var(axis=0), 0.0))
    sums[0] += rng.standard_normal(sums[0].shape) * missing
    return np.clip(sums[0], 0, sums[1]), sums[1]


def verdict_of(low: float, high: float) -> str:
    """Verdict on an opponent, from the interval of the score against it: "beaten", "lost to", "undecided"."""
    return "beaten" if low > 0.5 else "lost to" if high < 0.5 else "undecided"


OUTCOME_WORDS = {Outcome.FIRST_WINS: "first", Outcome.SECOND_WINS: "second", Outcome.DRAW: "draw"}
"""Words for outcomes of finished games in tables."""


def outcome_codes(words: np.ndarray) -> np.ndarray:
    """Outcome codes (`engine.Outcome`) of the outcome words in tables; int8, the same shape."""
    codes = np.zeros(len(words), np.int8)
    for code, word in OUTCOME_WORDS.items():
        codes[words == word] = code
    return codes


def points_of_first(outcomes: np.ndarray) -> np.ndarray:
    """Points of the player that went first: 1 for a win, 1/2 a draw, 0 a loss; float64, the same shape.

    Args:
        outcomes: codes of `engine.Outcome` of finished games, any shape.
    """
    won, drawn = outcomes == Outcome.FIRST_WINS, outcomes == Outcome.DRAW
    points: np.ndarray = np.where(drawn, 0.5, np.where(won, 1.0, 0.0))
    return points


def points_of(outcomes: np.ndarray, went_first: np.ndarray) -> np.ndarray:
    """Points of one player in games, who went first in the games `went_first`; float64, the same shape.

    Args:
        outcomes: codes of `engine.Outcome` of finished games.
        went_first: whether that side went first, the same shape.
    """
    points = points_of_first(outcomes)
    sided: np.ndarray = np.where(went_first, points, 1.0 - points)
    return sided


EQUILIBRIUM_TOLERANCE = 1e-7
"""Tolerated advantage over the equilibrium, relative to the largest in the table."""


def nash_average(advantages: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nash averaging: the maximum-entropy Nash equilibrium, and each entrant's advantage over it.

    Copies of an entrant share its weight, so entering twice gains nothing.

    Args:
        advantages: of i over j, antisymmetric, such as log-odds of winning; shape (entrants, entrants).

    Returns:
        Weights, shape (entrants,), which sum to 1, and each entrant's mean advantage over that mixture, at
        most 0 (up to rounding), shape (entrants,).
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - a third of a second

    n = len(advantages)
    table = advantages / (np.abs(advantages).max(initial=0.0) or 1.0)

    # No entrant has an advantage over an equilibrium (the value of the game is 0). The equilibrium of maximum
    # entropy is exp(-prices @ table), normalised; the prices (dual variables, one per entrant) minimise the
    # dual, which is smooth with bounds prices >= 0 only.
    def dual(prices: np.ndarray) -> tuple[float, np.ndarray]:
        logs = -(prices @ table)
        shares = softmax(logs)
        return float(
            logsumexp(logs)
        ) + EQUILIBRIUM_TOLERANCE * prices.sum(), EQUILIBRIUM_TOLERANCE - table @ shares

    prices = np.zeros(n)
    options = {"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30}
    prices = minimize(dual, prices, jac=True, method="L-BFGS-B", bounds=[(0, None)] * n, options=options).x
    weights = softmax(-(prices @ table))
    return weights, advantages @ weights


def cyclic_part(advantages: np.ndarray) -> np.ndarray:
    """Cyclic (intransitive) part of a table of advantages: the table less differences of row means.

    Args:
        advantages: of i over j, antisymmetric, shape (..., entrants, entrants).
    """
    means = advantages.mean(axis=-1)
    rest: np.ndarray = advantages - (means[..., :, None] - means[..., None, :])
    return rest


def cyclic_share(advantages: np.ndarray, noise: float) -> tuple[float, float]:
    """Intransitivity: the cyclic share of a table of advantages, observed and by chance alone.

    Args:
        advantages: of i over j, antisymmetric, shape (entrants, entrants).
        noise: expected sum of squares of the cyclic part by chance alone.

    Returns:
        The share of the sum of squares that no rating explains, in [0, 1], and its expectation by chance;
        nan without advantages or with fewer than three entrants.
    """
    whole = float((advantages**2).sum())
    if len(advantages) < 3 or whole == 0:
        return float("nan"), float("nan")
    return float((cyclic_part(advantages) ** 2).sum()) / whole, min(1.0, noise / whole)
