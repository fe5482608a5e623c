"""The backend `auto`: `exact` where it applies, `search` elsewhere."""

from ilp_agent.cardturn import CardPlan, CardTurn
from ilp_agent.exact.backend import ExactSolver
from ilp_agent.exact.scope import applies
from ilp_agent.plan import Plan
from ilp_agent.problem import TurnProblem
from ilp_agent.search.backend import SearchSolver
from ilp_agent.weights import Weights


class AutoSolver:
    """Turns of bodies by `exact` where the weights allow it, all others by `search`."""

    name = "auto"

    def __init__(self) -> None:
        self._exact, self._search = ExactSolver(), SearchSolver()

    def solve(self, problem: TurnProblem, weights: Weights, formulation: str) -> Plan:
        """The best plan of a turn of bodies."""
        chosen = self._exact if applies(problem.record, weights.everything) else self._search
        return chosen.solve(problem, weights, formulation)

    def solve_cards(self, turn: CardTurn, weights: Weights) -> CardPlan:
        """The best way to go on with a turn on real cards."""
        return self._search.solve_cards(turn, weights)
