"""The list of runs and tournaments."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evo.analysis.listing import (
    learnings_and_experiments_below,
    runs_below,
    state_of,
    tournaments_below,
)
from evo.evolution.session import new_manifest
from evo.storage.run_folder import create_run, open_run_read_only
from tests.evo.runs import TINY, manaforge, run_new
from tests.waiting import HANG

EXAMPLE = Path("tests/data/run")


def test_a_run_is_listed_with_its_numbers() -> None:
    (run,) = runs_below(EXAMPLE)
    assert run["run"] == str(EXAMPLE)
    assert (run["state"], run["generation"], run["generations"]) == ("finished", 14, 14)
    assert run["began"].startswith("20")
    assert 0 < run["against_thesis_seven"] < 1


def test_the_list_and_watch_agree_on_a_run_of_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lock is not seen here, so its log says whether it goes on."""
    monkeypatch.setattr("evo.analysis.listing.SILENT_SECONDS", HANG)
    with create_run(tmp_path / "run", TINY, new_manifest(TINY)) as folder:
        folder.note(event="generation", generation=0, seconds=1.0)
    (run,) = runs_below(tmp_path)
    assert run["state"] == state_of(open_run_read_only(tmp_path / "run")).word == "running"
    event = {"time": datetime(2020, 1, 1, tzinfo=UTC).isoformat(), "event": "generation", "generation": 0}
    (tmp_path / "run" / "log.jsonl").write_text(json.dumps(event | {"seconds": 1.0}) + "\n")
    (run,) = runs_below(tmp_path)
    assert run["state"] == state_of(open_run_read_only(tmp_path / "run")).word == "stopped"


def test_a_run_without_a_benchmark_shows_its_last_validation(tmp_path: Path) -> None:
    validated = {"every": 2, "games": 4}
    config = TINY.changed(validation=validated, final={"games": 40, "benchmark_games": 0})
    run_new(tmp_path / "run", config)
    (run,) = runs_below(tmp_path)
    table = open_run_read_only(tmp_path / "run").validation(2)
    assert table is not None
    assert run["against_thesis_seven"] is None
    assert run["best_against_thesis_seven"] == table["score"].iloc[0]
    shown = manaforge("runs", tmp_path).stdout
    assert f"best {run['best_against_thesis_seven']:.1%}" in shown


def test_learnings_and_experiments_are_listed_and_strange_files_are_no_traceback(tmp_path: Path) -> None:
    for name, content in (("a", '{"kind": "ablate"}'), ("b", "{"), ("c", '{"kind": "exploit"}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "experiment.json").write_text(content)
    (tmp_path / "a" / "ablation.html").write_text("")
    (tmp_path / "d" / "rounds").mkdir(parents=True)
    (tmp_path / "d" / "learning.toml").write_text("schema = 1\n")
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "learning.toml").write_text("nonsense")
    found = {
        one["folder"]: (one["state"], one["kind"], one["page"])
        for one in learnings_and_experiments_below(tmp_path)
    }
    assert found == {
        "a": ("finished", "ablate", "ablation.html"),
        "b": ("unreadable", "", ""),
        "c": ("stopped", "exploit", ""),
        "d": ("stopped", "learn", ""),
        "e": ("unreadable", "learn", ""),
    }
    listed = manaforge("runs", tmp_path)
    assert listed.returncode == 0
    assert "ablation.html" in listed.stdout
    refused = manaforge("report", tmp_path / "a")
    assert refused.returncode == 2
    assert "is an experiment, not a run" in refused.stderr


@pytest.mark.heavy
def test_tournaments_are_listed_and_strange_files_are_no_traceback(tmp_path: Path) -> None:
    words = ("tournament", "pass", "random", "--decks", "thesis-paladin", "--games", 4)
    assert manaforge(*words, "--out", tmp_path / "t", "--pool", "local").returncode == 0
    for name, content in (
        ("a", "[1]"),
        ("b", "{"),
        ("c", '{"entrants": 3, "format": null, "decks": [1, {}, {"deck": "basic-mage"}]}'),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tournament.json").write_text(content)
    found = {one["tournament"]: one for one in tournaments_below(tmp_path)}
    assert (found["t"]["state"], found["t"]["entrants"], found["t"]["games"]) == ("finished", 2, 4)
    assert found["t"]["leader"] == "random"
    assert [found[name]["decks"] for name in "tabc"] == [["thesis-paladin"], [], [], ["basic-mage"]]
    words = ("ladder", "thesis-paladin", "hearthsim-basic", "--players", "pass", "--games", 2)
    assert manaforge(*words, "--out", tmp_path / "l", "--pool", "local").returncode == 0
    assert [one["kind"] for one in tournaments_below(tmp_path / "l")] == ["ladder"]
    assert [found[name]["state"] for name in "abc"] == ["unreadable", "unreadable", "stopped"]
    listed = manaforge("runs", tmp_path)
    assert listed.returncode == 0
    assert "no run folders" not in listed.stdout
    assert "random" in listed.stdout
    (tmp_path / "empty").mkdir()
    assert "no run folders under" in manaforge("runs", tmp_path / "empty").stdout
    found["l"] = next(one for one in tournaments_below(tmp_path) if one["tournament"] == "l")
    printed = json.loads(manaforge("runs", tmp_path, "--json").stdout)
    assert printed["tournaments"] == [found[name] for name in sorted(found)]


def test_columns_says_how_wide_tables_are() -> None:
    narrow = manaforge("runs", "tests/data", COLUMNS="60").stdout.splitlines()
    wide = manaforge("runs", "tests/data", COLUMNS="").stdout.splitlines()
    assert max(map(len, narrow)) <= 60 < max(map(len, wide))
    assert any("run" in line and "finished" in line for line in narrow)
