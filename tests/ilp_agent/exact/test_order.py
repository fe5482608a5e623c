"""Turns whose best attacks have no common order: found among crafted boards, and compared with MILP."""

import numba
import numpy as np
import pytest

from engine import MinionSpec
from engine.codes import Keyword
from ilp_agent import DEFAULT_BACKEND, Status, TurnProblem, Weights, solve
from ilp_agent.backends import installed_backends
from ilp_agent.exact.kernel import solve_exact_turn
from ilp_agent.exact.order import order_hits
from ilp_agent.exact.plan_record import PLAN
from ilp_agent.exact.search import search_attacks, trace_back
from ilp_agent.exact.work import new_layers, new_work
from ilp_agent.turn import TURN
from ilp_agent.weights import N_TERMS, N_WEIGHTS, Term
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.ilp_agent.turns import problem_of

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.nightly,
    pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler"),
]


OUTSIDE = [entry.name for entry in installed_backends() if not entry.compiled]


@numba.njit
def find_unordered(turns, weights, work, layers, found):
    """Mark the turns where `search_attacks` promises attacks that have no order."""
    for number in range(len(turns)):
        turn = turns[number]
        answer = search_attacks(turn, weights[number], work, layers)
        n = trace_back(turn, weights[number], answer, work, layers)
        found[number] = not order_hits(turn, n, answer.best.lethal == 1, work)


def crafted(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Three Windfury minions against three enemies, nearly all shielded: one in 100,000 has no order."""
    pick = np.random.default_rng(seed)
    turns = np.zeros(n, TURN)
    turns["n_board"] = turns["n_enemies"] = 3
    turns["hero"] = pick.integers(1, 30, n)
    friends, enemies = turns["friends"], turns["enemies"]
    some = (n, 3)
    friends["attack"][:, :3] = pick.integers(1, 5, some)
    friends["health"][:, :3] = friends["survival"][:, :3] = pick.integers(1, 5, some)
    friends["keywords"][:, :3] = (
        Keyword.WINDFURY
        + Keyword.DIVINE_SHIELD * (pick.random(some) < 0.5)
        + Keyword.POISONOUS * (pick.random(some) < 0.1)
    )
    friends["attacks"][:, :3] = 1 + (pick.random(some) < 0.9)
    friends["hits_hero"][:, :3] = 1
    enemies["attack"][:, :3] = pick.integers(0, 6, some)
    enemies["health"][:, :3] = pick.integers(1, 7, some)
    enemies["keywords"][:, :3] = (
        Keyword.DIVINE_SHIELD * (pick.random(some) < 0.95)
        + Keyword.POISONOUS * (pick.random(some) < 0.1)
        + Keyword.TAUNT * (pick.random(some) < 0.1)
    )
    size = np.ones(N_WEIGHTS)
    size[[Term.LETHAL, Term.THREAT, Term.SURVIVE]] = 20, 10, 3
    absent = np.full(N_WEIGHTS, 0.6)
    absent[[Term.THREAT, Term.SURVIVE]] = 0
    weights = np.zeros((n, N_TERMS))
    weights[:, :N_WEIGHTS] = pick.random((n, N_WEIGHTS)) * size
    weights[:, :N_WEIGHTS][pick.random((n, N_WEIGHTS)) < absent] = 0
    return turns, weights


def test_boards_without_a_common_order_are_solved_like_the_milps() -> None:
    work, layers = new_work(), new_layers()
    plan = np.zeros(1, PLAN)[0]
    met = 0
    for seed in range(40):
        turns, weights = crafted(seed, 20_000)
        found = np.zeros(len(turns), np.bool_)
        find_unordered(turns, weights, work, layers, found)
        for number in np.flatnonzero(found):
            solve_exact_turn(turns[number], weights[number], work, layers, plan)
            problem, chosen = problem_of(turns[number]), Weights.from_array(weights[number])
            for backend in OUTSIDE:
                value = solve(problem, chosen, backend).objective
                assert plan["value"] == pytest.approx(value, abs=1e-6), (backend, problem, chosen)
            assert plan["unproven"] == 0
            met += 1
    assert met >= 3
    print(f"{met} boards without a common order among 800,000")


def test_more_windfury_than_tables_hold_is_a_legal_plan_without_a_proof() -> None:
    problem = TurnProblem.build(
        friendly=[MinionSpec(1 + i, 20, windfury=True) for i in range(7)],
        enemy=[MinionSpec(3 * i, 12 + i) for i in range(7)],
        mana=0,
        enemy_hero=200,
    )
    weights = Weights(lethal=1, clear=1, face=0.1, threat=1, survive=0.1, damage=0.1, trade=0.05, play=0)
    ours, best = (solve(problem, weights, backend) for backend in (DEFAULT_BACKEND, OUTSIDE[0]))
    assert ours.objective <= best.objective + 1e-6
    assert ours.status in (Status.FEASIBLE, Status.OPTIMAL)
    print(ours.status, ours.objective, best.objective)
