"""Random games in compiled code: the same rules, every game to its end."""

import numpy as np

from engine import Outcome, Position, deal, find_deck, find_ruleset
from engine.actions import Action
from engine.batches import playout, random_games
from engine.codes import MAX_ACTIONS, Purpose
from engine.decks import build_card_table, deck_records
from engine.effects.chance import Chance
from engine.streams import below, derive, stream_key
from tests.conftest import UNCOMPILED

DECKS = find_deck("thesis-paladin"), find_deck("random-minions")


def test_a_playout_is_the_game_its_stream_says() -> None:
    for seed in range(20):
        fast, slow = deal(DECKS, seed), deal(DECKS, seed)
        key = np.uint64(derive(stream_key(seed), Purpose.PLAYOUT))
        ending = playout(
            fast.state, fast.table.array, np.empty(MAX_ACTIONS, np.int64), key, Chance().array[0]
        )
        choice = 0
        while slow.outcome == Outcome.ONGOING:
            actions = slow.legal_actions()
            slow.play(actions[int(below(key, choice, len(actions)))])
            choice += 1
        assert str(fast) == str(slow)
        assert ending == slow.outcome


def test_a_batch_plays_the_same_games_one_by_one() -> None:
    table = build_card_table(DECKS)
    first, second = deck_records(DECKS, table)
    keys = np.array([stream_key(1, game) for game in range(30)], np.uint64)
    outcomes = np.zeros(30, np.int64)
    rounds = random_games(table.array, first, second, find_ruleset("standard").array, keys, outcomes)
    assert set(outcomes) <= {Outcome.FIRST_WINS, Outcome.SECOND_WINS, Outcome.DRAW}
    total = 0
    for game, key in enumerate(keys):
        position = deal(DECKS, 1, (game,), ruleset="standard")
        actions = np.empty(MAX_ACTIONS, np.int64)
        stream = np.uint64(derive(stream_key(1, game), Purpose.PLAYOUT))
        assert (
            playout(position.state, position.table.array, actions, stream, Chance().array[0])
            == outcomes[game]
        ), key
        total += min(int(position.state["turn"]), 100)
    assert rounds == total


def test_neither_seat_is_favoured_in_a_mirror_beyond_the_first_turn() -> None:
    """Random play on one deck: both seats win often, which a broken outcome or seat would prevent."""
    n = 120 if UNCOMPILED else 400
    table = build_card_table(DECKS[:1])
    deck = deck_records(DECKS[:1], table)[0]
    keys = np.array([stream_key(2, game) for game in range(n)], np.uint64)
    outcomes = np.zeros(n, np.int64)
    random_games(table.array, deck, deck, find_ruleset("thesis").array, keys, outcomes)
    shares = np.bincount(outcomes, minlength=4) / n
    assert shares[Outcome.ONGOING] == 0
    assert 0.3 < shares[Outcome.FIRST_WINS] < 0.75
    assert shares[Outcome.SECOND_WINS] > 0.25


def test_actions_in_kernels_and_python_are_one_code() -> None:
    position: Position = deal(DECKS, 3)
    for action in position.legal_actions():
        assert Action.from_code(action.code) == action
