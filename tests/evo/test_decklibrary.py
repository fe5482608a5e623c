"""Folders of decks that opponents may play: read, played with, kept in runs, refused."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import engine
from engine import ManaforgeError, find_deck
from engine.deck_files import deck_code_of
from evo.analysis.prediction import BODIES, decks_of_class
from evo.api import play_tournament
from evo.config.files import read_config
from evo.config.run_config import ConfigError
from evo.decklibrary import LibraryError, library_texts, read_library, shipped_and_library
from evo.storage.run_folder import (
    keep_decks,
    open_run_read_only,
    read_run_config,
    replace_missing_decks,
)
from evo.tournament.folder import TournamentError
from evo.tournament.run import create_tournament
from tests.evo.runs import TINY, run_new

PREDICTS = "lookahead@2,hands=predicted"
SHIPPED = Path(engine.__file__).parent / "data" / "decks"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A deck file with the name of a shipped deck, and two codes."""
    found = tmp_path / "lists"
    found.mkdir()
    text = (SHIPPED / "thesis-warrior.toml").read_text()
    (found / "mine.toml").write_text(text.replace("thesis-warrior", "thesis-paladin"))
    codes = [deck_code_of(find_deck(name)) for name in ("basic-mage", "reno-mage")]
    (found / "codes.txt").write_text("\n".join(codes))
    return found


def test_a_folder_adds_decks(tmp_path: Path) -> None:
    (tmp_path / "codes.txt").write_text(f"### Mine\n{deck_code_of(find_deck('basic-mage'))}\n\n")
    (tmp_path / "other.md").write_text("no deck")
    shipped, more = shipped_and_library(), shipped_and_library(tmp_path)
    assert more[: len(shipped)] == shipped
    assert [deck.hero_class for deck in more[len(shipped) :]] == ["mage"]
    assert {deck.hero_class for deck in decks_of_class(more, "Mage")} == {"mage"}
    assert {deck.hero_class for deck in decks_of_class(more, BODIES)} == {""}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "has no deck"),
        ("2019-04:AAEB", "codes.txt, line 2: .*2018-07"),
        ("AAEB", "codes.txt, line 2: deck code AAEB is cut"),
        ("Wisp", "line 2"),
    ],
)
def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path, content: str | None, says: str) -> None:
    if content:
        (tmp_path / "codes.txt").write_text(f"# titles\n{content}\n")
    with pytest.raises(ManaforgeError, match=says):
        read_library(tmp_path)


def test_texts_are_read_as_the_decks_were(folder: Path) -> None:
    assert tuple(map(find_deck, library_texts(folder))) == read_library(folder)


# Tournaments


def test_a_tournament_says_which_library_it_used(folder: Path, tmp_path: Path) -> None:
    wanted: dict[str, Any] = {"games": 2, "library": folder}
    entrants = PREDICTS, "aggro"
    tournament = create_tournament(entrants, ["reno-mage"], "thesis", **wanted)
    assert len(tournament.roster.library) == 3
    assert f"--library {folder}" in tournament.command
    plain = create_tournament(entrants, ["reno-mage"], "thesis", games=2)
    assert plain.digest != tournament.digest
    assert "library" not in plain.definition
    play_tournament(*entrants, decks="reno-mage", games=2, library=folder, out=tmp_path / "t", quiet=True)
    kept = {file.name: file.read_text() for file in (tmp_path / "t/library").iterdir()}
    assert kept == {file.name: file.read_text() for file in folder.iterdir()}
    assert f"--library {tmp_path}/t/library" in (tmp_path / "t/summary.json").read_text()
    with pytest.raises(TournamentError, match="which differs in library"):
        play_tournament(*entrants, decks="reno-mage", games=2, out=tmp_path / "t", quiet=True)


def test_a_library_that_nobody_uses_is_refused(folder: Path) -> None:
    with pytest.raises(LibraryError, match="hands=predicted"):
        create_tournament(("lookahead", "aggro"), ["reno-mage"], "thesis", games=2, library=folder)


def test_a_library_of_the_other_sort_is_refused(folder: Path) -> None:
    (folder / "mine.toml").unlink()
    with pytest.raises(LibraryError, match="have a class, but the decks played have no class"):
        create_tournament((PREDICTS, "aggro"), ["thesis-paladin"], "thesis", games=2, library=folder)
    with pytest.raises(ConfigError, match="library: its decks have a class"):
        TINY.changed(**PREDICTING, library=[str(folder)])


# Runs


PREDICTING: dict[str, Any] = {"agent": "lookahead", "options": "2,hands=predicted", "generations": 1}


def test_a_run_keeps_its_library(folder: Path, tmp_path: Path) -> None:
    config = TINY.changed(**PREDICTING, library=[str(folder)])
    assert len(config.library) == 3
    before = run_new(tmp_path / "run", config)
    assert before == run_new(tmp_path / "again", config)
    decks, digest = config.found_library, config.digest
    shutil.rmtree(folder)
    shutil.move(tmp_path / "run", tmp_path / "moved")
    kept = open_run_read_only(tmp_path / "moved").config
    assert kept.found_library == decks
    assert kept.digest == digest
    shutil.rmtree(tmp_path / "moved/decks")
    with pytest.raises(ConfigError, match="--decks FILE"):
        read_run_config(tmp_path / "moved")
    file = tmp_path / "again/decks/thesis-paladin.toml"
    replace_missing_decks(tmp_path / "moved", [str(file)])
    assert read_run_config(tmp_path / "moved").digest == digest


def test_names_that_make_no_file_names_are_numbered(tmp_path: Path) -> None:
    deck = replace(find_deck("thesis-warrior"), text="schema = 1")
    kept = keep_decks(tmp_path, [replace(deck, name=chr(0x4E00 + n)) for n in range(200)])
    assert len({file.name for file in kept if file}) == 200


def test_a_folder_with_the_name_of_a_shipped_deck_hides_no_deck(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder.rename(tmp_path / "basic-mage")
    file = tmp_path / "own.toml"
    file.write_text(
        'agent = "lookahead"\noptions = "hands=predicted"\nlibrary = ["basic-mage"]\ndecks = ["basic-mage"]\n'
    )
    assert read_config(file).found_library == (find_deck("basic-mage"),)
    assert read_config(file).found_decks == (find_deck("basic-mage"),)


def test_another_library_is_another_run(folder: Path) -> None:
    one, two = (TINY.changed(**PREDICTING, library=found) for found in ([str(folder)], []))
    assert one.digest != two.digest
    assert two.digest == TINY.changed(**PREDICTING).digest


def test_a_library_beside_a_configuration(folder: Path) -> None:
    file = folder.parent / "own.toml"
    file.write_text('agent = "lookahead"\noptions = "hands=predicted"\nlibrary = ["lists"]\n')
    assert read_config(file).found_library == read_library(folder)
    set_by_hand = [f"library={folder}", "agent=lookahead", "options=hands=predicted"]
    assert read_config("", set_by_hand).found_library == read_library(folder)
    file.write_text('library = ["lists"]\n')
    with pytest.raises(ConfigError, match="hands=predicted"):
        read_config(file)
    file.write_text('agent = "lookahead"\noptions = "hands=predicted"\nlibrary = ["listen"]\n')
    with pytest.raises(ConfigError, match="listen"):
        read_config(file)
