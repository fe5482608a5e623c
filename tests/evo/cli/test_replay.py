"""The command `manaforge replay`."""

import sys
from pathlib import Path

import pytest

from evo.api import play_tournament
from evo.cli.main import app
from evo.terminal.console import run_command_line
from evo.tournament.reading import read_tournament


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """The exit code of a command line."""
    monkeypatch.setattr(sys, "argv", ["manaforge", *words])
    with pytest.raises(SystemExit) as ended:
        run_command_line(app, "manaforge")
    return int(ended.value.code or 0)


def test_a_game_of_a_tournament_is_played_again_and_written_with_its_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    play_tournament("random", "ilp:keep-alive", decks="thesis-paladin", games=4, out="games", quiet=True)
    row = read_tournament(Path("games")).games.iloc[2]
    assert run(monkeypatch, "replay", "games", "2") == 0
    told = capsys.readouterr().out
    assert f"in round {row['turns']}" in told
    assert "written: game-2.html" in told
    assert '"reasons":' in Path("game-2.html").read_text()
    assert run(monkeypatch, "replay", "games", "4", "--html", "no.html") == 2
    assert "has 4 games" in capsys.readouterr().err
    assert not Path("no.html").exists()
