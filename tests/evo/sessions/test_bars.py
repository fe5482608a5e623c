"""Progress bars and lines at every width: names and the time left stay."""

import io

import pytest
from rich.console import Console
from rich.progress import BarColumn, Task, TextColumn

from evo.sessions.progress import FittedProgress, GameCounter, LinePart, TimeLeft, fitted_line


@pytest.fixture(autouse=True)
def known_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Task, "time_remaining", 43_055.0)


def drawn(width: int) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    progress = FittedProgress(
        (
            LinePart(TextColumn("generation 3/24")),
            LinePart(BarColumn(), 2),
            LinePart(TextColumn("1,234/399,264 games"), 3),
            LinePart(TextColumn("3,414 games/s"), 1),
            LinePart(TimeLeft()),
            LinePart(TextColumn(""), 0),
        ),
        console,
    )
    progress.add_task("", total=100, completed=20)
    plain = Console(file=io.StringIO(), width=width)
    plain.print(progress.get_renderable())
    text = plain.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(text, str)
    assert len(text.splitlines()) == 1
    assert len(text.rstrip()) <= width
    return text


@pytest.mark.parametrize(
    ("width", "speed", "bar", "games"),
    [(140, True, True, True), (80, True, True, True), (60, True, True, False), (48, True, False, False)],
)
def test_names_and_the_time_left_stay(width: int, speed: bool, bar: bool, games: bool) -> None:
    text = drawn(width)
    assert "generation 3/24" in text
    assert " left" in text
    assert ("games/s" in text, "━" in text, "399,264" in text) == (speed, bar, games)


def test_the_narrowest_bar_has_what_must_stay() -> None:
    assert drawn(32).split() == ["generation", "3/24", "11", "h", "58", "min", "left"]


def test_lines_lose_their_least_important_parts() -> None:
    parts = [("best 60.0%", 2), ("8 new", 3), ("3,414 games/s", 1), ("110 s left", 0)]
    assert fitted_line(parts, 100) == "best 60.0%, 8 new, 3,414 games/s, 110 s left"
    assert fitted_line(parts, 40) == "best 60.0%, 3,414 games/s, 110 s left"
    assert fitted_line(parts, 5) == "110 s left"


def test_a_tournament_without_a_terminal_says_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0, 12.0, 20.0, 30.0])
    monkeypatch.setattr("evo.sessions.progress.time.monotonic", lambda: next(clock))
    console = Console(file=io.StringIO(), width=140)
    counter = GameCounter(console, 1_000)
    for games in (0, 200, 40, 160):
        counter.advance(games)
    counter.total = 1_000_000
    counter.advance(200)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines == [
        "200 of 1,000 games, 20 a second, 40 s left",
        "400 of 1,000 games, 20 a second, 30 s left",
        "600 of 1,000,000 games, 20 a second, 13 h 53 min left",
    ]
