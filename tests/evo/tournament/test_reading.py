"""A tournament's folder, read by others, says what was played, and any of its games is played again as it was."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from engine import ManaforgeError, find_deck
from evo.api import play_tournament
from evo.tournament.folder import TournamentError, deck_identity
from evo.tournament.reading import read_tournament, replay_game, tournament_to_replay
from rivals.outside import permissions
from rivals.outside.agent import check_starts, processes
from rivals.outside.permissions import NotAllowedError, set_command_line
from tests.conftest import cases

OLD = Path("tests/data/tournament")
FAULTY = f"process:{sys.executable} tests/data/bots/faulty.py well"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small tournament of several kinds of agents, self-play among them."""
    out = tmp_path_factory.mktemp("tournament") / "games"
    entrants = ("random", "random", "ilp:keep-alive", "lookahead@4", "aggro")
    play_tournament(*entrants, decks="thesis-paladin,thesis-warrior", games=2, out=out, quiet=True)
    return out


def test_what_is_read_is_the_table_of_games(played: Path) -> None:
    record = read_tournament(played)
    whole = pd.read_parquet(played / "games.parquet")
    assert record.problems == ()
    assert len(record.games) == len(record.matchups) == len(whole)
    for column in ("setup", "first", "second", "first_deck", "second_deck", "outcome", "turns", "fault"):
        assert record.games[column].astype(str).tolist() == whole[column].astype(str).tolist()


@pytest.mark.parametrize("folder", ["new", "old"])
def test_every_game_is_played_again_as_it_was(played: Path, folder: str) -> None:
    record = read_tournament(played if folder == "new" else OLD)
    tournament = tournament_to_replay(record)
    for number in range(0, len(record.games), cases(3, 1) if folder == "new" else cases(42, 7)):
        result, different = replay_game(record, tournament, number)
        assert different == ""
        assert result.turns == record.games["turns"].iloc[number]


def changed(played: Path, place: Path, **parts: Any) -> Path:
    """A copy of the tournament whose definition says something else."""
    shutil.copytree(played, place)
    about = json.loads((place / "tournament.json").read_text())
    (place / "tournament.json").write_text(json.dumps(about | parts))
    return place


def test_a_game_that_ends_otherwise_than_the_folder_says_is_told(played: Path, tmp_path: Path) -> None:
    record = read_tournament(changed(played, tmp_path / "other", seed=2))
    differences = [replay_game(record, tournament_to_replay(record), number)[1] for number in range(20)]
    assert any("stored result" in text and "replayed" in text for text in differences)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"rules": 999}, "rules 999"),
        (
            {"decks": [{"deck": f"thesis-{one}", "cards_sha256": "0"} for one in ("paladin", "warrior")]},
            "decks",
        ),
        (
            {"decks": [{"deck": "none", "cards_sha256": "0"}, {"deck": "more", "cards_sha256": "1"}]},
            "deck none",
        ),
        (
            {"decks": [deck_identity(find_deck(f"basic-{one}"), effects=1) for one in ("mage", "hunter")]},
            r"the tournament was played under effects 1, and this version plays effects 2",
        ),
    ],
)
def test_what_cannot_be_played_again_is_shown_all_the_same(
    played: Path, tmp_path: Path, parts: dict[str, Any], told: str
) -> None:
    record = read_tournament(changed(played, tmp_path / "other", **parts))
    assert len(record.games) > 0
    with pytest.raises(ManaforgeError, match=told):
        tournament_to_replay(record)


@pytest.mark.parametrize(
    "parts",
    [
        {"schema": 2},
        {"format": "none"},
        {"ruleset": "none"},
        {"games": "two"},
        {"entrants": []},
        {"entrants": [{"entrant": "random", "kind": "random", "weights": []}] * 2},
        {"self_matches": ["nobody"]},
        {"seed": -1},
        {"decks": [{"deck": "thesis-paladin", "cards_sha256": "0"}] * 2},
        {"games": 2, "decks": [{"deck": "a", "cards_sha256": ""}]},
    ],
)
def test_a_strangers_definition_is_refused_in_words(
    played: Path, tmp_path: Path, parts: dict[str, Any]
) -> None:
    with pytest.raises(ManaforgeError):
        read_tournament(changed(played, tmp_path / "other", **parts))


def test_damage_is_told_and_nothing_is_changed(played: Path, tmp_path: Path) -> None:
    place = changed(played, tmp_path / "other")
    content = (place / "games.parquet").read_bytes()[:1000]
    (place / "games.parquet").write_bytes(content)
    before = sorted(place.rglob("*"))
    record = read_tournament(place)
    assert len(record.games) == 0
    assert "games.parquet is damaged" in record.problems[0]
    assert sorted(place.rglob("*")) == before
    assert (place / "games.parquet").read_bytes() == content


def test_an_agent_from_outside_runs_only_if_it_is_named(tmp_path: Path) -> None:
    play_tournament(FAULTY, "random", decks="thesis-paladin", games=2, out=tmp_path / "games", quiet=True)
    record = read_tournament(tmp_path / "games")
    processes.close()
    check_starts.cache_clear()
    try:
        set_command_line(["serve", str(tmp_path)])
        with pytest.raises(NotAllowedError, match="--allow-agent"):
            tournament_to_replay(record)
        set_command_line(["serve", str(tmp_path), "--allow-agent", FAULTY])
        assert replay_game(record, tournament_to_replay(record), 0)[1] == ""
    finally:
        permissions._named = None
        processes.close()


def test_a_folder_without_a_tournament_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TournamentError, match="tournament.json"):
        read_tournament(tmp_path)
