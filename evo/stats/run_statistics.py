"""Statistics over runs and validations: a run is one observation.

On common deals two alike players win the same games but for a few, so that differences are zero on most
deals, and Student's t would be far too sure. What was gained and what was lost are therefore two sums of rare
events, each with the exact interval of a Poisson mean; that of their difference follows from both (MOVER).

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

FEW = 5.0
"""Events of fewer than these may be smaller than those that are still to come: they count as whole games."""

STEPS = 60
"""Halvings that find a probability."""


@dataclass(frozen=True)
class Gain:
    """A gain in Elo.

    Attributes:
        gained: score that was won from the first half to the second, summed over deals.
        lost: score that was lost, summed over deals.
        gained_unit: of one event of these.
        lost_unit: the same.
        scale: Elo of a summed score of 1.
    """

    gained: float
    lost: float
    gained_unit: float
    lost_unit: float
    scale: float

    @property
    def elo(self) -> float:
        """From the mean of the first half to that of the second."""
        return self.scale * (self.gained - self.lost)

    @property
    def low(self) -> float:
        """Lower end of the 95% interval."""
        return self.limit(0.025)

    @property
    def high(self) -> float:
        """Upper end of the 95% interval."""
        return self.limit(0.975)

    def limit(self, probability: float) -> float:
        """The gain is below this number of Elo with so much probability."""
        if probability < 0.5:
            more, less = (self.lost, self.lost_unit), (self.gained, self.gained_unit)
            sign, tail = -1, probability
        else:
            more, less = (self.gained, self.gained_unit), (self.lost, self.lost_unit)
            sign, tail = 1, 1 - probability
        reach = np.hypot(_upper(*more, tail) - more[0], less[0] - _lower(*less, tail))
        return self.elo + sign * self.scale * float(reach)

    def below(self, threshold: float) -> float:
        """How probable a gain below so many Elo is."""
        low, high = 0.0, 1.0
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.limit(middle) < threshold else (low, middle)
        return (low + high) / 2


def gain_of(scores: np.ndarray, game: float) -> Gain:
    """The gain within a window, from the differences on every deal, put in Elo at the mean score.

    Args:
        scores: per game, by validation (even, the first half before the second) and deal; shape
            (validations, deals).
        game: what one game of a deal is of its score.
    """
    half, n = len(scores) // 2, scores.shape[1]
    difference = scores[half:].mean(axis=0) - scores[:half].mean(axis=0)
    middle = float(np.clip(scores.mean(), 0.5 / n, 1 - 0.5 / n))
    scale = ELO / (middle * (1 - middle)) / n
    sums, units = [], []
    for parts in (np.clip(difference, 0, None), np.clip(-difference, 0, None)):
        total = float(parts.sum())
        unit = float((parts**2).sum()) / total if total else game
        sums.append(total)
        units.append(max(unit, game) if total < FEW * unit else unit)
    return Gain(sums[0], sums[1], units[0], units[1], scale)


def _upper(total: float, unit: float, tail: float) -> float:
    return float(gammaincinv(total / unit + 1, 1 - tail)) * unit


def _lower(total: float, unit: float, tail: float) -> float:
    return float(gammaincinv(total / unit, tail)) * unit if total else 0.0


class Mean(NamedTuple):
    """A mean with an interval."""

    value: float
    low: float
    high: float


def mean_over_runs(values: Sequence[float] | np.ndarray | pd.Series, confidence: float = 0.95) -> Mean:
    """The mean of independent values with an interval by Student's t; no interval (nan) of a single one.

    The percentile bootstrap of ten values is a tenth too narrow, which is why it is not used.

    Args:
        values: shape (runs,), at least one.
        confidence: that the interval holds the true mean of normal values.
    """
    array = np.asarray(values, float)
    n = len(array)
    middle = float(array.mean())
    if n < 2:
        return Mean(middle, float("nan"), float("nan"))
    half = float(stdtrit(n - 1, 0.5 + confidence / 2)) * float(array.std(ddof=1)) / n**0.5
    return Mean(middle, middle - half, middle + half)
