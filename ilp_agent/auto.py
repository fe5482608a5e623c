"""The backend `auto`: `exact` where it applies, `search` elsewhere."""

import numpy as np

from engine.codes import ActionKind
from ilp_agent.exact.backend import ExactSolver, applies, read_problem
from ilp_agent.plan import Plan
from ilp_agent.search.backend import SearchSolver
from ilp_agent.turn import TURN, Turn
from ilp_agent.weights import Weights


class AutoSolver:
    """Turns made from a problem by `exact` where the weights allow it, all others by `search`."""

    name = "auto"

    def __init__(self) -> None:
        self._exact, self._search = ExactSolver(), SearchSolver()

    def solve(self, turn: Turn, weights: Weights) -> Plan:
        """The best way to go on with a turn."""
        if turn.program and all(barred.kind == ActionKind.ATTACK for barred in turn.barred):
            turns = np.zeros(1, TURN)
            read_problem(turn, turns)
            if applies(turns[0], weights.everything):
                return self._exact.solve(turn, weights)
        return self._search.solve(turn, weights)
