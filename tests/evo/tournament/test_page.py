"""The page of a tournament: tables of who played."""

import numpy as np
import pandas as pd

from engine import Outcome
from evo.play.games import GAME
from evo.play.matchups import games_table
from evo.stats.standings import standings
from evo.tournament.report import _bounds, _weights, terminal_sentences, tournament_summary
from evo.tournament.run import create_tournament


def test_a_solver_is_told_where_one_can_be_chosen() -> None:
    entrants = ["ilp:keep-alive", "greedy-ilp:keep-alive", "hearthsim:standard", "random"]
    tables = _weights(create_tournament(entrants, ["hearthsim-basic"], "thesis", games=2))
    told = {
        table.split("<summary>")[1].split(",")[0]: ">solver<" in table
        for table in tables
        if "<summary>" in table
    }
    assert told == {"Weights of ilp": True, "Weights of hearthsim": False, "Without weights": False}


def test_an_entrant_that_lost_every_game_and_unproven_turns_are_told() -> None:
    entrants = ["ilp:keep-alive", "random", "pass"]
    made = create_tournament(entrants, ["hearthsim-basic"], "thesis", games=4)
    schedule, _ = made.matchups.schedule(0, len(made.matchups))
    played = np.zeros(len(made.matchups), GAME)
    played["turns"] = 9
    played["outcome"] = np.where(schedule.players[:, 0] == 2, Outcome.SECOND_WINS, Outcome.FIRST_WINS)
    played["unproven"][0] = 7
    read = standings(games_table(made.matchups, played, made.names, ["hearthsim-basic"]))
    lines = " ".join(terminal_sentences(made, tournament_summary(made, read, [], "")))
    assert "pass lost every game: such a rating has no lower bound" in lines
    assert "7 turns unproven" in lines
    assert "in games of ilp:keep-alive (7), random (7), of both players" in lines


def test_a_rating_just_below_the_mean_is_zero_without_a_sign() -> None:
    cells = _bounds(pd.DataFrame({"low": [-0.04], "high": [0.01]}))
    assert cells[0].text == "+0.0 to +0.0"
