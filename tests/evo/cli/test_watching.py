"""Watching runs: what a short screen keeps, and when it ends."""

import io
import json
import os
import pty
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from evo.analysis import listing
from evo.analysis.listing import RunState, state_of
from evo.analysis.watching import RunView
from evo.cli import run_summary
from evo.cli.run_summary import pressed_keys, views_that_fit, watch_runs
from evo.evolution.run import max_games_of_generation, remaining_games
from evo.storage.run_folder import create_run, open_run_read_only
from tests.evo.runs import TINY
from tests.waiting import HANG, Clock


def view(name: str, word: str = "running") -> RunView:
    table = Text("\n".join(f"{name} course {line}" for line in range(4)))
    weights = Text("\n".join(f"{name} weight {line}" for line in range(3)))
    return RunView(RunState(word), Text(f"{name} head"), Text(f"{name} newest"), table, weights)


def terminal(height: int = 24) -> Console:
    return Console(file=io.StringIO(), width=60, height=height, force_terminal=True, color_system=None)


def shown(height: int, *views: RunView) -> list[str]:
    console = terminal()
    with console.capture() as captured:
        console.print(views_that_fit(console, views, [], height))
    lines = captured.get().splitlines()
    assert len(lines) <= height
    return lines


def test_a_short_screen_keeps_the_newest_generations() -> None:
    assert len(shown(20, view("a"))) == 8
    assert shown(7, view("a")) == ["a head", *(f"a course {line}" for line in range(4))]
    assert shown(3, view("a")) == ["a head", "a newest"]
    assert shown(1, view("a")) == ["a head"]


def test_running_runs_come_before_those_that_ended() -> None:
    runs = [view("a", "finished"), view("b"), view("c", "stopped")]
    assert shown(7, *runs) == ["a head", "b head", *(f"b course {line}" for line in range(4)), "c head"]
    assert shown(2, *runs) == ["b head", "and 2 more"]


def test_it_ends_when_no_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that only waiting moves."""
    clock = Clock()
    monkeypatch.setattr(run_summary, "time", clock)
    looks = iter(["running", "running", "finished"])
    monkeypatch.setattr(run_summary, "read_run_views", lambda _: ([view("a", next(looks))], []))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    console = terminal()
    with pytest.raises(StopIteration):  # looks again within the grace
        watch_runs(console, [], every=1)
    assert clock.monotonic() == 3
    clock.now = 0.0
    looks = iter(["running", "running", *["finished"] * 1000])
    watch_runs(console, [], every=1)
    assert clock.monotonic() == 1 + run_summary.GRACE_SECONDS
    assert "a head" in console.file.getvalue()  # type: ignore[attr-defined]
    looks = iter(["finished"])
    watch_runs(console, [], every=100)
    assert clock.monotonic() == 1 + run_summary.GRACE_SECONDS, "it does not wait"


def test_q_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    looks = []

    def look(_: list[Path]) -> tuple[list[RunView], list[Text]]:
        looks.append(1)
        assert len(looks) < 10 * HANG, "nothing leaves"
        if len(looks) == 2:
            os.write(ours, b"xq")
        return [view("a")], []

    monkeypatch.setattr(run_summary, "read_run_views", look)
    with os.fdopen(theirs, "r") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pressed_keys() as pressed:
            assert pressed(0.0) == ""
            os.write(ours, b"x")
            assert pressed(HANG) == "x"
        console = terminal()
        watch_runs(console, [], every=0.1)
    os.close(ours)
    assert run_summary.QUIT_HINT in console.file.getvalue()  # type: ignore[attr-defined]


def test_the_state_of_a_run_is_told_from_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "SILENT_SECONDS", HANG)
    config = TINY
    path = tmp_path / "run"
    folder = create_run(path, config, {})
    assert state_of(open_run_read_only(path)) == RunState("running")
    games = max_games_of_generation(config, 0)
    folder.note(event="generation", generation=0, seconds=2.0)
    with (path / "log.jsonl").open("a") as log:
        log.write('{"time": "half a li\n')
    speed = games / 2
    assert state_of(open_run_read_only(path)) == RunState(
        "running", speed, remaining_games(config, 0) / speed
    )
    folder.close()
    assert state_of(open_run_read_only(path)).word == "running", "on another machine, whose lock is not seen"
    folder.note(event="stopped", signal="SIGINT")
    assert state_of(open_run_read_only(path)).word == "stopped"
    old = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    (path / "log.jsonl").write_text(
        json.dumps({"time": old, "event": "generation", "generation": 0, "seconds": 1})
    )
    assert state_of(open_run_read_only(path)).word == "stopped"
