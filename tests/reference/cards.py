"""What real cards are and do, in words: numbers from the game's card table, rows from effects.csv itself."""

import csv
from functools import lru_cache
from pathlib import Path

import engine
from engine.vocabulary import Need, Trait
from tests.reference.plain import KEYWORDS

EFFECTS = Path(engine.__file__).parent / "data" / "effects.csv"
CREATING = {"summon", "transform", "equip", "add", "give"}


class Row:
    """One row of effects.csv, in its words."""

    def __init__(self, line):
        self.trigger = line["trigger"] or "play"
        self.op, self.pick, self.until, self.condition = (
            line["op"],
            line["pick"],
            line["until"],
            line["condition"],
        )
        self.side, self.kind, self.filter = (set(line[name].split()) for name in ("side", "kind", "filter"))
        self.keywords = set(line["keywords"].split())
        self.arg = line["arg"]
        self.times = int(line["times"] or 1)
        self.traits = set()
        if self.op == "trait":
            self.traits, self.amount = set(line["amount"].split()), 0
        else:
            self.amount = int(line["amount"] or 0)
        self.amount2 = int(line["amount2"] or 0)
        self.card = tuple(line["card"].split())
        self.side = self.side or {"own"}

    def numbered(self, numbers):
        """This row in a game where the cards it creates have these numbers."""
        other = object.__new__(Row)
        other.__dict__.update(self.__dict__, card=numbers)
        return other


@lru_cache(maxsize=1)
def rows_by_id():
    found = {}
    with EFFECTS.open(encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            found.setdefault(line["id"], []).append(Row(line))
    return found


def real_cards_of(table, dealt):
    """The reference's cards from an engine card table.

    Args:
        table: engine.cards.table.CardTable.
        dealt: how many of its first cards are of decks and hero powers; the others are created by effects.
    """
    cards = [
        {
            "id": card.id,
            "kind": card.kind.name.lower(),
            "cost": card.spec.cost,
            "attack": card.spec.attack,
            "health": card.spec.health,
            "keywords": {name for name in KEYWORDS if getattr(card.spec, name)},
            "race": card.race.name.lower(),
            "traits": {trait.name.lower() for trait in Trait if card.traits & trait},
            "spell damage": card.spell_damage,
            "overload": card.overload,
            "needs": {need.name.lower() for need in Need if card.needs & need},
            "rows": list(rows_by_id().get(card.id, ())) if card.real else [],
        }
        for card in table.cards
    ]
    # Cards that effects create come after those the game is made of, in the order in which they are named;
    # each pool has its own numbers.
    numbers = {}
    for number, card in enumerate(table.cards[:dealt]):
        if card.real:
            numbers.setdefault((card.id,), number)
    free = dealt
    for card in cards:
        for place, row in enumerate(card["rows"]):
            if row.op not in CREATING:
                continue
            if row.card == ("self",):
                continue
            if row.card not in numbers:
                numbers[row.card] = free
                free += len(row.card)
            first = numbers[row.card]
            made = list(range(first, first + len(row.card)))
            assert [cards[number]["id"] for number in made] == list(row.card)
            card["rows"][place] = row.numbered(made)
    assert free == len(cards)
    return cards


def cards_alone(table):
    """The cards of a table of which it is not said how many are dealt: all but those that the others create."""
    for dealt in range(1, len(table.cards) + 1):
        try:
            return real_cards_of(table, dealt)
        except (AssertionError, IndexError):
            continue
    raise AssertionError("a table holds what its cards create")
