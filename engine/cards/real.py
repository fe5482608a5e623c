"""Editions of the real game (2018-07 and newest): their cards, with effects where the full text is covered.

Numbers come from the edition's table, effects from `engine/data/effects.csv`. In the newest edition a card
has effects if its text and numbers match a card of edition 2018-07 (`tools.card_tables`).
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any

from engine.cards import Card, OtherCard, catalogue, other_card
from engine.effect_codes import N_POTION_EFFECTS, CardKind, Need, Op, Race, Trait
from engine.effects.rows import effect_rows, potion_ids
from engine.errors import CardError, UnknownNameError, unknown_name
from engine.minion import MinionSpec, keyword_flags
from engine.shipped import EDITION_NAMES

EDITIONS = OLD_EDITION, NEWEST_EDITION = EDITION_NAMES
"""Names of the editions."""

HERO_CARD = "hero"
"""Value of `OtherCard.kind` for hero cards."""

PREFERRED_IDS = ("CS2_tk1", "EX1_598", "OG_249a")
"""Card ids preferred among cards of equal name and body, so that old files keep their meaning."""

_KINDS = {
    "MINION": CardKind.MINION,
    "SPELL": CardKind.SPELL,
    "WEAPON": CardKind.WEAPON,
    "HERO_POWER": CardKind.POWER,
}


@dataclass(frozen=True, slots=True)
class HeroClass:
    """A hero class with its default hero and hero power.

    Attributes:
        name: "mage".
        hero: deck-code number of its first hero.
        power: its hero power.
    """

    name: str
    hero: int
    power: Card


class Edition:
    """The cards of an edition, as played by decks with a hero class.

    Attributes:
        name: edition name.
        by_id: cards with effects, or as plain minions, by id; includes cards created by effects.
        collectible: ids of the cards allowed in decks.
        bodies: minions with only cost, body and keywords known, by id.
        others: collectible cards that cannot be played, by deck-code number.
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
        """Playable collectible cards, plain minions included, by deck-code number."""
        found = {card.dbf_id: card for card in self.bodies.values()}
        return found | {self.by_id[name].dbf_id: self.by_id[name] for name in self.collectible}

    @property
    def size(self) -> int:
        """Number of collectible cards, heroes excluded."""
        n_others = sum(card.kind != HERO_CARD for card in self.others.values())
        return len(self.collectible) + len(self.bodies) + n_others

    def for_deck(self, id_or_name: str) -> Card:
        """Find a card allowed in decks of this edition by id or name (case ignored); plain minions included.

        Raises:
            UnknownNameError: no such card; the message lists the nearest names.
            CardError: the card cannot be played, or is not allowed in decks of this edition.
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
        raise CardError(
            f"{found.name} [{found.id}] is not collectible in edition {self.name}, so no deck can have it"
        )

    @cached_property
    def by_name(self) -> dict[str, list[Card]]:
        """All cards by casefolded name, collectible ones first."""
        found: dict[str, list[Card]] = {}
        for card in sorted(self.by_id.values(), key=self._order):
            found.setdefault(card.name.casefold(), []).append(card)
        return found

    def _order(self, card: Card) -> tuple[bool, bool, str]:
        return card.id not in self.collectible, card.id not in PREFERRED_IDS, card.id

    def find(self, id_or_name: str) -> Card:
        """Find a card by id, or the first of a name (case ignored), collectible ones first.

        Raises:
            UnknownNameError: no such card; the message lists the nearest names.
        """
        if id_or_name in self.by_id:
            return self.by_id[id_or_name]
        named = self.by_name.get(id_or_name.casefold())
        if named is None:
            for other in map(edition, EDITIONS):
                if known := other.name_of(id_or_name):
                    where = f"edition {self.name}, but in edition {other.name}"
                    raise UnknownNameError(f"{known} is not in {where}")
            ids = self.by_id if "_" in id_or_name else ()
            names = [cards[0].name for cards in self.by_name.values()]
            raise unknown_name(f"card of edition {self.name}", id_or_name, [*names, *ids])
        return named[0]

    def name_of(self, id_or_name: str) -> str:
        """Name of a card of this edition, playable or not, by id or name (case ignored); "" for none."""
        listed = [*self.by_id.values(), *self.bodies.values()]
        names = [(card.id, card.name) for card in listed]
        names += [(other.id, other.name) for other in self.others.values()]
        folded = id_or_name.casefold()
        return next((name for id_, name in names if id_or_name == id_ or folded == name.casefold()), "")

    def printed(self, card: Card) -> Card:
        """The card as this edition has it, found by id; the card itself if it has none."""
        return self.by_id.get(card.id) or self.bodies.get(card.id) or card

    def exact(self) -> Iterator[Card]:
        """Collectible cards whose full text is covered, sorted by id."""
        return (self.by_id[name] for name in sorted(self.collectible) if self.by_id[name].exact)


def edition(name: str = OLD_EDITION) -> Edition:
    """An edition with its cards, read once.

    Raises:
        UnknownNameError: unknown edition.
    """
    if name not in EDITIONS:
        raise unknown_name("edition", name, EDITIONS)
    return _edition(name)


@lru_cache(maxsize=len(EDITIONS))
def _edition(name: str) -> Edition:
    """Read an edition; the cache makes `edition()` and `edition(OLD_EDITION)` the same object."""
    if name == OLD_EDITION:
        rows_of_all = _rows(f"{OLD_EDITION}.csv")
        rows = [row for row in rows_of_all if row["type"] in _KINDS]
        heroes = [row for row in rows_of_all if row["type"] == "HERO" and row["set"] != "BASIC"]
        collectible = [row["id"] for row in rows if row["collectible"] == "true"]
        others = [other_card(row | {"type": HERO_CARD}) for row in heroes]
        cards = {row["id"]: _card(row) for row in rows}
        return Edition(name, [*cards.values(), *_brewed(cards)], collectible, others=others)
    old = edition(OLD_EDITION)
    found = []
    for row in [*_rows("same.csv"), *_rows("vanilla.csv")]:
        original = old.by_id[row["like"]]
        minion = catalogue().by_id.get(row["id"])
        other = catalogue().others_by_id.get(row["id"])
        if minion is not None:
            spec = replace(
                original.spec, attack=minion.spec.attack, health=minion.spec.health, cost=minion.spec.cost
            )
            found.append(
                replace(
                    original,
                    id=minion.id,
                    dbf_id=minion.dbf_id,
                    spec=spec,
                    card_set=minion.card_set,
                    rarity=minion.rarity,
                )
            )
        elif other is not None:
            found.append(replace(original, id=other.id, dbf_id=other.dbf_id, card_set=other.card_set))
    listed = {card.id for card in found}
    bodies = [replace(card, exact=False) for card in catalogue().by_id.values() if card.id not in listed]
    others = [card for card in catalogue().others_by_id.values() if card.id not in listed]
    return Edition(name, [*old.by_id.values(), *found], listed, bodies, others)


@lru_cache(maxsize=1)
def hero_classes() -> Mapping[str, HeroClass]:
    """The nine hero classes by name, sorted alphabetically."""
    old = edition(OLD_EDITION)
    heroes = [row for row in _rows(f"{OLD_EDITION}.csv") if row["type"] == "HERO" and row["set"] == "BASIC"]
    found = {
        row["class"].lower(): HeroClass(row["class"].lower(), int(row["dbf_id"]), old.by_id[row["power"]])
        for row in heroes
    }
    return dict(sorted(found.items()))


@lru_cache(maxsize=1)
def class_of_hero() -> Mapping[int, str]:
    """Class names, such as "demon hunter", by the hero's deck-code number."""
    return {int(row["dbf_id"]): row["class"].lower().replace("_", " ") for row in _rows("heroes.csv")}


def find_class(name: str) -> HeroClass:
    """Find a hero class by name (case ignored).

    Raises:
        UnknownNameError: unknown class.
    """
    found = hero_classes().get(name.casefold())
    if found is None:
        raise unknown_name("class", name, hero_classes())
    return found


def created_card(card_id: str) -> Card:
    """Card created by an effect, by id.

    Raises:
        CardError: the engine does not cover its full text.
    """
    card = edition(OLD_EDITION).by_id[card_id]
    if not card.exact:
        raise CardError(f"{card.name} [{card.id}] is created by effects, but its text is not covered")
    return card


@lru_cache(maxsize=4096)
def find_effect_card(name: str, spec: MinionSpec) -> Card:
    """Find the card with effects named in a position, with the position's numbers.

    Args:
        name: id or name. Among cards of a name, the first with these numbers, otherwise the first.
        spec: its numbers and keywords in the position.

    Raises:
        UnknownNameError: unknown card.
    """
    old = edition(OLD_EDITION)
    newest = edition(NEWEST_EDITION).by_id
    found = newest[name] if name in newest else old.find(name)
    if name not in newest:
        same_numbers = [
            card for card in old.by_name[name.casefold()] if card.spec == replace(spec, value=card.spec.value)
        ]
        found = same_numbers[0] if same_numbers else found
    return replace(found, spec=spec, exact=found.exact)


def _brewed(cards: Mapping[str, Card]) -> Iterator[Card]:
    """Generate the potions of Kazakus, with two effects each."""
    for card in cards.values():
        for row in card.effects:
            if row.op != Op.CREATE_POTION:
                continue
            listed = row.cards[: len(N_POTION_EFFECTS) + sum(N_POTION_EFFECTS)]
            for name in potion_ids(listed):
                first, second = (cards[half] for half in _halves(name, listed))
                yield replace(
                    first,
                    id=name,
                    name="Kazakus Potion",
                    dbf_id=0,
                    needs=0,
                    exact=first.exact and second.exact,
                    effects=first.effects + second.effects,
                )


def _halves(name: str, listed: Sequence[str]) -> tuple[str, str]:
    """Card ids of the two effects of a potion."""
    first = next(half for half in listed if name.startswith(f"{half}_"))
    return first, name.removeprefix(f"{first}_")


def _rows(name: str) -> list[dict[str, str]]:
    path = resources.files("engine") / "data" / "editions" / name
    with path.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _card(row: dict[str, str]) -> Card:
    """Parse a card of an edition's table; a card whose text is not covered gets no effects."""
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
