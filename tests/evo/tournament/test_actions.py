"""The table of actions: what it says of each action, against the same games step by step in Python."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import Action, Position, find_deck, find_ruleset
from engine.batches import MAX_GAME_ACTIONS
from engine.codes import ActionKind, Outcome
from engine.streams import stream_key
from evo.play.games import Player, Roster, Schedule, play_game_in_python, play_schedule
from evo.play.results import GameError, impossible_games
from evo.storage.files import parquet_bytes
from evo.tournament.actions import action_table
from evo.tournament.reading import read_tournament, replay_game, tournament_to_replay
from tests.conftest import cases
from tests.evo.runs import manaforge

DECKS = ("reno-mage", "jade-shaman", "thesis-paladin")
PLAYERS = (Player(kind="aggro"), Player(kind="greedy-ilp", weights=(1.0,) * 8), Player(kind="random"))


def some_games(n: int) -> tuple[Roster, Schedule]:
    """Games of compiled and Python agents on class decks and minions."""
    roster = Roster(PLAYERS, tuple(map(find_deck, DECKS)), find_ruleset("standard"), actions=True)
    pick = np.random.default_rng(3)
    players, decks = (pick.integers(3, size=(n, 2)).astype(np.int16) for _ in range(2))
    keys = np.array([stream_key(48, game) for game in range(n)], np.uint64)
    return roster, Schedule(players, decks, keys)


def name_of(position: Position, action: Action) -> str | None:
    """The card of an action, by the position alone."""
    own = position.state["sides"][position.state["active"]]
    cards = position.table.cards
    if action.kind == ActionKind.PLAY:
        card = own["hand"][action.source]
        return "The Coin" if card < 0 else cards[card].title
    if action.kind == ActionKind.ATTACK:
        return "hero" if action.source == 7 else cards[own["board"][action.source]["card"]].title
    if action.kind == ActionKind.CHOOSE:
        return cards[position.state["options"][action.source]].title
    return cards[own["power"] - 1].title if action.kind == ActionKind.POWER else None


def test_every_row_is_what_happened() -> None:
    n = cases(12, 60)
    roster, games = some_games(n)
    played = play_schedule(roster, games)
    table = action_table(roster, games, played, 100)
    rows: list[tuple[object, ...]] = []

    def watch(game: int, position: Position, action: Action) -> None:
        state, seat = position.state, int(position.state["active"])
        own, enemy = state["sides"][seat], state["sides"][1 - seat]
        board = own["board"][: own["n_board"]]
        rows.append(
            (
                100 + game,
                int(state["turn"]),
                seat,
                str(action),
                name_of(position, action),
                int(own["health"]),
                int(own["mana"]),
                int(enemy["health"]),
                int(enemy["n_hand"]),
                int(own["n_board"]),
                int(board["attack"].sum()),
                int(board["health"].sum()),
            )
        )

    for game in range(n):
        play_game_in_python(roster, games, game, watch=lambda p, a, game=game: watch(game, p, a))
    columns = ["game", "round", "seat", "action", "card", "health", "mana", "enemy_health", "enemy_hand"]
    columns += ["board", "attack", "board_health"]
    told = table[columns].astype({"action": object, "card": object})
    assert [
        tuple(None if pd.isna(cell) else cell for cell in row) for row in told.itertuples(index=False)
    ] == rows
    wins = table.groupby("game", observed=True).first()["score"]
    first = played["outcome"] == Outcome.FIRST_WINS
    assert (wins.to_numpy() == np.where(played["outcome"] == Outcome.DRAW, 0.5, first)).all()
    assert {"hero", "own hero"} <= set(table["target"].cat.categories)


def test_games_that_are_too_long_are_left_out() -> None:
    roster, games = some_games(4)
    played = play_schedule(roster, games)
    played["n_actions"][2] = MAX_GAME_ACTIONS + 1
    assert set(action_table(roster, games, played, 0)["game"]) == {0, 1, 3}


def test_a_tournament_keeps_its_actions(tmp_path: Path) -> None:
    line = ("tournament", "aggro", "random", "--decks", "basic-mage,basic-hunter", "--games", "4")
    plain, full = tmp_path / "plain", tmp_path / "full"
    assert manaforge(*line, "--out", plain).returncode == 0
    assert manaforge(*line, "--actions", "--out", full).returncode == 0
    assert (plain / "games.parquet").read_bytes() == (full / "games.parquet").read_bytes()
    table = pd.read_parquet(full / "actions")
    assert set(table["game"]) == set(range(16))
    record = read_tournament(full)
    tournament = tournament_to_replay(record)
    for number in (0, 7, 15):
        result, difference = replay_game(record, tournament, number)
        assert not difference
        assert [str(action) for action in result.actions] == list(
            table.loc[table["game"] == number, "action"]
        )
    assert set(table["action"].dtype.categories) > {"end turn"}
    # A run that stopped after it had written actions, before their results: they are written anew.
    (full / "actions" / "0000000016.parquet").write_bytes(b"half")
    more = (*line[:-1], "8")
    assert manaforge(*more, "--actions", "--out", full).returncode == 0
    assert set(pd.read_parquet(full / "actions")["game"]) == set(range(32))
    assert manaforge(*more, "--out", full).returncode != 0, "another definition"


def test_files_with_many_and_without_names_are_one_table(tmp_path: Path) -> None:
    many = pd.DataFrame({"game": range(200), "target": pd.Categorical([f"card {n}" for n in range(200)])})
    none = pd.DataFrame({"game": range(2), "target": pd.Categorical.from_codes([-1, -1], [])})
    for number, table in enumerate((none, many, none)):
        (tmp_path / f"{number}.parquet").write_bytes(parquet_bytes(table, 1))
    read = pd.read_parquet(tmp_path)
    assert len(read) == 204
    assert list(read["target"].dropna()) == list(many["target"])


def test_missing_actions_are_told(tmp_path: Path) -> None:
    line = (
        "tournament",
        "aggro",
        "random",
        "--decks",
        "thesis-paladin",
        "--games",
        "60",
        "--actions",
        "--out",
        tmp_path,
    )
    assert "warning" not in manaforge(*line).stderr
    files = sorted((tmp_path / "actions").glob("*.parquet"))
    held = pd.read_parquet(files[1])["game"].nunique()
    files[1].unlink()
    assert f"warning: the actions of {held} of 60 games are not in" in manaforge(*line).stderr


def test_illegal_actions_of_a_worker_are_refused() -> None:
    roster, games = some_games(4)
    played = play_schedule(roster, games)
    assert not len(impossible_games(played, roster.ruleset.turn_cap))
    played["actions"][1, 3] = 1 << 10
    with pytest.raises(GameError, match="the actions of game 1 are not legal"):
        action_table(roster, games, played, 0)
    played["n_actions"][2] = -1
    assert list(impossible_games(played, roster.ruleset.turn_cap)) == [2]
