"""SPSA against fishtest's formulas worked out by hand, and on a noisy hill."""

import numpy as np
import pytest

from evo.config.run_config import ConfigError, RunConfig
from evo.evolution.records import new_strategy
from evo.strategies.spsa import Spsa, compute_gains


def strategy_of(mu: int = 2, games: int = 20, **options: float) -> Spsa:
    config = RunConfig().changed(
        strategy="spsa", mu=mu, games=games, decks=["thesis-paladin"], spsa=options, **{"lambda": mu}
    )
    found = new_strategy(config)
    assert isinstance(found, Spsa)
    return found


def test_the_schedule_is_fishtests() -> None:
    """By hand for c_end 0.1, r_end 0.01, 1,000 pairs, A a tenth of them.

    c = 0.1 * 1000^0.101 = 0.1 * 10^0.303 = 0.200909; A = 100; a = 0.01 * 0.1^2 * 1100^0.602 = 1e-4 * 67.7513.
    Before the first pair: perturbation 0.200909, rate a / 101^0.602 / c^2 = 0.00677513 / 16.0917 / 0.0403645.
    """
    gains = compute_gains(0.1, 0.01, 1_000, 0.1)
    assert gains.c == pytest.approx(0.200909, rel=1e-5)
    assert gains.stability == 100
    assert gains.a == pytest.approx(0.00677513, rel=1e-5)
    assert gains.perturbation(0) == pytest.approx(0.200909, rel=1e-5)
    assert gains.rate(0) == pytest.approx(0.0104308, rel=1e-4)
    assert gains.perturbation(999) == pytest.approx(0.1)
    assert gains.rate(999) == pytest.approx(0.01)


def test_a_batch_moves_the_point_as_fishtest_moves_its_parameters() -> None:
    """13 games won and 7 lost: each weight goes rate * perturbation * 6 the way of the winner."""
    strategy = strategy_of(pairs=1_000)
    plus, minus = strategy.ask()
    flips = np.sign(np.array(plus) - 0.5)
    assert set(flips.tolist()) == {-1.0, 1.0}
    assert np.abs(np.array(plus) - 0.5) == pytest.approx(np.full(8, 0.200909), rel=1e-5)
    assert np.array(plus) + np.array(minus) == pytest.approx(np.ones(8))
    strategy.tell(np.array([13.0, 7.0]))
    assert strategy.point == pytest.approx(0.5 + 0.0104308 * 0.200909 * 6 * flips, rel=1e-5)
    assert strategy.pairs == 10, "twenty games"
    # The second batch, after 10 pairs: perturbation 0.200909 / 11^0.101, rate a / 111^0.602 / that^2.
    before, (one, other) = strategy.point, strategy.ask()
    moved = (np.array(one) - np.array(other)) / 2
    assert np.abs(moved) == pytest.approx(np.full(8, 0.157694), rel=1e-4)
    strategy.tell(np.array([10.0, 10.0]))
    assert strategy.point.tolist() == before.tolist()


def test_what_several_directions_found_is_added() -> None:
    strategy = strategy_of(mu=4, pairs=1_000)
    asked = np.array(strategy.ask())
    directions = np.sign(asked[0::2] - 0.5)
    strategy.tell(np.array([6.0, 4.0, 2.0, 8.0]))
    step = strategy.gains.rate(0) * strategy.gains.perturbation(0)
    assert strategy.point == pytest.approx(0.5 + step * (2 * directions[0] - 6 * directions[1]))


def test_the_point_and_its_individuals_stay_inside() -> None:
    strategy = strategy_of(c_end=0.5, r_end=1.0, pairs=10)
    for _ in range(5):
        assert (np.array(strategy.ask()) >= 0).all()
        strategy.tell(np.array([20.0, 0.0]))
        assert ((strategy.point >= 0) & (strategy.point <= 1)).all()


def test_it_climbs_a_noisy_hill() -> None:
    """Games between the two, won more often by the one nearer to a point: the mean comes near it."""
    target, pick = np.linspace(0.1, 0.9, 8), np.random.default_rng(4)
    strategy = strategy_of(games=20, pairs=20_000)
    began = float(np.linalg.norm(strategy.point - target))
    for _ in range(2_000):
        plus, minus = (-float(((np.array(one) - target) ** 2).sum()) for one in strategy.ask())
        won = pick.binomial(20, 1 / (1 + np.exp(-5 * (plus - minus))))
        strategy.tell(np.array([won, 20.0 - won]))
    assert float(np.linalg.norm(strategy.point - target)) < began / 5
    assert strategy.candidates()[2].name == "mean"


@pytest.mark.parametrize(("mu", "children"), [(3, 3), (2, 5), (4, 2)])
def test_individuals_come_in_pairs(mu: int, children: int) -> None:
    with pytest.raises(ConfigError, match=r'"spsa" takes an even lambda and mu <= lambda'):
        RunConfig().changed(strategy="spsa", mu=mu, **{"lambda": children})


def test_the_schedule_is_as_long_as_the_run_unless_it_is_said() -> None:
    config = RunConfig().changed(
        strategy="spsa", generations=9, games=20, decks=["thesis-paladin"], mu=2, **{"lambda": 2}
    )
    assert config.model_dump()["spsa"]["pairs"] == 10 * 20 // 2
    longer = config.changed(generations=99)
    assert longer.model_dump()["spsa"]["pairs"] == 100, "it is part of the run, which may become longer"
    assert longer.digest == config.digest
    other = RunConfig().changed(strategy="spsa", generations=19, mu=2, **{"lambda": 2})
    assert other.digest != other.changed(spsa={"pairs": 7}).digest
    # Before there was such a length, it was 10,000 pairs, which hashes leave out.
    before = config.changed(spsa={"pairs": 10_000})
    assert before.digest == before.changed(generations=3).digest
    assert RunConfig().digest == RunConfig().changed(spsa={"pairs": 77}).digest, "another strategy's"
