"""The border of every command: a user's mistake is one line, ours and the system's errors have exit codes."""

import os
from pathlib import Path

import pytest

from engine.errors import ManaforgeError
from engine.versions import engine_versions
from evo.terminal.console import exit_with_error, table_width


class _OwnCodeError(ManaforgeError):
    exit_code = 3


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ManaforgeError("deck [/x]: no such card"), 1, "game: deck [/x]: no such card"),
        (ManaforgeError("\x1b[2Jgone"), 1, "game: \ufffd[2Jgone"),
        (_OwnCodeError("Ray ended"), 3, "game: Ray ended"),
        (PermissionError(13, "Permission denied", "a.toml"), 1, "game: a.toml: Permission denied"),
        (OSError(28, "No space left on device"), 1, "game: No space left on device"),
        (OSError("odd"), 1, "game: odd"),
    ],
)
def test_an_error_is_one_line_and_a_code(
    error: Exception, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        exit_with_error(error, "game")
    assert end.value.code == code
    assert capsys.readouterr().err == line + "\n"


def test_a_mistake_of_ours_stays_a_traceback() -> None:
    with pytest.raises(KeyError):
        exit_with_error(KeyError("x"), "game")


def test_a_deleted_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        with pytest.raises(SystemExit):
            exit_with_error(FileNotFoundError(2, "No such file or directory"), "game")
    finally:
        os.chdir(tmp_path)
    assert "the current folder was deleted" in capsys.readouterr().err


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("", 80), ("0", 80), ("wide", 80), ("-5", 80)])
def test_columns_of_the_environment_count(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert table_width(80) == width


def test_versions_name_all_that_changes_games() -> None:
    versions = engine_versions()
    assert set(versions) == {"manaforge", "python", "numba", "numpy", "rules", "cards", "kernels"}
    assert all(versions.values())
