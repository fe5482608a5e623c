"""Nash averaging and cycles on tables whose answers are known."""

import numpy as np
import pytest

from evo.stats.ratings import cyclic_part, cyclic_share, nash_average

ROCK = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]], float)


def test_rock_paper_scissors_is_even_and_all_cycle() -> None:
    weights, advantages = nash_average(ROCK)
    assert weights == pytest.approx([1 / 3] * 3, abs=1e-6)
    assert advantages == pytest.approx(0, abs=1e-6)
    assert cyclic_share(ROCK, 0.0) == (1.0, 0.0)


def test_the_best_of_a_ladder_has_all_the_weight_and_nothing_cycles() -> None:
    ratings = np.array([1.0, 3.0, 2.0])
    ladder = ratings[:, None] - ratings
    weights, advantages = nash_average(ladder)
    assert weights == pytest.approx([0, 1, 0], abs=1e-6)
    assert advantages == pytest.approx([-2, 0, -1], abs=1e-5)
    assert cyclic_share(ladder, 0.0)[0] == pytest.approx(0, abs=1e-12)


def test_copies_share_their_weight() -> None:
    """Entering twice gains nothing: of four with two papers, the papers have a sixth each."""
    order = [0, 1, 2, 1]
    weights, _ = nash_average(ROCK[np.ix_(order, order)])
    assert weights == pytest.approx([1 / 3, 1 / 6, 1 / 3, 1 / 6], abs=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_nobody_has_an_advantage_over_an_equilibrium(seed: int) -> None:
    noise = np.random.default_rng(seed).normal(size=(12, 12))
    table = noise - noise.T
    weights, advantages = nash_average(table)
    assert weights.sum() == pytest.approx(1)
    assert weights.min() >= 0
    assert advantages.max() < 1e-5
    # Entrants with weight in the mixture are as good as the mixture.
    assert advantages[weights > 1e-3] == pytest.approx(0, abs=1e-3)


def test_a_table_is_ratings_and_cycles() -> None:
    ladder = np.subtract.outer(np.arange(3.0), np.arange(3.0))
    assert cyclic_part(ladder + ROCK) == pytest.approx(ROCK)
    share, chance = cyclic_share(ladder + ROCK, 3.0)
    assert chance == 3 / ((ladder + ROCK) ** 2).sum()
    assert share == pytest.approx((ROCK**2).sum() / ((ladder + ROCK) ** 2).sum())


def test_two_entrants_and_equal_ones_have_no_cycle() -> None:
    assert np.isnan(cyclic_share(np.array([[0.0, 1], [-1, 0]]), 0.0)).all()
    assert np.isnan(cyclic_share(np.zeros((3, 3)), 0.0)).all()
    assert nash_average(np.zeros((3, 3)))[0] == pytest.approx([1 / 3] * 3, abs=1e-5)
