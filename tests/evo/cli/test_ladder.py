"""Deck against deck."""

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import find_deck
from evo.cli.tables import mana_curve
from evo.stats.standings import deck_standings
from evo.tournament.run import create_tournament
from tests.evo.runs import manaforge

DECKS = ("thesis-paladin", "thesis-warrior", "hearthsim-basic")


def test_a_ladder_rates_decks_by_their_games(tmp_path: Path) -> None:
    """Every number of the JSON again from the table of games."""
    words = ("ladder", *DECKS, "--players", "aggro,ilp:keep-alive", "--games", 6, "--pool", "local")
    done = manaforge(*words, "--out", tmp_path / "a", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    games = pd.read_parquet(tmp_path / "a" / "games.parquet").astype({"first_deck": str, "second_deck": str})
    assert len(games) == 2 * 9 * 6
    assert (games["first"].astype(str) == games["second"].astype(str)).all()
    for row in said["pairs"]:
        own = games[(games["first_deck"] == row["deck"]) & (games["second_deck"] == row["opponent_deck"])]
        other = games[(games["second_deck"] == row["deck"]) & (games["first_deck"] == row["opponent_deck"])]
        assert len(own) == len(other), "each deck goes first as often as the other"
        won = (own["outcome"] == "first").sum() + (other["outcome"] == "second").sum()
        assert (row["games"], row["wins"]) == (len(own) + len(other), won)
    assert {row["deck"] for row in said["ratings"]} == set(DECKS)
    assert np.isclose(sum(row["rating"] for row in said["ratings"]), 0)
    shown = manaforge(*words, "--out", tmp_path / "a")
    assert "18 of 30" in shown.stdout
    assert (tmp_path / "a" / "deck_pairs.csv").exists()
    assert "a/tournament.html, deck_ratings.csv" in shown.stdout
    page = (tmp_path / "a" / "tournament.html").read_text()
    first, second = (rating["deck"] for rating in said["ratings"][:2])
    assert f"{first} scores" in page
    assert f"over {second}, the second of 3" in page
    assert '<h2 id="deck-matchups">' in page
    assert '<h2 id="ratings">' not in page, "entrants that only met themselves have none"


def test_a_tournament_of_one_against_itself_compares_its_decks(tmp_path: Path) -> None:
    decks = ",".join(DECKS[:2])
    done = manaforge("tournament", "aggro", "aggro", "--decks", decks, "--games", 4, "--out", tmp_path / "t")
    assert "decks, rated in Elo" in done.stdout
    assert "every pair of decks" in done.stdout


def test_games_of_a_deck_against_itself_do_not_count() -> None:
    names = pd.CategoricalDtype(["x", "y"])
    games = pd.DataFrame(
        {
            "setup": np.arange(4, dtype=np.int32),
            "first": pd.Categorical(["p"] * 4),
            "second": pd.Categorical(["p"] * 4),
            "first_deck": pd.Series(["x", "y", "x", "y"]).astype(names),
            "second_deck": pd.Series(["y", "x", "x", "y"]).astype(names),
            "outcome": pd.Categorical(["first", "second", "first", "second"], ["first", "draw", "second"]),
            "turns": 5,
            "fault": pd.Categorical([""] * 4, ["", "illegal action", "agent error"]),
            "unproven": 0,
        }
    )
    read = deck_standings(games)
    assert read.decks[["deck", "opponent_deck", "games", "wins"]].to_numpy().tolist() == [
        ["x", "y", 2, 2],
        ["y", "x", 2, 0],
    ]


def test_the_curve_counts_every_card() -> None:
    for name in DECKS:
        assert sum(map(int, mana_curve(find_deck(name)).split())) == 30


@pytest.mark.heavy
def test_commands_that_repeat_name_the_kept_decks(tmp_path: Path) -> None:
    """Each is run again from its page or summary after the user's own file is gone."""
    mine = tmp_path / "mine.toml"
    shipped = (Path("engine") / "data" / "decks" / "thesis-paladin.toml").read_text()
    (tmp_path / "arena.toml").write_text(
        'schema = 1\nchampion = "ilp:keep-alive"\nentrants = ["aggro"]\ndecks = ["mine.toml"]\ngames = 4\n'
    )
    for name, words in (
        ("ladder", ("ladder", "mine.toml", "hearthsim-basic", "--players", "aggro", "--games", 2)),
        ("arena", ("arena", "arena.toml", "--games", 4, "--seed", 3)),
        (
            "sweep",
            (
                *("sweep", "ilp:keep-alive", "--weight", "face", "--values", "0,1", "--against", "aggro"),
                *("--decks", "mine.toml", "--games", 2, "--json"),
            ),
        ),
    ):
        mine.write_text(shipped.replace('name = "thesis-paladin"', 'name = "mine"'))
        done = manaforge(*words, "--out", f"runs/{name}", "--pool", "local", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        folder = tmp_path / "runs" / name
        summary = done.stdout if name == "sweep" else (folder / "summary.json").read_text()
        command = shlex.split(json.loads(summary)["command"])
        assert f"runs/{name}/decks/" in " ".join(command)
        mine.unlink()
        again = manaforge(*command[1:], "--out", "again/" + name, cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        games = [
            pd.read_parquet(path / name / "games.parquet") for path in (tmp_path / "runs", tmp_path / "again")
        ]
        assert games[0]["outcome"].astype(str).tolist() == games[1]["outcome"].astype(str).tolist()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("thesis-paladin",), "a ladder needs at least two decks, got thesis-paladin"),
        (("thesis-paladin", "thesis-paladin"), "two decks with the same name"),
        (("thesis-paladin", "none"), "unknown deck 'none'"),
        (("thesis-paladin", "thesis-warrior", "--players", "nobody"), "unknown entrant 'nobody'"),
        (("thesis-paladin", "thesis-warrior", "--games", "3"), "--games must be even"),
    ],
)
def test_wrong_input_is_one_line(words: tuple[str, ...], message: str) -> None:
    done = manaforge("ladder", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_decks_with_a_class_have_a_ruleset_and_a_player_of_their_own(tmp_path: Path) -> None:
    for decks, player, ruleset in (
        (("basic-mage", "thesis-paladin"), "hearthsim:standard", "standard"),
        (("thesis-warrior", "thesis-paladin"), "ilp:value-trading", "standard"),  # as ladders always had
    ):
        out = tmp_path / decks[0]
        done = manaforge("ladder", *decks, "--games", "2", "--out", out, "--json", "--pool", "local")
        assert done.returncode == 0, done.stderr
        told = (out / "tournament.html").read_text()
        assert f"--players {player}" in told
        assert f"--ruleset {ruleset}" in told
    for decks, ruleset in (("basic-mage,thesis-paladin", "standard"), ("thesis-paladin", "thesis")):
        found = create_tournament(["aggro", "random"], decks.split(","), "", games=2)
        assert found.ruleset.name == ruleset
    said = manaforge("play", "random", "pass", "--decks", "basic-mage").stdout
    assert "ruleset standard" in said
