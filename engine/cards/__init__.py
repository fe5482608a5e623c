"""The card catalogue: every collectible Hearthstone minion as a body with the keywords we play.

`engine/data/cards.csv` is generated (`python -m tools.card_tables build`) and holds names and numbers
only. A card is `exact` when its text says nothing beyond those keywords; the others are playable
as bodies with their keywords.
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
"""The set of the Classic format: old numbers of cards that exist elsewhere too."""

RARITIES = {"FREE": 1, "COMMON": 1, "RARE": 2, "EPIC": 3, "LEGENDARY": 4}
"""Rarities as numbers (EVA, Table 2)."""

CLASS_NAMES = {"DEMONHUNTER": "demon hunter", "DEATHKNIGHT": "death knight", "INVALID": "several classes"}
"""Classes whose names are more than the card base's own in small letters."""

MINION_COLUMNS = (
    "id", "dbf_id", "name", "class", "cost", "attack", "health", "rarity", "set", "keywords", "exact",
)  # fmt: skip
OTHER_COLUMNS = ("id", "dbf_id", "name", "type", "class", "cost", "set")


CardKey = tuple[str, int, int, int, int, float, str]
"""What tells cards apart in a game (`Card.key`)."""

_NUMBERS = re.compile(r"(?:\d+:)?\d+/\d|\d+$")


@dataclass(frozen=True, slots=True)
class Card:
    """One card: its identity in the card base, and its numbers in play.

    Attributes:
        id: Hearthstone's card id, such as "CS2_172"; "" for a minion that is not in the catalogue.
        dbf_id: its number in deck codes; 0 for a minion that is not in the catalogue.
        name: English name.
        card_class: "PALADIN", "NEUTRAL", ...
        rarity: "FREE", "COMMON", "RARE", "EPIC" or "LEGENDARY".
        card_set: Hearthstone's name of the set.
        exact: False where the card's text says more than what is played of it.
        spec: its numbers and keywords; a weapon's durability is its health, and a spell has only a cost.
        real: whether it does what its text says; else it is a body with its keywords. The rest is theirs:
        kind: minion, spell, weapon or hero power.
        race: of a minion.
        traits: bits of `Trait` that it has in print.
        spell_damage: that it adds to its player's spells.
        overload: crystals that it locks on the next turn.
        needs: bits of `Need`.
        effects: what it does.

    Raises:
        CardError: the name holds a character of the notation (; [ ] |), or spaces other than single ones
            between words, or begins with a card's numbers.
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

    def __post_init__(self) -> None:
        if set(self.name) & set(";[]|") or self.name != " ".join(self.name.split()):
            raise CardError(f"a card's name must not hold ; [ ] | or odd spaces, got {self.name!r}")
        if _NUMBERS.match(self.name) or not self.name.isprintable():
            raise CardError(f"a card's name must not begin with a card's numbers, got {self.name!r}")

    def __hash__(self) -> int:
        return hash((self.id, self.name, self.spec))  # of its many fields these tell nearly all cards apart

    @property
    def key(self) -> CardKey:
        """What tells cards apart in a game: name, numbers, keywords, worth, and the id of a real card.

        Reprints may share it.
        """
        spec = self.spec
        real = self.id if self.real else ""
        return self.name, spec.cost, spec.attack, spec.health, spec.keywords, spec.worth, real

    @property
    def identity(self) -> str:
        """Every field of this card as text, for the hashes of configurations and tournaments.

        Fields in `IDENTITY` are always written; fields added later only where they differ from their default.
        """
        return _identity(self, {"spec": _identity(self.spec)})

    def altered(self, keywords: Iterable[str] | None = None, **numbers: Any) -> "Card":
        """This card with other keywords, numbers (cost, attack, health) or value, as deck files may set them.

        A card whose keywords or numbers changed is no longer `exact`.
        """
        flags: dict[str, Any] = {} if keywords is None else keyword_flags(keywords)
        spec = replace(self.spec, **flags, **numbers)
        return replace(
            self, spec=spec, exact=self.exact and replace(spec, value=self.spec.value) == self.spec
        )

    @property
    def class_name(self) -> str:
        """The class it belongs to in words: "mage", "demon hunter", "neutral"."""
        return CLASS_NAMES.get(self.card_class, self.card_class.lower())

    @property
    def title(self) -> str:
        """Its name, or its body ("3/2") where it has no name."""
        return self.name or self.body

    @property
    def body(self) -> str:
        """Attack and health, or durability: "3/2"; "" for spells and hero powers."""
        has_body = self.kind in (CardKind.MINION, CardKind.WEAPON)
        return f"{self.spec.attack}/{self.spec.health}" if has_body else ""

    def describe(self) -> str:
        """One line for listings: name, cost, body, keywords, id, and whether it is exact."""
        parts = [f"{self.title} ({self.spec.cost})", *([self.body] if self.body else [])]
        parts += [", ".join(keyword_names(self.spec.keywords))] if self.spec.keywords else []
        parts += [f"[{self.id}]"] if self.id else []
        parts += [] if self.exact else ["body and keywords only: its text says more"]
        return " ".join(parts)


IDENTITY = {
    Card: ("id", "name", "spec", "dbf_id", "card_class", "rarity", "card_set", "exact"),
    MinionSpec: (
        *("attack", "health", "cost", "value"),
        *("charge", "rush", "taunt", "windfury", "divine_shield", "lifesteal", "poisonous", "stealth"),
        "attacks_left",
    ),
}
"""Fields that are part of every card's identity, even at their defaults. Never add to these lists."""


def _identity(item: Card | MinionSpec, written: Mapping[str, str] = MappingProxyType({})) -> str:
    """Class and fields of a card or its numbers as text; `written` has fields that are text already."""
    always = IDENTITY[type(item)]
    later = [field for field in fields(item) if field.name not in always]
    changed = [field.name for field in later if getattr(item, field.name) != field.default]
    texts = (f"{name}={written.get(name, repr(getattr(item, name)))}" for name in (*always, *changed))
    return f"{type(item).__name__}({', '.join(texts)})"


class OtherCard(NamedTuple):
    """A collectible card that cannot be played yet: a spell, a weapon, a hero, a location."""

    id: str
    dbf_id: int
    name: str
    kind: str
    card_class: str
    cost: int
    card_set: str

    @property
    def class_name(self) -> str:
        """The class it belongs to in words."""
        return CLASS_NAMES.get(self.card_class, self.card_class.lower())


class Catalogue:
    """All minions of the card base, found by id, name or deck-code number."""

    def __init__(self, cards: Iterable[Card], others: Iterable[OtherCard]) -> None:
        self.by_id = {card.id: card for card in cards}
        self.by_dbf_id = {card.dbf_id: card for card in self.by_id.values()}
        self.others_by_id = {card.id: card for card in others}
        self.others = {card.dbf_id: card for card in self.others_by_id.values()}
        """Collectible cards that cannot be played yet, by their number in deck codes."""

    @cached_property
    def by_name(self) -> dict[str, Card]:
        """Folded name -> the newest printing outside the Classic format; numbers grow with time."""
        found: dict[str, Card] = {}
        for card in self.by_id.values():
            name = card.name.casefold()
            rank = (card.card_set != CLASSIC_SET, card.dbf_id)
            if name not in found or rank > (found[name].card_set != CLASSIC_SET, found[name].dbf_id):
                found[name] = card
        return found

    def find(self, id_or_name: str) -> Card:
        """The card with this id, or the newest non-Classic printing of this name (case ignored).

        Raises:
            UnknownNameError: no card has it; the message lists the nearest names.
            CardError: it is a spell, weapon, hero or location, which cannot be played yet.
        """
        card = self.by_id.get(id_or_name) or self.by_name.get(id_or_name.casefold())
        if card is None:
            for other in self.others.values():
                if id_or_name == other.id or id_or_name.casefold() == other.name.casefold():
                    raise CardError(f"{other.name} is a {other.kind}; only minions can be played yet")
            ids = self.by_id if "_" in id_or_name else ()
            raise unknown_name("card", id_or_name, [*(c.name for c in self.by_name.values()), *ids])
        return card


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """The card base of this version, read once."""
    data = resources.files("engine") / "data"
    with (data / "cards.csv").open(encoding="utf-8") as lines:
        cards = [_card(row) for row in csv.DictReader(lines)]
    with (data / "other_cards.csv").open(encoding="utf-8") as lines:
        rows = csv.DictReader(lines)
        others = [other_card(row) for row in rows]
    return Catalogue(cards, others)


def find_card(id_or_name: str) -> Card:
    """`Catalogue.find` on this version's card base."""
    return catalogue().find(id_or_name)


def other_card(row: Mapping[str, str]) -> OtherCard:
    """A card of a row with the columns `OTHER_COLUMNS`."""
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
