"""How much a run gains from one half of some validations to the other, on common deals. Pure."""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from evo.stats.ratings import ELO


class Gain(NamedTuple):
    """A gain in Elo with its 95% interval.

    Attributes:
        elo: from the mean of the first half to that of the second.
        low: of the interval.
        high: of the interval.
        error: standard error.
        freedom: degrees of freedom of Student's t.
    """

    elo: float
    low: float
    high: float
    error: float
    freedom: int

    def below(self, threshold: float) -> float:
        """How probable a gain below so many Elo is."""
        if self.error == 0:
            return float(self.elo < threshold)
        return float(stdtr(self.freedom, (threshold - self.elo) / self.error))


def gain_of(scores: np.ndarray) -> Gain:
    """The gain within a window, from the differences on every deal.

    Deals are independent, and all validations play the same, so that their luck is in both halves. The
    difference of two scores is put in Elo at their mean.

    Args:
        scores: per game, by validation (even, the first half before the second) and deal; shape
            (validations, deals), at least two deals.
    """
    half = len(scores) // 2
    before, after = scores[:half].mean(axis=0), scores[half:].mean(axis=0)
    gained, n = after - before, scores.shape[1]
    middle = float(np.clip(scores.mean(), 0.5 / n, 1 - 0.5 / n))
    unit = ELO / (middle * (1 - middle))
    value, error = unit * float(gained.mean()), unit * float(gained.std(ddof=1)) / n**0.5
    reach = float(stdtrit(n - 1, 0.975)) * error
    return Gain(value, value - reach, value + reach, error, n - 1)
