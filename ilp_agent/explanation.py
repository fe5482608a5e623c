"""Why this plan: its terms beside those of the best plan that leaves its first action out."""

from dataclasses import dataclass, replace

from engine.actions import Action
from engine.codes import HERO
from ilp_agent.backends import DEFAULT_BACKEND
from ilp_agent.cardturn import CardPlan, CardTurn
from ilp_agent.plan import Attack, Plan, PlanAction, Play
from ilp_agent.problem import TurnProblem
from ilp_agent.solver import solve
from ilp_agent.weights import Weights


@dataclass(frozen=True)
class Explanation:
    """A plan and what it was preferred to.

    Attributes:
        problem: the turn.
        plan: the best plan.
        refused: its first action, which the alternative must not take; None when the plan is empty.
        alternative: the best plan without that action; None when there is no such action.
        tie: whether the alternative is worth as much, as with two cards that are alike.
    """

    problem: TurnProblem
    plan: Plan
    refused: PlanAction | None
    alternative: Plan | None

    @property
    def tie(self) -> bool:
        """Whether doing without the first action costs nothing."""
        return self.alternative is not None and _alike(self.plan.objective, self.alternative.objective)


@dataclass(frozen=True)
class CardExplanation:
    """A plan on real cards and what it was preferred to.

    Attributes:
        turn: the turn.
        plan: the best way to go on with it.
        refused: its first action, which the alternative must not take; None when the plan is empty.
        alternative: the best plan that never takes that action; None when there is no such action.
        tie: whether the alternative is worth as much.
    """

    turn: CardTurn
    plan: CardPlan
    refused: Action | None
    alternative: CardPlan | None

    @property
    def tie(self) -> bool:
        """Whether doing without the first action costs nothing."""
        return self.alternative is not None and _alike(self.plan.objective, self.alternative.objective)


def explain_cards(turn: CardTurn, weights: Weights, backend: str = DEFAULT_BACKEND) -> CardExplanation:
    """Solve a turn on real cards, and again without the first action of the best plan.

    Raises:
        SolverError: the backend has no answer, or does not take this turn.
        UnknownNameError: there is no such backend.
    """
    plan = solve(turn, weights, backend)
    if not plan.actions:
        return CardExplanation(turn, plan, None, None)
    first = plan.actions[0]
    return CardExplanation(turn, plan, first, solve(turn.without(first), weights, backend))


def _alike(one: float, other: float) -> bool:
    """Whether two objectives are the same but for rounding."""
    return abs(one - other) <= 1e-9 * max(1.0, abs(one))


def explain(problem: TurnProblem, weights: Weights, backend: str = DEFAULT_BACKEND) -> Explanation:
    """Solve a turn, and again without the first action of the best plan.

    Raises:
        SolverError: the backend has no answer.
        UnknownNameError: there is no such backend.
    """
    plan = solve(problem, weights, backend)
    if not plan.actions:
        return Explanation(problem, plan, None, None)
    first = plan.actions[0]
    other = solve(without(problem, first), weights, backend)
    if isinstance(first, Play):
        other = _with_gap(other, first.hand, len(problem.friendly))
    return Explanation(problem, plan, first, other)


def without(problem: TurnProblem, action: PlanAction) -> TurnProblem:
    """The same turn without one action: without the card or The Coin, or with the attack barred."""
    if isinstance(action, Play):
        hand = (*problem.hand[: action.hand], *problem.hand[action.hand + 1 :])
        return replace(problem, hand=hand)
    if isinstance(action, Attack):
        if action.target == HERO:
            return replace(problem, no_hero=problem.no_hero | {action.attacker})
        return replace(problem, barred=problem.barred | {(action.attacker, action.target)})
    return replace(problem, coin=False)


def _with_gap(plan: Plan, removed: int, m: int) -> Plan:
    """A plan made for the hand without one card, in the indices of the whole hand."""

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
