"""What a folder is that was taken for a run, and the way out, in words."""

import os
from collections.abc import Sequence
from pathlib import Path

from engine.errors import nearest

RUNS = Path("runs")
"""Where commands put run folders, below the current folder."""

LEARNING = "learning.toml"
"""The configuration in a folder of `manaforge learn`."""

EXPERIMENT = "experiment.json"
"""In the folder of an experiment: its kind and all that its results depend on."""

OPPONENTS = "opponents.json"
"""The fixed opponents in a run folder."""

MOST_NAMED = 4
"""Runs of a study that are named."""


def what_it_is(path: Path) -> str:
    """Why a path is not a run folder, and the way out."""
    if not os.path.exists(path):  # noqa: PTH110 - False too for names that no file can have
        runs = [file.parent.name for file in RUNS.glob("*/config.toml")]
        near = nearest(str(path).removeprefix(f"{RUNS}/"), runs)
        hint = f"; nearest: {', '.join(str(RUNS / name) for name in near)}" if near else ""
        return f"{path} is not a run folder: there is no such folder{hint}"
    if not path.is_dir():
        return f"{path} is a file, not a run folder"
    if (path / LEARNING).is_file():
        return (
            f"{path} is a learned value, not a run: read {path / 'report.html'}, play it as "
            f"lookahead:{path / 'profile.toml'}; the command that began it continues it"
        )
    if (path / "tournament.json").is_file():
        return f"{path} is {_tournament(path)}"
    if (path / EXPERIMENT).is_file():
        return f"{path} is an experiment, not a run; manaforge runs {path} lists it"
    inside = sorted(file.parent for file in path.glob("*/config.toml"))
    if inside:
        kind = "a study" if all(run.name.isdecimal() for run in inside) else "a folder of runs"
        return f"{path} is {kind}, not a run: name one of its runs, {_listed(inside)}"
    return f"{path} is not a run folder and holds none: it has no config.toml"


def _tournament(path: Path) -> str:
    """The kind of a tournament's folder, and what reads it."""
    if (path / "sweep.csv").is_file():
        return f"a sweep, not a run: read {path / 'sweep.csv'} and sweep.png"
    if (path / "tournament.html").is_file():
        return f"a tournament, not a run: read {path / 'tournament.html'}; manaforge runs {path} lists it"
    return f"a tournament, not a run: the command that began it continues it; manaforge runs {path} lists it"


def _listed(runs: Sequence[Path]) -> str:
    """The first of some runs, and how many there are."""
    names = [str(run) for run in runs]
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])}, ... ({len(names)} runs)"
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
