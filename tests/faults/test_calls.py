"""System calls that fail once or for good while runs and tournaments begin, go on and end."""

import fcntl
import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine import ManaforgeError
from engine.safe_files import open_regular, read_bytes
from evo.play.pool import LocalPool
from evo.storage.files import write_atomically
from evo.tournament.folder import open_tournament
from evo.tournament.run import play_missing
from tests.conftest import first
from tests.evo.runs import TINY, bytes_of, play_new, play_on, run_new, run_on
from tests.evo.tournament.test_run import tournament
from tests.faults import marks
from tests.faults.shim import ERRORS, Shim, faults

pytestmark = marks

VALIDATED = TINY.changed(validation={"every": 2, "games": 2})


def test_the_shim_meets_every_way_to_open_read_and_write(tmp_path: Path) -> None:
    """Each line of `ways` makes the calls that it names on the folder, in this order."""
    file, numbers = tmp_path / "file", itertools.count()

    def append() -> None:
        with open_regular(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND) as log:
            log.write(b"more")

    def lock() -> None:
        with open_regular(file, os.O_RDONLY) as own:
            fcntl.flock(own, fcntl.LOCK_SH)

    def mkdir() -> None:
        (tmp_path / f"folder {next(numbers)}").mkdir()

    ways: list[tuple[Callable[[], object], str]] = [
        (
            lambda: write_atomically(file, b"content", tmp_path / "x.tmp"),
            "unlink open write fsync replace open fsync",
        ),
        (append, "open stat write"),
        (lambda: file.write_text("text"), "open write"),
        (file.read_bytes, "open read"),
        (lambda: read_bytes(file), "open stat stat read"),
        (lambda: sorted(tmp_path.iterdir()), "listdir"),
        (lock, "open stat lock"),
        (mkdir, "mkdir"),
    ]
    kinds = set(ERRORS) - {"access"}
    for way, calls in ways:
        with Shim(kinds, tmp_path, 0) as none:
            way()
        assert none.calls == len(calls.split()), calls
        for n, kind in enumerate(calls.split(), 1):
            with Shim(kinds, tmp_path, n), pytest.raises(OSError, match=os.strerror(ERRORS[kind])):
                way()
    with Shim(kinds, tmp_path / "other", 1) as other:
        file.read_bytes()
    assert other.calls == 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    path = tmp_path_factory.mktemp("whole") / "run"
    run_new(path, VALIDATED)
    return path


@pytest.mark.parametrize("lasting", first(1, [False, True]), ids=["once", "lasting"])
@pytest.mark.parametrize("call", ERRORS)
def test_a_run_ends_with_our_error_or_well_and_goes_on(
    call: str, lasting: bool, whole: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run"
    for fault in faults(call, lasting, path):
        shutil.rmtree(path, ignore_errors=True)
        try:
            with fault:
                play_new(path, VALIDATED)
        except ManaforgeError as error:
            assert str(error)
        if (path / "config.toml").exists():
            assert run_on(path) == bytes_of(whole)
        else:
            assert run_new(path, VALIDATED) == bytes_of(whole), "leftovers of the start are in the way"


@pytest.mark.parametrize("lasting", first(1, [True, False]), ids=["lasting", "once"])
@pytest.mark.parametrize("call", ERRORS)
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
                play_on(path)
        except ManaforgeError as error:
            assert str(error)
        for kind in ("generations", "pairings"):
            for file in (half / kind).iterdir():
                kept = [path / kind / file.name, *(path / "aside").glob(f"*-{kind}-{file.name}")]
                assert any(one.exists() and one.read_bytes() == file.read_bytes() for one in kept)
        assert run_on(path) == bytes_of(whole)


@pytest.mark.parametrize("lasting", first(1, [False, True]), ids=["once", "lasting"])
@pytest.mark.parametrize("call", ERRORS)
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
