"""The sequential probability ratio test: stop as soon as the games say which of two is better. Pure.

The generalised test of fishtest and fastchess: the likelihood of the results under the most likely
distribution whose mean is that of `elo1`, against that of `elo0`.

Source: Van den Bergh, "Comments on Normalized Elo" (propositions 1.1 and 4.1), 2020.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from engine import ManaforgeError
from engine.errors import unknown_name
from evo.stats.ratings import ELO, PAIR_SCORES, expected_score

Model = Literal["logistic", "normalized"]
Verdict = Literal["elo0", "elo1", ""]

MOST_NORMALIZED = 200.0
"""Beyond it a mean lies nearly a standard deviation of a pair from 1/2, and the search finds no start."""

UNSEEN = 1e-3
"""Counted for a result that has not come yet, as fishtest does."""


class SprtError(ManaforgeError, ValueError):
    """A test that cannot be made; the message names the value."""


@dataclass(frozen=True)
class Sprt:
    """A test of `elo0` against `elo1`, differences of the first entrant to the second.

    Attributes:
        elo0: Elo difference of the null hypothesis.
        elo1: of the alternative, greater.
        alpha: chance to accept elo1 where elo0 is true, at most.
        beta: chance to accept elo0 where elo1 is true, at most.
        model: "logistic": Elo as a score means it; "normalized": in units of the spread of a game.

    Raises:
        SprtError: the values make no test.
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
        if self.model == "normalized" and max(abs(self.elo0), abs(self.elo1)) > MOST_NORMALIZED:
            raise SprtError(
                f"normalized Elo must be within {MOST_NORMALIZED:g} of 0, "
                f"got elo0={self.elo0:g} elo1={self.elo1:g}"
            )
        if not (0 < self.alpha < 1 and 0 < self.beta < 1 and self.alpha + self.beta < 1):
            raise SprtError(
                "alpha and beta must be above 0 and below 1 together, "
                f"got alpha={self.alpha:g} beta={self.beta:g}"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The test ends where the log-likelihood ratio leaves them."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, counts: np.ndarray) -> float:
        """Log-likelihood ratio of pentanomial counts, shape (5,)."""
        return likelihood_ratio(counts, PAIR_SCORES, self.elo0, self.elo1, self.model, games=2)

    def verdict(self, counts: np.ndarray) -> Verdict:
        """Which hypothesis the counts accept, or "" where it takes more games."""
        low, high = self.bounds
        ratio = self.ratio(counts)
        return "elo1" if ratio >= high else "elo0" if ratio <= low else ""

    def go_on(self, counts: np.ndarray, pairs: np.ndarray) -> int | None:
        """Look at further pairs, one by one, and say after how many in all the test ends, or None.

        Every pair is looked at up to the 500th, and then every further 0.2%.

        Args:
            counts: pentanomial counts of the pairs before, shape (5,). Modified in place.
            pairs: half points of each further pair in the order played, 0 to 4; shape (pairs,).
        """
        for seen, pair in enumerate(pairs, int(counts.sum()) + 1):
            counts[pair] += 1
            if seen % max(1, seen // 500) == 0 and self.verdict(counts):
                return seen
        return None


def parse_sprt(text: str) -> Sprt:
    """A test from text such as "elo0=0 elo1=20 alpha=.05 beta=.05 model=normalized", or only some of it.

    Raises:
        SprtError: a part is not KEY=NUMBER, or the values make no test.
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
        counts: how often each result came, shape (results,).
        scores: of the results per game, rising from 0 to 1, shape (results,).
        elo0: of the null hypothesis.
        elo1: of the alternative.
        model: what Elo means; see `Sprt`.
        games: in a result: 2 for pairs, 1 for single games.
    """
    if counts.sum() == 0:
        return 0.0
    seen = np.where(counts == 0, UNSEEN, counts).astype(float)
    share = seen / seen.sum()
    if model == "logistic":
        zero, one = (_with_mean(share, scores, expected_score(value)) for value in (elo0, elo1))
    else:
        unit = math.sqrt(games) / (2 * ELO)
        zero, one = (_with_ratio(share, scores, value * unit) for value in (elo0, elo1))
    return float(seen.sum() * (share * np.log(one / zero)).sum())


def _with_mean(share: np.ndarray, scores: np.ndarray, mean: float) -> np.ndarray:
    """The most likely distribution of a given mean, where the results came with these shares."""
    return _tilted(share, scores - mean)


def _with_ratio(share: np.ndarray, scores: np.ndarray, ratio: float) -> np.ndarray:
    """The most likely distribution whose mean lies `ratio` standard deviations above 1/2."""
    chance = np.full(len(scores), 1 / len(scores))
    for _ in range(100):
        mean = (scores * chance).sum()
        deviation = math.sqrt(((scores - mean) ** 2 * chance).sum())
        bend = 1 + ((scores - mean) / deviation) ** 2
        better = _tilted(share, scores - 0.5 - 0.5 * ratio * deviation * bend)
        change = np.abs(better - chance).max()
        chance = better
        if change < 1e-9:
            break
    return chance


def _tilted(share: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Share / (1 + theta values), theta such that the mean of `values` is 0.

    The sum falls from plus to minus infinity between the poles, so bisection finds theta.
    """
    low, high = -1 / values.max(), -1 / values.min()
    theta = 0.0
    for _ in range(200):
        slope = (share * values / (1 + theta * values)).sum()
        bend = (share * (values / (1 + theta * values)) ** 2).sum()
        if abs(slope) < 1e-13:
            break
        low, high = (theta, high) if slope > 0 else (low, theta)
        theta += slope / bend
        if not low < theta < high:
            theta = (low + high) / 2
    return np.asarray(share / (1 + theta * values))
