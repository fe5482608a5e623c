"""Why an agent plays a turn as it does, as plain data."""

from collections.abc import Callable
from typing import Any

from engine import Position
from engine.course import Agent
from evo.stories.words import told
from ilp_agent import IlpAgent, Weights, explain, turn_of

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

    def reasons(position: Position) -> dict[str, Any]:
        found = explain(turn_of(position), weights, backend)
        words, other = told(found, position), found.alternative
        return {
            "plan": words.plan,
            "promise": words.promise,
            "without": words.refused if other is not None else None,
            "alternative": words.alternative,
            "tie": found.tie,
            "status": str(found.plan.status),
            "terms": _terms(found.plan, other),
        }

    return reasons


def _terms(plan: Any, other: Any) -> list[list[Any]]:
    """Rows of all terms and their sum."""
    others = other.terms._asdict() if other is not None else {}
    rows = [
        [name, Weights.MEANINGS[place], term, others.get(name)]
        for place, (name, term) in enumerate(plan.terms._asdict().items())
    ]
    return [*rows, ["sum", "", plan.objective, other.objective if other is not None else None]]
