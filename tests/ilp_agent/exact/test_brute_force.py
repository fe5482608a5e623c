"""The exact solver against every legal sequence of actions, tried one by one through the engine."""

import numpy as np
import pytest

from engine.position import Position
from ilp_agent.exact.kernel import solve_exact_turn
from ilp_agent.exact.plan_record import PLAN
from ilp_agent.exact.work import new_layers, new_work
from ilp_agent.turn import TURN, read_turn
from tests.conftest import UNCOMPILED, cases
from tests.ilp_agent.exact.brute import brute_force
from tests.ilp_agent.positions import random_position, random_weights

pytestmark = pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")

WORK, LAYERS = new_work(), new_layers()


def solve(position: Position, weights: np.ndarray) -> np.void:
    turn, plan = np.zeros(1, TURN)[0], np.zeros(1, PLAN)[0]
    read_turn(position.state, position.table.array, turn)
    solve_exact_turn(turn, weights, WORK, LAYERS, plan)
    return plan


def compare(
    seed: int, number: int, chance: float, sizes: tuple[int, int, int], further: tuple[str, ...] = ()
) -> int:
    pick = np.random.default_rng([seed, number])
    friends, hand, enemies = (int(pick.integers(0, most + 1)) for most in sizes)
    position = random_position(pick, friends, hand, enemies, chance, hero=int(pick.choice([4, 8, 30])))
    weights = random_weights(pick, further)
    health = np.array([card.spec.health for card in position.table.cards] + [0], np.int64)
    best, tried = brute_force(position.state, position.table.array, health, weights, 300_000)
    if tried < 0:
        return 0
    plan = solve(position, weights)
    assert not plan["unproven"], f"{position} {weights.tolist()}"
    assert plan["value"] == pytest.approx(best, abs=1e-6), f"{position} {weights.tolist()}"
    assert plan["terms"].sum() == pytest.approx(plan["value"], abs=1e-9)
    return 1


@pytest.mark.parametrize("chance", [0.0, 0.15, 0.35])
def test_small_positions(chance: float) -> None:
    assert sum(compare(1, number, chance, (3, 2, 3)) for number in range(cases(500, 1_000))) > cases(470, 950)


@pytest.mark.parametrize("further", [("body",), ("wound",), ("body", "wound")])
@pytest.mark.parametrize("chance", [0.0, 0.2, 0.4])
def test_small_positions_where_health_counts(chance: float, further: tuple[str, ...]) -> None:
    assert sum(compare(3, number, chance, (3, 2, 3), further) for number in range(cases(250, 500))) > cases(
        232, 470
    )


@pytest.mark.heavy
@pytest.mark.nightly
@pytest.mark.parametrize("further", [(), ("body", "wound")])
@pytest.mark.parametrize("chance", [0.1, 0.2, 0.35, 0.6])
def test_many_positions(chance: float, further: tuple[str, ...]) -> None:
    assert sum(compare(2, number, chance, (4, 3, 3), further) for number in range(8_000)) > 4_000
