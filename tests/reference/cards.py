"""What real cards are and do, in words: numbers from the game's card table, rows from effects.csv itself."""

import csv
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import engine
from engine.effect_codes import CardFilter, HeroClassCode, Need, Trait
from tests.reference.choices import GANGS
from tests.reference.plain import KEYWORDS

EFFECTS = Path(engine.__file__).parent / "data" / "effects.csv"
CREATING = {
    "summon",
    "transform",
    "equip",
    "add",
    "grant_effects",
    "shuffle",
    "power",
    "jade",
    "choose_one",
    "discover",
    "choose_power",
    "create_potion",
    "decoy",
}


def argued(word):
    """A word and what stands behind its colon: a number, another word, or nothing."""
    name, _, arg = word.partition(":")
    return name, int(arg or 0) if arg.isdecimal() or not arg else arg


TESTS = {
    "race": lambda card, arg: card["race"] in (arg, "all"),
    "cost": lambda card, arg: card["cost"] == arg,
    "cost_at_most": lambda card, arg: card["cost"] <= arg,
    "cost_at_least": lambda card, arg: card["cost"] >= arg,
    "attack_at_most": lambda card, arg: card["attack"] <= arg,
    "attack_at_least": lambda card, arg: card["attack"] >= arg,
    "attack": lambda card, arg: card["attack"] == arg,
    "health": lambda card, arg: card["health"] == arg,
    "keyword": lambda card, arg: arg in card["keywords"],
    "overload": lambda card, _: card["overload"] > 0,
    "spell_damage": lambda card, _: card["spell damage"] > 0,
    "legendary": lambda card, _: card["rarity"] == "LEGENDARY",
    "deathrattle": lambda card, _: (
        card["kind"] in ("minion", "weapon") and any(row.trigger == "deathrattle" for row in card["rows"])
    ),
    "combo": lambda card, _: any(row.condition == "combo" for row in card["rows"] if row.trigger == "play"),
    "battlecry": lambda card, _: (
        card["kind"] in ("minion", "weapon")
        and any(
            row.trigger == "play" and row.op != "choose_one" and (row.unless or row.condition != "combo")
            for row in card["rows"]
        )
    ),
    "secret": lambda card, _: card["secret"],
    "class": lambda card, arg: card["class"] == arg,
    "gang": lambda card, arg: card["class"] in GANGS[arg],
    "any_class": lambda card, _: card["class"] != "neutral",
    "own_class": lambda card, _: True,  # the game knows whose
    "enemy_class": lambda card, _: True,
}
"""Whether a card passes a test, by the test's word."""


class Asked:
    """Words that say which event or which cards: sides, kinds and tests with what they compare with."""

    KINDS: ClassVar = {
        "minions": "minion",
        "spells": "spell",
        "weapons": "weapon",
        "heroes": "hero",
        "powers": "power",
    }

    def __init__(self, text):
        words = text.split()
        self.text = text
        self.sides = {word for word in words if word in ("own", "enemy")} or {"own"}
        self.itself, self.others = "self" in words, "others" in words
        self.kinds = {kind for word, kind in self.KINDS.items() if word in words}
        plain = {"own", "enemy", "self", "others", *self.KINDS}
        self.tests = dict(argued(word) for word in words if word not in plain)

    def passes(self, card):
        """Whether a card is of the kinds and passes the tests."""
        if card is None:
            return not self.kinds and not self.tests
        if self.kinds and card["kind"] not in self.kinds:
            return False
        return all(TESTS[word](card, arg) for word, arg in self.tests.items())


class Row:
    """One row of effects.csv, in its words."""

    def __init__(self, line):
        self.trigger = line["trigger"] or "play"
        self.op, self.pick, self.until = line["op"], line["pick"], line["until"]
        self.unless = line["condition"].startswith("not ")
        self.condition, self.condition_arg = argued(line["condition"].removeprefix("not "))
        self.count, self.count_arg = argued(line["count"])
        self.on, self.of = Asked(line["on"]), Asked(line["of"])
        self.side, self.kind, self.filter = (set(line[name].split()) for name in ("side", "kind", "filter"))
        self.keywords = set(line["keywords"].split())
        self.arg = line["arg"]
        self.times = int(line["times"] or 1)
        self.traits = set()
        if self.op in ("trait", "rule"):
            self.traits, self.amount = set(line["amount"].split()), 0
        else:
            self.amount = int(line["amount"] or 0)
        self.amount2 = int(line["amount2"] or 0)
        self.card = tuple(line["card"].split())
        if self.op == "create_potion":
            left = iter(self.card[3:])
            for n in (9, 10, 10):
                of_cost = [next(left) for _ in range(n)]
                self.card += tuple(
                    f"{a}_{b}" for place, a in enumerate(of_cost) for b in of_cost[place + 1 :]
                )
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


def rows_of(name):
    """The rows of a card; a brewed potion has those of both its effects."""
    if name in rows_by_id() or not name.startswith("CFM_621t"):
        return list(rows_by_id().get(name, ()))
    parts = name.split("_")
    return [row for half in ("_".join(parts[:2]), "_".join(parts[2:])) for row in rows_by_id().get(half, ())]


PATCHES = {
    "damage": ("damage", "amount"),
    "heal": ("heal", "amount"),
    "armour": ("armour", "amount"),
    "draw": ("draw", "amount"),
    "gives_attack": ("buff", "amount"),
    "gives_health": ("buff", "amount2"),
    "summons": ("summon", "times"),
}
"""Operation and column of the numbers that patches change here, by name."""


def patched_rows(name, changed):
    """The rows of a card with a patch's changes: "damage=7", or "damage2=1" for the second such row."""
    printed, rows = rows_of(name), rows_of(name)
    for word in changed.split():
        number, value = word.split("=")
        kind = number.rstrip("0123456789")
        op, column = PATCHES[kind]
        alike = [
            place
            for place, row in enumerate(printed)
            if row.op == op and (op != "buff" or getattr(row, column))
        ]
        place = alike[int(number[len(kind) :] or 1) - 1]
        other = object.__new__(Row)
        other.__dict__.update(rows[place].__dict__, **{column: int(value)})
        rows[place] = other
    return rows


@lru_cache(maxsize=64)
def real_cards_of(table, dealt):
    """The reference's cards from an engine card table.

    Args:
        table: engine.cards.table.CardTable.
        dealt: how many of its first cards are of decks and hero powers; the others are created by effects.
    """
    first_of = {}
    for number, card in enumerate(table.cards):
        first_of.setdefault(card.key, number)
    cards = [
        {
            "number": first_of[card.key],
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
            "options": [],
            "rarity": card.rarity,
            "class": card.card_class.lower() if card.card_class in HeroClassCode.__members__ else "neutral",
            "pooled": bool(row["tags"] & CardFilter.POOLED),
            "secret": card.kind.name == "SPELL"
            and bool(rows_by_id().get(card.id, ()))
            and not any(row.trigger in ("play", "cost") for row in rows_by_id().get(card.id, ())),
            "rows": patched_rows(card.id, card.changed) if card.real else [],
        }
        for number, (card, row) in enumerate(zip(table.cards, table.array, strict=True))
    ]
    # Cards that effects create come after those the game is made of, in the order in which they are named;
    # each pool has its own numbers. Those of which random ones are drawn follow by id, each once.
    numbers, fitting_of = {}, {}
    for number, card in enumerate(table.cards[:dealt]):
        if card.real:
            numbers.setdefault((card.id,), number)
    free, there = dealt, set()
    for card in cards:
        for place, row in enumerate(card["rows"]):
            if row.op not in CREATING or row.card in (("self",), ("event",)):
                continue
            if not row.card:
                of = row.of.text
                if of not in fitting_of:
                    fitting_of[of] = sorted(
                        other["id"] for other in cards if other["pooled"] and row.of.passes(other)
                    )
                there |= {card["id"] for card in cards[:free] if card["pooled"]}
                for name in fitting_of[of]:
                    if name not in there:
                        there.add(name)
                        numbers.setdefault((name,), free)
                        assert cards[free]["id"] == name
                        free += 1
                continue
            if row.card not in numbers:
                numbers[row.card] = free
                free += len(row.card)
            first = numbers[row.card]
            made = list(range(first, first + len(row.card)))
            assert [cards[number]["id"] for number in made] == list(row.card)
            made = [first_of[table.cards[number].key] for number in made]
            card["rows"][place] = row.numbered(made)
            if row.op == "choose_one":
                card["options"] = made
    assert free == len(cards)
    return cards


@lru_cache(maxsize=4)
def cards_alone(table):
    """The cards of a table of which it is not said how many are dealt: all but those that the others create."""
    for dealt in range(1, len(table.cards) + 1):
        try:
            return real_cards_of(table, dealt)
        except (AssertionError, IndexError):
            continue
    raise AssertionError("a table holds what its cards create")
