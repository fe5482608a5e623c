"""The ILP agent: solves the turn, plays the plan, and solves again when a hero was healed meanwhile."""

import numpy as np

from engine import Action, PlayerView
from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND, FORMULATIONS
from ilp_agent.plan import Plan, ProblemPlan
from ilp_agent.planner import chosen_backend, place_actions, plan_compiled
from ilp_agent.profiles import Profile
from ilp_agent.solver import solve, solver_for, turn_of
from ilp_agent.turn import Turn
from ilp_agent.weights import WeightError, Weights


class IlpAgent:
    """Plays by the turn program with one weight vector.

    Args:
        profile: the weights and the name that results show; or weights alone.
        backend: who solves; see `ilp_agent.solve`.
        formulation: "sequential" or "thesis"; of the latter's plans, illegal actions are skipped.

    Attributes:
        solves: turns solved so far.
        exact: of those, by the exact solver.
        search: by the search.
        unproven: turns whose plan was not proven the best; counted of compiled backends alone.
        again: of those, solved again within a turn, since an enemy with Lifesteal healed its hero.

    Raises:
        UnknownNameError: no such backend or formulation.
        SolverError: the backend cannot start, or does not solve the formulation.
        WeightError: `profile` is neither a profile nor weights.
    """

    def __init__(
        self,
        profile: Profile[Weights] | Weights,
        backend: str = DEFAULT_BACKEND,
        formulation: str = FORMULATIONS[0],
    ) -> None:
        weights = profile.weights if isinstance(profile, Profile) else profile
        if not isinstance(weights, Weights):
            raise WeightError(f"profile must be a Profile or Weights of the turn program, got {profile!r}")
        self.weights = weights
        self.name = "ilp" if isinstance(profile, Weights) else profile.name
        self.backend = backend
        self.formulation = formulation
        self.solves = self.again = self.unproven = self.exact = self.search = 0
        self._turn = (-1, -1)
        self._planned: list[tuple[bytes, Action]] = []
        self._array = weights.everything
        solver_for(backend, formulation)

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """The next action of the plan; a new plan where the position is not the one planned for."""
        now = view.position.state.tobytes()
        if not self._planned or self._planned[0][0] != now:
            self._plan(view)
        return self._planned.pop(0)[1]

    def plan(self, view: PlayerView) -> Plan | ProblemPlan:
        """The plan for what is left of a turn; of bodies in the indices of its `TurnProblem`."""
        return solve(turn_of(view.position), self.weights, self.backend, self.formulation)

    def _plan(self, view: PlayerView) -> None:
        """Solve, and note each action with the position it is meant for, as far as predictions hold."""
        turn = (view.turn, view.seat)
        self.solves += 1
        self.again += turn == self._turn
        self._turn = turn
        if BACKENDS[self.backend].compiled:
            by_exact = chosen_backend(view.position, self._array, self.backend) == "exact"
            self._planned, unproven = plan_compiled(view.position, self._array, self.backend)
            self.unproven += unproven
            self.exact += by_exact
            self.search += not by_exact
            return
        plan = solve(Turn.from_view(view), self.weights, self.backend, self.formulation)
        self._planned = place_actions(view.position, plan.actions, plan.again)
