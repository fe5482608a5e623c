"""The exact solver whole: the best plan of a turn, in a legal order, with what it predicts."""

import numpy as np

from engine.jit import njit
from ilp_agent.order import order_hits, write_plan
from ilp_agent.search import retrace, search
from ilp_agent.turn import MAX_FRIENDS

SAME_VALUE = 1e-9
"""Values this close, relative to their size, are one value."""


@njit
def solve_turn(turn: np.void, weights: np.ndarray, work: np.void, layers: np.ndarray, plan: np.void) -> None:
    """Find the best plan of a turn. `work`, `layers` and `plan` are modified in place.

    Args:
        turn: dtype `ilp_agent.turn.TURN`; left as it was.
        weights: W1 to W8, shape (8,), finite and >= 0.
        work: dtype `ilp_agent.work.WORK`.
        layers: of `ilp_agent.work.new_layers`.
        plan: dtype `ilp_agent.order.PLAN`.
    """
    best = search(turn, weights, work, layers)
    n = retrace(turn, weights, best, work, layers)
    if order_hits(turn, n, best.lethal == 1, work):
        write_plan(turn, weights, n, best.lethal == 1, work, plan)
        return
    # No order serves all attacks of several Windfury minions at once. With one attack each there always is
    # one; the plan is marked unless it is as good as the bound above.
    for friend in range(MAX_FRIENDS):
        work["halved"][friend] = turn["friends"][friend]["attacks"] == 2
        if work["halved"][friend]:
            turn["friends"][friend]["attacks"] = 1
    safe = search(turn, weights, work, layers)
    n = retrace(turn, weights, safe, work, layers)
    ordered = order_hits(turn, n, safe.lethal == 1, work)
    assert ordered, "attacks of single attackers can always be ordered"
    write_plan(turn, weights, n, safe.lethal == 1, work, plan)
    plan["resolved"] = best.value - safe.value <= SAME_VALUE * max(1.0, abs(best.value))
    for friend in range(MAX_FRIENDS):
        if work["halved"][friend]:
            turn["friends"][friend]["attacks"] = 2
