"""Card values: a position is worth what its cards are worth by a plain reading; files name what is wrong."""

from pathlib import Path

import numpy as np
import pytest

from engine import find_deck
from engine.cards.table import CardTable
from engine.codes import COIN, UNKNOWN
from engine.decks import cached_card_table
from engine.match import card_id_or_name
from engine.state import STATE
from ilp_agent import Profile, Weights, read_profile
from ilp_agent.card_values import CardValues, read_card_values
from ilp_agent.features import N_FEATURES
from ilp_agent.lookahead.evaluation import LOST, WON, linear_value
from ilp_agent.lookahead.weights import CARD_PART, kernel_rows
from ilp_agent.profiles import ProfileError
from rivals import find_agent_profile, read_agent_profile

LEARNED = find_agent_profile("lookahead", "learned").weights
VALUES = CardValues((("CS2_029", 0.25), ("CS2_182", -1.5)), (("CS2_106", 4.0), ("CS2_182", 2.5)))
CARDS = ("basic-mage", "basic-warrior")


def made_position() -> tuple[np.ndarray, CardTable]:
    """A position with known and hidden cards, The Coin, minions on both sides, and an enemy weapon."""
    table, _ = cached_card_table(tuple(map(find_deck, CARDS)))
    number = {card_id_or_name(card): place for place, card in enumerate(table.cards)}
    state = np.zeros(1, STATE)
    state["turn"], state["turn_cap"] = 5, 50
    for seat, hand, board in (
        (0, [number["CS2_029"], UNKNOWN, COIN, number["CS2_029"], number["CS2_182"]], ["CS2_182"]),
        (1, [UNKNOWN, UNKNOWN, number["CS2_029"]], ["CS2_182", "CS2_182", "CS2_179"]),
    ):
        side = state[0]["sides"][seat]
        side["health"] = side["max_health"] = 30
        side["n_hand"], side["n_board"] = len(hand), len(board)
        side["hand"][: len(hand)] = hand
        for slot, card in enumerate(board):
            minion = side["board"][slot]
            minion["card"], minion["attack"], minion["health"] = number[card], 4, 5
    side["weapon"], side["weapon_attack"], side["durability"] = number["CS2_106"], 3, 2
    return state, table


def row_of(*card_values: float) -> np.ndarray:
    return kernel_rows(np.array([[*LEARNED.full_array, 8, 2, 1, 0, *card_values]]))[0]


def value(state: np.ndarray, table: CardTable, seat: int, row: np.ndarray, room: int = 0) -> np.ndarray:
    features = np.full(N_FEATURES + room, 7.0)
    return np.array([linear_value(state[0], table.array, seat, row, features), *features])


def test_a_position_is_worth_its_features_and_cards() -> None:
    state, table = made_position()
    ids = list(map(card_id_or_name, table.cards))
    with_values = row_of(*VALUES.by_number(ids))
    assert len(with_values) == CARD_PART.start + 2 * len(ids)
    for seat, cards in (
        # Two Fireballs and a Yeti in hand; a Yeti against two, and against Fiery War Axe.
        (0, 2 * 0.25 - 1.5 + 2.5 - 2 * 2.5 - 4.0),
        (1, 0.25 + 2 * 2.5 - 2.5 + 4.0),
    ):
        plain, own = value(state, table, seat, row_of()), value(state, table, seat, with_values)
        assert own[0] - plain[0] == pytest.approx(cards, abs=1e-9)
        assert own[1:].tolist() == plain[1:].tolist(), "the features are the same"
    for seat, worth in ((0, LOST), (1, WON)):
        state[0]["sides"][0]["health"] = 0
        assert value(state, table, seat, with_values)[0] == worth


def test_cards_are_counted_where_there_is_room() -> None:
    state, table = made_position()
    ids = list(map(card_id_or_name, table.cards))
    n = len(ids)
    counts = value(state, table, 0, row_of(*np.zeros(2 * n)), 2 * n)[1 + N_FEATURES :]
    found = {(ids[c % n], "hand" if c < n else "board"): counts[c] for c in np.flatnonzero(counts)}
    assert found == {
        ("CS2_029", "hand"): 2,
        ("CS2_182", "hand"): 1,
        ("CS2_182", "board"): -1,
        ("CS2_179", "board"): -1,
        ("CS2_106", "board"): -1,
    }


def test_sums_do_not_depend_on_the_order_of_cards() -> None:
    """Else equal positions would differ in the last digits, and tables of other decks choose otherwise."""
    state, table = made_position()
    ids = list(map(card_id_or_name, table.cards))
    values = CardValues((("CS2_029", 0.1), ("CS2_182", 0.2), ("EX1_277", 0.7)))
    row, side, found = row_of(*values.by_number(ids)), state[0]["sides"][0], set()
    hand = [ids.index(card) for card in ("CS2_029", "CS2_182", "EX1_277", "CS2_029", "CS2_182")]
    for turned in range(5):
        side["hand"][:5] = hand[turned:] + hand[:turned]
        found.add(value(state, table, 0, row)[0])
    assert len(found) == 1


def test_a_profile_reads_back_and_names_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = Profile("mine", LEARNED, card_values=VALUES).to_toml()
    file.write_text(text)
    assert "[card_values.hand]\nCS2_029 = 0.25\n" in text
    assert read_agent_profile(file) == Profile("mine", LEARNED, card_values=VALUES)
    assert read_agent_profile(file).to_toml() == text
    assert "card_values" not in Profile("mine", LEARNED).to_toml()
    for old, new, told in (
        (
            "CS2_029 = 0.25",
            "CS2_029 = nan",
            r"card_values\.hand\.CS2_029 must be a finite number, .* got nan",
        ),
        (
            "CS2_029 = 0.25",
            'CS2_029 = "a"',
            r"card_values\.hand\.CS2_029 must be a finite number, .* got 'a'",
        ),
        ("CS2_029 = 0.25", f"CS2_029 = 1{'0' * 400}", r"CS2_029 must be a finite number, at most 1e\+100"),
        ("CS2_029 = 0.25", "CS2_029 = true", r"CS2_029 must be a finite number, .* got True"),
        ("[card_values.hand]", "[card_values.hnad]", r"card_values\.hnad: unknown key 'hnad'"),
        ("[card_values.hand]\nCS2_029 = 0.25\nCS2_182 = -1.5", "card_values.hand = 3", "got 3"),
    ):
        assert old in text
        start, end = ("schema", f"{new}\nschema") if " = 3" in new else ("", "")
        changed = text.replace(old, "").replace(start, end, 1) if start else text.replace(old, new)
        file.write_text(changed)
        with pytest.raises(ProfileError, match=told):
            read_agent_profile(file)


def test_other_agents_take_no_card_values(tmp_path: Path) -> None:
    file, weights = tmp_path / "ilp.toml", Weights(*([1.0] * len(Weights.names())))
    file.write_text(Profile("ilp", weights, card_values=VALUES).to_toml())
    with pytest.raises(ProfileError, match="agent ilp takes no card values; lookahead does"):
        read_profile(file)


def test_values_of_unknown_cards_have_no_effect() -> None:
    values = read_card_values({"hand": {"NO_SUCH": 3, "CS2_029": 1}})
    assert values.by_number(["CS2_029", "CS2_182"]).tolist() == [1, 0, 0, 0]
    assert not read_card_values({})
    assert not read_card_values({"hand": {}})
    assert read_card_values(values.tables()) == values
