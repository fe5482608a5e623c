"""Decks kept in the folders of runs and tournaments."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine import DeckError, find_deck
from engine.errors import DeckNameError
from evo.analysis.tables import read_runs
from evo.cli.main import app
from evo.config.files import read_config
from evo.config.run_config import ConfigError
from evo.evolution.session import new_manifest
from evo.storage.run_folder import (
    RunError,
    create_run,
    keep_decks,
    missing_decks,
    open_run,
    open_run_read_only,
    replace_missing_decks,
)
from tests.evo.runs import TINY, run_new, run_on

SOURCE = Path("engine/data/decks/thesis-paladin.toml").absolute().read_text(encoding="utf-8")


def deck_file(path: Path, name: str = "mine", count: int = 2) -> Path:
    """A deck file of the Paladin's cards under another name."""
    text = SOURCE.replace('name = "thesis-paladin"', f'name = "{name}"').replace(
        "count = 2", f"count = {count}", 1
    )
    path.write_text(text, encoding="utf-8")
    return path


def test_a_moved_run_goes_on_without_the_deck_file_it_was_started_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    deck_file(Path("mine.toml"))
    config = TINY.changed(decks=["mine.toml", "hearthsim-basic"])
    whole = run_new(Path("run"), config)
    with create_run(Path("begun"), config, new_manifest(config)):
        pass
    assert (
        'decks = [\n    "decks/mine.toml",\n    "hearthsim-basic",\n]'
        in Path("begun/config.toml").read_text()
    )
    shutil.move("begun", tmp_path / "elsewhere")
    Path("mine.toml").unlink()
    monkeypatch.chdir("/")
    assert run_on(tmp_path / "elsewhere") == whole
    moved = open_run_read_only(tmp_path / "elsewhere").config
    assert moved.digest == open_run_read_only(tmp_path / "here" / "run").config.digest
    assert moved.deck_names == ["mine", "hearthsim-basic"]


def test_a_configuration_names_deck_files_beside_it_before_those_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "configs").mkdir()
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "configs" / "own.toml"
    config.write_text('decks = ["mine.toml"]\n')
    with pytest.raises(ConfigError, match=r"own.toml: cannot read deck file mine.toml: No such file"):
        read_config(config)
    deck_file(Path("mine.toml"), "current")
    assert read_config(config).deck_names == ["current"]
    deck_file(tmp_path / "configs" / "mine.toml", "beside")
    assert read_config(config).deck_names == ["beside"]
    assert read_config(config, ["decks=mine.toml"]).deck_names == [
        "current"
    ]  # the command line's are its own


def test_names_of_any_text_become_files_of_their_own(tmp_path: Path) -> None:
    texts = ["../up", "up", "ü/p", "Ä", "x" * 300]
    decks = [find_deck(deck_file(tmp_path / f"{place}.toml", text)) for place, text in enumerate(texts)]
    *kept, none = keep_decks(tmp_path, [*decks, find_deck("thesis-warrior")])
    assert none is None
    assert len(set(kept)) == len(texts)
    for deck, file in zip(decks, kept, strict=True):
        assert file is not None
        assert file.parent == tmp_path / "decks"
        assert find_deck(file) == deck
        assert len(file.name) < 100
    assert not list(tmp_path.glob("*.tmp"))


def old_run(path: Path, deck: str) -> None:
    """A run folder from before decks were kept: `config.toml` names the deck as it was typed."""
    config = TINY.changed(decks=[deck, "hearthsim-basic"])
    run_new(path, config)
    shutil.rmtree(path / "decks")
    (path / "config.toml").write_text(config.to_toml())


def test_an_old_run_says_which_deck_file_is_gone_and_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    deck_file(Path("mine.toml"))
    old_run(Path("old"), "mine.toml")
    open_run_read_only(Path("old"))  # it still opens where its file is
    with pytest.raises(RunError, match="has all its decks"):
        replace_missing_decks(Path("old"), ["mine.toml"])
    Path("mine.toml").rename("moved.toml")
    message = (
        r"cannot read deck file mine.toml: .*; to supply the deck file: manaforge resume old --decks FILE"
    )
    with pytest.raises(ConfigError, match=message):
        open_run_read_only(Path("old"))
    assert missing_decks(Path("old"), ["mine.toml", "hearthsim-basic"]) == ["mine.toml"]
    deck_file(Path("other.toml"), count=1)
    with pytest.raises(DeckError, match="29 cards"):
        find_deck("other.toml")
    with pytest.raises(DeckError, match="^other.toml: 29 cards"):
        replace_missing_decks(Path("old"), ["other.toml"])
    with pytest.raises(DeckNameError, match="^cannot read deck file none.toml"):
        replace_missing_decks(Path("old"), ["none.toml"])
    with pytest.raises(
        RunError, match=r"started with other decks or cards than these \(thesis-warrior, hearthsim-basic\)"
    ):
        replace_missing_decks(Path("old"), ["thesis-warrior"])
    with pytest.raises(RunError, match="lacks the decks mine.toml"):
        replace_missing_decks(Path("old"), ["moved.toml", "hearthsim-basic", "thesis-warrior"])
    shutil.copytree("old", "again")
    replace_missing_decks(Path("old"), ["moved.toml"])
    replace_missing_decks(Path("again"), ["moved.toml", "hearthsim-basic"])
    assert Path("old/config.toml").read_text() == Path("again/config.toml").read_text()
    Path("moved.toml").unlink()
    assert len(read_runs(["old", "again"]).problems) == 0
    with open_run(Path("old")) as folder:
        assert not folder.problems


def test_commands_that_read_runs_take_the_decks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    deck_file(Path("mine.toml"))
    old_run(Path("old"), "mine.toml")
    Path("mine.toml").rename("moved.toml")
    result = CliRunner().invoke(app, ["export", "old", "--out", "profiles"])
    assert result.exit_code == 1
    result = CliRunner().invoke(app, ["export", "old", "--out", "profiles", "--decks", "moved.toml"])
    assert result.exit_code == 0, result.output
    assert Path("old/decks/mine.toml").is_file()


def test_a_tournament_keeps_its_decks_and_its_command_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    deck_file(Path("mine.toml"))
    words = ["tournament", "random", "aggro", "--games", "2", "--out", "t", "--decks"]
    result = CliRunner().invoke(app, [*words, "mine.toml,thesis-warrior"])
    assert result.exit_code == 0, result.output
    assert find_deck("t/decks/mine.toml") == find_deck("mine.toml")
    assert "--decks t/decks/mine.toml,thesis-warrior" in Path("t/tournament.html").read_text()
    Path("mine.toml").unlink()
    result = CliRunner().invoke(app, [*words, "t/decks/mine.toml,thesis-warrior"])
    assert result.exit_code == 0, result.output
    assert "8 of them already played" in result.output


def test_an_interrupted_start_may_have_left_copies_but_decks_of_ones_own_are_safe(tmp_path: Path) -> None:
    config = TINY.changed(decks=[str(deck_file(tmp_path / "mine.toml"))])
    (tmp_path / "run" / "decks").mkdir(parents=True)
    own = deck_file(tmp_path / "run" / "decks" / "mine.toml", "own")
    with pytest.raises(RunError, match="is not empty"):
        create_run(tmp_path / "run", config, new_manifest(config))
    assert find_deck(own).name == "own"
    (tmp_path / "run" / "manifest.json").write_text("{}")
    with create_run(tmp_path / "run", config, new_manifest(config)) as folder:
        assert folder.config.deck_names == ["mine"]
