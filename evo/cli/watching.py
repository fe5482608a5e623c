"""Runs on disk, read again and again while they grow."""

import warnings
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from evo.analysis.tables import Runs, RunWarning, find_runs, read_runs
from evo.analysis.watching import draw_run
from evo.storage.store import RunError


def read_quietly(paths: list[Path]) -> Runs:
    """Read runs without Python warnings; the command prints their problems itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        return read_runs(paths)


def state_of(paths: list[Path]) -> RenderableType:
    """The current state of all runs; below it what cannot be read."""
    find_runs(paths)
    try:
        found = read_quietly(paths)
    except RunError as error:
        return Text(str(error))
    problems = [Text(f"warning: {problem}", style="bold red") for problem in found.problems]
    return Group(*(draw_run(found, name) for name in found.folders), *problems)
