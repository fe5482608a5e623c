"""The pool of ends against brute force, against programs with plans cut off, and against the search's."""

from collections.abc import Iterator

import numpy as np
import pytest

from engine.codes import Keyword
from ilp_agent import SolverError, TurnProblem, Weights
from ilp_agent.lookahead.body_positions import MAX_NODES
from ilp_agent.replay import position_from_problem
from ilp_agent.search.backend import thread_searcher
from ilp_agent.search.candidate_plans import list_candidate_plans, new_candidate_pool
from ilp_agent.search.card_facts import compute_card_facts
from ilp_agent.search.kernel import search_turn
from ilp_agent.search.work import SOLUTION
from tests.backends import backends
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases
from tests.ilp_agent.lookahead.ends import best_ends
from tests.ilp_agent.lookahead.plain import every_end
from tests.ilp_agent.positions import random_position, random_weights

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

Turn = tuple[TurnProblem, Weights]

LOST = Keyword.DIVINE_SHIELD | Keyword.STEALTH
"""Keywords that a minion may lose within a turn, and be like another then."""

WANTED = 8


def small_turns(n: int, most: int = 3, coin: bool = True) -> Iterator[Turn]:
    """Random turns whose board and hand fit on a board."""
    seed = made = 0
    while made < n:
        pick = np.random.default_rng([33, seed])
        seed += 1
        friends, enemies = (int(pick.integers(most + 1)) for _ in range(2))
        hand = int(pick.integers(min(most, 7 - friends) + 1))
        position = random_position(pick, friends, hand, enemies, chance=0.25, strength=4, hero=12)
        problem = TurnProblem.from_position(position)
        if coin or not problem.coin:
            made += 1
            yield problem, Weights.from_array(random_weights(pick)[:8])


def values_of(turn: Turn, backend: str) -> list[float]:
    return [end.value for end in best_ends(*turn, WANTED, backend)]


def assert_like(ours: list[float], theirs: list[float], turn: Turn) -> None:
    assert len(ours) == len(theirs), turn
    assert ours == pytest.approx(theirs, abs=1e-6), turn


def test_brute_force_finds_the_same_ends() -> None:
    """Of turns without The Coin, which brute force also plays for nothing."""
    for turn in small_turns(8 if UNCOMPILED or BOUNDSCHECK else cases(12, 60), coin=False):
        best = sorted(every_end(*turn).values(), reverse=True)[:WANTED]
        assert_like(values_of(turn, "exact"), best, turn)


def known_ends(turn: Turn) -> list[float] | None:
    """Values by `exact`; None for a turn of more positions than it looks at, which it says."""
    try:
        return values_of(turn, "exact")
    except SolverError as error:
        assert f"more than {MAX_NODES} positions" in str(error)
        return None


def like_programs(backend: str, n: int, most: int) -> None:
    """A program finds as many, but where its cuts ran out before: then those that it found are the best."""
    compared = fewer = 0
    for turn in small_turns(n + n // 10, most):
        ours = known_ends(turn)
        if ours is not None and compared < n:
            theirs = values_of(turn, backend)
            assert theirs
            assert_like(ours[: len(theirs)], theirs, turn)
            fewer += len(theirs) < len(ours)
            compared += 1
    assert compared == n, "few turns are too large"
    assert fewer <= n / 50


@compiled
@pytest.mark.parametrize("backend", backends("thesis"))
def test_programs_find_the_same_ends(backend: str) -> None:
    like_programs(backend, cases(5, 40), 3)


@compiled
@pytest.mark.heavy
@pytest.mark.nightly
def test_a_program_finds_the_same_ends_of_300_turns() -> None:
    like_programs("gurobi", 300, 4)


@compiled
@pytest.mark.long
def test_a_program_finds_the_same_ends_of_2000_turns() -> None:
    like_programs("gurobi", 2_000, 4)


def like_search(n: int) -> None:
    """Where no two minions are or become alike, whose cards the search tells apart."""
    searcher, pool, solved = thread_searcher(), new_candidate_pool(), np.zeros(1, SOLUTION)
    memory = searcher.reset_memory(200_000)
    memory.start["reduced"] = 0
    compared = 0
    for problem, weights in small_turns(n, coin=False):
        everyone = (*problem.friendly, *problem.hand), problem.enemy
        bodies = [[(one.attack, one.keywords & ~LOST) for one in side] for side in everyone]
        if any(len(set(side)) < len(side) for side in bodies):
            continue
        position = position_from_problem(problem)
        cards = position.table.array.copy()
        solving = (
            cards,
            weights.full_array,
            compute_card_facts(cards),
            memory.work[0],
            memory.memo,
            memory.slots,
        )
        known = known_ends((problem, weights))
        if known is None:
            continue
        search_turn(position.state, *solving, solved[0])
        assert not solved["unproven"][0]
        found = list_candidate_plans(*solving, solved[0], WANTED, pool)
        ours = pool.listed["value"][:found].tolist()
        assert_like(known, ours, (problem, weights))
        compared += 1
    assert compared > n / 4


@compiled
def test_the_search_finds_the_same_ends() -> None:
    like_search(150)


@compiled
@pytest.mark.heavy
@pytest.mark.nightly
def test_the_search_finds_the_same_ends_of_2000_turns() -> None:
    like_search(3_500)
