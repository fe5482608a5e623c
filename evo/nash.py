"""Who is strong in a table where A may beat B, B beat C, and C beat A: Nash averaging. Pure.

Source: Balduzzi, Tuyls, Perolat, Graepel, "Re-evaluating Evaluation" (NeurIPS 2018).
"""

import numpy as np


def nash_average(advantages: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The maximum-entropy Nash equilibrium of a table of advantages, and what each is worth against it.

    Copies of an entrant share its weight, so that nobody gains by entering twice.

    Args:
        advantages: of i over j, antisymmetric, such as log-odds of winning; shape (entrants, entrants).

    Returns:
        Weights, shape (entrants,), which sum to 1, and each entrant's mean advantage over that mixture, at
        most 0 (up to rounding), shape (entrants,).
    """
    from scipy.optimize import LinearConstraint, linprog, minimize  # noqa: PLC0415 - a third of a second

    n = len(advantages)
    scale = np.abs(advantages).max(initial=0.0) or 1.0
    table = advantages / scale
    # Nobody has an advantage over an equilibrium; one exists, and the value of the game is 0.
    start = linprog(np.zeros(n), A_ub=table, b_ub=np.full(n, 1e-12), A_eq=np.ones((1, n)), b_eq=[1.0]).x
    floor = 1e-12

    def entropy(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logs = np.log(np.maximum(weights, floor))
        return float((weights * logs).sum()), logs + 1

    limits = [
        LinearConstraint(np.ones((1, n)), 1.0, 1.0),
        LinearConstraint(table, -np.inf, np.full(n, 1e-9)),
    ]
    weights = start
    found = minimize(
        entropy,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * n,
        constraints=limits,
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    if found.success and (table @ found.x).max() < 1e-6:
        weights = found.x
    weights = np.maximum(weights, 0.0)
    weights /= weights.sum()
    return weights, advantages @ weights


def cyclic_part(advantages: np.ndarray) -> np.ndarray:
    """What of the advantages no rating explains: the table less the differences of its row means.

    Args:
        advantages: of i over j, antisymmetric, shape (..., entrants, entrants).
    """
    means = advantages.mean(axis=-1)
    rest: np.ndarray = advantages - (means[..., :, None] - means[..., None, :])
    return rest


def cyclic_share(advantages: np.ndarray, replicates: np.ndarray) -> tuple[float, float]:
    """How much of a table is rock-paper-scissors.

    Args:
        advantages: of i over j, antisymmetric, shape (entrants, entrants).
        replicates: bootstrap replicates of it, shape (replicates, entrants, entrants).

    Returns:
        The part of the sum of squares that no rating explains, in [0, 1], and the part that chance alone
        would make; nan where there are no advantages, or fewer than three entrants.
    """
    whole = float((advantages**2).sum())
    if len(advantages) < 3 or whole == 0:
        return float("nan"), float("nan")
    noise = (cyclic_part(replicates - advantages) ** 2).sum(axis=(-1, -2)).mean()
    return float((cyclic_part(advantages) ** 2).sum()) / whole, min(1.0, float(noise) / whole)
