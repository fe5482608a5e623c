"""Folders that are taken for runs and are none."""

import shutil
from pathlib import Path

import pytest

from evo.storage.files import not_a_run_text
from tests.evo.runs import manaforge

RUN = Path("tests/data/run").resolve()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run, a study of two, a tournament and a sweep in `runs/`."""
    monkeypatch.chdir(tmp_path)
    for run in ("one", "study/00", "study/01"):
        shutil.copytree(RUN, tmp_path / "runs" / run)
    for folder, file in (("tour", "tournament.html"), ("sweep", "sweep.csv"), ("begun", "lock")):
        (tmp_path / "runs" / folder).mkdir()
        (tmp_path / "runs" / folder / "tournament.json").write_text("{}")
        (tmp_path / "runs" / folder / file).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("runs/study", "is a study, not a run: name one of its runs, runs/study/00 or runs/study/01"),
        ("runs", "is a folder of runs, not a run: name one of its runs, runs/one"),
        (
            "runs/tour",
            "is a tournament, not a run: read runs/tour/tournament.html; to list it: manaforge runs runs/tour",
        ),
        (
            "runs/begun",
            "is an unfinished tournament, not a run: to continue it, run the command that started it",
        ),
        ("runs/sweep", "is a sweep, not a run: read runs/sweep/sweep.csv and sweep.png"),
        ("runs/onne", "is not a run folder: there is no such folder; nearest: runs/one"),
        ("nothing", "is not a run folder: there is no such folder"),
        ("runs/one/config.toml", "is a file, not a run folder"),
        ("runs/one/generations", "is not a run folder and holds none: it has no config.toml"),
    ],
)
def test_each_is_told_what_it_is(path: str, words: str, here: Path) -> None:
    assert not_a_run_text(Path(path)).startswith(f"{path} {words}")


def test_of_many_runs_some_are_named(here: Path) -> None:
    for number in range(20):
        shutil.copytree(RUN, here / "long" / f"{number:02d}", ignore=lambda *_: ["generations", "pairings"])
    assert not_a_run_text(Path("long")).endswith("long/00, long/01, long/02, long/03, ... (20 runs)")


@pytest.mark.parametrize("words", ["play ilp:{} random", "resume {}", "explain hero --profile {}"])
def test_a_study_names_its_runs_where_one_is_wanted(words: str, here: Path) -> None:
    words = words.replace("hero", "hero_3|hero_3").format("study")
    done = manaforge(*(word.replace("_", " ") for word in words.split()))
    assert done.stderr == f"manaforge: {not_a_run_text(Path('runs/study'))}\n"


@pytest.mark.parametrize(
    "words",
    ["play ilp:{} random", "resume {}", "report {}", "watch {}", "crossplay {}", "export {} --out out"],
)
def test_a_tournament_says_what_reads_it(words: str, here: Path) -> None:
    done = manaforge(*words.format("runs/tour").split())
    assert done.stderr == f"manaforge: {not_a_run_text(Path('runs/tour'))}\n"


@pytest.mark.parametrize("name", ["x" * 5_000, "../" + "9" * 400, "a\0b", "broken\udc80"])
def test_a_name_that_no_file_can_have_is_told(name: str) -> None:
    assert "there is no such folder" in not_a_run_text(Path(name))
