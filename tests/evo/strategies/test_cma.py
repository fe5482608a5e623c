"""CMA-ES: what is its own beside the contract that all strategies keep."""

from pathlib import Path

import numpy as np
import pytest

from evo.analysis.export import ExportError, best_profiles
from evo.analysis.tables import read_runs
from evo.config.run_config import RunConfig
from evo.evolution.records import new_strategy, restore_strategy
from evo.storage.run_folder import open_run, open_run_read_only
from evo.storage.schema import RUN_SCHEMA
from evo.strategies import StrategyError
from evo.strategies.cma import MIN_STEP, Cma
from tests.contracts.test_strategies import generations
from tests.evo.runs import TINY, Quiet, bytes_of, run_new, run_on

CMA = TINY.changed(strategy="cma", mu=2, **{"lambda": 4})


def test_it_begins_where_the_options_say() -> None:
    config = RunConfig(strategy="cma", mu=200, lambda_=400).changed(
        cma={"initial_mean": 0.4, "initial_sigma": 0.05}
    )
    drawn = np.array(new_strategy(config).ask())
    assert np.allclose(drawn.mean(axis=0), 0.4, atol=0.02)
    assert np.allclose(drawn.std(axis=0), 0.05, atol=0.01)
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.15


def test_it_learns_which_weights_go_together() -> None:
    """A narrow valley along the diagonal of two weights: draws follow it, which single step sizes cannot."""
    strategy = new_strategy(RunConfig(strategy="cma", mu=10, lambda_=40))
    for _ in range(60):
        weights = np.array(strategy.ask())
        across, along = weights[:, 0] - weights[:, 1], weights[:, 0] + weights[:, 1] - 1
        strategy.tell(-(100 * across**2 + 0.01 * along**2 + (weights[:, 2:] ** 2).sum(axis=1)))
    drawn = np.array(strategy.ask())
    assert np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1] > 0.8


@pytest.mark.heavy
def test_the_step_size_has_a_floor() -> None:
    strategy = new_strategy(RunConfig(strategy="cma", mu=10, lambda_=20))
    for _ in generations(strategy, 400):
        pass
    assert MIN_STEP * 0.5 < strategy.step_size() < 0.01


def test_the_mean_of_the_distribution_plays_the_final() -> None:
    strategy = new_strategy(RunConfig(strategy="cma", mu=4, lambda_=8))
    for _ in generations(strategy, 5):
        pass
    mean = next(candidate for candidate in strategy.candidates() if candidate.name == "mean")
    assert len(mean.weights) == 8
    assert all(0 <= weight <= 1 for weight in mean.weights)


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cma") / "run"
    run_new(path, CMA)
    return path


def test_a_run_stopped_and_resumed_has_the_same_bytes(evolved: Path, tmp_path: Path) -> None:
    from evo.evolution.run import evolve
    from evo.evolution.session import begin_session, new_manifest
    from evo.play.pool import LocalPool
    from evo.storage.run_folder import create_run

    pool = LocalPool(1)
    try:
        with create_run(tmp_path / "again", CMA, new_manifest(CMA)) as folder:
            begin_session(folder, pool)
            with pytest.raises(KeyboardInterrupt):
                evolve(folder, pool, Quiet(stop_after=3))
    finally:
        pool.close()
    assert open_run_read_only(tmp_path / "again").committed < CMA.generations + 1
    assert run_on(tmp_path / "again") == bytes_of(evolved)


def test_its_tables_are_read_like_any_others(evolved: Path) -> None:
    individuals = read_runs([evolved]).individuals
    assert len(individuals) == 4 * (CMA.generations + 1)
    assert (individuals["birth"] == individuals["generation"]).all()
    assert individuals["parent_a"].isna().all()
    assert (individuals.filter(like="sigma_") > 0).all(axis=None)
    assert individuals.groupby("generation")["survived"].sum().tolist() == [2] * (CMA.generations + 1)
    assert RUN_SCHEMA == 1


def test_a_history_that_cannot_be_drawn_again_is_refused(evolved: Path) -> None:
    """As on another processor, whose linear algebra rounds otherwise: one weight differs in its last bit."""
    strategy = new_strategy(CMA)
    tables = list(open_run_read_only(evolved).tables("generations"))
    tables[1]["weight_face"] = np.nextafter(tables[1]["weight_face"], 2.0)
    with pytest.raises(StrategyError, match="generation 1 cannot be repeated bit for bit"):
        strategy.restore(iter(tables))
    with open_run(evolved) as folder:
        assert restore_strategy(folder).generation == CMA.generations + 1


def test_a_finished_run_is_opened_and_exported_where_it_cannot_be_repeated(
    evolved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a run on a cluster: the champion is a file, and needs no draw again."""

    def differs(self: object, generations: object) -> None:
        raise StrategyError("generation 0 cannot be repeated bit for bit")

    monkeypatch.setattr(Cma, "restore", differs)
    before = bytes_of(evolved)
    assert len(best_profiles(evolved)) == 1
    with pytest.raises(ExportError, match="cannot be repeated bit for bit.*--top 1"):
        best_profiles(evolved, top=2)
    assert run_on(evolved) == before
