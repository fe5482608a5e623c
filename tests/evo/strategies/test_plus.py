"""The evolution strategy: each step against numbers worked out by hand, its distributions against theory."""

import math

import numpy as np
import pytest
from scipy import stats

from evo.config.run_config import RunConfig
from evo.evolution.records import new_strategy
from evo.strategies.base import HALL_SIZE, Individual
from evo.strategies.es import (
    MIN_SIGMA,
    EsOptions,
    clamp,
    copy_parent,
    mean_of_two,
    mutate_es,
    mutate_eva,
    reflect,
)

EVA = RunConfig(strategy="eva", mu=4, lambda_=4)
ES = RunConfig(strategy="es", mu=4, lambda_=6)


class Draws:
    """A stream whose normal draws are known."""

    def __init__(self, *values: float) -> None:
        self.values = list(values)

    def standard_normal(self) -> float:
        return self.values.pop(0)

    def integers(self, n: int) -> int:
        return int(self.values.pop(0)) % n


def test_one_mutation_of_eva_by_hand() -> None:
    """n = 2: tau = 1/sqrt(2 sqrt 2) = 0.5946, tau' = 1/2. First weight: N_i = 1, N = -1, step 2:
    sigma = 0.1 exp(0.5946 - 0.5) = 0.10992; w = 0.4 + 2 * 0.10992 = 0.61984. Second: N_i = -2, N = 0.5, step
    -3: sigma = 0.2 exp(-1.1892 + 0.25) = 0.07819; w = 0.1 - 3 * 0.07819, clamped to 0.
    """
    tau, shared = 1 / math.sqrt(2 * math.sqrt(2)), 0.5
    weights, sigmas = mutate_eva([0.4, 0.1], [0.1, 0.2], Draws(1, -1, 2, -2, 0.5, -3), tau, shared)
    assert sigmas == pytest.approx([0.1099223, 0.0781875], abs=1e-7)
    assert weights == pytest.approx([0.6198446, 0.0], abs=1e-7)


def test_the_step_size_has_a_floor() -> None:
    _, sigmas = mutate_eva([0.5], [1e-5], Draws(-5, -5, 0), 1.0, 1.0)
    assert sigmas == [MIN_SIGMA]


def test_one_mutation_of_es_by_hand() -> None:
    """The shared draw comes first, once: 1. sigma = 0.1 exp(0.5 + 0.6 * 0) = 0.16487; w = 0.1 - 0.32974 is
    thrown back at 0 to 0.22974. The second: sigma = 0.1 exp(0.5 + 0.6) = 0.30042, w = 0.5 + 0.30042.
    """
    weights, sigmas = mutate_es(
        [0.1, 0.5], [0.1, 0.1], Draws(1, 0, -2, 1, 1), 0.6, 0.5, EsOptions(bounds="reflect")
    )
    assert sigmas == pytest.approx([0.164872, 0.300417], abs=1e-6)
    assert weights == pytest.approx([0.229744, 0.800417], abs=1e-6)
    options = EsOptions(shared_draw=False, bounds="clamp")
    weights, sigmas = mutate_es([0.1, 0.5], [0.1, 0.1], Draws(9, 1, 0, -2, 0, 1, 1), 0.6, 0.5, options)
    assert sigmas == pytest.approx([0.164872, 0.182212], abs=1e-6)
    assert weights == pytest.approx([0.0, 0.682212], abs=1e-6)


def test_learning_rates() -> None:
    """tau = 1/sqrt(2 sqrt n), tau' = 1/sqrt(2 n): Eqs. 10 and 11."""
    strategy = new_strategy(EVA)
    assert strategy.tau == pytest.approx(0.420448)
    assert strategy.shared_tau == pytest.approx(0.25)


def test_step_sizes_change_as_theory_says() -> None:
    """log(sigma'/sigma) is normal with variance tau^2 + tau'^2; of `es`, two weights' correlate by
    tau'^2 / (tau^2 + tau'^2), of `eva` not at all.
    """
    stream, tau, shared = np.random.default_rng(1), 0.4, 0.3
    for mutate, correlation in ((mutate_eva, 0.0), (mutate_es, shared**2 / (tau**2 + shared**2))):
        more = {"options": EsOptions()} if mutate is mutate_es else {}
        logs = np.array(
            [
                np.log(np.array(mutate([0.5] * 2, [0.01] * 2, stream, tau, shared, **more)[1]) / 0.01)
                for _ in range(8_000)
            ]
        )
        assert stats.kstest(logs[:, 0], "norm", (0, math.hypot(tau, shared))).pvalue > 0.001
        assert np.corrcoef(logs.T)[0, 1] == pytest.approx(correlation, abs=0.04)


def test_steps_are_normal_with_the_new_step_size() -> None:
    stream = np.random.default_rng(2)
    steps = []
    for _ in range(8_000):
        (weight,), (sigma,) = mutate_eva([0.5], [0.02], stream, 0.4, 0.3)
        steps.append((weight - 0.5) / sigma)
    assert stats.kstest(steps, "norm").pvalue > 0.001


def test_weights_beyond_the_bounds() -> None:
    assert [clamp(w) for w in (-0.2, 0.3, 1.7)] == [0.0, 0.3, 1.0]
    assert [reflect(w) for w in (-0.2, 0.3, 1.7, 2.4, -1.2, 1.0)] == pytest.approx(
        [0.2, 0.3, 0.3, 0.4, 0.8, 1.0]
    )


def individual(number: int, *weights: float, sigma: float = 0.1) -> Individual:
    return Individual(weights, [sigma] * len(weights), number, (), 0)


def test_recombination() -> None:
    parents = [individual(7, 0.2, 0.4), individual(8, 0.6, 0.0, sigma=0.3), individual(9, 1.0, 1.0)]
    assert copy_parent(parents, 4, Draws())[0] == [0.6, 0.0]
    weights, sigmas, numbers = mean_of_two(parents, 0, Draws(0))
    assert weights == pytest.approx([0.4, 0.2])
    assert sigmas == pytest.approx([0.2, 0.2])
    assert numbers == (7, 8)
    assert mean_of_two(parents, 2, Draws(1))[2] == (9, 8)


def test_the_first_population_is_uniform() -> None:
    strategy = new_strategy(RunConfig(strategy="eva", mu=500, lambda_=500))
    weights = np.array(strategy.parents).ravel()
    sigmas = np.array([one.sigmas for one in strategy.parents]).ravel()
    assert stats.kstest(weights, "uniform").pvalue > 0.001
    assert stats.kstest(sigmas, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(weights, sigmas)[0, 1]) < 0.06


def test_selection_keeps_the_best_and_ties_favour_offspring() -> None:
    strategy = new_strategy(EVA)
    strategy.ask()
    strategy.tell(np.array([5.0, 1.0, 4.0, 1.0]))
    assert [one.number for one in strategy.parents] == [0, 2, 1, 3]
    asked = strategy.ask()
    assert [one.number for one in asked] == [0, 2, 1, 3, 4, 5, 6, 7]
    assert [one.parents for one in asked[4:]] == [(0,), (2,), (1,), (3,)]
    told = strategy.tell(np.array([3.0, 3.0, 2.0, 0.0, 1.0, 3.0, 2.0, 0.0]))
    assert [one.number for one in strategy.parents] == [5, 0, 2, 6]
    assert told.survived.tolist() == [True, True, False, False, False, True, True, False]
    assert [one.birth for one in strategy.parents] == [1, 0, 0, 1]


def test_the_hall_keeps_each_generations_best_once_the_latest_first() -> None:
    strategy = new_strategy(EVA)
    seen = []
    pick = np.random.default_rng(3)
    for _ in range(60):
        strategy.tell(pick.random(len(strategy.ask())))
        seen.append(strategy.parents[0].number)
    latest = list(dict.fromkeys(reversed(seen)))[:HALL_SIZE]
    assert [one.number for one in strategy.hall] == latest
    assert len(strategy.logbook) == 60
