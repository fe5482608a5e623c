"""The backend of our own: compiled, exact, without a licence (`ilp_agent.kernel`)."""

import threading

import numpy as np

from engine.codes import BOARD_SIZE
from ilp_agent.kernel import solve_turn
from ilp_agent.order import PLAN
from ilp_agent.plan import Plan, Status, plan_of
from ilp_agent.problem import TurnProblem
from ilp_agent.solver import SolverError, others
from ilp_agent.weights import Weights
from ilp_agent.work import new_layers, new_work

MAX_DOUBLES = 5
"""Attackers with two attacks that are solved in seconds; each further one takes about ten times as long."""


class ExactSolver:
    """Dynamic programming over sets of hits; hundreds of times faster than a general solver.

    The status is FEASIBLE in the rare case of several Windfury minions whose best attacks no common order
    serves: then the plan is legal, and its optimality is not proven.
    """

    name = "exact"
    formulations = ("sequential",)

    def __init__(self) -> None:
        # Kernels run without the GIL, so every thread needs memory of its own.
        self._local = threading.local()

    def solve(self, problem: TurnProblem, weights: Weights, formulation: str) -> Plan:  # noqa: ARG002
        """The best plan of the sequential formulation.

        Raises:
            SolverError: there are too many Windfury attackers.
        """
        record = problem.record
        m = len(problem.friendly)
        doubles = [i for i in range(m + len(problem.hand)) if record["friends"][i]["attacks"] == 2]
        at_once = sum(i < m for i in doubles) + min(sum(i >= m for i in doubles), BOARD_SIZE - m)
        if at_once > MAX_DOUBLES:
            raise SolverError(
                f"backend 'exact' takes at most {MAX_DOUBLES} Windfury attackers at once, got {at_once}; "
                + others("exact")
            )
        if not hasattr(self._local, "work"):
            self._local.work, self._local.layers = new_work(), new_layers()
        plan = np.zeros(1, PLAN)[0]
        solve_turn(record, weights.array, self._local.work, self._local.layers, plan)
        return plan_of(problem, plan, Status.OPTIMAL if plan["resolved"] else Status.FEASIBLE)
