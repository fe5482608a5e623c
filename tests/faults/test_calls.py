"""System calls that fail once or for good while runs and tournaments begin, go on and end."""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine import ManaforgeError
from evo.play.local import LocalPool
from evo.tournament.folder import open_tournament
from evo.tournament.run import play_missing
from tests.evo.runs import TINY, bytes_of, run_new, run_on
from tests.evo.tournament.test_run import tournament
from tests.faults import marks

pytestmark = marks

VALIDATED = TINY.changed(validation={"every": 2, "games": 2})

CALLS: dict[str, tuple[Any, str, int]] = {
    "open": (os, "open", errno.EIO),
    "mkdir": (os, "mkdir", errno.EACCES),
    "unlink": (os, "unlink", errno.EIO),
    "replace": (os, "replace", errno.EIO),
    "listdir": (os, "listdir", errno.EIO),
    "stat": (os, "fstat", errno.EIO),
    "lock": (fcntl, "flock", errno.ENOLCK),
}
"""Module, function and error of each system call."""


class Failing:
    """While it is entered, a system call on a folder fails the n-th time, and after it too if that lasts."""

    def __init__(self, call: str, n: int, lasting: bool, folder: Path) -> None:
        self.module, self.name, self.error = CALLS[call]
        self.real = getattr(self.module, self.name)
        self.n, self.lasting, self.folder, self.calls = n, lasting, str(folder), 0

    def __call__(self, first: Any, *more: Any, **named: Any) -> Any:
        ours = isinstance(first, int) or hasattr(first, "fileno") or str(first).startswith(self.folder)
        self.calls += ours
        if ours and (self.calls == self.n or (self.lasting and self.calls > self.n)):
            raise OSError(self.error, os.strerror(self.error))
        return self.real(first, *more, **named)

    def __enter__(self) -> None:
        setattr(self.module, self.name, self)

    def __exit__(self, *_: object) -> None:
        setattr(self.module, self.name, self.real)


def faults(call: str, lasting: bool, folder: Path, most: int = 200) -> Iterator[Failing]:
    """The call fails the first time, the second, ..., until a whole scenario needs no more of them."""
    for n in range(1, most):
        failing = Failing(call, n, lasting, folder)
        yield failing
        if failing.calls < n:
            return


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    path = tmp_path_factory.mktemp("whole") / "run"
    run_new(path, VALIDATED)
    return path


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("call", CALLS)
def test_a_run_ends_with_our_error_or_well_and_goes_on(
    call: str, lasting: bool, whole: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run"
    for fault in faults(call, lasting, path):
        shutil.rmtree(path, ignore_errors=True)
        try:
            with fault:
                run_new(path, VALIDATED)
        except ManaforgeError as error:
            assert str(error)
        if (path / "config.toml").exists():
            assert run_on(path) == bytes_of(whole)
        else:
            assert run_new(path, VALIDATED) == bytes_of(whole), "leftovers of the start are in the way"


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("call", CALLS)
def test_a_resumed_run_ends_with_our_error_or_well_and_loses_nothing(
    call: str, lasting: bool, whole: Path, tmp_path: Path
) -> None:
    half = tmp_path / "half"
    run_new(half, VALIDATED.changed(generations=1))
    text = (half / "config.toml").read_text().replace("generations = 1", "generations = 3")
    (half / "config.toml").write_text(text)
    path = tmp_path / "run"
    for fault in faults(call, lasting, path):
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(half, path)
        try:
            with fault:
                run_on(path)
        except ManaforgeError as error:
            assert str(error)
        for kind in ("generations", "pairings"):
            for file in (half / kind).iterdir():
                kept = [path / kind / file.name, *(path / "aside").glob(f"*-{kind}-{file.name}")]
                assert any(one.exists() and one.read_bytes() == file.read_bytes() for one in kept)
        assert run_on(path) == bytes_of(whole)


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("call", CALLS)
def test_a_tournament_ends_with_our_error_or_well_and_loses_nothing(
    call: str, lasting: bool, tmp_path: Path
) -> None:
    made = tournament("aggro", "ilp:keep-alive", games=20)
    pool = LocalPool(1)

    def play(path: Path) -> Any:
        with open_tournament(path, made.definition, made.ruleset, len(made.matchups)) as folder:
            play_missing(made, folder, pool, lambda _: None)
            return folder.played

    fresh = play(tmp_path / "fresh")
    path = tmp_path / "t"
    for fault in faults(call, lasting, path):
        shutil.rmtree(path, ignore_errors=True)
        try:
            with fault:
                play(path)
        except ManaforgeError as error:
            assert str(error)
        assert (play(path) == fresh).all()
    pool.close()
