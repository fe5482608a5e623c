"""The backend `auto`: the exact solver where it applies, otherwise the search."""

import numpy as np

from engine.codes import ActionKind
from ilp_agent.exact.backend import ExactSolver, read_problem, supports_weights
from ilp_agent.plan import Plan
from ilp_agent.search.backend import SearchSolver
from ilp_agent.turn import TURN, Turn
from ilp_agent.weights import Weights


class AutoSolver:
    """Solves a turn built from a `TurnProblem` by `exact` if the weights allow it, any other by `search`."""

    name = "auto"

    def __init__(self) -> None:
        self._exact, self._search = ExactSolver(), SearchSolver()

    def solve(self, turn: Turn, weights: Weights) -> Plan:
        """The best plan for the rest of a turn."""
        if turn.program and all(exclusion.kind == ActionKind.ATTACK for exclusion in turn.barred):
            turns = np.zeros(1, TURN)
            read_problem(turn, turns)
            if supports_weights(turns[0], weights.full_array):
                return self._exact.solve(turn, weights)
        return self._search.solve(turn, weights)
