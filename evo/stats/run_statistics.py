"""Confidence intervals: of means over runs, and of the gain between halves of a run's validations.

With common random numbers two similar players differ in few games: differences are zero on most deals, and
Student's t interval would be far too narrow. Gains and losses are therefore two sums of rare events, each
with the exact interval of a Poisson mean; both give the interval of their difference (MOVER).

Sources: Garwood, "Fiducial limits for the Poisson distribution" (1936); for weighted events Bohm and Zech,
"Statistics of weighted Poisson events" (2014); Zou and Donner, "Construction of confidence limits about
effect measures" (2008).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import gammaincinv, stdtrit

from evo.stats.ratings import ELO

FEW_EVENTS = 5.0
"""With fewer events than this, later events may be larger: each counts as a whole game."""

BISECTION_STEPS = 60
"""Bisection steps."""


@dataclass(frozen=True)
class EloGain:
    """An estimated Elo gain with its confidence interval.

    Attributes:
        gained: score gained from the first half of a window to the second, summed over deals.
        lost: score lost, summed over deals.
        gained_unit: score of one event of gain.
        lost_unit: score of one event of loss.
        scale: Elo per unit of summed score.
    """

    gained: float
    lost: float
    gained_unit: float
    lost_unit: float
    scale: float

    @property
    def elo(self) -> float:
        """Elo gain from the mean of the window's first half to the mean of its second half."""
        return self.scale * (self.gained - self.lost)

    @property
    def low(self) -> float:
        """Lower end of the gain's 95% interval."""
        return self.limit(0.025)

    @property
    def high(self) -> float:
        """Upper end of the gain's 95% interval."""
        return self.limit(0.975)

    def limit(self, probability: float) -> float:
        """Confidence limit of the gain: the gain is below the limit with this probability."""
        if probability < 0.5:
            more, less = (self.lost, self.lost_unit), (self.gained, self.gained_unit)
            sign, tail = -1, probability
        else:
            more, less = (self.gained, self.gained_unit), (self.lost, self.lost_unit)
            sign, tail = 1, 1 - probability
        reach = np.hypot(_upper(*more, tail) - more[0], less[0] - _lower(*less, tail))
        return self.elo + sign * self.scale * float(reach)

    def below(self, threshold: float) -> float:
        """Probability (confidence) that the gain is below a threshold, in Elo."""
        low, high = 0.0, 1.0
        for _ in range(BISECTION_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.limit(middle) < threshold else (low, middle)
        return (low + high) / 2


def estimate_gain(scores: np.ndarray, game: float) -> EloGain:
    """Estimate the gain within a window of validations, linearized at the mean score.

    Args:
        scores: per game, by validation (an even number, in order) and deal; shape (validations, deals).
        game: share of one game in the score of a deal.
    """
    half, n = len(scores) // 2, scores.shape[1]
    difference = scores[half:].mean(axis=0) - scores[:half].mean(axis=0)
    mean = float(np.clip(scores.mean(), 0.5 / n, 1 - 0.5 / n))
    scale = ELO / (mean * (1 - mean)) / n
    sums, units = [], []
    for parts in (np.clip(difference, 0, None), np.clip(-difference, 0, None)):
        total = float(parts.sum())
        unit = float((parts**2).sum()) / total if total else game
        sums.append(total)
        units.append(max(unit, game) if total < FEW_EVENTS * unit else unit)
    return EloGain(sums[0], sums[1], units[0], units[1], scale)


def _upper(total: float, unit: float, tail: float) -> float:
    """Upper confidence limit of a sum of Poisson events."""
    return float(gammaincinv(total / unit + 1, 1 - tail)) * unit


def _lower(total: float, unit: float, tail: float) -> float:
    """Lower confidence limit of a sum of Poisson events."""
    return float(gammaincinv(total / unit, tail)) * unit if total else 0.0


class Mean(NamedTuple):
    """A mean with its confidence interval."""

    value: float
    low: float
    high: float


def mean_over_runs(values: Sequence[float] | np.ndarray | pd.Series, confidence: float = 0.95) -> Mean:
    """Mean of independent values with Student's t interval; nan limits for a single value.

    The percentile bootstrap is not used: with ten values its interval is a tenth too narrow.

    Args:
        values: shape (runs,), at least one.
        confidence: coverage of the interval for normal values.
    """
    array = np.asarray(values, float)
    n = len(array)
    mean = float(array.mean())
    if n < 2:
        return Mean(mean, float("nan"), float("nan"))
    half_width = float(stdtrit(n - 1, 0.5 + confidence / 2)) * float(array.std(ddof=1)) / n**0.5
    return Mean(mean, mean - half_width, mean + half_width)
