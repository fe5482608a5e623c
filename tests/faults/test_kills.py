"""SIGKILL at any write of commands that play: nothing is lost, and the same bytes come of it after."""

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from evo.storage.files import lock_folder
from evo.tournament import run as tournament_run
from tests.conftest import cases, first
from tests.faults import SAMPLE_OF_SCHEMA_1, marks
from tests.faults.program import files_of, fork_program, run_program
from tests.faults.shim import WRITES, Shim

pytestmark = marks

LOCAL = ("--pool", "local", "--workers", "1")
DECK = ("--decks", "hearthsim-basic")
TOURNAMENT = ("tournament", "aggro", "ilp:keep-alive", *DECK, *LOCAL, "--out", "made")


def nothing() -> None:
    """An empty place."""


def smaller_tournament() -> None:
    """Of which the games are played that a larger one begins with."""
    assert run_program((*TOURNAMENT, "--games", "8")).code == 0


def run_with_a_report() -> None:
    shutil.copytree(SAMPLE_OF_SCHEMA_1, "made")
    Path("made/report.html").write_text("an older page")


def two_profiles() -> None:
    assert run_program(("export", str(SAMPLE_OF_SCHEMA_1), "--out", "made", "--top", "2")).code == 0


LEARN = (
    *("learn", "learn", "--workers", "1", "--out", "made"),
    *(
        word
        for text in (
            "decks=thesis-paladin,random-minions",
            "options=4",
            "rounds=2",
            "games=200",
            "test.games=4",
            "test.against=eva",
        )
        for word in ("--set", text)
    ),
)
FEATURES = ("features", "made", "--games", "4", "--no-alone", "--sprt", "elo0=-400 elo1=0", "--workers", "1")
PLAYED = ("--games", "8", *LOCAL, "--out", "made")
SMALL = ("--set", "mu=2", "--set", "lambda=2", "--set", "strategy=es", "--set", "games=20")
MULLIGAN = ("mulligan", "ilp:keep-alive", *DECK, "--against", "aggro", "--games", "30", *LOCAL)
EXPLOIT = ("exploit", "aggro", "--budget", "1000", *DECK, "--test-decks", "thesis-paladin", "--watched", "1")
BENCH = ("bench-optimisers", "quickstart", "--budget", "60", "--seeds", "2", "--optimiser", "es")


def learned() -> None:
    assert run_program(LEARN).code == 0


SWEEP = ("--weight", "face", "--values", "0,10", "--against", "aggro", "--games", "8")

NIGHTLY = ("tournament that grows", "sweep", "crossplay", "features", "ablate", "exploit", "bench-optimisers")
"""Cases that save as others do."""

NUMBERED = ("learn", "exploit")
"""Cases with records that follow from each other: one that was not committed is set aside, and told."""

CASES: dict[str, tuple[Callable[[], None], tuple[str, ...], int, int]] = {
    "tournament": (nothing, (*TOURNAMENT, "--games", "16"), 40, cases(2, 1)),
    "tournament that grows": (smaller_tournament, (*TOURNAMENT, "--games", "16"), 40, 1),
    "sweep": (nothing, ("sweep", "ilp:keep-alive", *SWEEP, *DECK, *LOCAL, "--out", "made"), 20, 1),
    "report": (run_with_a_report, ("report", "made", "--workers", "1"), 4, cases(2, 1)),
    "export": (two_profiles, ("export", str(SAMPLE_OF_SCHEMA_1), "--out", "made", "--top", "4"), 8, 1),
    "crossplay": (nothing, ("crossplay", str(SAMPLE_OF_SCHEMA_1), *LOCAL, "--out", "made"), 40, 9),
    "learn": (nothing, LEARN, 30, cases(9, 2)),
    "features": (learned, FEATURES, 20, 11),
    "mulligan": (nothing, (*MULLIGAN, "--out", "made/keep.toml"), 20, cases(5, 1)),
    "ablate": (nothing, ("ablate", "ilp:keep-alive", *DECK, *PLAYED), 20, 3),
    "exploit": (nothing, (*EXPLOIT, *PLAYED, *SMALL), 40, 9),
    "bench-optimisers": (
        nothing,
        (*BENCH, "--against", "random", *PLAYED, *SMALL[:2], "--set", "games=2"),
        20,
        3,
    ),
}
"""What is there before, the command, the fewest writes that it must have made, and of how many it is killed in one.

A crossplay takes seconds and saves its games as tournaments do.
"""


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games are saved every few, so that there is something to lose."""
    monkeypatch.setattr(tournament_run, "FIRST_BATCH", 4)
    monkeypatch.setattr(tournament_run, "SAVE_SECONDS", 0.0)


TIMED = ("lock", "log.jsonl", "manifest.json")
"""Files that are ignored: they say when."""

GROWING = ("checksums.txt", ".csv")
"""Ends of names of files that are written as games are played."""


def kept(files: dict[str, bytes]) -> dict[str, bytes]:
    """Those that must not be lost: all but temporary files, and what was set aside beside half a line."""
    return {
        name: content
        for name, content in files.items()
        if not name.endswith(".tmp") and "aside" not in Path(name).parts
    }


def games_in(files: dict[str, bytes]) -> int:
    """Games of a tournament that its batches hold; a large number once they are in one file."""
    if "games.parquet" in files:
        return 10**6
    return max((int(name[-18:-8]) for name in files if name.startswith("batches/")), default=0)


@pytest.mark.parametrize("case", first(len(CASES) - len(NIGHTLY), sorted(CASES, key=NIGHTLY.__contains__)))
def test_killed_at_any_write_nothing_is_lost_and_the_same_comes_of_it(
    case: str, small_batches: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of the n-th write, or before the n-th flush, rename, removal or new folder.

    For every n, or one in `step`.
    """
    prepare, words, fewest, step = CASES[case]
    monkeypatch.chdir(tmp_path)
    prepare()
    made = tmp_path / "made"
    old = files_of(made, TIMED) if made.exists() else {}
    if made.exists():
        shutil.copytree(made, tmp_path / "before")
    assert run_program(words).code == 0
    new = files_of(made, TIMED)
    assert not [name for name in new if name.endswith(".tmp")]
    games = 0
    for n in itertools.count(1, step):
        shutil.rmtree(made)
        if old:
            shutil.copytree(tmp_path / "before", made)
        ended = fork_program(words, Shim(WRITES, made, n, kill=True).__enter__)
        if ended.code == 0:
            break
        assert ended.code == -9, ended.said.decode()
        left = kept(files_of(made, TIMED)) if made.exists() else {}
        assert old.keys() <= left.keys(), n
        for name, content in left.items():
            if name in new:
                grows = name.endswith(GROWING) and new[name].startswith(content)
                assert grows or content in (new[name], old.get(name)), f"{name}, killed at write {n}"
        assert games_in(left) >= games, f"games that were saved are gone, killed at write {n}"
        games = games_in(left)
        if n < 6 or n // step % 4 == 0:
            again = fork_program(words)
            assert again.code == 0, again.said.decode()
            assert b"set aside" not in again.said or case in NUMBERED
            assert b"damaged" not in again.said
            assert kept(files_of(made, TIMED)) == new, f"killed at write {n}"
    assert kept(files_of(made, TIMED)) == new
    assert n > fewest


LOCKED = {
    "mulligan": "made/keep.mulligan",
    **dict.fromkeys(("learn", "ablate", "features", "tournament", "sweep", "crossplay", "exploit"), "made"),
    "bench-optimisers": "made",
}
"""Where each keeps what it has played."""


@pytest.mark.parametrize("case", first(3, LOCKED))
def test_a_second_process_is_refused_and_changes_nothing(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare, words, _, _ = CASES[case]
    monkeypatch.chdir(tmp_path)
    (learned if case == "learn" else prepare)()
    place = Path(LOCKED[case])
    place.mkdir(parents=True, exist_ok=True)
    before = files_of(place)
    lock = lock_folder(place)
    assert lock is not None
    with lock:
        done = run_program(words)
    assert done.code in (1, 2)
    assert f"{place} is in use by another process" in " ".join(done.said.decode().split())
    assert {name: content for name, content in files_of(place).items() if name in before} == before
    assert not [name for name in files_of(place) if name not in before]
