"""Why an agent plays a turn as it does, as plain data."""

from collections.abc import Callable
from typing import Any

from engine import Position
from engine.course import Agent
from evo.stories import cardwords, words
from ilp_agent import CardTurn, IlpAgent, TurnProblem, Weights, explain, explain_cards

Reasons = Callable[[Position], dict[str, Any]]
"""Reasons for the plan in a position as its player sees it."""


def reasons_of(agent: Agent) -> Reasons | None:
    """Who tells why an agent plays as it does; None for agents that give no reasons.

    The reasons have `plan`, `promise` (what is certain about it), `without` (the plan's first action) and
    `alternative` (the best plan without that action), as text; `tie`, whether it is worth as much; `status`
    of the solver; and `terms`, a row for each with name, meaning, and its worth in plan and alternative.
    Where there is no alternative, it and its numbers are None.
    """
    if not isinstance(agent, IlpAgent):
        return None
    weights, backend = agent.weights, agent.backend

    def told(position: Position) -> dict[str, Any]:
        if position.table.effects:
            return _of_cards(position, weights, backend)
        return _of_bodies(position, weights, backend)

    return told


def _of_bodies(position: Position, weights: Weights, backend: str) -> dict[str, Any]:
    found = explain(TurnProblem.from_position(position), weights, backend)
    names, m = words.names_of(found, position), len(found.problem.friendly)
    other = found.alternative if found.refused is not None else None
    refused = words.action_text(found.refused, names, m) if found.refused is not None else None
    return {
        "plan": words.plan_text(found.plan, names, m),
        "promise": words.promise(found.plan, names),
        "without": refused if other is not None else None,
        "alternative": words.plan_text(other, names, m) if other is not None else None,
        "tie": found.tie,
        "status": str(found.plan.status),
        "terms": _terms(found.plan, other),
    }


def _of_cards(position: Position, weights: Weights, backend: str) -> dict[str, Any]:
    found = explain_cards(CardTurn(position), weights, backend)
    other = found.alternative if found.refused is not None else None
    refused = cardwords.action_text(position, found.refused) if found.refused is not None else None
    return {
        "plan": cardwords.plan_text(position, found.plan),
        "promise": cardwords.promise(position, found.plan),
        "without": refused if other is not None else None,
        "alternative": cardwords.plan_text(position, other) if other is not None else None,
        "tie": found.tie,
        "status": str(found.plan.status),
        "terms": _terms(found.plan, other),
    }


def _terms(plan: Any, other: Any) -> list[list[Any]]:
    """Rows of all terms and their sum."""
    others = other.terms._asdict() if other is not None else {}
    rows = [
        [name, Weights.MEANINGS[place], term, others.get(name)]
        for place, (name, term) in enumerate(plan.terms._asdict().items())
    ]
    return [*rows, ["sum", "", plan.objective, other.objective if other is not None else None]]
