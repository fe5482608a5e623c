"""Worth of cards where the truth is known, and statistics against a recount from the table of actions."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine import Deck, find_deck, find_ruleset
from engine.cards import Card
from engine.cards.patches import parse_patch
from engine.cards.real import edition
from evo.experiments.card_worth import (
    CardStudy,
    blank_of,
    card_table,
    measure_worth,
    paired_difference,
    points_with,
    watch_games,
    worth_sentence,
)
from evo.play.entrants import find_entrant
from evo.play.games import play_schedule
from evo.tournament.actions import action_table
from tests.conftest import cases
from tests.evo.runs import manaforge

SEEDS = cases(3, 20)


def study_of(deck: Deck, games: int, seed: int = 1, player: str = "aggro") -> CardStudy:
    pilot = find_entrant(player).player
    return CardStudy(deck, (find_deck("basic-hunter"),), pilot, pilot, find_ruleset("standard"), games, seed)


def vanilla_deck() -> Deck:
    """Plain minions, four blanks among them, and two cards that are the same but for their name."""
    names = [
        "Chillwind Yeti",
        "Bloodfen Raptor",
        "River Crocolisk",
        "Boulderfist Ogre",
        "Core Hound",
        "Magma Rager",
    ]
    cards = [edition().find(name) for name in names for _ in range(4)]
    blanks = [replace(blank_of(cards[0]), name=f"Blank {number}", id=f"BLANK{number}") for number in range(2)]
    raptor = edition().find("Bloodfen Raptor")
    twin = replace(raptor, name="Other Raptor", id="TWIN")
    return Deck("vanilla", (*cards, *blanks, *blanks, twin, twin), hero_class="mage", edition="2018-07")


def replaced(study: CardStudy, card: Card, other: Card) -> tuple[float, float, float]:
    """Points of the deck with `other` in place of `card`, minus those of the deck as it is; an interval."""
    points = points_with(study, study.deck, play_schedule)
    return paired_difference(points_with(study, study.with_replaced(card, other), play_schedule), points, 1)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_better_minion_is_found_better(seed: int) -> None:
    study = study_of(vanilla_deck(), 600, seed)
    yeti = edition().find("Chillwind Yeti")
    _, low, _ = replaced(study, yeti, parse_patch(["Chillwind Yeti attack=6 health=7"]).apply(yeti))
    assert low > 0
    _, _, high = replaced(study, yeti, blank_of(yeti))
    assert high < 0


def test_blanks_are_worth_nothing_and_copies_the_same() -> None:
    deck = vanilla_deck()
    study = study_of(deck, 400)
    _, worth = measure_worth(study, play_schedule)
    table = worth.set_index("card")
    for name in ("Blank 0", "Blank 1"):
        assert table.loc[name, "worth"] == 0.0
        assert table.loc[name, "low"] <= 0 <= table.loc[name, "high"]
    raptor, twin = (card for card in study.cards if card.name in ("Bloodfen Raptor", "Other Raptor"))
    assert replaced(study, twin, raptor)[0] == 0.0, "the same deck under other names"
    assert set(worth["card"][worth["low"] > 0]) >= {"Chillwind Yeti"}
    assert worth["worth"].is_monotonic_decreasing
    assert worth_sentence(worth).startswith(f"{worth.iloc[0]['card']} is worth most")
    assert "Not told from a blank: " in worth_sentence(worth)


def test_cards_of_one_name_have_rows_of_their_own() -> None:
    raptor = edition().find("Bloodfen Raptor")
    deck = vanilla_deck()
    changed = parse_patch(["Bloodfen Raptor cost=1"]).apply(raptor)
    twice = replace(
        deck, cards=(*(card for card in deck.cards if card != raptor), raptor, raptor, changed, changed)
    )
    study = study_of(twice, 40)
    table = card_table(measure_worth(study, play_schedule)[1], watch_games(study, play_schedule)[0])
    assert len(table) == len(study.cards) == len(set(twice.cards))
    assert sorted(table.loc[table["card"] == "Bloodfen Raptor", "cost"]) == [1, 2]


def test_intervals_are_wider_for_more_comparisons() -> None:
    pick = np.random.default_rng(1)
    points, other = pick.random((2, 200))
    (mean, low, _), (same, lower, _) = (paired_difference(points, other, n) for n in (1, 20))
    assert mean == same
    assert lower < low
    assert paired_difference(points, points, 20) == (0.0, 0.0, 0.0)


def test_no_more_false_finds_than_stated() -> None:
    """Of two hundred cards that are worth nothing, each compared alone, about one in twenty is told from nothing."""
    pick = np.random.default_rng(48)
    finds = 0
    for _ in range(2_000):
        _, low, high = paired_difference(*pick.integers(3, size=(2, 100)) / 2, 1)
        finds += not low <= 0 <= high
    assert 60 < finds < 145


@pytest.mark.parametrize("name", ["reno-mage", "hearthsim-basic"])
def test_statistics_are_a_recount_of_the_actions(name: str) -> None:
    study = study_of(find_deck(name), 60)
    cards, rounds = watch_games(study, play_schedule)
    roster, games = study.roster(study.deck, actions=True), study.schedule()
    played = play_schedule(roster, games)
    table = action_table(roster, games, played, 0)
    seats = (games.players[:, 0] != 0).astype(int)
    own = table[table["seat"] == seats[table["game"]]]
    plays = own[own["action"].astype(str).str.startswith("play ")]
    first = plays.groupby(["game", "card"], observed=True)[["round", "score"]].first().reset_index()
    counted = first.groupby("card", observed=True).agg(
        n=("game", "size"), mean=("score", "mean"), when=("round", "mean")
    )
    for row in cards.itertuples():
        if row.played_games:
            mine = counted.loc[row.card]
            assert (row.played_games, row.played_score) == (mine["n"], pytest.approx(mine["mean"]))
            assert row.round == pytest.approx(mine["when"])
        else:
            assert row.card not in counted.index
        assert row.kept_games <= row.opening_games <= row.drawn_games
        assert row.played_games <= row.drawn_games
    by_round = first.groupby(["card", "round"], observed=True)["score"].agg(["size", "mean"])
    for row in rounds.itertuples():
        assert (row.games, pytest.approx(row.score)) == tuple(by_round.loc[(row.card, row.round)])


def test_the_command(tmp_path: Path) -> None:
    line = (
        "cards",
        "basic-mage",
        "--field",
        "basic-hunter,basic-warrior",
        "--games",
        20,
        "--player",
        "aggro",
    )
    first = manaforge(*line, "--out", tmp_path / "a")
    assert first.returncode == 0, first.stderr
    assert "basic-mage scores" in first.stdout
    table = pd.read_csv(tmp_path / "a" / "cards.csv")
    assert len(table) == len(set(find_deck("basic-mage").cards))
    assert table["worth"].between(-1, 1).all()
    assert manaforge(*line, "--out", tmp_path / "b").returncode == 0
    for name in ("cards.csv", "rounds.csv", "cards.html"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    patched = manaforge(*line, "--patch", "Fireball cost=0 damage=9", "--json", "--out", tmp_path / "c")
    worth = {row["card"]: row["worth"] for row in json.loads(patched.stdout)["cards"]}
    assert worth["Fireball"] > dict(zip(table["card"], table["worth"], strict=True))["Fireball"]
    for wrong, said in (
        (("--games", "5"), "--games must be even"),
        (("--field", "none"), "unknown deck 'none'"),
        (("--player", "randm"), "unknown"),
    ):
        failed = manaforge(*line, *wrong, "--out", tmp_path / "d")
        assert failed.returncode == 2
        assert said in failed.stderr
