"""The ILP agent: solves the turn, plays the plan, and solves again when a hero was healed meanwhile."""

from collections.abc import Iterator

import numpy as np

from engine import HERO, Action, PlayerView, Position
from engine.codes import COIN
from ilp_agent.plan import Attack, Plan, Play
from ilp_agent.planner import plan_exactly
from ilp_agent.problem import TurnProblem
from ilp_agent.profiles import Profile
from ilp_agent.solver import BACKENDS, DEFAULT_BACKEND, FORMULATIONS, solve, solver_for
from ilp_agent.weights import WeightError, Weights


class IlpAgent:
    """Plays by the turn program with one weight vector.

    Args:
        profile: the weights and the name that results show; or weights alone.
        backend: who solves; see `ilp_agent.solve`.
        formulation: "sequential" or "thesis"; of the latter's plans, illegal actions are skipped.

    Attributes:
        solves: turns solved so far.
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
        self.solves = self.again = self.unproven = 0
        self._turn = (-1, -1)
        self._planned: list[tuple[bytes, Action]] = []
        self._array = weights.array
        solver_for(backend, formulation)

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """The next action of the plan; a new plan where the position is not the one planned for."""
        now = view.position.state.tobytes()
        if not self._planned or self._planned[0][0] != now:
            self._plan(view)
        return self._planned.pop(0)[1]

    def plan(self, view: PlayerView) -> Plan:
        """The plan for what is left of a turn."""
        return solve(TurnProblem.from_view(view), self.weights, self.backend, self.formulation)

    def _plan(self, view: PlayerView) -> None:
        """Solve, and note each action with the position it is meant for, as far as predictions hold."""
        turn = (view.turn, view.seat)
        self.solves += 1
        self.again += turn == self._turn
        self._turn = turn
        if BACKENDS[self.backend].compiled:
            self._planned, proven = plan_exactly(view.position, self._array)
            self.unproven += not proven
            return
        position = view.position.copy()
        plan = self.plan(view)
        hero = view.enemy.health + view.enemy.armour
        self._planned = []
        for action, damage in engine_actions(position, plan):
            if action not in position.legal_actions():
                continue
            self._planned.append((position.state.tobytes(), action))
            position.play(action)
            hero -= damage
            enemy = position.state["sides"][1 - view.seat]
            if enemy["health"] + enemy["armour"] != hero:
                return
        self._planned.append((position.state.tobytes(), Action.end_turn()))


def engine_actions(position: Position, plan: Plan) -> Iterator[tuple[Action, int]]:
    """A plan's actions in the places the engine counts, each with the damage it means for the enemy hero.

    The caller carries each action out on `position` before asking for the next, or leaves it out.
    """
    own = position.state["sides"][position.active]
    enemy = position.state["sides"][1 - position.active]
    cards = [int(number) for number in own["hand"][: own["n_hand"]]]
    m = int(own["n_board"])
    friends = list(range(m))
    enemies = list(range(int(enemy["n_board"])))
    counted = iter(range(len(cards)))
    held = [None if number == COIN else next(counted) for number in cards]
    for action in plan.actions:
        before = int(own["n_board"]), int(enemy["n_board"]), int(own["n_hand"])
        if isinstance(action, Attack):
            if action.attacker not in friends or (action.target != HERO and action.target not in enemies):
                continue
            slot = friends.index(action.attacker)
            target = HERO if action.target == HERO else enemies.index(action.target)
            damage = int(own["board"][slot]["attack"]) if target == HERO else 0
            yield Action.attack(slot, target), damage
            if own["n_board"] < before[0]:
                friends.pop(slot)
            if enemy["n_board"] < before[1]:
                enemies.pop(target)
        else:
            card = action.hand if isinstance(action, Play) else None
            place = held.index(card)
            yield Action.play(place), 0
            if own["n_hand"] < before[2]:
                held.pop(place)
                if card is not None:
                    friends.append(m + card)
