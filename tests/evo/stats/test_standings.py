"""Standings against a plain count, and for few or one-sided games."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from engine import Outcome
from evo.play.games import GAME
from evo.play.matchups import Matchups, games_table, make_pairings
from evo.stats.standings import matchups_table, scores_table, standings
from tests.conftest import cases, heavy
from tests.evo.tournament.test_run import DECKS, made_up, matchups_of


@pytest.mark.parametrize("seats", ["paired", "fixed"])
def test_standings_against_a_plain_count(seats: str) -> None:
    matchups = matchups_of(seats, games=10, self_play=(1,))
    played, names = made_up(matchups), ["c", "a", "b"]
    games = games_table(matchups, played, names, list(DECKS))
    read = standings(games)
    record: Counter[tuple[str, str]] = Counter()
    faults: Counter[str] = Counter()
    points = 0.0
    for game in games.itertuples():
        points += {"first": 1, "second": 0, "draw": 0.5}[game.outcome]
        if game.fault:
            faults[game.second if game.outcome == "first" else game.first] += 1
        if game.first == game.second:
            continue
        for name, result in ((game.first, "first"), (game.second, "second")):
            record[
                name, "wins" if game.outcome == result else "draws" if game.outcome == "draw" else "losses"
            ] += 1
    for row in read.ratings.itertuples():
        for kind in ("wins", "draws", "losses"):
            assert getattr(row, kind) == record[row.entrant, kind]
        assert row.games == row.wins + row.draws + row.losses
        assert row.score == pytest.approx((row.wins + row.draws / 2) / row.games)
        assert row.illegal_actions + row.agent_errors == faults[row.entrant]
        assert row.low < row.rating < row.high
    assert list(read.ratings["rating"]) == sorted(read.ratings["rating"], reverse=True)
    assert read.summary["first_seat"]["score"] == pytest.approx(points / len(games))
    assert read.summary["draws"] == (played["outcome"] == Outcome.DRAW).sum()
    assert read.results["games"].sum() == len(games)
    assert (read.results[["first_wins", "second_wins", "draws"]].sum(axis=1) == read.results["games"]).all()
    assert len(read.results) == 7
    own = read.results[(read.results["first"] == "a") & (read.results["second"] == "a")]
    assert int(own["games"].iloc[0]) == (40 if seats == "paired" else 10)
    assert read.matchups["games"].sum() == len(games) - int(own["games"].iloc[0])
    whole = read.matchups.filter(like="pairs_").sum(axis=1)
    assert (whole * 2 == read.matchups["games"]).all()
    assert read.decks["games"].sum() == 2 * read.matchups["games"].sum()
    assert (scores_table(games)["games"].sum(), len(matchups_table(games))) == (
        read.ratings["games"].sum(),
        3,
    )


def test_standings_of_one_entrant_and_its_mirror() -> None:
    matchups = Matchups(make_pairings(1, "round-robin", (0,)), 1, 10, 7, (6,), "paired")
    read = standings(games_table(matchups, made_up(matchups), ["a"], ["x"]))
    assert len(read.results) == 1
    assert len(read.matchups) == len(read.decks) == 0
    assert read.ratings["games"].tolist() == [0]


def sure(n: int, games: int) -> pd.DataFrame:
    """Two entrants, n pairs, the first wins them all."""
    matchups = Matchups(make_pairings(2, "round-robin", ()), 1, games, 1, (1,))
    schedule, _ = matchups.schedule(0, len(matchups))
    played = np.zeros(len(matchups), GAME)
    played["outcome"] = np.where(schedule.players[:, 0] == 0, 1, 2)
    assert len(played) == 2 * n
    return games_table(matchups, played, ["a", "b"], ["x"])


def test_few_games_or_certain_ones_do_not_make_a_point_of_an_interval() -> None:
    ratings = standings(sure(10, 20)).ratings.set_index("entrant")
    assert np.isinf(ratings.loc["a", "high"])
    assert np.isinf(-ratings.loc["b", "low"])
    assert ratings.loc["a", "low"] < ratings.loc["a", "rating"] - 50
    assert standings(sure(10, 20)).matchups["normalized_elo"].isna().all()
    two = standings(sure(1, 2)).ratings
    assert (two["rating"] - two["low"]).iloc[0] > 50


@pytest.mark.parametrize(
    ("chance", "pairs"),
    [
        (0.95, 10),
        *heavy((0.9, 10), (0.98, 25), (0.99, 50)),
    ],
)
def test_rating_intervals_of_uneven_opponents_hold_the_truth(chance: float, pairs: int) -> None:
    """200 tournaments each, 40 by day: at least 93%, less three standard errors of the simulation."""
    from evo.stats.ratings import elo

    games, rng, held = sure(pairs, 2 * pairs), np.random.default_rng(1), 0
    n = cases(40, 200)
    for _ in range(n):
        won = rng.random(len(games)) < chance
        outcome = np.where(won == (games["first"] == "a"), "first", "second")
        drawn = games.assign(outcome=pd.Categorical(outcome, ["first", "second", "draw"]))
        row = standings(drawn).ratings.set_index("entrant").loc["a"]
        held += row["low"] <= elo(chance) / 2 <= row["high"]
    assert held / n > 0.93 - 3 * (0.93 * 0.07 / n) ** 0.5


def test_a_ladder_of_certain_results_is_no_rock_paper_scissors() -> None:
    matchups = Matchups(make_pairings(3, "round-robin", ()), 1, 4, 1, (1,))
    schedule, _ = matchups.schedule(0, len(matchups))
    played = np.zeros(len(matchups), GAME)
    played["outcome"] = np.where(schedule.players[:, 0] < schedule.players[:, 1], 1, 2)
    summary = standings(games_table(matchups, played, list("abc"), ["x"])).summary
    assert np.isnan(summary["cyclic_share"])


def test_games_of_older_tournaments_are_read_as_before() -> None:
    """Their tables have no column of unproven turns."""
    matchups = Matchups(make_pairings(3, "round-robin", ()), 1, 20, 1, (6,))
    games = games_table(matchups, made_up(matchups), list("abc"), ["x"])
    games["unproven"] = 3
    now, before = standings(games), standings(games.drop(columns="unproven"))
    assert now.summary["unproven_turns"] == 3 * len(games)
    assert before.summary == now.summary | {"unproven_turns": 0, "unproven_in_games_of": {}}


def test_unproven_turns_are_counted_in_the_games_of_each_entrant() -> None:
    matchups = Matchups(make_pairings(3, "round-robin", ()), 1, 20, 1, (6,))
    games = games_table(matchups, made_up(matchups), list("abc"), ["x"])
    games["unproven"] = ((games["first"] == "c") | (games["second"] == "c")).astype(int)
    met = {name: int((games["first"] == name).sum() + (games["second"] == name).sum()) for name in "abc"}
    found = standings(games).summary["unproven_in_games_of"]
    assert list(found) == ["c", "a", "b"]
    assert found["c"] == met["c"] == games["unproven"].sum()
    assert found["a"] + found["b"] == found["c"]
