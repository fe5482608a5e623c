"""Every exact card by a table of positions, actions and all that may follow, with exact probabilities.

The files of `tests/data/effects_table/`, one for each set, were drafted with `tests.reference.outcomes`, not
with the kernels, and read line by line against the cards' texts. An empty cell is as in the line above;
`illegal` is an action that is not allowed. Where more may follow than is worth listing, some of it is listed,
and the rest is `others`.
"""

import csv
from collections import defaultdict
from fractions import Fraction
from functools import lru_cache
from importlib import resources
from pathlib import Path

import pytest

from engine import parse_action, parse_position
from engine.cards.real import edition
from engine.codes import MAX_MANA, Keyword
from engine.effect_codes import Race, Trait
from engine.effects.chance import Chance
from engine.effects.rows import effect_rows
from engine.errors import IllegalActionError
from engine.formatting import format_card
from engine.perft_counter import chance_successors
from tests.conftest import UNCOMPILED
from tests.reference.outcomes import OTHERS, lines_of

TABLE = Path(__file__).parents[1] / "data" / "effects_table"
FILES = sorted(TABLE.glob("*.csv"))
COLUMNS = ["id", "name", "position", "action", "probability", "after"]
ILLEGAL = "illegal"
EDITIONS = resources.files("engine") / "data" / "editions"


@lru_cache(maxsize=1)
def table() -> dict[str, dict[tuple[str, str], dict[str, Fraction]]]:
    """What may follow, with its probability, by card and by position and action."""
    found: dict[str, dict[tuple[str, str], dict[str, Fraction]]] = defaultdict(dict)
    for file in FILES:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.reader(lines)
            assert next(reader) == COLUMNS
            card, key = "", ("", "")
            for name, _, position, action, probability, after in reader:
                if action:
                    card, key = name or card, (position or key[0], action)
                    assert card.startswith(f"{file.stem}_"), card
                    assert key not in found[card], key
                    found[card][key] = {}
                assert after not in found[card][key], after
                found[card][key][after] = Fraction(probability)
    return found


def problems(position: str, action: str, wanted: dict[str, Fraction]) -> list[str]:
    """Where the kernels do not do what a row of the table says."""
    if UNCOMPILED and OTHERS in wanted:
        return []  # hundreds of outcomes
    start = parse_position(position)
    parsed = parse_action(action)
    if parsed not in start.legal_actions():
        with pytest.raises(IllegalActionError):
            start.copy().play(parsed, Chance.given())
        return [] if wanted == {ILLEGAL: 0} else [f"{action} is illegal in {position}"]
    found: dict[str, Fraction] = defaultdict(Fraction)
    before = start.state.tobytes()
    for share, after in chance_successors(start, parsed):
        found[str(after)] += share
    assert start.state.tobytes() == before
    listed = wanted.keys() - {OTHERS}
    if OTHERS in wanted:
        assert len(found) > len(listed)
        found = {after: found.get(after, Fraction(0)) for after in listed}
    both = found.keys() | listed
    return [
        f"{action} in {position}: probability {found.get(after, 0)}, {wanted.get(after, 0)} in the table, of {after}"
        for after in sorted(both)
        if found.get(after, 0) != wanted.get(after, 0)
    ]


def test_every_card_with_effects_is_in_the_table() -> None:
    missing = [f"{edition().by_id[card].name} [{card}]" for card in effect_rows() if card not in table()]
    assert not missing, f"not in {TABLE.name}: {', '.join(missing)}"
    assert set(table()) == set(effect_rows()), "the table has cards without rows"
    for file in FILES:
        cards = [card for card in table() if card.startswith(f"{file.stem}_")]
        assert cards == sorted(cards), f"{file.name} is sorted by id"


def test_probabilities_sum_to_1() -> None:
    for card, rows in table().items():
        for key, outcomes in rows.items():
            assert sum(outcomes.values()) == (0 if ILLEGAL in outcomes else 1), (card, key)


def test_names_are_those_of_the_cards() -> None:
    for file in FILES:
        with file.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                assert row["name"] == (edition().by_id[row["id"]].name if row["id"] else "")


@pytest.mark.parametrize("card", list(effect_rows()))
def test_a_card_does_what_the_table_says(card: str) -> None:
    found = [line for key, wanted in table()[card].items() for line in problems(*key, wanted)]
    assert not found, "\n".join(found)


def test_the_tool_that_drafts_lines_writes_those_of_the_table() -> None:
    """A sample: every hundredth row, illegal actions too."""
    rows = [(key, wanted) for cards in table().values() for key, wanted in cards.items()]
    for (position, action), wanted in rows[::100]:
        lines = lines_of("", position, action)
        assert lines[0][:4] == ["", "", position, action]
        assert all(line[:4] == [""] * 4 for line in lines[1:])
        found = {line[5]: Fraction(line[4]) for line in lines}
        assert found.keys() == wanted.keys() if OTHERS not in wanted else OTHERS in found
        assert all(found[after] == wanted[after] for after in wanted if OTHERS not in wanted)


def printed() -> list[dict[str, str]]:
    """The exact cards of the edition's table that do nothing but stand there or be held."""
    with (EDITIONS / "2018-07.csv").open(encoding="utf-8", newline="") as lines:
        rows = [
            row for row in csv.DictReader(lines) if row["plain"] == "true" and row["id"] not in effect_rows()
        ]
    return [row for row in rows if row["type"] in ("MINION", "WEAPON")]


@pytest.mark.parametrize("row", printed(), ids=lambda row: row["id"])
def test_a_body_is_played_as_printed(row: dict[str, str]) -> None:
    card = edition().by_id[row["id"]]
    assert card.exact
    position = parse_position(f"turn 10 | hero 30 attacks 1 hand [{format_card(card)}] | hero 30 board [5/5]")
    side = position.state["sides"][0]
    if int(row["cost"]) > MAX_MANA:
        assert len(position.legal_actions()) == 1
        return
    position.play(parse_action("play 0"))
    assert side["mana"] == MAX_MANA - int(row["cost"])
    assert side["overload"] == int(row["overload"])
    if row["type"] == "WEAPON":
        assert (side["weapon_attack"], side["durability"]) == (int(row["attack"]), int(row["health"]))
        swings = 2 if "windfury" in row["keywords"] else 1
        assert [str(action) for action in position.legal_actions()] == [
            "attack hero -> 0",
            "attack hero -> hero",
            "end turn",
        ]
        assert side["hero_attacks_left"] == swings
        return
    minion, keywords = side["board"][0], row["keywords"].split()
    assert minion["attack"] == int(row["attack"])
    assert minion["health"] == minion["max_health"] == int(row["health"])
    assert minion["keywords"] == sum(Keyword[word.upper()] for word in keywords)
    assert minion["traits"] == sum(Trait[word.upper()] for word in row["traits"].split())
    assert minion["race"] == (Race[row["race"].upper()] if row["race"] else 0)
    assert minion["spell_damage"] == int(row["spell_damage"])
    swings = 2 if "windfury" in keywords else 1
    assert minion["attacks_left"] == (swings if {"charge", "rush"} & set(keywords) else 0)
    able = minion["attack"] > 0 and "cant_attack" not in row["traits"]
    heroes = "charge" in keywords and "spares_heroes" not in row["traits"]
    wanted = {"end turn"}
    wanted |= {"attack 0 -> 0"} if able and {"charge", "rush"} & set(keywords) else set()
    wanted |= {"attack 0 -> hero"} if able and heroes else set()
    assert {str(action) for action in position.legal_actions()} == wanted
