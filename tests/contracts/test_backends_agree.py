"""Every backend finds turns of the same worth as `exact`, and its plans come true in the engine.

On turns reached in play and on random ones; those that solve the thesis's program agree with the first that
does.
"""

import numpy as np
import pytest

from ilp_agent import Plan, Status, TurnProblem, Weights, solve
from ilp_agent.backends import installed_backends
from ilp_agent.replay import is_playable, replay
from tests.backends import backends
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases
from tests.ilp_agent.positions import random_weights
from tests.ilp_agent.turns import random_turn, reached

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

Turn = tuple[TurnProblem, Weights]


def comes_true(problem: TurnProblem, plan: Plan, where: str) -> None:
    """Carried out in the engine, the plan does what it says."""
    assert sum(plan.terms) == pytest.approx(plan.objective, abs=1e-9), where
    own, enemy = replay(problem, plan.actions).state["sides"]
    assert len(plan.killed) == len(problem.enemy) - enemy["n_board"], where
    assert own["mana"] == plan.mana, where
    if not any(minion.lifesteal for minion in problem.enemy):
        assert plan.lethal == (enemy["health"] <= 0), where
        assert problem.enemy_hero - enemy["health"] - enemy["armour"] == plan.damage, where


def agrees(backend: str, turns: list[Turn]) -> None:
    for problem, weights in turns:
        where = f"{backend}: {problem} {weights}"
        plan = solve(problem, weights, backend)
        best = solve(problem, weights, "exact").objective
        if backend == "search" and plan.status == Status.FEASIBLE:  # which looks at so many positions at most
            assert plan.objective <= best + 1e-6, where
        else:
            assert plan.status == Status.OPTIMAL, where
            assert plan.objective == pytest.approx(best, abs=1e-6), where
        comes_true(problem, plan, where)


def agrees_on_thesis(backend: str, turns: list[Turn]) -> None:
    first = next(entry.name for entry in installed_backends() if "thesis" in entry.formulations)
    for problem, weights in turns:
        plan = solve(problem, weights, backend, "thesis")
        best = solve(problem, weights, first, "thesis").objective
        assert plan.objective == pytest.approx(best, abs=1e-6), f"{backend}, thesis: {problem} {weights}"
        assert plan.playable == is_playable(problem, plan.actions)


def in_play(n: int, seed: int) -> list[Turn]:
    pick = np.random.default_rng(seed)
    return [(problem, Weights.from_array(random_weights(pick))) for problem in reached(n)]


@pytest.mark.parametrize("backend", backends())
def test_turns_reached_in_play(backend: str) -> None:
    agrees(backend, in_play(cases(60, 250), 1))


@pytest.mark.parametrize("backend", backends())
def test_random_turns(backend: str) -> None:
    agrees(backend, [random_turn(number) for number in range(cases(25, 80))])


@pytest.mark.parametrize("backend", backends("thesis"))
def test_the_program_of_the_thesis(backend: str) -> None:
    agrees_on_thesis(
        backend, [*in_play(cases(30, 150), 1), *(random_turn(number) for number in range(cases(15, 60)))]
    )


@pytest.mark.long
@pytest.mark.parametrize("backend", backends())
def test_5_000_turns_reached_in_play(backend: str) -> None:
    agrees(backend, in_play(5_000, 2))


@pytest.mark.heavy
@pytest.mark.nightly
@pytest.mark.parametrize("backend", backends())
def test_2_000_random_turns(backend: str) -> None:
    agrees(backend, [random_turn(number) for number in range(2_000)])


@pytest.mark.long
@pytest.mark.parametrize("backend", backends("thesis"))
def test_the_program_of_the_thesis_on_many_turns(backend: str) -> None:
    agrees_on_thesis(backend, [*in_play(5_000, 2), *(random_turn(number) for number in range(2_000))])
