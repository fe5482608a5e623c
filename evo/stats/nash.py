"""Strength in a table where A may beat B, B beat C, and C beat A: Nash averaging. Pure.

Source: Balduzzi, Tuyls, Perolat, Graepel, "Re-evaluating Evaluation" (NeurIPS 2018).
"""

import numpy as np
from scipy.special import logsumexp, softmax

SLACK = 1e-7
"""Tolerated advantage over the equilibrium, relative to the greatest in the table."""


def nash_average(advantages: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The maximum-entropy Nash equilibrium of a table of advantages, and each entrant's advantage over it.

    Copies of an entrant share its weight, so that entering twice gains nothing.

    Args:
        advantages: of i over j, antisymmetric, such as log-odds of winning; shape (entrants, entrants).

    Returns:
        Weights, shape (entrants,), which sum to 1, and each entrant's mean advantage over that mixture, at
        most 0 (up to rounding), shape (entrants,).
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - a third of a second

    n = len(advantages)
    table = advantages / (np.abs(advantages).max(initial=0.0) or 1.0)

    # No entrant has an advantage over an equilibrium (the value of the game is 0). Of all such mixtures the
    # one of greatest entropy is exp(-prices @ table), normalised; the prices, one an entrant, minimise the
    # dual, which is smooth and bounded only by prices >= 0.
    def dual(prices: np.ndarray) -> tuple[float, np.ndarray]:
        logs = -(prices @ table)
        shares = softmax(logs)
        return float(logsumexp(logs)) + SLACK * prices.sum(), SLACK - table @ shares

    prices = np.zeros(n)
    options = {"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30}
    prices = minimize(dual, prices, jac=True, method="L-BFGS-B", bounds=[(0, None)] * n, options=options).x
    weights = softmax(-(prices @ table))
    return weights, advantages @ weights


def cyclic_part(advantages: np.ndarray) -> np.ndarray:
    """The part of the advantages that no rating explains: the table less the differences of its row means.

    Args:
        advantages: of i over j, antisymmetric, shape (..., entrants, entrants).
    """
    means = advantages.mean(axis=-1)
    rest: np.ndarray = advantages - (means[..., :, None] - means[..., None, :])
    return rest


def cyclic_share(advantages: np.ndarray, noise: float) -> tuple[float, float]:
    """How much of a table is rock-paper-scissors.

    Args:
        advantages: of i over j, antisymmetric, shape (entrants, entrants).
        noise: sum of squares of the cyclic part to expect by chance alone.

    Returns:
        The part of the sum of squares that no rating explains, in [0, 1], and the part to expect by chance
        alone; nan where there are no advantages, or fewer than three entrants.
    """
    whole = float((advantages**2).sum())
    if len(advantages) < 3 or whole == 0:
        return float("nan"), float("nan")
    return float((cyclic_part(advantages) ** 2).sum()) / whole, min(1.0, noise / whole)
