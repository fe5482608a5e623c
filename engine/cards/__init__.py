"""The card catalogue: every collectible Hearthstone minion as a body with the keywords we play.

`engine/data/cards.csv` is generated (`python -m engine.cards build`) and holds names and numbers
only. A card is `exact` when its text says nothing beyond those keywords; the others are playable
as bodies with their keywords.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any

import numpy as np

from engine.errors import unknown_name
from engine.minion import MinionSpec, keyword_flags, keyword_names
from engine.state import CARD

CLASSIC_SET = "VANILLA"
"""The set of the Classic format: old numbers of cards that exist elsewhere too."""

MINION_COLUMNS = (
    "id", "dbf_id", "name", "class", "cost", "attack", "health", "rarity", "set", "keywords", "exact",
)  # fmt: skip
OTHER_COLUMNS = ("dbf_id", "name", "type")


@dataclass(frozen=True, slots=True)
class Card:
    """One card of a deck: who it is, and what it does on the board.

    Attributes:
        id: Hearthstone's card id, such as "CS2_172"; "" for a minion of no catalogue.
        dbf_id: its number in deck codes; 0 for a minion of no catalogue.
        name: English name.
        card_class: "PALADIN", "NEUTRAL", ...
        rarity: "FREE", "COMMON", "RARE", "EPIC" or "LEGENDARY".
        card_set: Hearthstone's name of the set.
        exact: False where the card's text says more than the keywords we play.
        spec: its numbers and keywords.
    """

    id: str
    name: str
    spec: MinionSpec
    dbf_id: int = 0
    card_class: str = "NEUTRAL"
    rarity: str = "FREE"
    card_set: str = ""
    exact: bool = True

    def altered(self, keywords: Iterable[str] | None = None, **numbers: Any) -> "Card":
        """This card with other keywords, numbers (cost, attack, health) or value, as a deck file may ask.

        Where its keywords or numbers changed, it is no longer `exact`.
        """
        flags: dict[str, Any] = {} if keywords is None else keyword_flags(keywords)
        spec = replace(self.spec, **flags, **numbers)
        return replace(
            self, spec=spec, exact=self.exact and replace(spec, value=self.spec.value) == self.spec
        )

    @property
    def title(self) -> str:
        """Its name, or its body where it has none."""
        return self.name or f"{self.spec.attack}/{self.spec.health}"

    def describe(self) -> str:
        """One line for listings: name, cost, body, keywords, id, and whether it is exact."""
        parts = [f"{self.title} ({self.spec.cost}) {self.spec.attack}/{self.spec.health}"]
        parts += [", ".join(keyword_names(self.spec.keywords))] if self.spec.keywords else []
        parts += [f"[{self.id}]"] if self.id else []
        parts += [] if self.exact else ["body and keywords only: its text says more"]
        return " ".join(parts)


class CardTable:
    """The cards of a game or of a batch of games, and the same as an array for kernels.

    A game carries its own table, since deck files alter cards and random minions are in no catalogue.

    Attributes:
        cards: the cards; a card's number is its place here.
        array: the same as records of dtype `CARD`, in the same order.
    """

    def __init__(self, cards: Sequence[Card]) -> None:
        self.cards = tuple(cards)
        self.array = np.zeros(len(self.cards), CARD)
        for record, card in zip(self.array, self.cards, strict=True):
            spec = card.spec
            record["cost"], record["attack"], record["health"] = spec.cost, spec.attack, spec.health
            record["keywords"], record["value"] = spec.keywords, spec.worth
        self.array.flags.writeable = False
        self.number = {card: number for number, card in enumerate(self.cards)}


class Catalogue:
    """All minions of the card base, found by id, name or deck-code number."""

    def __init__(self, cards: Iterable[Card], others: dict[int, tuple[str, str]]) -> None:
        self.by_id = {card.id: card for card in cards}
        self.by_dbf_id = {card.dbf_id: card for card in self.by_id.values()}
        self.others = others
        """Collectible cards that are no minions: deck-code number -> (name, type)."""

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
            UnknownNameError: there is none; the message lists the nearest names.
        """
        card = self.by_id.get(id_or_name) or self.by_name.get(id_or_name.casefold())
        if card is None:
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
        others = {int(row["dbf_id"]): (row["name"], row["type"]) for row in csv.DictReader(lines)}
    return Catalogue(cards, others)


def find_card(id_or_name: str) -> Card:
    """`Catalogue.find` on this version's card base."""
    return catalogue().find(id_or_name)


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
