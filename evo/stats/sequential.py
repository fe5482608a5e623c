"""Sequential probability ratio test (SPRT) on pentanomial counts.

The generalised test (GSPRT) of fishtest and fastchess: the likelihood ratio of the results under the most
likely distributions with the means of `elo1` and `elo0`. Pure functions.

Source: Van den Bergh, "Comments on Normalized Elo" (propositions 1.1 and 4.1), 2020.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from engine.errors import WrongValueError, unknown_name
from evo.stats.ratings import ELO, PAIR_SCORES, expected_score

Model = Literal["logistic", "normalized"]
Verdict = Literal["elo0", "elo1", ""]

MAX_NORMALIZED_ELO = 200.0
"""Largest normalized Elo; beyond it the mean is about a standard deviation from 1/2: no start exists."""

PSEUDOCOUNT = 1e-3
"""Pseudocount of a result that has not occurred yet, as in fishtest."""


class SprtError(WrongValueError, ValueError):
    """Invalid parameters of a sequential test; the message names the parameters."""


@dataclass(frozen=True)
class Sprt:
    """A sequential test of `elo0` against `elo1`, Elo differences of the first entrant to the second.

    Attributes:
        elo0: Elo difference of the null hypothesis.
        elo1: Elo difference of the alternative, greater.
        alpha: type I error: largest probability of accepting elo1 if elo0 is true.
        beta: type II error: largest probability of accepting elo0 if elo1 is true.
        model: "logistic": the usual Elo of a score; "normalized": in units of a game's standard deviation.

    Raises:
        SprtError: the parameters are invalid.
    """

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "logistic"

    def __post_init__(self) -> None:
        if not -1000 <= self.elo0 < self.elo1 <= 1000:
            raise SprtError(
                f"elo0 must be below elo1, both within 1000 of 0, got elo0={self.elo0:g} elo1={self.elo1:g}"
            )
        if self.model == "normalized" and max(abs(self.elo0), abs(self.elo1)) > MAX_NORMALIZED_ELO:
            raise SprtError(
                f"normalized Elo must be within {MAX_NORMALIZED_ELO:g} of 0, "
                f"got elo0={self.elo0:g} elo1={self.elo1:g}"
            )
        if not (0 < self.alpha < 1 and 0 < self.beta < 1 and self.alpha + self.beta < 1):
            raise SprtError(
                "alpha and beta must be above 0, and their sum below 1, "
                f"got alpha={self.alpha:g} beta={self.beta:g}"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the log-likelihood ratio, outside which the test ends."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, counts: np.ndarray) -> float:
        """Log-likelihood ratio of pentanomial counts, shape (5,)."""
        return likelihood_ratio(counts, PAIR_SCORES, self.elo0, self.elo1, self.model, games=2)

    def verdict(self, counts: np.ndarray) -> Verdict:
        """The hypothesis that the test accepts with these counts, or "" while undecided."""
        low, high = self.bounds
        ratio = self.ratio(counts)
        return "elo1" if ratio >= high else "elo0" if ratio <= low else ""

    def add_pairs(self, counts: np.ndarray, pairs: np.ndarray) -> int | None:
        """Add game pairs to `counts` one by one until the test ends; returns the total at the end, or None.

        The test is evaluated after every pair up to the 500th, and then after every further 0.2%.

        Args:
            counts: pentanomial counts of the pairs before, shape (5,). Modified in place.
            pairs: half points of each further pair in the order played, 0 to 4; shape (pairs,).

        Returns:
            The total number of pairs at the end of the test, or None if it has not ended.
        """
        for seen, pair in enumerate(pairs, int(counts.sum()) + 1):
            counts[pair] += 1
            if seen % max(1, seen // 500) == 0 and self.verdict(counts):
                return seen
        return None


def parse_sprt(text: str) -> Sprt:
    """Parse a test such as "elo0=0 elo1=20 alpha=.05 beta=.05 model=normalized"; every part is optional.

    Raises:
        SprtError: a part is not KEY=NUMBER, or the parameters are invalid.
    """
    values: dict[str, float] = {}
    model: Model = "logistic"
    for part in text.replace(",", " ").split():
        key, _, value = part.partition("=")
        if key == "model":
            found = [known for known in get_args(Model) if known == value]
            if not found:
                raise SprtError(f"--sprt {part}: {unknown_name('model', value, get_args(Model))}")
            model = found[0]
            continue
        if key not in ("elo0", "elo1", "alpha", "beta"):
            known = ("elo0", "elo1", "alpha", "beta", "model")
            raise SprtError(f"--sprt {part}: {unknown_name('key', key, known)}")
        try:
            values[key] = float(value)
        except ValueError:
            raise SprtError(f"--sprt {part}: {key} takes a number, got {value!r}") from None
    return Sprt(**values, model=model)


def likelihood_ratio(
    counts: np.ndarray, scores: np.ndarray, elo0: float, elo1: float, model: Model, games: int
) -> float:
    """Generalised log-likelihood ratio of elo1 against elo0.

    Args:
        counts: number of each result, shape (results,).
        scores: per game of each result, rising from 0 to 1, shape (results,).
        elo0: of the null hypothesis.
        elo1: of the alternative.
        model: what Elo means; see `Sprt`.
        games: games per result: 2 for pairs, 1 for single games.
    """
    if counts.sum() == 0:
        return 0.0
    smoothed = np.where(counts == 0, PSEUDOCOUNT, counts).astype(float)
    share = smoothed / smoothed.sum()
    if model == "logistic":
        null, alternative = (_with_mean(share, scores, expected_score(value)) for value in (elo0, elo1))
    else:
        unit = math.sqrt(games) / (2 * ELO)
        null, alternative = (_with_ratio(share, scores, value * unit) for value in (elo0, elo1))
    return float(smoothed.sum() * (share * np.log(alternative / null)).sum())


def _with_mean(share: np.ndarray, scores: np.ndarray, mean: float) -> np.ndarray:
    """Maximum-likelihood distribution of results with a given mean, from the observed shares."""
    return _tilted(share, scores - mean)


def _with_ratio(share: np.ndarray, scores: np.ndarray, ratio: float) -> np.ndarray:
    """Maximum-likelihood distribution of results whose mean is `ratio` standard deviations above 1/2."""
    distribution = np.full(len(scores), 1 / len(scores))
    for _ in range(100):
        mean = (scores * distribution).sum()
        deviation = math.sqrt(((scores - mean) ** 2 * distribution).sum())
        tilt = 1 + ((scores - mean) / deviation) ** 2
        updated = _tilted(share, scores - 0.5 - 0.5 * ratio * deviation * tilt)
        change = np.abs(updated - distribution).max()
        distribution = updated
        if change < 1e-9:
            break
    return distribution


def _tilted(share: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Tilted distribution share / (1 + theta values), with theta such that the mean of `values` is 0.

    The mean falls from plus to minus infinity between the poles: Newton's method with bisection finds theta.
    """
    low, high = -1 / values.max(), -1 / values.min()
    theta = 0.0
    for _ in range(200):
        slope = (share * values / (1 + theta * values)).sum()
        curvature = (share * (values / (1 + theta * values)) ** 2).sum()
        if abs(slope) < 1e-13:
            break
        low, high = (theta, high) if slope > 0 else (low, theta)
        theta += slope / curvature
        if not low < theta < high:
            theta = (low + high) / 2
    return np.asarray(share / (1 + theta * values))
