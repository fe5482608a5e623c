"""The ILP agent: solves the turn, plays the plan, and solves again after a chance outcome."""

from collections.abc import Sequence

import numpy as np

from engine import Action, IllegalActionError, Outcome, PlayerView, Position
from engine.effect_codes import MAX_OUTCOMES
from engine.effects.chance import Chance
from engine.jit import njit
from engine.rules import ILLEGAL, outcome_of, play_checked
from engine.state import EVENTS, STATE
from engine.view import OpponentInfo, hide_information
from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND, FORMULATIONS, refuse_secrets
from ilp_agent.exact.backend import (
    execute_plan_arrays,
    memory_of_thread,
    read_turn_arrays,
    supports_weights,
)
from ilp_agent.exact.kernel import solve_exact_turn_arrays
from ilp_agent.exact.plan_record import MAX_STEPS, TRACKER
from ilp_agent.plan import Plan, ProblemPlan
from ilp_agent.profiles import Profile
from ilp_agent.search import IGNORE
from ilp_agent.search.backend import thread_searcher
from ilp_agent.search.secret_explanation import SecretExplanation, explain_secrets
from ilp_agent.search.secrets import BELIEF, search_facing_secrets
from ilp_agent.solver import find_solver_for_formulation, solve, turn_of
from ilp_agent.turn import ProblemError, Turn
from ilp_agent.weights import WeightError, Weights


def plan_compiled(
    position: Position, weights: np.ndarray, backend: str
) -> tuple[list[tuple[bytes, Action]], bool]:
    """The best plan by a compiled backend: actions with their expected states, the end of the turn included.

    The list stops early at a chance outcome, or where a hero's health differs from the prediction.

    Args:
        position: only information visible to the player to move is read.
        weights: all of them, indexed by `ilp_agent.weights.Term`.
        backend: name of a compiled backend.

    Returns:
        The actions, and whether the plan is unproven (not known to be optimal).

    Raises:
        ProblemError: the game has card effects, and the backend does not support them.
    """
    if chosen_backend(position, weights, backend) == "exact":
        return plan_by_exact_solver(position, weights)
    solved = thread_searcher().search(position, weights)
    actions = list(map(Action.from_code, solved["actions"][: solved["n"]].tolist()))
    return pair_with_states(position, actions, bool(solved["again"])), bool(solved["unproven"])


def chosen_backend(position: Position, weights: np.ndarray, backend: str) -> str:
    """The backend that solves a position: resolves `auto` to `exact` or `search`."""
    if backend != "auto":
        return backend
    if position.table.effects:
        return "search"
    turns = memory_of_thread().turns
    read_turn_arrays(position.states, position.table.array, turns)
    return "exact" if supports_weights(turns[0], weights) else "search"


def pair_with_states(
    position: Position, actions: Sequence[Action], again: bool
) -> list[tuple[bytes, Action]]:
    """Pair each action with the state in which it is expected to be played.

    Args:
        position: position before the first action; not modified.
        actions: deterministic actions; with `again` the last may depend on chance.
        again: whether the turn is solved again after them; otherwise the end of the turn is added.
    """
    steps = np.zeros(len(actions) + 1, STATE)
    codes = np.array([action.code for action in actions], np.int64)
    chances = Chance.given([0] * MAX_OUTCOMES).array  # as in `play_planned_action`
    played = simulate_actions(position.states, position.table.array, codes, again, chances, steps)
    if played < len(actions) - again:
        raise IllegalActionError(
            f"planned action {actions[played]} is illegal after {played} actions in {position}"
        )
    placed = [(steps[n].tobytes(), action) for n, action in enumerate(actions)]
    if not again and outcome_of(steps[-1:]) == Outcome.ONGOING:
        placed.append((steps[-1].tobytes(), Action.end_turn()))
    return placed


def play_planned_action(position: Position, action: Action) -> None:
    """Play a planned action whose chance outcomes do not matter to the plan. `position` is modified in place.

    An example of such an outcome: where in the opponent's deck a Deathrattle shuffles a card.
    """
    position.play(action, Chance.given([0] * MAX_OUTCOMES))


@njit
def simulate_actions(
    states: np.ndarray,
    cards: np.ndarray,
    codes: np.ndarray,
    again: bool,
    chances: np.ndarray,
    steps: np.ndarray,
) -> int:
    """Simulate actions and write the state before each to `steps`; return the number of legal ones.

    The last action is not played where the turn is solved again after it.

    Args:
        states: the state before the first action, shape (1,); not modified.
        cards: the card table.
        codes: the actions' codes.
        again: whether the turn is solved again after them.
        chances: dtype `EVENTS`, shape (1,): the chance outcomes. Modified in place.
        steps: dtype `STATE`, shape (actions + 1,). Modified in place: the state before each action, and after
            the last one played.
    """
    steps[0] = states[0]
    for n in range(len(codes) - (1 if again else 0)):
        steps[n + 1] = steps[n]
        if play_checked(steps[n + 1 : n + 2], cards, codes[n], chances) == ILLEGAL:
            return n
        hide_information(steps[n + 1], cards, states[0]["active"])  # cards that the opponent has got
    return len(codes) - (1 if again else 0)


def plan_by_exact_solver(position: Position, weights: np.ndarray) -> tuple[list[tuple[bytes, Action]], bool]:
    """`plan_compiled` by the exact solver; stops early where a hero's health differs from the prediction.

    Raises:
        ProblemError: the game has card effects.
    """
    if position.table.effects:
        raise ProblemError(
            f"backend 'exact' does not support card effects; use backend 'auto'; in {position}"
        )
    memory, replayed = memory_of_thread(), position.copy()
    cards, codes = position.table.array, np.zeros(MAX_STEPS, np.int64)
    read_turn_arrays(position.states, cards, memory.turns)
    solve_exact_turn_arrays(memory.turns, weights, memory.works, memory.layers, memory.plans)
    trackers, chances = np.zeros(1, TRACKER), np.zeros(1, EVENTS)
    n, again = execute_plan_arrays(
        replayed.states, cards, memory.turns, memory.plans, trackers, chances, codes
    )
    actions = list(map(Action.from_code, codes[:n].tolist()))
    return pair_with_states(position, actions, again), bool(memory.plans[0]["unproven"])


def plan_facing_secrets(
    view: PlayerView, weights: np.ndarray, rule: int, beliefs: np.ndarray
) -> tuple[list[tuple[bytes, Action]], bool]:
    """`plan_compiled` by the search, with the opponent's hidden Secrets taken into account.

    Args:
        view: with the Secrets of the opponent's deck list as `shown`.
        weights: all of them, indexed by `ilp_agent.weights.Term`.
        rule: a value of `ilp_agent.search.SECRETS`.
        beliefs: dtype `BELIEF`, shape (1,), of this game. Modified in place.
    """
    solved = search_facing_secrets(view.position, weights, rule, view.shown, beliefs)
    actions = list(map(Action.from_code, solved["actions"][: solved["n"]].tolist()))
    return pair_with_states(view.position, actions, bool(solved["again"])), bool(solved["unproven"])


def make_agent(weights: Weights, backend: str = DEFAULT_BACKEND, secrets: int = IGNORE) -> "IlpAgent":
    """An `IlpAgent` of the formulation "sequential", from the arguments of an agent kind."""
    return IlpAgent(weights, backend, secrets=secrets)


class IlpAgent:
    """Agent that plays the optimal turn under one weight vector.

    Args:
        profile: the weights and the agent's name in results; or only the weights.
        backend: the solver; see `ilp_agent.solve`.
        formulation: "sequential" or "thesis"; illegal actions of a "thesis" plan are skipped.
        secrets: how plans are valued against the opponent's hidden Secrets, a value of
            `ilp_agent.search.SECRETS`.

    Attributes:
        shown: information to reveal in addition to the view: the Secrets of the opponent's deck list.
        solves: turns solved so far.
        exact: of those, turns solved by the exact solver.
        search: turns solved by the search.
        unproven: turns without proof of optimality; compiled backends only.
        again: repeated solves within one turn, for example after an enemy with Lifesteal healed its hero.

    Raises:
        UnknownNameError: unknown backend or formulation.
        SolverError: the backend cannot start, or does not support the formulation or the option `secrets`.
        WeightError: `profile` is neither a profile nor weights.
    """

    def __init__(
        self,
        profile: Profile[Weights] | Weights,
        backend: str = DEFAULT_BACKEND,
        formulation: str = FORMULATIONS[0],
        secrets: int = IGNORE,
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
        self._array = weights.full_array
        find_solver_for_formulation(backend, formulation)
        if secrets != IGNORE:
            refuse_secrets(backend)
        self.secrets = secrets
        self.shown = OpponentInfo.NOTHING if secrets == IGNORE else OpponentInfo.SECRETS
        self._beliefs = np.zeros(1, BELIEF)

    def new_game(self, seat: int, rng: np.random.Generator) -> None:  # noqa: ARG002
        """Forget what was learned of the last opponent's Secrets."""
        self._beliefs[:] = 0

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """The next action of the plan; solves again if the position is not the expected one."""
        state = view.position.state.tobytes()
        if not self._planned or self._planned[0][0] != state:
            if self._planned:
                self._beliefs["pending"] = 0  # the last action of the plan was not played
            self._plan(view)
        return self._planned.pop(0)[1]

    def plan(self, view: PlayerView) -> Plan | ProblemPlan:
        """The plan for the rest of a turn; without card effects, in the indices of its `TurnProblem`."""
        return solve(turn_of(view.position), self.weights, self.backend, self.formulation)

    def explain_secrets(self, view: PlayerView) -> SecretExplanation | None:
        """What the agent assumes of the opponent's hidden Secrets; None if it takes none into account.

        Args:
            view: at one of the agent's decisions, with the information that `shown` asks for.
        """
        by_search = view.position.table.effects and self.secrets != IGNORE
        if not by_search or not view.enemy.secrets:
            return None
        return explain_secrets(view.position, self._array, self.secrets, view.shown, self._beliefs)

    def _plan(self, view: PlayerView) -> None:
        """Solve the turn and store its actions with their expected states."""
        turn = (view.turn, view.seat)
        self.solves += 1
        self.again += turn == self._turn
        self._turn = turn
        if BACKENDS[self.backend].compiled:
            by_exact = chosen_backend(view.position, self._array, self.backend) == "exact"
            if self.secrets == IGNORE or by_exact:
                self._planned, unproven = plan_compiled(view.position, self._array, self.backend)
            else:
                self._planned, unproven = plan_facing_secrets(view, self._array, self.secrets, self._beliefs)
            self.unproven += unproven
            self.exact += by_exact
            self.search += not by_exact
            return
        plan = solve(Turn.from_view(view), self.weights, self.backend, self.formulation)
        self._planned = pair_with_states(view.position, plan.actions, plan.again)
