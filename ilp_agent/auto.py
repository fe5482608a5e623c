"""The backend `auto`: `exact` where it applies, `search` elsewhere."""

from engine.codes import ActionKind
from ilp_agent.exact.backend import ExactSolver
from ilp_agent.exact.scope import applies
from ilp_agent.plan import Plan
from ilp_agent.problem import TurnProblem
from ilp_agent.search.backend import SearchSolver
from ilp_agent.turn import Turn
from ilp_agent.weights import Weights


class AutoSolver:
    """Turns of bodies by `exact` where weights and what is left out allow it, all others by `search`."""

    name = "auto"

    def __init__(self) -> None:
        self._exact, self._search = ExactSolver(), SearchSolver()

    def solve(self, turn: Turn, weights: Weights) -> Plan:
        """The best way to go on with a turn."""
        bodies = not turn.position.table.effects
        if bodies and all(barred.kind == ActionKind.ATTACK for barred in turn.barred):
            record = TurnProblem.from_turn(turn).record
            if applies(record, weights.everything):
                return self._exact.solve(turn, weights)
        return self._search.solve(turn, weights)
