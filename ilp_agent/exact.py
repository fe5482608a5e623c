"""The backend of our own: compiled, exact, without a licence (`ilp_agent.kernel`)."""

import threading

import numpy as np

from ilp_agent.kernel import solve_turns
from ilp_agent.order import PLAN
from ilp_agent.plan import Plan, Status, plan_of
from ilp_agent.problem import TurnProblem
from ilp_agent.turn import TURN
from ilp_agent.weights import Weights
from ilp_agent.work import WORK, new_layers


class ExactSolver:
    """Dynamic programming over sets of hits; hundreds of times faster than a general solver.

    The status is FEASIBLE, a legal plan whose optimality is not proven, where seven Windfury minions attack
    so many different enemies that the tables do not fit memory (`ilp_agent.kernel`).
    """

    name = "exact"
    formulations = ("sequential",)

    def __init__(self) -> None:
        # Kernels run without the GIL, so every thread needs memory of its own.
        self._local = threading.local()

    def solve(self, problem: TurnProblem, weights: Weights, formulation: str) -> Plan:  # noqa: ARG002
        """The best plan of the sequential formulation."""
        if not hasattr(self._local, "works"):
            self._local.works, self._local.layers = np.zeros(1, WORK), new_layers()
        plans, turns = np.zeros(1, PLAN), np.zeros(1, TURN)
        # A copy: the kernel changes it and puts it back, and other threads may solve the same problem.
        turns[0] = problem.record
        solve_turns(turns, weights.array, self._local.works, self._local.layers, plans)
        plan = plans[0]
        return plan_of(problem, plan, Status.OPTIMAL if plan["resolved"] else Status.FEASIBLE)
