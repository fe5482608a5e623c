"""An explanation of a plan on real cards, drawn for the terminal or as plain data."""

from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from engine import Action, Position
from engine.codes import ActionKind
from evo.stories.cardwords import action_text, plan_text, promise, steps
from ilp_agent import CardExplanation, CardPlan, Profile, Weights


def draw_card_explanation(explanation: CardExplanation, title: str = "") -> ConsoleRenderable:
    """The plan in words, and its terms beside those of the best plan without its first action."""
    position, plan, other = explanation.turn.position, explanation.plan, explanation.alternative
    lines = [
        Text(f"plan{f' ({title})' if title else ''}: {plan_text(position, plan)}", style="bold"),
        Text(promise(position, plan)),
    ]
    table = Table("term", "for", title_justify="left")
    table.add_column("plan", justify="right")
    if other is not None and explanation.refused is not None:
        refused = action_text(position, explanation.refused)
        lines.append(Text(f'without "{refused}": {plan_text(position, other)}'))
        if explanation.tie:
            lines.append(Text("a tie: the plan without it is worth as much"))
        table.add_column("without", justify="right")
        table.add_column("decides", justify="right")
    others = other.terms._asdict() if other is not None else {}
    for w, (name, term) in enumerate(plan.terms._asdict().items()):
        row = [name, Weights.MEANINGS[w], f"{term:+.2f}"]
        if other is not None:
            row += [f"{others[name]:+.2f}", _difference(term - others[name])]
        table.add_row(*row)
    total = ["sum", f"status {plan.status}", f"{plan.objective:+.2f}"]
    if other is not None:
        total += [f"{other.objective:+.2f}", _difference(plan.objective - other.objective)]
    table.add_row(*total, style="bold")
    return Group(*lines, table)


def cards_as_json(explanation: CardExplanation, profile: Profile[Weights], backend: str) -> dict[str, Any]:
    """The explanation as plain data; actions in words and as the engine has them."""
    position = explanation.turn.position

    def action_data(here: Position, action: Action) -> dict[str, Any]:
        return {
            "kind": action.kind.name.lower(),
            "source": action.source,
            "target": action.target if action.aimed or action.kind == ActionKind.ATTACK else None,
            "text": action_text(here, action),
        }

    def plan_data(plan: CardPlan | None) -> dict[str, Any] | None:
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
    return {
        "position": str(position),
        "profile": profile.name,
        "weights": profile.weights.named(),
        "backend": backend,
        "plan": plan_data(explanation.plan),
        "without": action_data(position, refused) if refused is not None else None,
        "alternative": plan_data(explanation.alternative),
        "tie": explanation.tie,
    }


def _difference(value: float) -> str:
    return f"{value:+.2f}" if abs(value) >= 0.005 else ""
