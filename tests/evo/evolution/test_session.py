"""Runs of a study side by side: the same bytes as one after another, each with its own notes and errors."""

from pathlib import Path

import pytest

from evo.evolution.run import evolve
from evo.evolution.session import (
    begin_session,
    concurrent_runs,
    open_or_create,
    open_study_run,
    run_concurrently,
)
from evo.play.pool import InterruptedRunError, LocalPool
from evo.storage.run_folder import RunError, open_run
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.evo.runs import TINY, Quiet, bytes_of

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")


def play_study(path: Path, at_a_time: int) -> list[dict[str, str]]:
    pool = LocalPool(2)

    def go_on(number: int) -> None:
        with open_study_run(path / f"{number:02d}", TINY, number) as folder:
            begin_session(folder, pool)
            evolve(folder, pool, Quiet())

    run_concurrently(go_on, 4, at_a_time)
    pool.close()
    return [bytes_of(path / f"{number:02d}") for number in range(4)]


@compiled
def test_side_by_side_is_one_after_another(tmp_path: Path) -> None:
    one = play_study(tmp_path / "one", 1)
    assert play_study(tmp_path / "all", 4) == one
    assert len({frozenset(run.values()) for run in one}) == 4, "each run has a seed of its own"


@compiled
def test_a_run_begun_before_goes_on_and_is_never_made_shorter(tmp_path: Path) -> None:
    with open_or_create(tmp_path / "run", TINY) as folder:
        assert folder.committed == 0
    with open_or_create(tmp_path / "run", TINY.changed(generations=5)) as folder:
        assert folder.config.generations == 5
    with open_or_create(tmp_path / "run", TINY) as folder:
        assert folder.config.generations == 5
    with pytest.raises(RunError, match="started with another configuration"):
        open_or_create(tmp_path / "run", TINY.changed(seed=9))
    with open_run(tmp_path / "run"):
        pass


def test_a_failure_is_raised_and_a_signal_before_it() -> None:
    begun = []

    def fail(number: int) -> None:
        begun.append(number)
        raise RunError(f"run {number}") if number else InterruptedRunError(2)

    with pytest.raises(InterruptedRunError):
        run_concurrently(fail, 2, 2)
    begun.clear()
    with pytest.raises(InterruptedRunError):
        run_concurrently(fail, 40, 1)
    assert begun == [0], "nothing is begun after a failure"


def test_runs_that_keep_a_cluster_busy() -> None:
    assert [concurrent_runs(workers) for workers in (1, 4, 8, 100, 10_000)] == [1, 1, 2, 25, 64]
