"""Pairings, setups and fitness: counted by hand and by a plain second implementation."""

import numpy as np
import pytest

from engine import Outcome, find_deck, find_ruleset
from evo.evolution.fitness import all_pairings, tally
from evo.play.games import GAME, Player, Roster, play_schedule
from evo.play.matchups import make_schedule, make_setups
from tests.conftest import UNCOMPILED

A, B, C = range(3)


def test_setups_and_games_for_two_decks() -> None:
    """g = 4: (a, a) has 2 setups, (a, b) 4, (b, b) 2; each is played twice: 16 games for each pairing."""
    setups = make_setups(2, 4, 1, 9)
    assert setups.decks.tolist() == [[0, 0], [0, 1], [0, 1], [1, 1]] * 2
    assert setups.b_starts.tolist() == [False, False, True, False, True, False, True, True]
    assert len(set(setups.keys.tolist())) == 8
    games = make_schedule(all_pairings(3), setups)
    assert len(games) == 3 * 16
    # The second setup is the first of decks (a, b); a starts. Pairing (0, 1): 0 holds a; in its twin 1 does.
    assert games.players[6:8].tolist() == [[0, 1], [1, 0]]
    assert games.decks[6:8].tolist() == [[0, 1], [0, 1]]
    # The next: b starts.
    assert games.players[12:14].tolist() == [[1, 0], [0, 1]]
    assert games.decks[12:14].tolist() == [[1, 0], [1, 0]]


def test_rounds_go_on_where_fewer_games_ended() -> None:
    whole, first = make_setups(3, 8, 1, 2), make_setups(3, 6, 1, 2)
    rest = make_setups(3, 8, 1, 2, start=6)
    for name in ("decks", "b_starts", "keys"):
        both = np.concatenate([getattr(first, name), getattr(rest, name)])
        assert (both == getattr(whole, name)).all()


def test_every_ordered_deck_pair_and_seat_comes_equally_often() -> None:
    games, n_decks = 6, 3
    schedule = make_schedule(all_pairings(4), make_setups(n_decks, games, 1))
    count: dict[tuple[int, ...], int] = {}
    for (first, second), (one, two) in zip(schedule.players, schedule.decks, strict=True):
        i, j = sorted((int(first), int(second)))
        own, other = (one, two) if first == i else (two, one)
        count[i, j, int(own), int(other)] = count.get((i, j, int(own), int(other)), 0) + 1
    assert set(count.values()) == {games}
    assert len(count) == 6 * n_decks**2
    first_of_zero = (schedule.players[:, 0] == 0).sum()
    assert first_of_zero == (schedule.players == 0).sum() / 2


def test_all_pairings_share_their_setups_and_twins_share_a_deal() -> None:
    schedule = make_schedule(all_pairings(3), make_setups(2, 4, 5))
    keys = schedule.keys.reshape(-1, 3, 2)
    assert (keys == keys[:, :1]).all()
    assert (keys[..., 0] == keys[..., 1]).all()
    decks = schedule.decks.reshape(-1, 3, 2, 2)
    assert (decks[:, :, 0] == decks[:, :, 1]).all()


def test_streams_are_addressed() -> None:
    one, same, other = (make_setups(2, 4, 1, 3, generation) for generation in (5, 5, 6))
    assert (one.keys == same.keys).all()
    assert not set(one.keys.tolist()) & set(other.keys.tolist())
    # More setups of a deck pair leave the first ones as they are.
    assert set(one.keys.tolist()) <= set(make_setups(2, 8, 1, 3, 5).keys.tolist())


def test_tally_against_a_plain_reading() -> None:
    n_players, n_decks = 5, 3
    pairings, setups = all_pairings(n_players), make_setups(n_decks, 4, 2)
    schedule = make_schedule(pairings, setups)
    pick = np.random.default_rng(1)
    played = np.zeros(len(schedule), GAME)
    played["outcome"] = pick.integers(1, 4, len(schedule))
    played["turns"] = pick.integers(5, 40, len(schedule))
    result = tally(pairings, setups, n_decks, played)
    scores = np.zeros((n_players, n_decks, n_decks))
    for game, seats, decks in zip(played, schedule.players, schedule.decks, strict=True):
        points = {Outcome.FIRST_WINS: (1, 0), Outcome.SECOND_WINS: (0, 1), Outcome.DRAW: (0.5, 0.5)}
        one, two = points[Outcome(game["outcome"])]
        scores[seats[0], decks[0], decks[1]] += one
        scores[seats[1], decks[1], decks[0]] += two
    assert result.scores(n_players) == pytest.approx(scores)
    assert result.turns.sum() == played["turns"].sum()
    assert (result.games == 4).all()
    assert (result.played(n_players).sum((1, 2)) == 4 * n_decks**2 * (n_players - 1)).all()
    assert result.scores(n_players).sum() == len(schedule)


@pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")
def test_the_same_weights_score_the_same() -> None:
    """Two players of one profile: twins undo each other, so both win exactly half."""
    player = Player((20, 1, 1, 3, 1, 1, 0.5, 1))
    table = Roster(
        (player, player), (find_deck("thesis-paladin"), find_deck("thesis-warrior")), find_ruleset("thesis")
    )
    pairings, setups = all_pairings(2), make_setups(2, 10, 3)
    played = play_schedule(table, make_schedule(pairings, setups))
    assert tally(pairings, setups, 2, played).scores(2).sum((1, 2)).tolist() == [20.0, 20.0]


@pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")
def test_agents_in_python_play_the_same_games_as_the_compiled_batch() -> None:
    weights = (20, 1, 1, 3, 1, 1, 0.5, 1), (1, 0, 5, 0, 0, 0, 0, 1)
    decks = find_deck("thesis-paladin"), find_deck("random-minions")
    pairings, setups = all_pairings(2), make_setups(2, 4, 3)
    games = make_schedule(pairings, setups)
    compiled = Roster(tuple(Player(w) for w in weights), decks, find_ruleset("standard"))
    from evo.play.games import _play_in_python

    assert (play_schedule(compiled, games) == _play_in_python(compiled, games)).all()


def test_own_deals_are_each_pairings_and_its_twins_stay() -> None:
    pairings, games = all_pairings(3), 4
    schedule = make_schedule(pairings, make_setups(2, games, 1, 3, own=range(5, 8)))
    common = make_schedule(pairings, make_setups(2, games, 1, 3))
    keys = schedule.keys.reshape(-1, len(pairings), 2)
    assert (keys[:, :, 0] == keys[:, :, 1]).all(), "twins"
    assert len(np.unique(keys)) == keys[:, :, 0].size
    assert not set(keys.ravel().tolist()) & set(common.keys.tolist())
    assert (schedule.players == common.players).all()
    assert (schedule.decks == common.decks).all()
    alone = make_schedule(pairings[1:2], make_setups(2, games, 1, 3, own=[6]))
    assert (alone.keys.reshape(-1, 2) == keys[:, 1]).all(), "whatever is played beside it"
