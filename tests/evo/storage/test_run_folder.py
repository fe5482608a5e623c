"""Run folders: what is committed, what is set aside, what is refused; and the one reader of a history."""

import json
import shutil
from pathlib import Path

import pytest

from evo.evolution.session import new_manifest
from evo.storage.files import write_atomically
from evo.storage.history import HistoryError, read_committed, read_history, table_path
from evo.storage.run_folder import RunError, check_empty, create_run, open_run, open_run_read_only
from tests.evo.runs import TINY


def test_a_new_folder_holds_its_configuration_and_nothing_committed(tmp_path: Path) -> None:
    with create_run(tmp_path / "run", TINY, new_manifest(TINY)) as folder:
        assert folder.committed == 0
        assert list(folder.tables("generations")) == []
    again = open_run_read_only(tmp_path / "run")
    assert again.config == TINY
    assert again.manifest()["seed"] == TINY.seed


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    with (
        create_run(tmp_path / "run", TINY, new_manifest(TINY)),
        pytest.raises(RunError, match="in use by another process"),
    ):
        open_run(tmp_path / "run")
    open_run(tmp_path / "run").close()


def test_a_folder_that_holds_something_is_not_vacant(tmp_path: Path) -> None:
    check_empty(tmp_path / "none")
    for name in ("lock", "manifest.json", "leftover.tmp"):
        (tmp_path / name).touch()
    check_empty(tmp_path)
    (tmp_path / "notes.txt").touch()
    with pytest.raises(RunError, match="is not empty; choose another --out"):
        check_empty(tmp_path)
    (tmp_path / "config.toml").touch()
    with pytest.raises(RunError, match="to continue it: manaforge resume"):
        check_empty(tmp_path)
    with pytest.raises(RunError, match="is a file"):
        check_empty(tmp_path / "notes.txt")


def test_a_commit_is_two_files_and_a_line(copy: Path) -> None:
    history = read_history(copy)
    assert (len(history.entries), history.problem) == (TINY.generations + 1, "")
    assert "".join(entry.line for entry in history.entries) == history.text
    for number, entry in enumerate(history.entries):
        for kind in ("generations", "pairings"):
            assert read_committed(copy, kind, number, entry) == table_path(copy, kind, number).read_bytes()


@pytest.mark.parametrize(
    ("spoil", "left", "problem"),
    [
        (lambda text: text[:-1], 3, "line 4 is torn"),
        (lambda text: text.replace("0002 ", "0007 "), 2, "line 3 is torn or out of place"),
        (lambda text: "x" + text, 0, "line 1 is torn"),
        (lambda text: text.replace("\n", " 00\n", 1), 0, "line 1 is torn"),
        (lambda text: "", 0, ""),
    ],
)
def test_a_history_counts_as_far_as_its_lines_are_whole(
    copy: Path, spoil: object, left: int, problem: str
) -> None:
    file = copy / "checksums.txt"
    file.write_text(spoil(file.read_text()))
    history = read_history(copy)
    assert len(history.entries) == left
    assert problem in history.problem
    assert bool(problem) == bool(history.problem)
    assert history.text.startswith("".join(entry.line for entry in history.entries))
    assert open_run_read_only(copy).committed == left


def test_what_was_not_committed_cannot_be_read(copy: Path) -> None:
    entry = read_history(copy).entries[1]
    file = table_path(copy, "pairings", 1)
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(HistoryError, match=r"pairings/0001.parquet is damaged: its checksum is not"):
        read_committed(copy, "pairings", 1, entry)
    with pytest.raises(RunError, match=r"0001.parquet cannot be read: pairings/0001.parquet is damaged"):
        list(open_run_read_only(copy).tables("pairings"))
    file.unlink()
    with pytest.raises(HistoryError, match=r"pairings/0001.parquet is missing"):
        read_committed(copy, "pairings", 1, entry)
    assert len(list(open_run_read_only(copy).tables("generations"))) == 4, "the other kind is whole"


def test_damage_is_set_aside_with_all_after_it(copy: Path) -> None:
    table_path(copy, "generations", 2).unlink()
    with open_run(copy) as folder:
        assert folder.committed == 2
        told = " ".join(folder.problems)
        aside = sorted(file.name.partition("-")[2] for file in (copy / "aside").iterdir())
    assert "generations/0002.parquet is missing" in told
    tables = ("generations-0003.parquet", "pairings-0002.parquet", "pairings-0003.parquet")
    assert set(aside) == {*tables, "champion.toml", "final.parquet"}
    assert len(read_history(copy).entries) == 2


def test_a_manifest_is_only_a_note(copy: Path) -> None:
    for text in ("{", "[]", json.dumps({"sessions": 3}), "[" * 100_000):
        (copy / "manifest.json").write_text(text)
        assert open_run_read_only(copy).manifest() == {}


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    """Not the folder that was asked for, nor a temporary file."""
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(RunError, match=f"^{file} is a file; choose another --out$"):
        create_run(file / "runs" / "x", TINY, {})
    with pytest.raises(RunError, match=f"^{file} is a file; choose another --out$"):
        check_empty(file / "x")
    within = tmp_path / "run"
    within.mkdir()
    for name in ("generations", "pairings"):
        (within / name).touch()
        with pytest.raises(RunError, match="not empty"):
            create_run(within, TINY, {})
        (within / name).unlink()
    with create_run(within, TINY, {}):
        pass
    shutil.rmtree(within / "generations")
    (within / "generations").touch()
    with pytest.raises(RunError, match=f"^{within}/generations is a file$"):
        open_run(within)
    with pytest.raises(NotADirectoryError) as told:
        write_atomically(file / "x", b"", file / "x.tmp")
    assert told.value.filename == str(file / "x")
