"""Games of bodies by the general rules: the same as by the short ones that `engine.rules` takes for them."""

import numpy as np
import pytest

from engine import find_deck, find_ruleset, parse_position, rulesets
from engine.cards.table import CardTable
from engine.codes import MAX_ACTIONS
from engine.decks import Deck, build_card_table, deck_records
from engine.effect_codes import EFFECTS_VERSION, GameFeature
from engine.jit import njit
from engine.rules import apply, legal_actions
from engine.state import EVENTS, STATE, new_game
from engine.streams import below
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.engine.test_differential import DECKS, SMALL

GAMES = 30 if UNCOMPILED else 100 if BOUNDSCHECK else 1_000
"""Of each ruleset."""


def general(table: CardTable) -> CardTable:
    """The same cards in a game whose cards do what their texts say."""
    return CardTable(table.cards, GameFeature.EFFECTS)


@njit
def first_difference(
    cards: np.ndarray, others: np.ndarray, records: np.ndarray, rules: np.void, key: np.uint64
) -> int:
    """Play a random game under both tables; the step before which they differ, -1 without a difference."""
    states, before = np.zeros(2, STATE), np.zeros(2, STATE)
    actions = np.zeros((2, MAX_ACTIONS), np.int64)
    events = np.zeros(2, EVENTS)
    new_game(states[0], cards, records[0], records[1], rules, key)
    new_game(states[1], others, records[0], records[1], rules, key)
    step = 0
    while True:
        for seat in range(2):  # heroes of bodies cannot attack, which these attacks left say nothing of
            states[0]["sides"][seat]["hero_attacks_left"] = states[1]["sides"][seat]["hero_attacks_left"]
        n = legal_actions(states[0], cards, actions[0])
        other = legal_actions(states[1], others, actions[1])
        if n != other or (actions[0, :n] != actions[1, :n]).any() or not same(states):
            return step
        if n == 0:
            return -1
        action = actions[0, below(key, step, n)]
        before[:] = states
        deaths = apply(states[0], cards, action, events[0])
        also = apply(states[1], others, action, events[1])
        told = events[0]["hits"] != events[1]["hits"]
        if (
            deaths != also
            or told.any()
            or events[0]["n_pending_outcomes"] != 0
            or events[0]["n_outcomes"] != 0
        ):
            return step
        step += 1


@njit
def same(states: np.ndarray) -> bool:
    """Whether two states are the same in every byte."""
    numbers = states.view(np.uint8).reshape(2, -1)
    return bool((numbers[0] == numbers[1]).all())


def differences(decks: list[Deck], ruleset: str, games: int) -> list[tuple[int, int]]:
    """Games that differ, by number, and the step before which they do."""
    rules, found = find_ruleset(ruleset).array, []
    pick = np.random.default_rng([*ruleset.encode()])
    tables: dict[tuple[int, int], tuple[np.ndarray, ...]] = {}
    for game in range(games):
        first, second = map(int, pick.integers(len(decks), size=2))
        if (first, second) not in tables:
            pair = decks[first], decks[second]
            table = build_card_table(pair)
            tables[first, second] = table.array, general(table).array, deck_records(pair, table)
        step = first_difference(*tables[first, second], rules, np.uint64(pick.integers(1 << 63)))
        if step >= 0:
            found.append((game, step))
    return found


@pytest.mark.parametrize("ruleset", rulesets())
def test_random_games_are_the_same_by_both_paths(ruleset: str) -> None:
    assert differences([*DECKS, *SMALL], ruleset, GAMES) == []


def test_the_comparison_finds_a_card_that_says_something() -> None:
    """A table in which one body is a real card with a text: both paths part."""
    table = build_card_table((find_deck("hearthsim-basic"),))
    others = general(table).array.copy()
    others["traits"] |= 2
    pair = (find_deck("hearthsim-basic"),) * 2
    records, rules = deck_records(pair, table), find_ruleset("thesis").array
    assert first_difference(table.array, others, records, rules, np.uint64(1)) >= 0


def test_a_text_that_says_so_is_a_game_with_effects() -> None:
    text = "turn 3 first cap 100{} | hero 30 mana 3/3 board [2/3{} ready] | hero 30 mana 0/2 board [1/1]"
    frozen = parse_position(text.format(f" effects {EFFECTS_VERSION}", " is frozen"))
    assert frozen.table.effects
    assert [str(action) for action in frozen.legal_actions()] == ["end turn"]
    free = parse_position(text.format("", ""))
    assert not free.table.effects
    assert parse_position(str(frozen), free.table).table.effects
    assert len(free.legal_actions()) == 3
