"""The contract of every registered strategy."""

import random
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from evo.config.run_config import ConfigError, RunConfig
from evo.evolution.fitness import Tally, all_pairings
from evo.evolution.records import individuals_table, new_strategy
from evo.strategies import STRATEGIES, Strategy, StrategyError, find_strategy
from evo.strategies.nevergrad import NOT_INSTALLED
from ilp_agent import WEIGHT_NAMES

NEVERGRAD = ("nevergrad:TBPSA", "nevergrad:NGOpt")
NAMES = [*sorted(STRATEGIES), *NEVERGRAD]
TARGET = np.linspace(0.1, 0.9, len(WEIGHT_NAMES))


def config_of(name: str, seed: int = 1, mu: int = 4) -> RunConfig:
    """A configuration with the first number of children that the strategy takes."""
    for lambda_ in (mu, 2 * mu, 4 * mu):
        try:
            return RunConfig(strategy=name, mu=mu, lambda_=lambda_, seed=seed)
        except ValueError:
            continue
    raise AssertionError(f"{name} takes none of the usual population sizes for mu = {mu}")


def nearness(individual: list[float]) -> float:
    """A fitness without noise: minus the distance to a point."""
    return -float(np.linalg.norm(np.array(individual) - TARGET))


def generations(strategy: Strategy, n: int) -> Iterator[pd.DataFrame]:
    """Play n generations; yields each as the table that would be committed."""
    for _ in range(n):
        asked = strategy.ask()
        told = strategy.tell(np.array([nearness(one) for one in asked]))
        zero = np.zeros((len(all_pairings(len(asked))), 1, 1), np.int64)
        tally = Tally(all_pairings(len(asked)), zero, zero, zero, zero)
        yield individuals_table(told, strategy, tally, ["deck"])


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    if request.param in NEVERGRAD:
        pytest.importorskip("nevergrad", reason=NOT_INSTALLED)
    return str(request.param)


def test_individuals_are_as_promised(name: str) -> None:
    config = config_of(name)
    strategy = new_strategy(config)
    numbers: set[int] = set()
    for generation in range(4):
        assert strategy.generation == generation
        asked = strategy.ask()
        assert len(asked) == find_strategy(name).count_evaluated(config.mu, config.lambda_, generation)
        for one in asked:
            assert len(one) == len(WEIGHT_NAMES)
            assert all(type(weight) is float and 0 <= weight <= 1 for weight in one)
            own = strategy.values(one)
            assert len(own) == len(strategy.columns(WEIGHT_NAMES))
            assert np.isfinite(own).all()
            assert (one.birth == generation) == (one.number not in numbers) or generation == 0
        assert len({one.number for one in asked}) == len(asked)
        numbers |= {one.number for one in asked}
        told = strategy.tell(np.arange(len(asked), dtype=float))
        assert told.generation == generation
        assert told.survived.sum() == len(strategy.parents) == config.mu
        assert strategy.parents[0].number == asked[-1].number, "more is better, and the best comes first"
        assert strategy.step_size() > 0


def test_fixed_weights_are_those_of_all_and_initial_ones_of_the_point(name: str) -> None:
    config = config_of(name).changed(fixed_weights={"lethal": 100.0})
    starts = hasattr(config.strategy_options, "initial_mean")
    if starts:
        config = config.changed(initial_weights={"face": 0.9, "play": 0.1, "trade": 0.0, "threat": 1.0})
    else:
        with pytest.raises(ConfigError, match="does not start from a point; .*: cma, spsa"):
            config.changed(initial_weights={"face": 0.9})
    strategy, face, play, clear = new_strategy(config), [], [], []
    for table in generations(strategy, 3):
        assert (table["weight_lethal"] == 100.0).all()
        assert table["weight_face"].between(0, 1).all()
        face, play, clear = (
            [*of_all, *table[table["generation"] == 0][f"weight_{one}"]]
            for one, of_all in (("face", face), ("play", play), ("clear", clear))
        )
    assert {dict(zip(WEIGHT_NAMES, one, strict=True))["lethal"] for one in strategy.ask()} == {100.0}
    assert {one.weights[0] for one in strategy.candidates()} == {100.0}
    if starts:
        assert np.mean(play) < np.mean(clear) < np.mean(face)


def test_misuse_is_refused(name: str) -> None:
    strategy = new_strategy(config_of(name))
    with pytest.raises(StrategyError, match=r"tell\(\) before ask\(\) of generation 0"):
        strategy.tell(np.zeros(4))
    n = len(strategy.ask())
    with pytest.raises(StrategyError, match=r"ask\(\) again before tell\(\)"):
        strategy.ask()
    for wrong in (np.zeros(n - 1), np.zeros((n, 1)), np.full(n, np.nan), [np.inf] * n):
        with pytest.raises(StrategyError, match=f"fitness must be {n} finite numbers"):
            strategy.tell(wrong)
    strategy.tell(np.zeros(n))


def test_the_same_seed_is_the_same_run_and_another_is_not(name: str) -> None:
    first, again, other = (
        pd.concat(generations(new_strategy(config_of(name, seed)), 6)) for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    columns = [f"weight_{one}" for one in WEIGHT_NAMES]
    same = first[columns].to_numpy() == other[columns].to_numpy()
    inside = (first[columns].to_numpy() > 0) & (first[columns].to_numpy() < 1)
    # SPSA moves every weight up or down by the same step: half of them go the same way.
    assert same[inside].mean() < 0.7 if name == "spsa" else not same[inside].any()


def test_global_random_state_is_neither_used_nor_changed(name: str) -> None:
    def run() -> pd.DataFrame:
        return pd.concat(generations(new_strategy(config_of(name)), 3))

    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    first, state, numbers = run(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    pd.testing.assert_frame_equal(run(), first, check_exact=True)
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    assert random.getstate() == state
    assert np.random.get_state()[1].tolist() == numbers  # noqa: NPY002


@pytest.mark.parametrize("stop", [0, 1, 5])
def test_it_is_restored_from_its_tables(name: str, stop: int) -> None:
    whole = list(generations(new_strategy(config_of(name)), 9))
    restored = new_strategy(config_of(name))
    restored.restore(iter(whole[:stop]))
    assert restored.generation == stop
    for expected, table in zip(whole[stop:], generations(restored, 9 - stop), strict=True):
        pd.testing.assert_frame_equal(table, expected, check_exact=True)


def test_candidates_are_distinct_weights(name: str) -> None:
    strategy = new_strategy(config_of(name))
    for _ in generations(strategy, 5):
        pass
    candidates = strategy.candidates()
    assert len({one.weights for one in candidates}) == len(candidates) >= len(strategy.parents)
    assert len({one.name for one in candidates}) == len(candidates)
    assert candidates[0].name == f"individual {strategy.parents[0].number}"
    assert all(0 <= one.birth < 5 for one in candidates)


@pytest.mark.parametrize(
    "name", [name for name in STRATEGIES if name != "spsa"]
)  # its steps follow a schedule
def test_it_adapts_its_steps_to_climb_a_hill(name: str) -> None:
    """From a distance of about 0.7 to within 0.02 of a point, which a fixed step size does not reach."""
    strategy = new_strategy(config_of(name, mu=10))
    began = 0.0
    for generation in range(600):
        strategy.tell(np.array([nearness(one) for one in strategy.ask()]))
        began = strategy.step_size() if generation == 0 else began
        if -strategy.parents[0].fitness.values[0] < 0.02 and strategy.step_size() < began / 10:
            break
    assert -strategy.parents[0].fitness.values[0] < 0.02
    assert strategy.step_size() < began / 10


def test_its_centre_is_a_candidate_and_the_same_after_a_restore(name: str) -> None:
    strategy = new_strategy(config_of(name))
    whole = list(generations(strategy, 5))
    centre = strategy.centre()
    assert centre is not None
    assert centre.weights in [one.weights for one in strategy.candidates()]
    assert centre.birth == 4
    restored = new_strategy(config_of(name))
    for table in whole:  # one after the other, as readers of a folder do
        restored.restore([table])
    assert restored.centre() == centre
