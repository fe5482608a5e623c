"""Turns of class A: the integer program finds what the search finds, and its plans come true."""

from collections.abc import Iterable

import pytest

from engine.effects.chance import Chance
from ilp_agent import Status, solve
from ilp_agent.search.backend import SearchSolver
from tests.backends import backends
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases
from tests.ilp_agent.milp.card_turns import Turn, in_play, random_turns

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

LIMIT = 400_000
"""Positions of the search that is compared with."""


def equals_search(backend: str, turns: Iterable[Turn]) -> int:
    """Every turn is worth what the search finds; how many turns it does not prove are left out."""
    search, over = SearchSolver(), 0
    for turn, weights in turns:
        where = f"{backend}: {turn.position} {weights}"
        best = search.solve(turn, weights, LIMIT)
        if best.status != Status.OPTIMAL:
            over += 1
            continue
        plan = solve(turn, weights, backend)
        assert plan.status == Status.OPTIMAL, where
        assert plan.objective == pytest.approx(best.objective, rel=1e-6, abs=1e-6), where
        assert sum(plan.terms) == pytest.approx(plan.objective, rel=1e-9, abs=1e-9), where
        here = turn.position.copy()
        for action in plan.actions:
            here.play(action, Chance.blind())
        assert plan.again == (len(plan.actions) > 0 and drew(turn, here)), where
    return over


def drew(turn, here) -> bool:
    """Whether the player has drawn."""
    seat = turn.position.active
    return here.state["sides"][seat]["n_deck"] < turn.position.state["sides"][seat]["n_deck"]


@pytest.mark.parametrize("backend", backends(outside=True))
def test_turns_of_class_a_in_play(backend: str) -> None:
    assert equals_search(backend, in_play(cases(150, 300), 1).turns) < cases(5, 10)


@pytest.mark.parametrize("backend", backends(outside=True))
def test_random_turns_of_class_a(backend: str) -> None:
    assert equals_search(backend, random_turns(cases(80, 150), 1)) < 5


@pytest.mark.heavy
@pytest.mark.nightly
@pytest.mark.parametrize("backend", backends(outside=True))
def test_1_000_turns_of_class_a_in_play(backend: str) -> None:
    assert equals_search(backend, in_play(1_000, 2).turns) < 30


@pytest.mark.long
@pytest.mark.parametrize("backend", backends(outside=True))
def test_5_000_turns_of_class_a_in_play(backend: str) -> None:
    found = in_play(5_000, 100)
    over = equals_search(backend, found.turns)
    assert over < 100
    for deck, (fitting, looked) in found.shares.items():
        print(f"{deck}: {fitting / looked:.0%} of {looked:,} turns are of class A")
    print(f"{backend}: {5_000 - over:,} turns alike, {over} over the limit of the search")


@pytest.mark.heavy
@pytest.mark.nightly
@pytest.mark.parametrize("backend", backends(outside=True))
def test_300_random_turns_of_class_a(backend: str) -> None:
    assert equals_search(backend, random_turns(300, 2)) < 10


@pytest.mark.long
@pytest.mark.parametrize("backend", backends(outside=True))
def test_2_000_random_turns_of_class_a(backend: str) -> None:
    assert equals_search(backend, random_turns(2_000, 100)) < 100
