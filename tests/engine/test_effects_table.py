"""Every exact card by a table of positions, actions and all that may follow, with exact probabilities.

`tests/data/effects_table.csv` was drafted with `tests.reference.outcomes`, not with the kernels, and read line by line
against the cards' texts. An empty cell is as in the line above; `illegal` is an action that is not allowed.
"""

import csv
from collections import defaultdict
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import pytest

from engine import parse_action, parse_position
from engine.cards.real import edition
from engine.effects.luck import Chance
from engine.effects.rows import effect_rows
from engine.errors import IllegalActionError
from engine.movetrees import outcomes_of

TABLE = Path(__file__).parents[1] / "data" / "effects_table.csv"
COLUMNS = ["id", "name", "position", "action", "probability", "after"]
ILLEGAL = "illegal"


@lru_cache(maxsize=1)
def table() -> dict[str, dict[tuple[str, str], dict[str, Fraction]]]:
    """What may follow, with its probability, by card and by position and action."""
    with TABLE.open(encoding="utf-8", newline="") as lines:
        reader = csv.reader(lines)
        assert next(reader) == COLUMNS
        found: dict[str, dict[tuple[str, str], dict[str, Fraction]]] = defaultdict(dict)
        card, key = "", ("", "")
        for name, _, position, action, probability, after in reader:
            if action:
                card, key = name or card, (position or key[0], action)
                assert key not in found[card], key
                found[card][key] = {}
            assert after not in found[card][key], after
            found[card][key][after] = Fraction(probability)
    return found


def problems(position: str, action: str, wanted: dict[str, Fraction]) -> list[str]:
    """Where the kernels do not do what a row of the table says."""
    start = parse_position(position)
    parsed = parse_action(action)
    if parsed not in start.legal_actions():
        with pytest.raises(IllegalActionError):
            start.copy().play(parsed, Chance.given())
        return [] if wanted == {ILLEGAL: 0} else [f"{action} is illegal in {position}"]
    found: dict[str, Fraction] = defaultdict(Fraction)
    before = start.state.tobytes()
    for share, after in outcomes_of(start, parsed):
        found[str(after)] += share
    assert start.state.tobytes() == before
    both = found.keys() | wanted.keys()
    return [
        f"{action} in {position}: probability {found.get(after, 0)}, {wanted.get(after, 0)} in the table, of {after}"
        for after in sorted(both)
        if found.get(after, 0) != wanted.get(after, 0)
    ]


def test_every_card_with_effects_is_in_the_table() -> None:
    missing = [f"{edition().by_id[card].name} [{card}]" for card in effect_rows() if card not in table()]
    assert not missing, f"not in {TABLE.name}: {', '.join(missing)}"
    assert list(table()) == list(effect_rows()), "the table is sorted by id and has no other cards"


def test_probabilities_sum_to_1() -> None:
    for card, rows in table().items():
        for key, outcomes in rows.items():
            assert sum(outcomes.values()) == (0 if ILLEGAL in outcomes else 1), (card, key)


def test_names_are_those_of_the_cards() -> None:
    with TABLE.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            assert row["name"] == (edition().by_id[row["id"]].name if row["id"] else "")


@pytest.mark.parametrize("card", list(effect_rows()))
def test_a_card_does_what_the_table_says(card: str) -> None:
    found = [line for key, wanted in table()[card].items() for line in problems(*key, wanted)]
    assert not found, "\n".join(found)
