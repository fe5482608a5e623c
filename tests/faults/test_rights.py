"""The program run by a user who may not read or write what it is given: our errors, and nothing is changed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import SAMPLE_OF_SCHEMA_1, marks
from tests.faults.program import NOBODY, become_nobody, files_of, fork_program, run_program

pytestmark = marks

ROOT = Path(__file__).resolve().parents[2]
POSITION = "turn 6 first | hero 24 mana 6 board [2:2/3 ready] hand [The Coin] | hero 9+2 board [1/3T]"
LOCAL = ("--pool", "local", "--workers", "1")
GAMES = ("--decks", "hearthsim-basic", "--games", "2")
NO_GAMES = ("--set", "generations=0", "--set", "final.games=0", *LOCAL)

COMMANDS: dict[str, tuple[str, ...]] = {
    "runs": ("runs", "."),
    "watch": ("watch", "run", "--once"),
    "export": ("export", "run", "--out", "OUT/profiles", "--top", "2"),
    "export --clusters": ("export", "run", "--out", "OUT/medoids", "--clusters"),
    "play": ("play", "ilp:run", "aggro"),
    "explain": ("explain", POSITION, "--profile", "run"),
    "report": ("report", "run", "--out", "OUT/report.html", "--workers", "1"),
    "evolve": ("evolve", "config.toml", *NO_GAMES, "--out", "OUT/new"),
    "resume": ("resume", "run", *LOCAL),
    "tournament": ("tournament", "aggro", "ilp:profile.toml", *GAMES, *LOCAL, "--out", "OUT/tournament"),
    "ladder": ("ladder", "deck.toml", "hearthsim-basic", "--games", "2", *LOCAL, "--out", "OUT/ladder"),
}

UNREADABLE = {
    "run": ("watch", "export", "export --clusters", "play", "explain", "report", "resume"),
    "run/config.toml": ("export", "play", "explain", "report", "resume"),
    "run/champion.toml": ("export", "play", "explain", "report", "resume"),
    "run/final.parquet": ("export", "resume"),
    "run/manifest.json": ("export", "resume"),
    "run/checksums.txt": ("export --clusters", "report", "resume"),
    "run/generations": ("export --clusters", "report", "resume"),
    "run/generations/0002.parquet": ("resume",),
    "run/pairings/0002.parquet": ("resume",),
    "config.toml": ("evolve",),
    "profile.toml": ("tournament",),
    "deck.toml": ("ladder",),
}
"""What may not be read, and the commands that cannot do their work without it."""


FINAL = ("run/champion.toml", "run/final.parquet")

REASONS = ("Permission denied", "is not readable")
"""What says that something may not be read."""


@pytest.fixture(scope="module", autouse=True)
def _imported_and_compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Another user might read neither this Python nor these kernels, so all are in the process before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made(tmp_path_factory.mktemp("warm")))
        for command in COMMANDS:
            done = run_program(words_of(command))
            assert done.code == 0, done.said.decode()


def made(folder: Path) -> Path:
    """The folder, with a run and a file of each kind."""
    shutil.copytree(SAMPLE_OF_SCHEMA_1, folder / "run")
    for source, name in (
        ("engine/data/decks/thesis-paladin.toml", "deck.toml"),
        ("configs/profiles/keep-alive.toml", "profile.toml"),
        ("configs/quickstart.toml", "config.toml"),
    ):
        shutil.copy(ROOT / source, folder / name)
    (folder / "out").mkdir()
    return folder


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that any user can reach, the current one, with a run and a file of each kind; nobody's, if root."""
    folder = Path(tempfile.mkdtemp(prefix="rights-"))
    folder.chmod(0o755)
    made(folder)
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    monkeypatch.chdir(folder)
    yield folder
    allow(folder)
    shutil.rmtree(folder)


def allow(folder: Path) -> None:
    """Let everything be read and written again."""
    folder.chmod(0o755)
    for path in sorted(folder.rglob("*")):
        path.chmod(0o755)


def words_of(command: str, out: str = "out") -> tuple[str, ...]:
    return tuple(word.replace("OUT", out) for word in COMMANDS[command])


def refused(command: str, out: str = "out") -> str:
    """What the command says, which must end with our error."""
    done = fork_program(words_of(command, out), become_nobody)
    assert done.code in (1, 2), done.said.decode()
    assert b"Traceback" not in done.said
    said = " ".join(done.lines)
    assert done.lines[-1].startswith("manaforge: ") or "is not readable" in said, said
    return said


@pytest.mark.parametrize("file", UNREADABLE)
def test_what_may_not_be_read_is_refused_and_stays_as_it_was(file: str, place: Path) -> None:
    before = files_of(place)
    for command in UNREADABLE[file]:
        (place / file).chmod(0)
        said = refused(command)
        allow(place)
        assert any(words in said for words in REASONS), (command, said)
        after = files_of(place)
        noted = {"run/manifest.json"} if command == "resume" and file in FINAL else set()
        changed = {name for name, content in before.items() if after.get(name) != content}
        assert changed == noted, command  # that a session began
        before |= {name: after[name] for name in noted}
        shutil.rmtree(place / "out")
        (place / "out").mkdir()
        if os.geteuid() == 0:
            os.chown(place / "out", NOBODY, NOBODY)


def test_a_list_goes_on_after_what_may_not_be_read(place: Path) -> None:
    shutil.copytree(place / "run", place / "whole")
    allow(place)
    (place / "run/config.toml").chmod(0)
    done = fork_program(words_of("runs"), become_nobody)
    assert done.code == 0
    assert "unreadable" in done.said.decode()
    assert "run: cannot read configuration run/config.toml: Permission denied" in done.lines
    assert "finished" in done.said.decode()


def test_a_folder_that_may_not_be_written_is_named(place: Path) -> None:
    before = files_of(place)
    (place / "out").chmod(0o555)
    for command, words in COMMANDS.items():
        if any("OUT" in word for word in words):
            said = refused(command)
            assert "Permission denied" in said, command
            assert "out" in said, command
    assert files_of(place) == before


def test_a_run_that_may_only_be_read_is_read(place: Path) -> None:
    """By all commands that write elsewhere; what would write into it is refused."""
    before = files_of(place)
    for command in (
        "report",
        "play",
        "explain",
    ):  # import and compile what they need, with the rights to do so
        assert run_program(words_of(command, str(place / "out"))).code == 0
    shutil.rmtree(place / "out")
    (place / "out").mkdir(mode=0o777)
    (place / "out").chmod(0o777)
    for path in (place / "run", *(place / "run").rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for command in ("runs", "watch", "export", "export --clusters", "play", "explain", "report"):
        done = fork_program(words_of(command), become_nobody)
        assert done.code == 0, (command, done.said.decode())
    assert any(words in refused("resume") for words in REASONS)
    after = files_of(place)
    assert {name: after[name] for name in before} == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_files_of_another_user_are_left_alone(place: Path) -> None:
    for path in (place, *place.rglob("*")):
        os.chown(path, 0, 0)
        path.chmod(0o700)
    place.chmod(0o755)
    before = files_of(place)
    for command in ("watch", "export", "report", "resume", "evolve", "tournament", "ladder"):
        said = refused(command)
        assert any(words in said for words in REASONS), (command, said)
    assert files_of(place) == before
