"""Sweeps: the curve of one weight, its values and their marks."""

import numpy as np
import pytest
from typer.testing import CliRunner

from engine import Outcome, find_deck, find_ruleset
from evo.cli.main import app
from evo.play.entrants import find_entrant
from evo.play.games import GAME
from evo.play.notation import Seats
from evo.tournament.run import Tournament
from evo.tournament.sweep import Variants, compare_with_best, parse_values, sweep_table, vary_weight
from rivals import weight_class


def test_values_of_a_sweep_are_what_was_typed() -> None:
    assert parse_values("-0.3:0.3:0.1") == (-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3)
    assert parse_values("0:1:0.3") == (0.0, 0.3, 0.6, 0.9)
    near = vary_weight(find_entrant("hearthsim"), "hand", parse_values("1000:1000.01:0.005"))
    assert len({one.text for one in near.entrants}) == 3
    near = vary_weight(find_entrant("hearthsim"), "hand", (1.0, 1.0000000000001))
    assert [one.text for one in near.entrants] == ["hearthsim[hand=1]", "hearthsim[hand=1.0000000000001]"]


def test_aggressiveness_is_both_weights_of_the_own_board() -> None:
    """Seed 001: w_a = w_h = the value; all others stay."""
    standard = find_entrant("hearthsim")
    names = weight_class("hearthsim").names()
    (one,) = vary_weight(standard, "aggressiveness", (0.3,)).entrants
    changed = {
        name: value
        for name, value, usual in zip(names, one.player.weights, standard.player.weights, strict=True)
        if value != usual
    }
    assert changed == {"attack": 0.3, "health": 0.3}


def sweep_of(values: tuple[float, ...], games: int, seats: Seats = "paired") -> tuple[Variants, Tournament]:
    """A sweep of hearthsim's hand weight against aggro on one deck."""
    variants = vary_weight(find_entrant("hearthsim"), "hand", values)
    tournament = Tournament(
        entrants=(*variants.entrants, find_entrant("aggro")),
        self_play=frozenset(),
        decks=(find_deck("hearthsim-basic"),),
        deck_names=("hearthsim-basic",),
        ruleset=find_ruleset("thesis"),
        games=games,
        seats=seats,
        style="sweep",
        seed=1,
        origin="",
    )
    return variants, tournament


def results(tournament: Tournament, points: dict[tuple[int, int], list[float]]) -> np.ndarray:
    """Games in which each variant scores these points on each deal, in the order of the deals."""
    schedule, setups = tournament.matchups.schedule(0, len(tournament.matchups))
    played = np.zeros(len(setups), GAME)
    seen: dict[tuple[int, int], int] = {}
    last = len(tournament.entrants) - 1
    for game, (first, second) in enumerate(schedule.players):
        variant = int(second if first == last else first)
        deal = int(setups[game])
        turn = seen[variant, deal] = seen.get((variant, deal), -1) + 1
        point = points[variant, deal][turn]
        won = Outcome.FIRST_WINS if first == variant else Outcome.SECOND_WINS
        lost = Outcome.SECOND_WINS if first == variant else Outcome.FIRST_WINS
        played[game]["outcome"] = {1.0: won, 0.0: lost, 0.5: Outcome.DRAW}[point]
    return played


def test_a_curve_from_paired_games_by_hand() -> None:
    """Two deals of two games each: value 1 wins 1, draws 1, loses 2 of 4, (1 + 0.5) / 4 = 37.5%; value 2 wins 3, 75%.

    Clopper and Pearson for 3 of 4: 19.4% to 99.4%; for 1.5 of 4, between those of 1 and 2: 0.6% and 93.2%.
    """
    variants, tournament = sweep_of((1.0, 2.0), 4)
    played = results(tournament, {(0, 0): [1, 0.5], (0, 1): [0, 0], (1, 0): [1, 1], (1, 1): [0, 1]})
    curve = sweep_table(variants, tournament, played)
    assert curve[["games", "wins", "losses", "draws"]].to_numpy().tolist() == [[4, 1, 2, 1], [4, 3, 1, 0]]
    assert curve["win_rate"].tolist() == [0.375, 0.75]
    assert curve.loc[1, "low"] == pytest.approx(0.194, abs=5e-4)
    assert curve.loc[1, "high"] == pytest.approx(0.9937, abs=5e-5)
    assert 0.006 < curve.loc[0, "low"] < 0.068
    assert 0.806 < curve.loc[0, "high"] < 0.932


def test_values_are_compared_deal_by_deal() -> None:
    """40 deals. The best scores 2 on the even and 1 on the odd ones; another one point less on each 4th deal: worse.

    A third scores 2 on the odd and 1 on the even deals, but 0 on the last: half a deal less, not told apart.
    """
    variants, tournament = sweep_of((1.0, 2.0, 3.0), 80)
    points = {}
    for deal in range(40):
        points[0, deal] = [1.0, 1.0] if deal % 2 == 0 else [1.0, 0.0]
        points[1, deal] = [1.0, 0.0] if deal % 4 == 0 else points[0, deal]
        points[2, deal] = [1.0, 1.0] if deal % 2 else [1.0, 0.0]
    points[2, 39] = [0.0, 0.0]
    played = results(tournament, points)
    assert compare_with_best(variants, tournament, played) == ["best", "", "not told apart"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("hearthsim --weight agressiveness --values 1", "nearest: aggressiveness"),
        ("random --weight face --values 1", "random has no weights"),
        ("ilp:keep-alive --weight face --values -1,2", "face must be a finite number >= 0"),
        ("hearthsim --weight hand --values 1:0:1", "LAST not below FIRST"),
        ("hearthsim --weight hand --values x", "--values takes FIRST:LAST:STEP"),
        ("hearthsim --weight hand --values 0:1:1e-9", "at most 1,000"),
        ("hearthsim --weight hand --values 0:1:1e-320", "at most 1,000"),
        ("hearthsim --weight hand --values 0:nan:1", "STEP must be above 0"),
        ("hearthsim --weight hand --values 1,1.0", "the same value twice"),
        ("hearthsim --weight hand --values nan", "hand must be a finite number"),
    ],
)
def test_a_wrong_sweep_names_the_way_out(words: str, told: str) -> None:
    done = CliRunner().invoke(app, f"sweep {words} --against aggro --decks random-minions".split())
    assert done.exit_code == 1
    assert told in str(done.exception), done.exception
