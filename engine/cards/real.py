"""Real cards: what does all its text says, by edition of the game.

Numbers come from the edition's own table, what a card does from `engine/data/effects.csv`. The newest edition
has real cards where text and numbers are those of a card of edition 2018-07 (`tools.card_tables`).
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any

from engine.cards import Card, OtherCard, catalogue, other_card
from engine.effect_codes import BREWED, CardKind, Need, Op, Race, Trait
from engine.effects.rows import effect_rows, potions
from engine.errors import CardError, unknown_name
from engine.minion import MinionSpec, keyword_flags
from engine.shipped import EDITION_NAMES

EDITIONS = OLD_EDITION, NEWEST_EDITION = EDITION_NAMES
"""The editions by name."""

HERO_CARD = "hero"
"""What `OtherCard.kind` says of heroes."""

MEANT = ("CS2_tk1", "EX1_598", "OG_249a")
"""Cards that a name alone has meant since before others of that name and body were covered."""

_KINDS = {
    "MINION": CardKind.MINION,
    "SPELL": CardKind.SPELL,
    "WEAPON": CardKind.WEAPON,
    "HERO_POWER": CardKind.POWER,
}


@dataclass(frozen=True, slots=True)
class HeroClass:
    """A class of heroes.

    Attributes:
        name: "mage".
        hero: number of its first hero in deck codes.
        power: its hero power.
    """

    name: str
    hero: int
    power: Card


class Edition:
    """The cards of an edition, as they are played where a deck has a class.

    Attributes:
        name: of the edition.
        by_id: every card with what it does, exactly or as a body; cards that others create, too.
        collectible: ids of those that decks are made of.
        bodies: minions of which no more is known than cost, body and keywords, by id.
        others: collectible cards that cannot be played at all, by their number in deck codes.
    """

    def __init__(
        self,
        name: str,
        cards: Iterable[Card],
        collectible: Iterable[str],
        bodies: Iterable[Card] = (),
        others: Iterable[OtherCard] = (),
    ) -> None:
        self.name = name
        self.by_id: Mapping[str, Card] = {card.id: card for card in cards}
        self.collectible = frozenset(collectible)
        self.bodies: Mapping[str, Card] = {card.id: card for card in bodies}
        self.others: Mapping[int, OtherCard] = {card.dbf_id: card for card in others}

    @cached_property
    def by_dbf_id(self) -> dict[int, Card]:
        """Cards that decks are made of, bodies too, by their number in deck codes."""
        found = {card.dbf_id: card for card in self.bodies.values()}
        return found | {self.by_id[name].dbf_id: self.by_id[name] for name in self.collectible}

    @property
    def size(self) -> int:
        """How many collectible cards it has, heroes not counted."""
        n_others = sum(card.kind != HERO_CARD for card in self.others.values())
        return len(self.collectible) + len(self.bodies) + n_others

    def for_deck(self, id_or_name: str) -> Card:
        """The card with this id or name (case ignored) that decks of this edition may hold, bodies too.

        Raises:
            UnknownNameError: no card has it; the message lists the nearest names.
            CardError: it cannot be played at all, or is of another edition.
        """
        if id_or_name in self.collectible:
            return self.by_id[id_or_name]
        folded = id_or_name.casefold()
        named = self.by_name.get(folded, [])
        if named and named[0].id in self.collectible:
            return named[0]
        for card in self.bodies.values():
            if id_or_name == card.id or folded == card.name.casefold():
                return card
        for other in self.others.values():
            if id_or_name == other.id or folded == other.name.casefold():
                raise CardError(f"{other.name} is a {other.kind} that edition {self.name} does not cover")
        found = self.find(id_or_name)
        raise CardError(f"{found.name} [{found.id}] is no card of decks of edition {self.name}")

    @cached_property
    def by_name(self) -> dict[str, list[Card]]:
        """All cards by folded name, collectible ones first."""
        found: dict[str, list[Card]] = {}
        for card in sorted(self.by_id.values(), key=self._order):
            found.setdefault(card.name.casefold(), []).append(card)
        return found

    def _order(self, card: Card) -> tuple[bool, bool, str]:
        return card.id not in self.collectible, card.id not in MEANT, card.id

    def find(self, id_or_name: str) -> Card:
        """The card with this id, or the first of this name (case ignored), collectible ones first.

        Raises:
            UnknownNameError: no card has it; the message lists the nearest names.
        """
        if id_or_name in self.by_id:
            return self.by_id[id_or_name]
        named = self.by_name.get(id_or_name.casefold())
        if named is None:
            ids = self.by_id if "_" in id_or_name else ()
            names = [cards[0].name for cards in self.by_name.values()]
            raise unknown_name(f"card of edition {self.name}", id_or_name, [*names, *ids])
        return named[0]

    def exact(self) -> Iterator[Card]:
        """The collectible cards that are played exactly."""
        return (self.by_id[name] for name in sorted(self.collectible) if self.by_id[name].exact)


def edition(name: str = OLD_EDITION) -> Edition:
    """An edition's cards, read once.

    Raises:
        UnknownNameError: there is no such edition.
    """
    if name not in EDITIONS:
        raise unknown_name("edition", name, EDITIONS)
    return _edition(name)


@lru_cache(maxsize=len(EDITIONS))
def _edition(name: str) -> Edition:
    """An edition by its name, which a cache tells from the default: `edition()` is the same object."""
    if name == OLD_EDITION:
        every = _rows(f"{OLD_EDITION}.csv")
        rows = [row for row in every if row["type"] in _KINDS]
        heroes = [row for row in every if row["type"] == "HERO" and row["set"] != "BASIC"]
        collectible = [row["id"] for row in rows if row["collectible"] == "true"]
        others = [other_card(row | {"type": HERO_CARD}) for row in heroes]
        cards = {row["id"]: _card(row) for row in rows}
        return Edition(name, [*cards.values(), *_brewed(cards)], collectible, others=others)
    old = edition(OLD_EDITION)
    found = []
    for row in [*_rows("same.csv"), *_rows("vanilla.csv")]:
        like = old.by_id[row["like"]]
        today = catalogue().by_id.get(row["id"])
        other = catalogue().others_by_id.get(row["id"])
        if today is not None:
            spec = replace(
                like.spec, attack=today.spec.attack, health=today.spec.health, cost=today.spec.cost
            )
            found.append(
                replace(
                    like,
                    id=today.id,
                    dbf_id=today.dbf_id,
                    spec=spec,
                    card_set=today.card_set,
                    rarity=today.rarity,
                )
            )
        elif other is not None:
            found.append(replace(like, id=other.id, dbf_id=other.dbf_id, card_set=other.card_set))
    listed = {card.id for card in found}
    bodies = [replace(card, exact=False) for card in catalogue().by_id.values() if card.id not in listed]
    others = [card for card in catalogue().others_by_id.values() if card.id not in listed]
    return Edition(name, [*old.by_id.values(), *found], listed, bodies, others)


@lru_cache(maxsize=1)
def hero_classes() -> Mapping[str, HeroClass]:
    """The nine classes by name, in the order of the alphabet."""
    old = edition(OLD_EDITION)
    heroes = [row for row in _rows(f"{OLD_EDITION}.csv") if row["type"] == "HERO" and row["set"] == "BASIC"]
    found = {
        row["class"].lower(): HeroClass(row["class"].lower(), int(row["dbf_id"]), old.by_id[row["power"]])
        for row in heroes
    }
    return dict(sorted(found.items()))


@lru_cache(maxsize=1)
def class_of_hero() -> Mapping[int, str]:
    """The class of every hero of decks by its number in deck codes: "mage", "demon hunter"."""
    return {int(row["dbf_id"]): row["class"].lower().replace("_", " ") for row in _rows("heroes.csv")}


def find_class(name: str) -> HeroClass:
    """A class of heroes by its name (case ignored).

    Raises:
        UnknownNameError: there is no such class here.
    """
    found = hero_classes().get(name.casefold())
    if found is None:
        raise unknown_name("class", name, hero_classes())
    return found


def token(card_id: str) -> Card:
    """A card that effects create.

    Raises:
        CardError: it cannot be played exactly.
    """
    card = edition(OLD_EDITION).by_id[card_id]
    if not card.exact:
        raise CardError(f"{card.name} [{card.id}] is created by effects and not played exactly")
    return card


@lru_cache(maxsize=4096)
def find_real(name: str, spec: MinionSpec) -> Card:
    """The real card that a position names, with the numbers that it gives.

    Args:
        name: an id or a name. Of several cards of a name it is the first with these numbers, else the first.
        spec: the numbers and keywords it has there.

    Raises:
        UnknownNameError: there is no such card.
    """
    old = edition(OLD_EDITION)
    newest = edition(NEWEST_EDITION).by_id
    found = newest[name] if name in newest else old.find(name)
    if name not in newest:
        alike = [
            card for card in old.by_name[name.casefold()] if card.spec == replace(spec, value=card.spec.value)
        ]
        found = alike[0] if alike else found
    return replace(found, spec=spec, exact=found.exact)


def _brewed(cards: Mapping[str, Card]) -> Iterator[Card]:
    """Potions with two effects each: what Kazakus makes."""
    for card in cards.values():
        for row in card.effects:
            if row.op != Op.BREW:
                continue
            listed = row.cards[: len(BREWED) + sum(BREWED)]
            for name in potions(listed):
                one, other = (cards[half] for half in _halves(name, listed))
                yield replace(
                    one,
                    id=name,
                    name="Kazakus Potion",
                    dbf_id=0,
                    needs=0,
                    exact=one.exact and other.exact,
                    effects=one.effects + other.effects,
                )


def _halves(name: str, listed: Sequence[str]) -> tuple[str, str]:
    """The ids of the two effects of a potion."""
    one = next(half for half in listed if name.startswith(f"{half}_"))
    return one, name.removeprefix(f"{one}_")


def _rows(name: str) -> list[dict[str, str]]:
    path = resources.files("engine") / "data" / "editions" / name
    with path.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _card(row: dict[str, str]) -> Card:
    """A real card of a row of the edition's table; where its text is not covered, without effects."""
    kind = _KINDS[row["type"]]
    has_body = kind in (CardKind.MINION, CardKind.WEAPON)
    numbers: dict[str, Any] = {
        "attack": int(row["attack"]) if has_body else 0,
        "health": max(int(row["health"]), 1) if has_body else 1,
        "cost": int(row["cost"]),
    }
    effects = effect_rows().get(row["id"], ())
    return Card(
        id=row["id"],
        name=row["name"],
        spec=MinionSpec(**numbers, **keyword_flags(row["keywords"].split())),
        dbf_id=int(row["dbf_id"]),
        card_class=row["class"],
        rarity=row["rarity"],
        card_set=row["set"],
        exact=row["plain"] == "true" or bool(effects),
        real=True,
        kind=kind,
        race=Race[row["race"].upper()] if row["race"] else Race.NONE,
        traits=sum(Trait[word.upper()] for word in row["traits"].split()),
        spell_damage=int(row["spell_damage"]),
        overload=int(row["overload"]),
        needs=sum(Need[word.upper()] for word in row["needs"].split()),
        effects=effects,
    )
