"""Explain a plan: compare its terms with those of the best plan that omits this plan's first action."""

from dataclasses import dataclass, replace

from engine.actions import Action
from engine.codes import HERO
from ilp_agent.backends import DEFAULT_BACKEND
from ilp_agent.plan import Attack, Plan, PlanAction, Play, ProblemPlan
from ilp_agent.problem import TurnProblem
from ilp_agent.solver import solve
from ilp_agent.turn import Turn
from ilp_agent.weights import Weights


@dataclass(frozen=True)
class Explanation:
    """The best plan, and the best alternative without the first action of that plan.

    Attributes:
        turn: the turn, or a `TurnProblem`.
        plan: the best plan; of a `TurnProblem`, in its indices.
        refused: the plan's first action, excluded from the alternative; None when the plan is empty.
        alternative: the best plan without that action; None when the plan is empty.
        tie: whether both have the same objective, as with two equal cards.
    """

    turn: TurnProblem | Turn
    plan: ProblemPlan | Plan
    refused: PlanAction | Action | None
    alternative: ProblemPlan | Plan | None

    @property
    def problem(self) -> TurnProblem | Turn:
        """Alias of `turn`."""
        return self.turn

    @property
    def tie(self) -> bool:
        """Whether the alternative has the same objective as the plan."""
        return self.alternative is not None and _equal_objectives(
            self.plan.objective, self.alternative.objective
        )


def explain(turn: TurnProblem | Turn, weights: Weights, backend: str = DEFAULT_BACKEND) -> Explanation:
    """Solve a turn, then solve it again without the first action of the best plan.

    Raises:
        SolverError: the backend finds no plan, or does not support this turn.
        UnknownNameError: unknown backend.
    """
    plan: ProblemPlan | Plan = solve(turn, weights, backend)
    if not plan.actions:
        return Explanation(turn, plan, None, None)
    first, other = plan.actions[0], plan
    if isinstance(turn, Turn):
        assert isinstance(first, Action)
        other = solve(turn.without(first), weights, backend)
    else:
        assert not isinstance(first, Action)
        other = solve(exclude_action(turn, first), weights, backend)
        if isinstance(first, Play):
            other = _restore_hand_indices(other, first.hand, len(turn.friendly))
    return Explanation(turn, plan, first, other)


explain_cards, CardExplanation = explain, Explanation
"""Former names, kept for callers."""


def _equal_objectives(one: float, other: float) -> bool:
    """Whether two objectives are equal up to rounding."""
    return abs(one - other) <= 1e-9 * max(1.0, abs(one))


def exclude_action(problem: TurnProblem, action: PlanAction) -> TurnProblem:
    """Copy of a problem with one action excluded: a card, The Coin or an attack."""
    if isinstance(action, Play):
        hand = (*problem.hand[: action.hand], *problem.hand[action.hand + 1 :])
        return replace(problem, hand=hand)
    if isinstance(action, Attack):
        if action.target == HERO:
            return replace(problem, no_hero=problem.no_hero | {action.attacker})
        return replace(problem, barred=problem.barred | {(action.attacker, action.target)})
    return replace(problem, coin=False)


def _restore_hand_indices(plan: ProblemPlan, removed: int, m: int) -> ProblemPlan:
    """Translate a plan for the hand without one card to the indices of the whole hand."""

    def friend(index: int) -> int:
        return index + (index >= m + removed)

    actions: list[PlanAction] = []
    for action in plan.actions:
        if isinstance(action, Play):
            actions.append(Play(action.hand + (action.hand >= removed)))
        elif isinstance(action, Attack):
            actions.append(Attack(friend(action.attacker), action.target))
        else:
            actions.append(action)
    return replace(plan, actions=tuple(actions), lost=tuple(friend(index) for index in plan.lost))
