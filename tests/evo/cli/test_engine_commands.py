"""The commands as a user types them: in process for their output, mistakes as one clear line."""

import contextlib
import os
import pty
import re
import subprocess
import sys

import pytest

import tools.card_tables as cards_main
from engine.shipped import shipped_decks
from evo.cli import engine_commands as engine_main
from evo.terminal.console import run_command_line

POSITION = (
    "turn 5 second | hero 28+2 fatigue 1 board [River Crocolisk 2:2/3; 1:4/4T] hand [2 ?] deck [3 ?] | hero 30 mana 3/5 "
    "board [Windfury Harpy 6:4/5W ready 2; 2/2] hand [The Coin; Chillwind Yeti 4:4/5] deck [1/1]"
)


def run(monkeypatch, capsys, app, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("sys.argv", ["program", *arguments])
    with pytest.raises(SystemExit) as caught:
        run_command_line(app, "program")
    output = capsys.readouterr()
    return int(caught.value.code or 0), output.out, output.err


@pytest.fixture
def engine(monkeypatch, capsys):
    return lambda *arguments: run(monkeypatch, capsys, engine_main.app, *arguments)


def test_show_draws_both_boards_and_the_actions(engine) -> None:
    code, out, _ = engine("show", POSITION)
    assert code == 0
    for text in (
        "Turn 5, the second player to move",
        "First player: 28 health + 2 armour",
        "deck 3, fatigue 1",
        "hand: 2 hidden cards",
        "[0] Windfury Harpy",
        "ready twice",
        "Taunt",
        "[1] Chillwind Yeti (4) 4/5",
    ):
        assert text in out, text
    assert (
        "3 legal actions: play 0 (The Coin); attack 0 -> 1 (Windfury Harpy -> 4/4); end turn"
        in out.replace("\n", " ")
    )


def test_show_says_who_has_won(engine) -> None:
    assert "the first player has won" in engine("show", "hero 3 | hero 0")[1]
    assert "a draw" in engine("show", "hero 0 | hero 0")[1]
    assert "empty board" in engine("show", "hero 3 | hero 1")[1]


def test_mistakes_are_one_line_without_a_traceback(engine) -> None:
    for arguments, message in (
        (("show", "nonsense"), "a position is"),
        (("deck", "thesis-palladin"), "nearest: thesis-paladin"),
        (("card", "Bloodfen Rapto"), "nearest: Bloodfen Raptor"),
        (("deck", "none.toml"), "cannot read deck file none.toml: No such file or directory"),
    ):
        code, out, err = engine(*arguments)
        assert (code, out) == (2, "")
        assert message in err
        assert err.startswith("program: ")
        assert "Traceback" not in err


def test_a_deck_file_is_named_as_a_shell_reads_it(engine, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = engine("deck", "reno-mage", "--toml", "a b.toml")
    assert (code, out) == (0, "a b.toml: deck a b; commands take it as --decks 'a b.toml'\n")
    code, out, err = engine("deck", "reno-mage", "--toml", "new.toml", "--code")
    assert (code, out) == (2, "")
    assert "--code prints the deck code and --toml writes a file: give one of them" in err
    assert not (tmp_path / "new.toml").exists()


def test_deck_lists_say_what_is_exact(engine) -> None:
    code, out, _ = engine("deck")
    assert code == 0
    lines = {name: line for name in shipped_decks() for line in out.splitlines() if f" {name} " in line}
    assert set(lines) == set(shipped_decks()), "one line each"
    assert "18 of 30" in lines["thesis-paladin"]
    assert "mage" in lines["reno-mage"]
    assert "body and keywords" in engine("deck", "thesis-warrior")[1]
    assert "drawn from these" in engine("deck", "random-minions")[1]
    assert "thesis-paladin 18 of 30" in engine("deck", "thesis-paladin")[1]
    assert "Every card of the decks is played exactly." in engine("deck", "hearthsim-basic")[1]


def test_a_deck_code_says_which_changes_it_loses(engine, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    engine("deck", "basic-mage", "--toml", "mine.toml")
    file = tmp_path / "mine.toml"
    file.write_text(file.read_text().replace('name = "Fireball",', 'name = "Fireball", cost = 3,'))
    code, out, err = engine("deck", "mine.toml", "--code")
    assert code == 0
    assert out == engine("deck", "basic-mage", "--code")[1]
    assert (
        "a deck code has only printed cards. Changed by a deck file: mine: Fireball (cost 3 instead of 4)."
        in err
    )


def test_card_shows_all_printings(engine) -> None:
    code, out, _ = engine("card", "Argent Squire")
    assert code == 0
    assert out.splitlines()[0] == "Argent Squire (1) 1/1 Divine Shield [CORE_EX1_008]"
    assert "VAN_EX1_008" in out


def test_perft_counts(engine) -> None:
    code, out, _ = engine("perft", "hero 30 board [1/1 ready] | hero 30", "2")
    assert code == 0
    assert [line.split()[1] for line in out.splitlines()] == ["1", "2", "2"]


def test_help_of_the_generator(monkeypatch, capsys) -> None:
    code, out, _ = run(monkeypatch, capsys, cards_main.app, "--help")
    assert code == 0
    assert "build" in out


def test_the_generator_without_its_data_says_what_to_install(monkeypatch, capsys) -> None:
    def missing(folder):
        raise ModuleNotFoundError("No module named 'hearthstone_data'")

    monkeypatch.setattr("tools.card_tables.build_catalogue", missing)
    code, _, err = run(monkeypatch, capsys, cards_main.app, "build")
    assert code == 1
    assert "No module named 'hearthstone_data'" in err
    assert "make setup" in err


def in_terminal(*arguments: str, **environment: str) -> str:
    """What a program writes on a terminal."""
    ours, theirs = pty.openpty()
    known = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    with subprocess.Popen(
        [sys.executable, *arguments],
        stdout=theirs,
        env=known | {"TERM": "xterm-256color", **environment},
    ) as process:
        os.close(theirs)
        written = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while part := os.read(ours, 4096):
                written += part
    os.close(ours)
    assert process.returncode == 0
    return written.decode()


@pytest.mark.heavy
def test_no_color_is_respected_and_columns_too() -> None:
    show = "-m", "engine", "show", "hero 20 board [3/2 ready] | hero 12"
    color = re.compile(r"\x1b\[[0-9;]*3[0-7]m")
    assert color.search(in_terminal(*show))
    assert not color.search(in_terminal(*show, NO_COLOR="1"))
    deck = subprocess.run(
        [sys.executable, "-m", "engine", "deck", "thesis-paladin"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "60"},
    )
    assert max(map(len, deck.stdout.splitlines())) <= 60
    assert "Righteous Protector" in deck.stdout
