"""Runs on disk, read again and again while they grow."""

import contextlib
import os
import select
import sys
import termios
import time
import tty
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from evo.analysis.tables import Runs, RunWarning, find_runs, read_runs
from evo.analysis.watching import RunView, view_run
from evo.storage.store import RunError

GRACE_SECONDS = 5.0
"""How long no run may go on before a watch ends: between two runs of a study there is a moment without."""

LEAVE = "q leaves"


def read_quietly(paths: list[Path]) -> Runs:
    """Read runs without Python warnings; the command prints their problems itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        return read_runs(paths)


def look(paths: list[Path]) -> tuple[list[RunView], list[Text]]:
    """The present state of all runs, and what cannot be read."""
    find_runs(paths)
    try:
        found = read_quietly(paths)
    except RunError as error:
        return [], [Text(str(error))]
    problems = [Text(f"warning: {problem}", style="bold red") for problem in found.problems]
    return [view_run(found, name) for name in found.folders], problems


def whole(views: Sequence[RunView], problems: Sequence[Text]) -> RenderableType:
    """All of all runs; below it what cannot be read."""
    return Group(*(view.whole for view in views), *problems)


def fitting(
    console: Console, views: Sequence[RunView], problems: Sequence[Text], height: int
) -> RenderableType:
    """As much as so many lines hold, running runs first.

    Every run has its first line as long as they fit; then come the newest generations of one run after the
    other, as a table or in a line, and at last their weights.
    """
    order = sorted(range(len(views)), key=lambda place: views[place].state.word != "running")
    left = height - sum(_lines(console, problem) for problem in problems)
    heads: list[int] = []
    for place in order:
        lines = _lines(console, views[place].head)
        spare = 0 if len(heads) == len(views) - 1 else 1  # for the line on those without
        if lines + spare > left:
            break
        heads.append(place)
        left -= lines
    shown: dict[int, list[RenderableType]] = {place: [views[place].head] for place in heads}
    for candidates in (
        lambda view: (view.course, view.newest),
        lambda view: (view.weights,),
    ):
        for place in heads:
            for part in candidates(views[place]):
                lines = _lines(console, part) if part is not None else 0
                if part is not None and lines <= left - (len(heads) < len(views)):
                    shown[place].append(part)
                    left -= lines
                    break
    parts = chain.from_iterable(shown[place] for place in sorted(shown))
    others = len(views) - len(heads)
    rest = [Text(f"and {others} more", style="dim")] if others else []
    return Group(*parts, *rest, *problems)


def watch(console: Console, paths: list[Path], every: float) -> None:
    """Draw runs until none of them goes on any more, or someone leaves by q or Ctrl-C.

    Args:
        console: the terminal.
        paths: of the runs, or of studies.
        every: seconds between two looks.
    """
    leave = Text(LEAVE, style="dim")
    views, problems = look(paths)
    last_running = time.monotonic() if _any_runs(views) else -GRACE_SECONDS
    with (
        contextlib.suppress(KeyboardInterrupt),
        pressed_keys() as pressed,
        Live(console=console, auto_refresh=False, vertical_overflow="crop") as live,
    ):
        while True:
            now = time.monotonic()
            last_running = now if _any_runs(views) else last_running
            height = console.height - 1
            over = now - last_running >= GRACE_SECONDS
            drawn = fitting(console, views, problems, height if over else height - 1)
            live.update(drawn if over else Group(drawn, leave), refresh=True)
            if over:
                return
            if "q" in pressed(every).lower():
                live.update(drawn, refresh=True)
                return
            views, problems = look(paths)


@contextlib.contextmanager
def pressed_keys() -> Iterator[Callable[[float], str]]:
    """A function that waits for so many seconds, or until a key is pressed, and returns what was typed."""
    if not sys.stdin.isatty():
        yield _wait
        return

    def pressed(seconds: float) -> str:
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        return os.read(sys.stdin.fileno(), 64).decode(errors="replace") if ready else ""

    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin, termios.TCSADRAIN)  # what was typed before is kept
        yield pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _wait(seconds: float) -> str:
    time.sleep(seconds)
    return ""


def _any_runs(views: Sequence[RunView]) -> bool:
    return any(view.state.word == "running" for view in views)


def _lines(console: Console, part: RenderableType) -> int:
    """Lines that a part takes."""
    return len(console.render_lines(part, pad=False))
