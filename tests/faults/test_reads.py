"""Files of run folders and tournaments that the system does not let be read, at any moment, by any command."""

import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import first
from tests.faults import SAMPLE_OF_SCHEMA_1, marks
from tests.faults.program import Ended, files_of, run_program
from tests.faults.shim import ERRORS, Shim

pytestmark = marks

POSITION = "turn 6 first | hero 24 mana 6 board [2:2/3 ready] hand [The Coin] | hero 9+2 board [1/3T]"
LOCAL = ("--pool", "local", "--workers", "1")
TOURNAMENT = ("tournament", "aggro", "ilp:keep-alive", "--decks", "hearthsim-basic", "--games")

READING: dict[str, tuple[str, ...]] = {
    "runs": ("runs", "."),
    "watch": ("watch", "place", "--once"),
    "export": ("export", "place", "--out", "profiles", "--top", "2"),
    "export --clusters": ("export", "place", "--out", "medoids", "--clusters"),
    "play": ("play", "ilp:place", "aggro"),
    "explain": ("explain", POSITION, "--profile", "place"),
    "evolve": (
        "evolve",
        "place/config.toml",
        "--set",
        "generations=0",
        "--set",
        "final.games=0",
        "--out",
        "new",
    ),
    "report": ("report", "place", "--out", "report.html", "--workers", "1"),
}
"""Commands that read the run folder `place` and write nothing into it."""

FEW = ("play", "report")
"""Commands that take long, of which only some reads fail."""


def ends_well_or_with_our_error(words: tuple[str, ...]) -> Ended:
    """Run a command; it must say why in a line if it does not do what it was asked for."""
    done = run_program(words)
    assert done.code in (0, 1, 2), done
    assert b"Traceback" not in done.said
    if done.code:
        assert done.lines[-1].startswith("manaforge: "), done.said.decode()
    return done


def fresh(place: Path) -> None:
    """Remove all but the run folder."""
    for file in place.iterdir():
        if file.name != "place":
            shutil.rmtree(file) if file.is_dir() else file.unlink()


@pytest.mark.parametrize("lasting", first(1, [False, True]), ids=["once", "lasting"])
@pytest.mark.parametrize("kind", ["access", "read"])
@pytest.mark.parametrize("command", READING)
def test_a_command_that_reads_a_run_ends_with_our_error_or_well(
    command: str, kind: str, lasting: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so if it writes something else for it, and the run folder is as before."""
    monkeypatch.chdir(tmp_path)
    words, step = READING[command], 7 if command in FEW else 1
    shutil.copytree(SAMPLE_OF_SCHEMA_1, "place")
    before = files_of(Path("place"))
    undisturbed = ends_well_or_with_our_error(words)
    assert undisturbed.code == 0
    whole, told = files_of(tmp_path), 0
    for n in range(1, 300, step):
        fresh(tmp_path)
        with Shim([kind], tmp_path / "place", n, lasting=lasting) as shim:
            done = ends_well_or_with_our_error(words)
        assert files_of(Path("place")) == before
        if command.startswith("export") or (command == "report" and lasting):
            written = files_of(tmp_path)
            told_on_page = b'class="warning"' in written.get("report.html", b"")
            assert written == whole or b"cannot be read" in done.said or told_on_page or done.code
        told += (done.code, done.said) != (undisturbed.code, undisturbed.said)
        if shim.calls < n:
            assert done.code == 0
            break
    assert told, "no file is read"


@pytest.mark.parametrize("lasting", first(1, [True, False]), ids=["lasting", "once"])
@pytest.mark.parametrize("kind", ["access", "read"])
def test_a_tournament_that_goes_on_loses_no_game(
    kind: str, lasting: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games that cannot be read now are neither thrown away nor set aside."""
    monkeypatch.chdir(tmp_path)
    assert run_program((*TOURNAMENT, "8", *LOCAL, "--out", "begun")).code == 0
    begun = files_of(Path("begun"))
    for n in range(1, 100):
        shutil.rmtree("place", ignore_errors=True)
        shutil.copytree("begun", "place")
        with Shim([kind], tmp_path / "place", n, lasting=lasting) as shim:
            done = ends_well_or_with_our_error((*TOURNAMENT, "8", *LOCAL, "--out", "place"))
        after = files_of(Path("place"))
        assert after["games.parquet"] == begun["games.parquet"]
        assert not [name for name in after if name.startswith("aside")]
        if shim.calls < n:
            assert done.code == 0
            break
    assert n > 2


def test_what_is_refused_by_the_rights_of_a_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SAMPLE_OF_SCHEMA_1, "place")
    for command in ("runs", "watch", "export", "play", "explain", "evolve"):
        with Shim(["access"], tmp_path / "place" / "config.toml", 1, lasting=True):
            done = run_program(READING[command])
        said = " ".join(done.lines)
        assert os.strerror(ERRORS["access"]) in said, command
        assert "place/config.toml" in said.replace("- ", "-"), command
