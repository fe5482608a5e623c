"""Statistics over runs: a run is one observation. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit


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
