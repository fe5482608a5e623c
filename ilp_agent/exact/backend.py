"""Our own backend: compiled, exact, no licence needed (`ilp_agent.exact.kernel`)."""

import threading
from typing import NamedTuple

import numpy as np

from ilp_agent.exact.kernel import solve_turns
from ilp_agent.exact.scope import check_scope
from ilp_agent.exact.work import WORK, new_layers
from ilp_agent.plan import Plan, Status, plan_of
from ilp_agent.problem import TurnProblem
from ilp_agent.steps import PLAN
from ilp_agent.turn import TURN
from ilp_agent.weights import Weights


class Memory(NamedTuple):
    """What a turn is solved in; arrays of shape (1,) but for the layers. Modified in place by the kernels."""

    turns: np.ndarray
    plans: np.ndarray
    works: np.ndarray
    layers: np.ndarray


_LOCAL = threading.local()


def memory_of_thread() -> Memory:
    """This thread's memory, made once: kernels run without the GIL, so no two threads may share it."""
    if not hasattr(_LOCAL, "memory"):
        _LOCAL.memory = Memory(np.zeros(1, TURN), np.zeros(1, PLAN), np.zeros(1, WORK), new_layers())
    memory: Memory = _LOCAL.memory
    return memory


class ExactSolver:
    """Dynamic programming over sets of hits; hundreds of times faster than a general solver.

    The status is FEASIBLE for a legal plan that is unproven: when seven Windfury minions attack so many
    different enemies that the tables do not fit memory (`ilp_agent.exact.kernel`).
    """

    name = "exact"

    def solve(self, problem: TurnProblem, weights: Weights, formulation: str) -> Plan:  # noqa: ARG002
        """The best plan of the sequential formulation.

        Raises:
            SolverError: a weight is set that the turn program cannot count on this turn.
        """
        check_scope(problem, weights)
        memory = memory_of_thread()
        # A copy: the kernel changes it and puts it back, and other threads may solve the same problem.
        memory.turns[0] = problem.record
        solve_turns(memory.turns, weights.everything, memory.works, memory.layers, memory.plans)
        plan = memory.plans[0]
        return plan_of(problem, plan, Status.FEASIBLE if plan["unproven"] else Status.OPTIMAL, weights)
