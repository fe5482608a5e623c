"""What is recorded of games is what a plain reading of the same games finds."""

import numpy as np
import pytest

from engine import Outcome, find_deck, find_ruleset
from engine.batches import deal_games, game_results
from engine.decks import cached_card_table
from engine.rules import apply, encode, outcome
from engine.state import STATE
from engine.streams import below, derive, stream_key
from ilp_agent.lookahead.recording import (
    MAX_PAIR_TURN,
    PAIR_TURN_STREAM,
    record_pairs,
    record_positions,
)
from ilp_agent.lookahead.selfplay import ALWAYS, NEVER, NO_STREAM, lookahead_kernels
from ilp_agent.lookahead.weights import kernel_rows
from rivals import find_agent_profile
from tests.conftest import BOUNDSCHECK, UNCOMPILED

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

ROW = np.array([*find_agent_profile("lookahead", "hearthsim").weights.full_array, 8, 2, 2.0])
END = encode(0, 0, 0)


def deal(decks: tuple[str, ...], n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    table, records = cached_card_table(tuple(map(find_deck, decks)))
    numbers = np.arange(n)
    held = np.stack([numbers % len(decks), numbers // len(decks) % len(decks)], axis=1)
    chances, keys = (
        np.array([stream_key(seed, int(number)) for number in numbers], np.uint64) for seed in (3, 4)
    )
    states = np.zeros(n, STATE)
    deal_games(table.array, records, find_ruleset("thesis").array, held, chances, states)
    return table.array, states, chances, keys


def take_turn(state: np.void, cards: np.ndarray, explore: int, key: np.uint64) -> np.ndarray | None:
    """Play a turn in place; features of where it leads, None where there was nothing to choose."""
    looking, memory = lookahead_kernels(cards)
    looking.choose(state, cards, kernel_rows(ROW[None])[0], explore, key, memory)
    leaf, plan = memory.leaf.copy() if memory.judged[0] else None, memory.plan[0]
    for action in plan["actions"][: plan["n"]]:
        apply(state, cards, action, memory.events[0])
    if not plan["again"] and outcome(state) == Outcome.ONGOING:
        apply(state, cards, END, memory.events[0])
    return leaf


def play_to_end(state: np.void, cards: np.ndarray, seat: int) -> float:
    while outcome(state) == Outcome.ONGOING:
        take_turn(state, cards, NEVER, NO_STREAM)
    end = outcome(state)
    return 0.5 if end == Outcome.DRAW else float((end == Outcome.FIRST_WINS) == (seat == 0))


@compiled
def test_pairs_are_two_ends_of_a_turn_played_on() -> None:
    cards, states, chances, keys = deal(("thesis-paladin", "random-minions"), 24)
    before = states.copy()
    pairs = record_pairs(cards, ROW, states, chances, keys)
    features, points = [], []
    for game, key in enumerate(keys):
        start = before[game : game + 1].copy()
        for _ in range(below(key, PAIR_TURN_STREAM, MAX_PAIR_TURN)):
            if outcome(start[0]) == Outcome.ONGOING:
                take_turn(start[0], cards, NEVER, NO_STREAM)
        if outcome(start[0]) != Outcome.ONGOING:
            continue
        leaves, came_to = [], []
        for end in range(2):
            then = start.copy()
            leaves.append(take_turn(then[0], cards, ALWAYS, np.uint64(derive(key, end))))
            came_to.append(play_to_end(then[0], cards, int(start[0]["active"])))
        if leaves[0] is not None and leaves[1] is not None and (leaves[0] != leaves[1]).any():
            features.append(leaves)
            points.append(came_to)
    assert len(points) > 8
    np.testing.assert_array_equal(pairs.features, np.array(features))
    np.testing.assert_array_equal(pairs.points, np.array(points))
    assert len({tuple(pair) for pair in points}) > 1


@compiled
def test_positions_are_noted_turn_by_turn() -> None:
    cards, states, chances, keys = deal(("thesis-paladin", "random-minions"), 6)
    before = states.copy()
    noted = record_positions(cards, ROW, states, chances, keys, ALWAYS // 4)
    features, whose = [], []
    for game, key in enumerate(keys):
        state, number = before[game : game + 1].copy()[0], 0
        while outcome(state) == Outcome.ONGOING:
            seat = int(state["active"])
            leaf = take_turn(state, cards, ALWAYS // 4, np.uint64(derive(key, number)))
            number += 1
            if leaf is not None:
                features.append(leaf)
                whose.append((game, seat))
    np.testing.assert_array_equal(noted.features, np.array(features))
    assert list(zip(noted.game, noted.seat, strict=True)) == whose
    assert (game_results(states)[0] != Outcome.ONGOING).all()


@compiled
def test_games_on_real_cards_are_recorded_the_same_each_time() -> None:
    found = []
    for _ in range(2):
        cards, states, chances, keys = deal(("basic-mage", "basic-hunter"), 6)
        pairs = record_pairs(cards, ROW, states.copy(), chances, keys)
        noted = record_positions(cards, ROW, states, chances, keys, ALWAYS // 4)
        assert (game_results(states)[0] != Outcome.ONGOING).all()
        found.append((pairs.features, pairs.points, noted.features, noted.game))
    assert len(found[0][1]) > 1
    assert len(found[0][2]) > 60
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
