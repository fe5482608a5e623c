"""Shared by all tests: the size of the random suites, the compiler mode, a finished run."""

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from matplotlib.figure import Figure

from engine.compile_progress import progress
from tests.waiting import give_agents_an_hour

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
BOUNDSCHECK = os.environ.get("NUMBA_BOUNDSCHECK") == "1"
NIGHTLY = os.environ.get("MANAFORGE_NIGHTLY") == "1"

SAVE_FIGURE = Figure.savefig

# No deadline, since a first call compiles and machines are busy. The same examples every time, so that failures repeat.
whenever = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("normal", whenever, max_examples=30)
settings.register_profile("nightly", whenever, max_examples=60)
settings.register_profile("reduced", whenever, max_examples=15)
settings.load_profile("reduced" if UNCOMPILED or BOUNDSCHECK else "nightly" if NIGHTLY else "normal")


def first(usual: int, values: Iterable[Any]) -> list[Any]:
    """Parameters of a test: the first few as they are, the others for `make nightly`."""
    return [
        value if place < usual else pytest.param(value, marks=pytest.mark.nightly)
        for place, value in enumerate(values)
    ]


def heavy(*values: Any, only_nightly: bool = False) -> list[Any]:
    """Parameters of a test that only the long suite tries, in `.ci/run` too or in `make nightly` alone."""
    marks = [pytest.mark.heavy, pytest.mark.nightly] if only_nightly else [pytest.mark.heavy]
    return [pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=marks) for value in values]


def cases(usual: int, nightly: int) -> int:
    """How many random cases a test tries; `make nightly`, which sets MANAFORGE_NIGHTLY=1, tries more."""
    return nightly if NIGHTLY else usual


@pytest.fixture(scope="session", autouse=True)
def undrawn() -> Iterator[None]:
    """Figures are plotted but not drawn, which takes most of the time of a page; a test may ask for `drawn`."""
    with patch.object(Figure, "savefig", lambda _, file, **__: file.write(b"\x89PNG")):
        yield


@pytest.fixture
def drawn(undrawn: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are drawn."""
    monkeypatch.setattr(Figure, "savefig", SAVE_FIGURE)


give_agents_an_hour()
progress.quiet = True  # what is compiled here depends on the cache; a process that a test starts tells of it


@pytest.fixture(scope="session")
def random_game_count() -> int:
    """Random games compared with the reference for each ruleset; MANAFORGE_GAMES sets another number."""
    return int(os.environ.get("MANAFORGE_GAMES", 20 if UNCOMPILED or BOUNDSCHECK else cases(60, 125)))


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished tiny run; copy it before changing it."""
    from tests.evo.runs import run_new

    path = tmp_path_factory.mktemp("runs") / "finished"
    run_new(path)
    return path


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished run, which tests may change."""
    return Path(shutil.copytree(finished, tmp_path / "copy"))
