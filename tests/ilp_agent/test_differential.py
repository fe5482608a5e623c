"""exact = HiGHS = Gurobi on turns reached in play and on random ones; Gurobi = HiGHS for the thesis."""

import numpy as np
import pytest

from engine.minion import MinionSpec, keyword_flags_of
from ilp_agent import TurnProblem, Weights, solve
from ilp_agent.replay import is_playable, replay
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.ilp_agent.positions import random_position, random_weights
from tests.ilp_agent.test_selfplay import checked

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")


def agree(problem: TurnProblem, weights: Weights, thesis: bool) -> None:
    plans = {backend: solve(problem, weights, backend) for backend in ("exact", "highs", "gurobi")}
    for backend, plan in plans.items():
        where = f"{backend}: {problem} {weights}"
        assert plan.objective == pytest.approx(plans["exact"].objective, abs=1e-6), where
        assert sum(plan.terms) == pytest.approx(plan.objective, abs=1e-9), where
        own, enemy = replay(problem, plan.actions).state["sides"]
        assert len(plan.killed) == len(problem.enemy) - enemy["n_board"], where
        assert own["mana"] == plan.mana, where
        if not any(minion.lifesteal for minion in problem.enemy):
            assert plan.lethal == (enemy["health"] <= 0), where
            assert problem.enemy_hero - enemy["health"] - enemy["armour"] == plan.damage, where
    if thesis:
        ours, theirs = (solve(problem, weights, backend, "thesis") for backend in ("highs", "gurobi"))
        assert ours.objective == pytest.approx(theirs.objective, abs=1e-6), f"thesis: {problem} {weights}"
        assert ours.playable == is_playable(problem, ours.actions)


def problem_of(turn: np.void) -> TurnProblem:
    """A TURN record as a problem."""

    def spec(record: np.void, **more: object) -> MinionSpec:
        flags = keyword_flags_of(int(record["keywords"]))
        return MinionSpec(int(record["attack"]), int(record["health"]), **flags, **more)

    m, h, n = (int(turn[name]) for name in ("n_board", "n_hand", "n_enemies"))
    friends = turn["friends"]
    return TurnProblem(
        tuple(spec(f, attacks_left=int(f["attacks"])) for f in friends[:m]),
        tuple(spec(f, cost=int(f["cost"]), value=float(f["value"])) for f in friends[m : m + h]),
        tuple(spec(e) for e in turn["enemies"][:n]),
        int(turn["mana"]),
        int(turn["hero"]),
        bool(turn["coin"]),
        frozenset(i for i in range(m) if not friends[i]["hits_hero"]),
    )


def reached(n: int) -> list[np.void]:
    """Turns of games on all decks, with every keyword, between random profiles; not the empty first ones."""
    turns = checked(4_000, "standard", 80_000)[1]
    full = [turn for turn in turns if turn["n_board"] + turn["n_hand"] and turn["n_enemies"]]
    return full[:: max(1, len(full) // n)][:n]


def test_turns_reached_in_play() -> None:
    pick = np.random.default_rng(1)
    for turn in reached(250):
        agree(problem_of(turn), Weights.from_array(random_weights(pick)), thesis=True)


def test_random_turns() -> None:
    for number in range(80):
        agree(*random_turn(number), thesis=True)


def random_turn(number: int) -> tuple[TurnProblem, Weights]:
    """Up to 7 against 7 with 10 cards."""
    pick = np.random.default_rng([7, number])
    sizes = int(pick.integers(0, 8)), int(pick.integers(0, 10)), int(pick.integers(0, 8))
    position = random_position(pick, *sizes, chance=0.2, strength=8, enemy_lifesteal=True)
    return TurnProblem.from_position(position), Weights.from_array(random_weights(pick))


@pytest.mark.heavy
def test_5_000_turns_reached_in_play() -> None:
    pick = np.random.default_rng(2)
    for turn in reached(5_000):
        agree(problem_of(turn), Weights.from_array(random_weights(pick)), thesis=True)


@pytest.mark.heavy
def test_2_000_random_turns() -> None:
    for number in range(2_000):
        agree(*random_turn(number), thesis=True)
