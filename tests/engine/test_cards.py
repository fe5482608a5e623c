"""The catalogue, look-ups, and the numbers a minion may have."""

import dataclasses
import hashlib
import importlib.util

import numpy as np
import pytest

from engine import (
    Card,
    CardError,
    CardTable,
    MinionSpec,
    Position,
    UnknownNameError,
    find_card,
    parse_position,
)
from engine.cards import catalogue
from engine.cards.real import edition
from engine.minion import keyword_flags, keyword_names
from engine.position import empty_state
from tools.card_tables import is_exact


def test_the_card_base_is_the_real_one() -> None:
    cards = catalogue().by_id.values()
    assert 4_500 < len(cards) < 6_000
    assert 200 < sum(card.exact for card in cards) < 500
    assert len(catalogue().by_dbf_id) == len(cards)
    assert all(card.name and card.spec.health >= 1 for card in cards)


@pytest.mark.parametrize(
    ("name", "cost", "attack", "health", "keywords", "exact"),
    [
        ("Bloodfen Raptor", 2, 3, 2, [], True),
        ("Sen'jin Shieldmasta", 4, 3, 5, ["Taunt"], True),
        ("Al'Akir the Windlord", 8, 3, 6, ["Charge", "Taunt", "Windfury", "Divine Shield"], True),
        ("Leeroy Jenkins", 5, 6, 2, ["Charge"], False),
        ("Armorsmith", 2, 1, 4, [], False),
        ("Shieldbearer", 1, 0, 4, ["Taunt"], True),
    ],
)
def test_known_cards(
    name: str, cost: int, attack: int, health: int, keywords: list[str], exact: bool
) -> None:
    card = find_card(name)
    assert (card.spec.cost, card.spec.attack, card.spec.health) == (cost, attack, health)
    assert keyword_names(card.spec.keywords) == keywords
    assert card.exact == exact
    assert ("body and keywords only" in card.describe()) != exact


def test_a_name_is_its_newest_printing_outside_classic_and_an_id_is_itself() -> None:
    assert find_card("Argent Squire").id == "CORE_EX1_008"
    assert find_card("argent squire").id == "CORE_EX1_008"
    assert find_card("EX1_008").card_set == "EXPERT1"
    # Leeroy's Classic printing costs 4.
    assert find_card("VAN_EX1_116").spec.cost == 4
    assert find_card("Leeroy Jenkins").card_set != "VANILLA"
    # A card printed only in the Classic set is still found by name.
    names = {card.name.casefold() for card in catalogue().by_id.values()}
    assert names == set(catalogue().by_name)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("Bloodfen Rapto", "Bloodfen Raptor"),
        ("senjin shieldmaster", "Sen'jin Shieldmasta"),
        ("CS2_17", "CS2_172"),
    ],
)
def test_a_wrong_name_answers_with_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(UnknownNameError, match="unknown card .*nearest: .*") as caught:
        find_card(wrong)
    assert right in str(caught.value)
    assert isinstance(caught.value, LookupError)


def test_nonsense_names_say_so() -> None:
    with pytest.raises(UnknownNameError, match="nothing has a similar name"):
        find_card("qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("attack", -1), ("attack", 1000), ("attack", 1.5), ("attack", True), ("attack", "3"),
        ("health", 0), ("health", -3), ("cost", -1), ("value", float("nan")), ("value", float("inf")),
        ("value", -0.5), ("value", "2"), ("value", 10**400), ("taunt", 1), ("attacks_left", 2), ("attacks_left", -1),
    ],
)  # fmt: skip
def test_bad_numbers_are_refused_with_the_field(field: str, value: object) -> None:
    with pytest.raises(CardError, match=field):
        dataclasses.replace(MinionSpec(2, 3), **{field: value})


def test_windfury_may_have_two_attacks_left() -> None:
    assert MinionSpec(2, 3, windfury=True, attacks_left=2).attacks_left == 2


def test_numpy_numbers_are_taken_and_become_pythons() -> None:
    spec = MinionSpec(np.int64(2), np.int16(3), value=np.float32(0.5), taunt=np.bool(True))
    assert spec == MinionSpec(2, 3, value=0.5, taunt=True)
    assert [type(v) for v in (spec.attack, spec.health, spec.value, spec.taunt)] == [int, int, float, bool]


def test_value_defaults_to_the_cost() -> None:
    assert MinionSpec(2, 3, cost=4).worth == 4
    assert MinionSpec(2, 3, cost=4, value=1.5).worth == 1.5


def test_keyword_flags_refuse_unknown_names() -> None:
    assert keyword_flags(["Divine Shield"])["divine_shield"]
    with pytest.raises(UnknownNameError, match="unknown keyword 'tant'; nearest: taunt"):
        keyword_flags(["tant"])


@pytest.mark.parametrize(
    ("text", "keywords", "exact"),
    [
        ("", [], True),
        ("<b>Taunt</b>\n<b>Divine Shield</b>", ["taunt", "divine_shield"], True),
        ("[x]<b>Charge</b>, <b>Windfury</b>.", ["charge", "windfury"], True),
        ("<b>Charge</b>. <b>Battlecry:</b> Summon two Whelps", ["charge"], False),
        ("Has +1 Attack while damaged.", [], False),
        ("<b>Mega-Windfury</b>", ["windfury"], False),
        ("<b>Rush</b>. Your other minions have <b>Rush</b>.", ["rush"], False),
    ],
)
def test_exact_means_the_text_says_no_more(text: str, keywords: list[str], exact: bool) -> None:
    assert is_exact(text, keywords) == exact


def test_an_altered_card_is_not_exact_unless_only_its_value_changed() -> None:
    squire = find_card("EX1_008")
    assert not squire.altered(keywords=[]).exact
    assert not squire.altered(attack=2).exact
    assert squire.altered(value=3.0).exact
    assert squire.altered(value=3.0).spec.worth == 3


def test_a_card_table_is_read_only_and_in_order() -> None:
    cards = [find_card("War Golem"), find_card("EX1_008")]
    table = CardTable(cards)
    assert [int(row["attack"]) for row in table.array] == [7, 1]
    assert table.number[cards[1].key] == 1
    with pytest.raises(ValueError, match="read-only"):
        table.array["attack"] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        table.array.flags.writeable = True
    for name in ("cards", "array", "number"):
        with pytest.raises(AttributeError):
            setattr(table, name, ())
    with pytest.raises(TypeError):
        table.number[cards[0].key] = 5


@pytest.mark.parametrize(
    "name", ["A; B", "A ] B", "A [B", "A | B", " A", "A  B", "A\tB", "A\n", "1:2/3", "3/2 2/2", "7"]
)
def test_names_that_would_break_a_position_are_refused(name: str) -> None:
    with pytest.raises(CardError, match="name must not"):
        Card("", name, MinionSpec(1, 1))


@pytest.mark.parametrize(
    "name", ["?", "The Coin", "x now 1/1", "x ready", "Minion 3/2", "3 ?", "Model 3000", ""]
)
def test_odd_names_survive_the_round_trip(name: str) -> None:
    table = CardTable([Card("", name, MinionSpec(1, 2, cost=3, taunt=True))])
    state = empty_state()
    state["turn"] = state["turn_cap"] = 1
    side = state["sides"][0]
    side["n_hand"] = side["n_board"] = side["n_deck"] = 1
    minion = side["board"][0]
    minion["attack"], minion["health"], minion["keywords"] = 1, 1, 4
    minion["attacks_left"], minion["arrived"] = 1, 1
    minion["max_health"], minion["entity_id"], state["last_entity_id"] = 2, 1, 1
    position = Position(state, table)
    assert parse_position(str(position), table).state.tobytes() == state.tobytes()


@pytest.mark.heavy
@pytest.mark.skipif(
    importlib.util.find_spec("hearthstone_data") is None, reason="needs the development tools"
)
def test_the_generator_writes_what_is_committed(tmp_path) -> None:
    from importlib import resources

    from tools.card_tables import build_catalogue

    build_catalogue(tmp_path)
    committed = resources.files("engine") / "data"
    for name in ("cards.csv", "other_cards.csv", "SOURCE.md"):
        assert (tmp_path / name).read_text() == (committed / name).read_text(), name


def test_names_that_begin_with_what_was_asked_for_come_first() -> None:
    with pytest.raises(UnknownNameError) as error:
        find_card("Argent")
    nearest = str(error.value).partition("nearest: ")[2].split(", ")
    assert len(nearest) == 5
    assert all(name.startswith("Argent ") for name in nearest)
    with pytest.raises(UnknownNameError, match="nearest: Argent Squire, Lowly Squire"):
        find_card("squire")


def test_identities_in_hashes_are_those_of_the_first_runs() -> None:
    """Folders of runs and tournaments keep hashes of them: no renamed class or member may change one."""
    digest = hashlib.sha256()
    for card in sorted(edition("2018-07").by_id.values(), key=lambda card: card.id):
        digest.update(f"{card.identity}\n".encode())
    assert digest.hexdigest() == "2f482a6de931df6bebaa63b0da5f574f777b8a2b76d62ad3b6fc00be3fb4dd0d"
