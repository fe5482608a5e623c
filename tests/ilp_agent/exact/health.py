"""Health left on the board, as a plan's terms have it and as the engine shows it."""

import pytest

from ilp_agent import Plan, Play, TurnProblem, Weights
from ilp_agent.backends import installed_backends
from ilp_agent.replay import replay

PROGRAMS = [
    entry.name for entry in installed_backends() if entry.library and "sequential" in entry.formulations
]
"""Backends that solve the turn program as a program."""


def comes_true(problem: TurnProblem, weights: Weights, plan: Plan) -> None:
    """Carried out in the engine, friends lose and enemies lose the health that the plan's terms say."""
    where = f"{problem} {weights} {plan}"
    assert sum(plan.terms) == pytest.approx(plan.objective, rel=1e-9, abs=1e-9), where
    own, enemy = replay(problem, plan.actions).state["sides"]
    played = [problem.hand[action.hand] for action in plan.actions if isinstance(action, Play)]
    came = sum(minion.attack + minion.health for minion in (*problem.friendly, *played))
    here, there = (side["board"][: side["n_board"]] for side in (own, enemy))
    body = int(here["attack"].sum() + here["health"].sum()) - came
    wound = sum(minion.health for minion in problem.enemy) - int(there["health"].sum())
    if weights.body:
        assert plan.terms.body == pytest.approx(weights.body * body, abs=1e-9), where
    if weights.wound:
        assert plan.terms.wound == pytest.approx(weights.wound * wound, abs=1e-9), where
