"""The exact solver whole: the best plan of a turn, in a legal order, with what it predicts."""

import numpy as np

from engine.apart import njit_apart
from engine.jit import njit
from ilp_agent.exact.order import order_hits
from ilp_agent.exact.ordered import improve_by_order
from ilp_agent.exact.prediction import write_plan
from ilp_agent.exact.search import retrace, search
from ilp_agent.exact.steps import PLAN
from ilp_agent.exact.work import MAX_LAYERS, USUAL_STATES, WORK
from ilp_agent.turnrecord import MAX_FRIENDS, MAX_HITS_EACH, TURN


@njit_apart(TURN, (np.dtype(np.float64),), WORK, (np.dtype(np.float64),), PLAN, allocates=True)
def solve_turn(turn: np.void, weights: np.ndarray, work: np.void, layers: np.ndarray, plan: np.void) -> int:
    """Find the best plan of a turn. `work`, `layers` and `plan` are modified in place.

    The plan is marked as unproven in two cases: the search for an order ran out of nodes, or so many Windfury
    minions can attack that the weakest were given one attack.

    Args:
        turn: dtype `ilp_agent.turnrecord.TURN`; left as it was.
        weights: of the objective, indexed by `ilp_agent.weights.Term`; finite and >= 0.
        work: dtype `ilp_agent.exact.work.WORK`.
        layers: of `ilp_agent.exact.work.new_layers`.
        plan: dtype `ilp_agent.exact.steps.PLAN`.

    Returns:
        0.
    """
    tables = layers.reshape((MAX_LAYERS, 2, USUAL_STATES))
    # Windfury minions given one attack, as bits: for tables that fit memory; for a plan that has an order.
    for_size = for_order = 0
    while True:
        found = search(turn, weights, work, tables)
        if found.oversize:
            for_size |= halve_weakest(turn)
            continue
        n = retrace(turn, weights, found, work, tables)
        if order_hits(turn, n, found.best.lethal == 1, work):
            break
        # No order serves all attacks of several Windfury minions at once. With one attack each one does.
        assert for_order == 0, "attacks of single attackers can always be ordered"
        for_order = halve_all(turn)
        assert for_order != 0, "attacks of single attackers can always be ordered"
    write_plan(turn, weights, n, found.best.lethal == 1, work, plan)
    if for_order:
        restore(turn, for_order)
        improve_by_order(turn, weights, work, layers, plan)
    if for_size:
        restore(turn, for_size)
        plan["unproven"] = 1
    return 0


@njit
def solve_turns(
    turns: np.ndarray, weights: np.ndarray, works: np.ndarray, layers: np.ndarray, plans: np.ndarray
) -> None:
    """`solve_turn` for arrays of shape (1,), which Python hands over faster than records."""
    solve_turn(turns[0], weights, works[0], layers, plans[0])


@njit
def halve_weakest(turn: np.void) -> int:
    """Give one attack to the weakest of those with two; returns its bit. `turn` is modified in place."""
    weakest = -1
    for friend in range(turn["n_board"] + turn["n_hand"]):
        one = turn["friends"][friend]
        if one["attacks"] == MAX_HITS_EACH and (
            weakest < 0 or one["attack"] < turn["friends"][weakest]["attack"]
        ):
            weakest = friend
    assert weakest >= 0, "tables of attackers with one attack each always fit"
    turn["friends"][weakest]["attacks"] = 1
    return 1 << weakest


@njit
def halve_all(turn: np.void) -> int:
    """Give one attack to all with two; returns their bits. `turn` is modified in place."""
    halved = 0
    for friend in range(MAX_FRIENDS):
        if turn["friends"][friend]["attacks"] == MAX_HITS_EACH:
            turn["friends"][friend]["attacks"] = 1
            halved |= 1 << friend
    return halved


@njit
def restore(turn: np.void, halved: int) -> None:
    """Give back the second attacks of these friends, as bits. `turn` is modified in place."""
    for friend in range(MAX_FRIENDS):
        if (halved >> friend) & 1:
            turn["friends"][friend]["attacks"] = MAX_HITS_EACH
