"""An explanation of a plan, drawn for the terminal or as plain data."""

from collections.abc import Callable
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from engine import HERO, Action, Position
from engine.codes import ActionKind
from evo.stories.words import action_text, names_of, plan_text, step_text, steps, told
from ilp_agent import Attack, Explanation, Plan, ProblemPlan, Profile, TurnProblem, Weights
from ilp_agent.plan import PlanAction


def draw_explanation(explanation: Explanation, position: Position, title: str = "") -> ConsoleRenderable:
    """The plan in words, and its terms beside those of the best plan without its first action."""
    words, plan, other = told(explanation, position), explanation.plan, explanation.alternative
    lines = [
        Text(f"plan{f' ({title})' if title else ''}: {words.plan}", style="bold"),
        Text(words.promise),
    ]
    table = Table("term", "for", title_justify="left")
    table.add_column("plan", justify="right")
    if other is not None:
        lines.append(Text(f'without "{words.refused}": {words.alternative}'))
        if explanation.tie:
            lines.append(Text("a tie: the plan without it is worth as much"))
        table.add_column("without", justify="right")
        table.add_column("decides", justify="right")
    for w, name in enumerate(plan.terms._asdict()):
        row = [name, Weights.MEANINGS[w], f"{plan.terms[w]:+.2f}"]
        if other is not None:
            row += [f"{other.terms[w]:+.2f}", _difference(plan.terms[w] - other.terms[w])]
        table.add_row(*row)
    total = ["sum", f"status {plan.status}", f"{plan.objective:+.2f}"]
    if other is not None:
        total += [f"{other.objective:+.2f}", _difference(plan.objective - other.objective)]
    table.add_row(*total, style="bold")
    return Group(*lines, table)


def as_json(
    explanation: Explanation, profile: Profile[Weights], backend: str, position: Position
) -> dict[str, Any]:
    """The explanation as plain data; actions in words, and as numbers of the problem or of the engine."""
    by_kind = _of_bodies if isinstance(explanation.turn, TurnProblem) else _of_cards
    refused, data = by_kind(explanation, position)
    return {
        "position": str(position),
        "profile": profile.name,
        "weights": profile.weights.named(),
        "backend": backend,
        "plan": data(explanation.plan),
        "without": refused,
        "alternative": data(explanation.alternative),
        "tie": explanation.tie,
    }


def _of_bodies(explanation: Any, position: Position) -> tuple[Any, Callable[[Any], Any]]:
    """The first action of a plan of bodies as data, and what makes data of such plans."""
    names = names_of(explanation.turn, position)
    m = len(explanation.turn.friendly)

    def action_data(action: PlanAction) -> dict[str, Any]:
        kind = type(action).__name__
        target = (
            {"target": "hero" if action.target == HERO else action.target}
            if isinstance(action, Attack)
            else {}
        )
        return {"kind": kind, **action._asdict(), **target, "text": step_text(action, names, m)}

    def plan_data(plan: ProblemPlan | None) -> dict[str, Any] | None:
        if plan is None:
            return None
        return {
            "status": str(plan.status),
            "objective": plan.objective,
            "terms": plan.terms._asdict(),
            "actions": [action_data(action) for action in plan.actions],
            "lethal": plan.lethal,
            "cleared": plan.cleared,
            "killed": plan.killed,
            "lost": plan.lost,
            "damage": plan.damage,
            "mana": plan.mana,
        }

    refused = explanation.refused
    return action_data(refused) if refused is not None else None, plan_data


def _of_cards(explanation: Any, position: Position) -> tuple[Any, Callable[[Any], Any]]:
    """The same on real cards."""

    def action_data(here: Position, action: Action) -> dict[str, Any]:
        return {
            "kind": action.kind.name.lower(),
            "source": action.source,
            "target": action.target if action.aimed or action.kind == ActionKind.ATTACK else None,
            "text": action_text(here, action),
        }

    def plan_data(plan: Plan | None) -> dict[str, Any] | None:
        if plan is None:
            return None
        return {
            "status": str(plan.status),
            "objective": plan.objective,
            "terms": plan.terms._asdict(),
            "actions": [action_data(here, action) for here, action in steps(position, plan)],
            "again": plan.again,
            "states": plan.states,
            "text": plan_text(position, plan),
        }

    refused = explanation.refused
    return action_data(position, refused) if refused is not None else None, plan_data


def _difference(value: float) -> str:
    return f"{value:+.2f}" if abs(value) >= 0.005 else ""
