"""The card catalogue: all collectible Hearthstone minions as plain minions with keywords.

`engine/data/cards.csv` is generated (`python -m tools.card_tables build`) and holds names and numbers only,
no card text. A card is `exact` if its text names nothing but supported keywords; other cards are playable as
plain minions with their keywords.
"""

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from importlib import resources
from types import MappingProxyType
from typing import Any, NamedTuple

from engine.effect_codes import CardKind, Race
from engine.effects.rows import Effect
from engine.errors import CardError, unknown_name
from engine.minion import MinionSpec, keyword_flags, keyword_names

CLASSIC_SET = "VANILLA"
"""Set code of the Classic format: reprints with their original numbers."""

RARITIES = {"FREE": 1, "COMMON": 1, "RARE": 2, "EPIC": 3, "LEGENDARY": 4}
"""Numeric rarities (EVA, Table 2)."""

CLASS_NAMES = {"DEMONHUNTER": "demon hunter", "DEATHKNIGHT": "death knight", "INVALID": "several classes"}
"""Display names of classes that differ from the lower-case code of the card base."""

MINION_COLUMNS = (
    "id", "dbf_id", "name", "class", "cost", "attack", "health", "rarity", "set", "keywords", "exact",
)  # fmt: skip
OTHER_COLUMNS = ("id", "dbf_id", "name", "type", "class", "cost", "set")


CardKey = tuple[str, int, int, int, int, float, str]
"""Type of a card's key within a game (`Card.key`)."""

_NUMBERS = re.compile(r"(?:\d+:)?\d+/\d|\d+$")


@dataclass(frozen=True, slots=True)
class Card:
    """A card: its identity in the card base, its numbers, and its effects.

    Attributes:
        id: Hearthstone's card id, such as "CS2_172"; "" for a minion outside the catalogue.
        dbf_id: its number in deck codes; 0 for a minion outside the catalogue.
        name: English name.
        card_class: "PALADIN", "NEUTRAL", ...
        rarity: "FREE", "COMMON", "RARE", "EPIC" or "LEGENDARY".
        card_set: Hearthstone's code of the set.
        exact: whether the engine covers the card's whole text.
        spec: its numbers and keywords; health is a weapon's durability, and a spell has only a cost.
        real: whether it is played with its effects; otherwise it is a plain minion with keywords, and the
            following fields keep their defaults.
        kind: minion, spell, weapon or hero power.
        race: tribe of a minion.
        traits: printed bits of `Trait`.
        spell_damage: Spell Damage of a minion.
        overload: crystals it locks in the next turn.
        needs: requirements to play it, bits of `Need`.
        effects: its effect rows.
        changed: changes by a patch that no other part of `key` tells, such as "damage=5".

    Raises:
        CardError: the name contains a character of the notation (; [ ] |) or has irregular spaces, or begins
            with numbers as cards in the notation do.
    """

    id: str
    name: str
    spec: MinionSpec
    dbf_id: int = 0
    card_class: str = "NEUTRAL"
    rarity: str = "FREE"
    card_set: str = ""
    exact: bool = True
    real: bool = False
    kind: CardKind = CardKind.MINION
    race: Race = Race.NONE
    traits: int = 0
    spell_damage: int = 0
    overload: int = 0
    needs: int = 0
    effects: tuple[Effect, ...] = ()
    changed: str = ""

    def __post_init__(self) -> None:
        if set(self.name) & set(";[]|") or self.name != " ".join(self.name.split()):
            raise CardError(f"a card name must not contain ; [ ] | or irregular spaces, got {self.name!r}")
        if _NUMBERS.match(self.name) or not self.name.isprintable():
            raise CardError(
                f"a card name must not begin with numbers as in 3:2/1 or be unprintable, got {self.name!r}"
            )

    def __hash__(self) -> int:
        return hash((self.id, self.name, self.spec))  # these fields distinguish nearly all cards

    @property
    def key(self) -> CardKey:
        """Key of the card within a game: name, numbers, keywords, worth; with effects also id and `changed`.

        Reprints may share a key.
        """
        spec = self.spec
        real = self.id + self.changed if self.real else ""
        return self.name, spec.cost, spec.attack, spec.health, spec.keywords, spec.worth, real

    @property
    def identity(self) -> str:
        """All fields as text, for the hashes of configurations and tournaments.

        Fields in `IDENTITY` are always written; later fields only if they differ from their default.
        """
        rows = "".join(f"{effect.identity}, " for effect in self.effects)
        effects = f"({rows[:-1] if len(self.effects) == 1 else rows[:-2]})"
        return _identity(self, {"spec": _identity(self.spec), "effects": effects})

    def altered(self, keywords: Iterable[str] | None = None, **numbers: Any) -> "Card":
        """Copy with changed keywords, numbers (cost, attack, health) or value, as set in deck files.

        A copy with changed keywords or numbers is not `exact`.
        """
        flags: dict[str, Any] = {} if keywords is None else keyword_flags(keywords)
        spec = replace(self.spec, **flags, **numbers)
        return replace(
            self, spec=spec, exact=self.exact and replace(spec, value=self.spec.value) == self.spec
        )

    @property
    def class_name(self) -> str:
        """Display name of the card's class: "mage", "demon hunter", "neutral"."""
        return CLASS_NAMES.get(self.card_class, self.card_class.lower())

    @property
    def title(self) -> str:
        """Name of the card, or its attack and health ("3/2") if it has no name."""
        return self.name or self.body

    @property
    def body(self) -> str:
        """Attack and health, or attack and durability: "3/2"; "" for spells and hero powers."""
        has_body = self.kind in (CardKind.MINION, CardKind.WEAPON)
        return f"{self.spec.attack}/{self.spec.health}" if has_body else ""

    def describe(self) -> str:
        """One line for listings: name, cost, attack and health, keywords, id, and whether it is exact."""
        parts = [f"{self.title} ({self.spec.cost})", *([self.body] if self.body else [])]
        parts += [", ".join(keyword_names(self.spec.keywords))] if self.spec.keywords else []
        parts += [f"[{self.id}]"] if self.id else []
        parts += [] if self.exact else ["body and keywords only: its text is not covered"]
        return " ".join(parts)


IDENTITY = {
    Card: ("id", "name", "spec", "dbf_id", "card_class", "rarity", "card_set", "exact"),
    MinionSpec: (
        *("attack", "health", "cost", "value"),
        *("charge", "rush", "taunt", "windfury", "divine_shield", "lifesteal", "poisonous", "stealth"),
        "attacks_left",
    ),
}
"""Fields written in every identity, even at their defaults. Never add to these lists."""


def _identity(item: Card | MinionSpec, written: Mapping[str, str] = MappingProxyType({})) -> str:
    """Format a `Card` or a `MinionSpec` as class name and fields; `written` has fields already formatted."""
    always = IDENTITY[type(item)]
    later = [field for field in fields(item) if field.name not in always]
    changed = [field.name for field in later if getattr(item, field.name) != field.default]
    texts = (f"{name}={written.get(name, repr(getattr(item, name)))}" for name in (*always, *changed))
    return f"{type(item).__name__}({', '.join(texts)})"


class OtherCard(NamedTuple):
    """A collectible card of the catalogue that is not a plain minion: a spell, weapon, hero or location."""

    id: str
    dbf_id: int
    name: str
    kind: str
    card_class: str
    cost: int
    card_set: str

    @property
    def class_name(self) -> str:
        """Display name of the card's class."""
        return CLASS_NAMES.get(self.card_class, self.card_class.lower())


class Catalogue:
    """The card base, with minions found by id, name or deck-code number."""

    def __init__(self, cards: Iterable[Card], others: Iterable[OtherCard]) -> None:
        self.by_id = {card.id: card for card in cards}
        self.by_dbf_id = {card.dbf_id: card for card in self.by_id.values()}
        self.others_by_id = {card.id: card for card in others}
        self.others = {card.dbf_id: card for card in self.others_by_id.values()}
        """Collectible cards that are not plain minions, by deck-code number."""

    @cached_property
    def by_name(self) -> dict[str, Card]:
        """Casefolded name -> newest printing outside the Classic format; higher numbers are newer."""
        found: dict[str, Card] = {}
        for card in self.by_id.values():
            name = card.name.casefold()
            rank = (card.card_set != CLASSIC_SET, card.dbf_id)
            if name not in found or rank > (found[name].card_set != CLASSIC_SET, found[name].dbf_id):
                found[name] = card
        return found

    def find(self, id_or_name: str) -> Card:
        """Find a minion by id, or the newest non-Classic printing of a name (case ignored).

        Raises:
            UnknownNameError: no such card; the message lists the nearest names.
            CardError: the card is a spell, weapon, hero or location.
        """
        card = self.by_id.get(id_or_name) or self.by_name.get(id_or_name.casefold())
        if card is None:
            for other in self.others.values():
                if id_or_name == other.id or id_or_name.casefold() == other.name.casefold():
                    raise CardError(
                        f"{other.name} is a {other.kind}; a deck without a class takes only minions"
                    )
            ids = self.by_id if "_" in id_or_name else ()
            raise unknown_name("card", id_or_name, [*(c.name for c in self.by_name.values()), *ids])
        return card


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """The card catalogue, read once from `engine/data`."""
    data = resources.files("engine") / "data"
    with (data / "cards.csv").open(encoding="utf-8") as lines:
        cards = [_card(row) for row in csv.DictReader(lines)]
    with (data / "other_cards.csv").open(encoding="utf-8") as lines:
        rows = csv.DictReader(lines)
        others = [other_card(row) for row in rows]
    return Catalogue(cards, others)


def find_card(id_or_name: str) -> Card:
    """Find a minion of the card catalogue by id or name; see `Catalogue.find`."""
    return catalogue().find(id_or_name)


def other_card(row: Mapping[str, str]) -> OtherCard:
    """Parse a catalogue row with the columns `OTHER_COLUMNS`."""
    numbers = int(row["dbf_id"]), int(row["cost"])
    return OtherCard(row["id"], numbers[0], row["name"], row["type"], row["class"], numbers[1], row["set"])


def _card(row: dict[str, str]) -> Card:
    numbers: dict[str, Any] = {name: int(row[name]) for name in ("attack", "health", "cost")}
    return Card(
        id=row["id"],
        name=row["name"],
        spec=MinionSpec(**numbers, **keyword_flags(row["keywords"].split())),
        dbf_id=int(row["dbf_id"]),
        card_class=row["class"],
        rarity=row["rarity"],
        card_set=row["set"],
        exact=row["exact"] == "true",
    )
