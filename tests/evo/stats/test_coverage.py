"""Do 95% intervals hold the truth 95% of the time? Tournaments drawn from a model whose truth is known."""

import os

import numpy as np
import pytest
from scipy.special import expit

from engine import Outcome
from evo.play.games import GAME
from evo.play.matchups import Matchups, games_table, make_pairings
from evo.stats.ratings import bradley_terry, exact_rate
from evo.stats.standings import standings

STRENGTHS = np.array([0.0, 0.3, 0.8, -1.0])
LUCK, SEAT = 1.0, 0.5
"""Log-odds of a deal for the player who goes first: spread over setups, and mean."""

DRAWS = 0.03
RUNS = int(os.environ.get("MANAFORGE_COVERAGE_RUNS", "500"))


def truth() -> tuple[np.ndarray, float]:
    """Scores of i against j over all deals, shape (4, 4), and of the player who goes first."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    luck = SEAT + LUCK * nodes
    difference = STRENGTHS[:, None] - STRENGTHS
    first = (expit(difference[..., None] + luck) * weights).sum(-1) / weights.sum()
    scores = (1 - DRAWS) * (first + 1 - first.T) / 2 + DRAWS / 2
    pairs = np.triu_indices(4, 1)
    seat = (1 - DRAWS) * np.concatenate([first[pairs], first.T[pairs]]).mean() + DRAWS / 2
    return scores, float(seat)


def play(matchups: Matchups, rng: np.random.Generator) -> np.ndarray:
    """Games of the model; those of a setup share its luck."""
    schedule, setup = matchups.schedule(0, len(matchups))
    luck = rng.normal(SEAT, LUCK, setup.max() + 1)[setup]
    chance = expit(STRENGTHS[schedule.players[:, 0]] - STRENGTHS[schedule.players[:, 1]] + luck)
    played = np.zeros(len(matchups), GAME)
    won = np.where(rng.random(len(matchups)) < chance, Outcome.FIRST_WINS, Outcome.SECOND_WINS)
    played["outcome"] = np.where(rng.random(len(matchups)) < DRAWS, Outcome.DRAW, won)
    return played


@pytest.mark.heavy
@pytest.mark.parametrize("games", [20, pytest.param(60, marks=pytest.mark.nightly)])
def test_intervals_of_a_tournament_hold_the_truth(games: int) -> None:
    """Two decks: 2 * games setups. Between 93% and 97% of each kind of interval."""
    scores, seat = truth()
    ratings = bradley_terry(scores, np.ones((4, 4)), prior=0)
    matchups = Matchups(make_pairings(4, "round-robin", ()), 2, games, 1, (1,))
    rng = np.random.default_rng(games)
    names = list("abcd")
    hits: dict[str, list[bool]] = {"ratings": [], "scores": [], "matchups": [], "first seat": []}
    for _ in range(RUNS):
        read = standings(games_table(matchups, play(matchups, rng), names, ["x", "y"]))
        for row in read.ratings.itertuples():
            place = names.index(row.entrant)
            hits["ratings"].append(row.low <= ratings[place] <= row.high)
            score = np.delete(scores[place], place).mean()
            hits["scores"].append(row.score_low <= score <= row.score_high)
        for row in read.matchups.itertuples():
            score = scores[names.index(row.entrant), names.index(row.opponent)]
            hits["matchups"].append(row.low <= score <= row.high)
        first = read.summary["first_seat"]
        hits["first seat"].append(first["low"] <= seat <= first["high"])
    found = {name: float(np.mean(values)) for name, values in hits.items()}
    print(", ".join(f"{name} {value:.1%}" for name, value in found.items()))
    assert min(found.values()) > 0.93
    assert max(found.values()) < 0.97


@pytest.mark.parametrize("chance", [0.5, 0.7, 0.9])
def test_intervals_of_independent_games_hold_the_truth(chance: float) -> None:
    """Over all outcomes of 1,000 games. Clopper's and Pearson's is never below 95%."""
    from scipy.stats import binom

    wins = np.arange(1001)
    probability = binom.pmf(wins, 1000, chance)

    def coverage(function) -> float:
        held = [(rate := function(int(won), 0, 1000)).low <= chance <= rate.high for won in wins]
        return float(probability[held].sum())

    assert 0.95 <= coverage(exact_rate) < 0.97
