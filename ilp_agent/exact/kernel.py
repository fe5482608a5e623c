"""The exact solver whole: the best plan of a turn, in a legal order, with what it predicts."""

import numpy as np

from engine.jit import njit
from ilp_agent.exact.order import order_hits, write_plan
from ilp_agent.exact.ordered import improve_by_order
from ilp_agent.exact.search import retrace, search
from ilp_agent.turn import MAX_FRIENDS

FOR_ORDER, FOR_SIZE = 1, 2
"""Why a Windfury minion is given one attack: for a safe plan to begin with; for tables that fit memory."""


@njit
def solve_turn(turn: np.void, weights: np.ndarray, work: np.void, layers: np.ndarray, plan: np.void) -> None:
    """Find the best plan of a turn. `work`, `layers` and `plan` are modified in place.

    The plan is marked as not resolved (not proven the best) in two cases: the search for an order ran out of
    nodes, or so many Windfury minions can attack that the weakest were given one attack.

    Args:
        turn: dtype `ilp_agent.turn.TURN`; left as it was.
        weights: W1 to W8, shape (8,), finite and >= 0.
        work: dtype `ilp_agent.exact.work.WORK`.
        layers: of `ilp_agent.exact.work.new_layers`.
        plan: dtype `ilp_agent.exact.order.PLAN`.
    """
    work["halved"][:] = 0
    cut = False
    safe = False
    while True:
        best = search(turn, weights, work, layers)
        if work["oversize"]:
            halve_weakest(turn, work)
            cut = True
            continue
        n = retrace(turn, weights, best, work, layers)
        if order_hits(turn, n, best.lethal == 1, work):
            break
        # No order serves all attacks of several Windfury minions at once. With one attack each one does.
        assert not safe, "attacks of single attackers can always be ordered"
        safe = True
        for friend in range(MAX_FRIENDS):
            if turn["friends"][friend]["attacks"] == 2:
                turn["friends"][friend]["attacks"] = 1
                work["halved"][friend] = FOR_ORDER
    write_plan(turn, weights, n, best.lethal == 1, work, plan)
    if safe:
        restore(turn, FOR_ORDER, work)
        improve_by_order(turn, weights, work, layers, plan)
    if cut:
        restore(turn, FOR_SIZE, work)
        plan["resolved"] = 0


@njit
def solve_turns(
    turns: np.ndarray, weights: np.ndarray, works: np.ndarray, layers: np.ndarray, plans: np.ndarray
) -> None:
    """`solve_turn` for arrays of shape (1,), which Python hands over faster than records."""
    solve_turn(turns[0], weights, works[0], layers, plans[0])


@njit
def halve_weakest(turn: np.void, work: np.void) -> None:
    """Give one attack to the weakest of those with two. `turn` and `work` are modified in place."""
    weakest = -1
    for friend in range(turn["n_board"] + turn["n_hand"]):
        one = turn["friends"][friend]
        if one["attacks"] == 2 and (weakest < 0 or one["attack"] < turn["friends"][weakest]["attack"]):
            weakest = friend
    assert weakest >= 0, "tables of attackers with one attack each always fit"
    turn["friends"][weakest]["attacks"] = 1
    work["halved"][weakest] = FOR_SIZE


@njit
def restore(turn: np.void, why: int, work: np.void) -> None:
    """Give back second attacks taken for one reason. `turn` is modified in place."""
    for friend in range(MAX_FRIENDS):
        if work["halved"][friend] == why:
            turn["friends"][friend]["attacks"] = 2
