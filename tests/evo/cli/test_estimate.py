"""How long a run will take, and whether it begins."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import typer
from rich.console import Console

from evo.cli.run_summary import confirm_long_runs
from evo.config.run_config import RunConfig
from evo.evolution.run import evolve, remaining_games
from evo.evolution.session import begin_session, new_manifest
from evo.play.games import Roster, Schedule
from evo.play.pool import LocalPool
from evo.sessions import estimates
from evo.sessions.estimates import PoolSpeed, estimate_disk_bytes, measure_speed
from evo.storage.run_folder import create_run
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.evo.runs import TINY, Quiet, manaforge

EXAMPLE = Path("tests/data/run")


def said(config: RunConfig, sure: bool = False) -> str:
    screen = io.StringIO()
    confirm_long_runs(config, 1, LocalPool(1), Console(file=screen, width=200), sure)
    return screen.getvalue()


@pytest.fixture(autouse=True)
def hundred_games_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "measure_speed", lambda config, pool: PoolSpeed(100.0))
    monkeypatch.setattr(estimates, "SLOWEST", 100.0)


def hours(number: float) -> RunConfig:
    """A configuration of about so many hours at a hundred games a second."""
    begun, one = (remaining_games(TINY.changed(games=100, generations=n), 0) for n in (0, 1))
    return TINY.changed(games=100, generations=int(number * 360_000 / (one - begun)))


def test_only_long_runs_say_how_long() -> None:
    assert said(TINY) == ""
    assert said(hours(0.9)) == ""
    assert "about 2 h at 100 games a second" in said(hours(2))


def test_more_than_a_day_needs_a_yes() -> None:
    with pytest.raises(typer.Exit) as refused:
        said(hours(60))
    assert refused.value.exit_code == 2
    assert "about 2 days 12 h" in said(hours(60), sure=True)


def test_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    done = manaforge(
        "evolve",
        "quickstart",
        "--set",
        "generations=100000",
        "--set",
        "games=1000",
        "--out",
        tmp_path / "run",
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "manaforge: this takes more than a day; to start anyway, add --yes"
    assert not (tmp_path / "run").exists()


def test_the_estimate_of_the_disk_is_near_a_real_run() -> None:
    from evo.storage.run_folder import open_run_read_only

    config = open_run_read_only(EXAMPLE).config
    files = [*EXAMPLE.glob("generations/*"), *EXAMPLE.glob("pairings/*")]
    assert 0.5 < estimate_disk_bytes(config) / sum(file.stat().st_size for file in files) < 2


class Timed(LocalPool):
    """A pool that plays ten games a second, by a clock of its own, and has the processors for a half of it."""

    def __init__(self, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(workers)
        self.seconds = 0.0
        clock = SimpleNamespace(perf_counter=lambda: self.seconds, process_time=lambda: self.seconds / 2)
        monkeypatch.setattr(estimates, "time", clock)

    def play(self, roster: Roster, games: Schedule, *rest: Any) -> np.ndarray:
        results = super().play(roster, games, *rest)
        self.seconds += len(results) / 10
        return results


def test_speed_is_measured_by_playing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert measure_speed(TINY, Timed(1, monkeypatch)).now == pytest.approx(10)


def test_a_busy_machine_is_told_with_the_time_without_its_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "other work" not in said(hours(4))
    monkeypatch.setattr(estimates, "measure_speed", lambda config, pool: PoolSpeed(100.0, 0.5))
    text = said(hours(4))
    assert "about 4 h at 100 games a second" in text
    assert "is busy: the sample got 50% of the processors; about 2 h if it were idle" in text


@pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="Python agents play in one thread")
def test_the_share_of_the_processors_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    assert measure_speed(TINY, Timed(1, monkeypatch)).share == pytest.approx(0.5)


@pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="Python agents play in one thread")
def test_more_workers_than_processors_do_not_make_a_machine_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight workers that had both of two processors for all of two seconds, by a clock of the test's own."""
    now, used = iter([0.0, 2.0]), iter([0.0, 4.0])
    clock = SimpleNamespace(perf_counter=now.__next__, process_time=used.__next__)
    monkeypatch.setattr(estimates, "time", clock)
    monkeypatch.setattr(estimates, "available_processors", lambda: 2)
    pool = LocalPool(1)
    pool.workers = 8
    assert measure_speed(TINY, pool).share == 1.0


def test_a_run_beyond_this_machines_memory_is_refused_before_its_folder_is_made(tmp_path: Path) -> None:
    done = manaforge(
        "evolve", "quickstart", "--set", "mu=10000", "--set", "lambda=10000", "--out", "run", cwd=tmp_path
    )
    assert done.returncode == 1
    assert "this run needs about 2,160 GB of memory" in done.stderr
    assert not (tmp_path / "run").exists()
    estimates.check_memory(RunConfig())


def test_the_games_announced_are_those_played(tmp_path: Path) -> None:
    """All but the rounding of the final's budget: generations, validations, benchmark and panel."""
    config = TINY.changed(
        decks=["thesis-paladin", "hearthsim-basic"],
        final={"games": 0, "benchmark_games": 64},
        validation={"every": 2, "games": 2},
    )
    played: list[int] = []

    class Counting(Quiet):
        def advance(self, games: int) -> None:
            played.append(games)

    with create_run(tmp_path / "run", config, new_manifest(config)) as folder:
        pool = LocalPool(1)
        begin_session(folder, pool)
        evolve(folder, pool, Counting())
        pool.close()
    assert sum(played) == remaining_games(config, 0)
