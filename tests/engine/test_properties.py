"""What must hold in every game, on games that hypothesis makes up."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Action, IllegalActionError, Outcome, Position, deal, parse_action, parse_position, rulesets
from engine.codes import BOARD_SIZE, HAND_SIZE, HERO, MAX_MANA, ActionKind, Death
from engine.position import empty_state
from engine.rules import decode, encode
from tests.engine.test_differential import DECKS

games = st.tuples(
    st.sampled_from(range(len(DECKS))),
    st.sampled_from(range(len(DECKS))),
    st.sampled_from(sorted(rulesets())),
    st.integers(0, 2**64 - 1),
)
every_action = [
    Action(kind, source, target) for kind in ActionKind for source in range(12) for target in range(HERO + 2)
]


def play_through(game: tuple[int, int, str, int], most: int = 400):
    """The positions of a random game, each before its next action."""
    first, second, ruleset, seed = game
    position = deal((DECKS[first], DECKS[second]), seed, ruleset=ruleset)
    pick = np.random.default_rng(seed)
    for _ in range(most):
        yield position
        actions = position.legal_actions()
        if not actions:
            return
        # End the turn by choice only one time in five, so that boards and hands fill up.
        last = len(actions) if len(actions) == 1 or pick.random() < 0.2 else len(actions) - 1
        position.play(actions[int(pick.integers(last))])


@given(games)
def test_numbers_stay_in_bounds(game) -> None:
    for position in play_through(game):
        state = position.state
        for side in state["sides"]:
            assert side["health"] <= 30
            assert 0 <= side["mana"] <= MAX_MANA
            assert 0 <= side["crystals"] <= MAX_MANA
            assert 0 <= side["n_board"] <= BOARD_SIZE
            assert 0 <= side["n_hand"] <= HAND_SIZE
            assert side["armour"] >= 0
            for minion in side["board"][: side["n_board"]]:
                assert minion["health"] >= 1
                assert 0 <= minion["attacks_left"] <= 2
        assert 1 <= state["turn"] <= state["turn_cap"] + 1
        if position.outcome == Outcome.ONGOING:
            assert all(side["health"] > 0 for side in state["sides"])


@given(games)
def test_unused_places_are_zero(game) -> None:
    """Equal positions are equal bytes: nothing lingers behind the counts."""
    for position in play_through(game):
        for side in position.state["sides"]:
            assert not side["board"][side["n_board"] :].tobytes().strip(b"\0")
            assert not side["hand"][side["n_hand"] :].any()
            assert not side["deck"][side["n_deck"] :].any()


@given(games)
def test_cards_are_conserved(game) -> None:
    """Hand, deck and board shrink only by the counted deaths and burned cards, and by The Coin."""
    first, second, ruleset, _ = game
    coins = (0, int(rulesets()[ruleset].coin))
    for position in play_through(game):
        for side, coin in zip(position.state["sides"], coins, strict=True):
            coin_left = int(np.count_nonzero(side["hand"][: side["n_hand"]] == -1))
            cards = side["n_hand"] - coin_left + side["n_deck"] + side["n_board"]
            assert cards + side["died"] + side["burned"] == 30
            assert coin_left <= coin
    decks = DECKS[first], DECKS[second]
    for deck, side in zip(decks, position.state["sides"], strict=True):
        if not deck.random:
            seen = [*side["hand"][: side["n_hand"]], *side["deck"][: side["n_deck"]]]
            seen += [minion["card"] for minion in side["board"][: side["n_board"]]]
            left = Counter(position.table.cards[c] for c in seen if c >= 0)
            assert not left - Counter(deck.cards), "a card appeared that the deck does not hold"


@given(games)
def test_text_round_trip_is_exact(game) -> None:
    for position in play_through(game, most=60):
        text = str(position)
        again = parse_position(text, position.table)
        assert again.state.tobytes() == position.state.tobytes()
        assert str(parse_position(text)) == text
        for action in position.legal_actions():
            assert parse_action(str(action)) == parse_action(position.describe(action)) == action


@settings(max_examples=10)
@given(games)
def test_exactly_the_legal_actions_are_accepted(game) -> None:
    for step, position in enumerate(play_through(game)):
        if step not in (0, 10, 40):
            continue
        legal = set(position.legal_actions())
        assert len(legal) == len(position.legal_actions())
        for action in every_action:
            before = position.state.tobytes()
            trial = position.copy()
            if action in legal:
                deaths = trial.play(action)
                assert trial.state.tobytes() != before
                own, other = position.active, 1 - position.active
                died = trial.state["sides"]["died"] - position.state["sides"]["died"]
                assert died[own] == bool(deaths & Death.ATTACKER)
                assert died[other] == bool(deaths & Death.DEFENDER)
            else:
                with pytest.raises(IllegalActionError) as caught:
                    trial.play(action)
                assert str(position) in str(caught.value)
                assert trial.state.tobytes() == before
            assert position.state.tobytes() == before, "a copy is independent"


@given(st.sampled_from(list(ActionKind)), st.integers(0, 9), st.integers(0, 7))
def test_action_codes_round_trip(kind: ActionKind, source: int, target: int) -> None:
    assert tuple(decode(encode(kind, source, target))) == (kind, source, target)
    assert Action.from_code(Action(kind, source, target).code) == Action(kind, source, target)


def test_copy_is_independent() -> None:
    position = Position(empty_state(), deal((DECKS[0], DECKS[1]), 1).table)
    other = position.copy()
    other.state["turn"] = 9
    assert position.state["turn"] == 0
