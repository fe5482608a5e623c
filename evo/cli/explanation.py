"""An explanation of a plan, drawn for the terminal or as plain data."""

from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from engine import HERO, Position
from evo.stories.words import action_text, names_of, plan_text, promise
from ilp_agent import Attack, Explanation, Plan, Profile, Weights
from ilp_agent.plan import PlanAction


def draw_explanation(explanation: Explanation, position: Position, title: str = "") -> ConsoleRenderable:
    """The plan in words, and its terms beside those of the best plan without its first action."""
    names = names_of(explanation, position)
    m = len(explanation.problem.friendly)

    plan, other = explanation.plan, explanation.alternative
    lines = [
        Text(f"plan{f' ({title})' if title else ''}: {plan_text(plan, names, m)}", style="bold"),
        Text(promise(plan, names)),
    ]
    table = Table("term", "for", title_justify="left")
    table.add_column("plan", justify="right")
    if other is not None and explanation.refused is not None:
        lines.append(
            Text(f'without "{action_text(explanation.refused, names, m)}": {plan_text(other, names, m)}')
        )
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
    """The explanation as plain data; actions in words and as indices of the problem."""
    names = names_of(explanation, position)
    m = len(explanation.problem.friendly)

    def action_data(action: PlanAction) -> dict[str, Any]:
        kind = type(action).__name__
        target = (
            {"target": "hero" if action.target == HERO else action.target}
            if isinstance(action, Attack)
            else {}
        )
        return {"kind": kind, **action._asdict(), **target, "text": action_text(action, names, m)}

    def plan_data(plan: Plan | None) -> dict[str, Any] | None:
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

    return {
        "position": str(position),
        "profile": profile.name,
        "weights": profile.weights.named(),
        "backend": backend,
        "plan": plan_data(explanation.plan),
        "without": action_data(explanation.refused) if explanation.refused is not None else None,
        "alternative": plan_data(explanation.alternative),
        "tie": explanation.tie,
    }


def _difference(value: float) -> str:
    return f"{value:+.2f}" if abs(value) >= 0.005 else ""
