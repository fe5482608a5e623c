"""Cards in texts of positions, as numbers of a table: "Chillwind Yeti 4:4/5", or of real ones "Fireball*"."""

import re
from functools import lru_cache

from engine.cards import Card, CardKey
from engine.cards.real import NEWEST_EDITION, OLD_EDITION, edition, find_real
from engine.cards.table import CardTable
from engine.codes import KEYWORD_FIELDS, KEYWORD_LETTERS
from engine.errors import CardError, ManaforgeError, NotationError
from engine.minion import MinionSpec
from engine.vocabulary import Ask

NUMBER = r"\d{1,4}"
LETTERS = f"[{KEYWORD_LETTERS}]*"
STATS = rf"(?P<attack>{NUMBER})/(?P<health>{NUMBER})(?P<letters>{LETTERS})"
_CARD = re.compile(rf"(?:(?P<name>\S.*?)\s+)?(?:(?P<cost>{NUMBER}):)?{STATS}(?:=(?P<value>[\d.eE+-]+))?$")
_NUMBERS_FOR_NAME = re.compile(rf"(?:{NUMBER}:)?{NUMBER}/{NUMBER}|{NUMBER}$")
_REAL = re.compile(
    rf"(?P<name>\S.*?)(?:\s+(?P<cost>{NUMBER})(?::(?P<attack>{NUMBER})/(?P<health>{NUMBER}))?(?P<letters>{LETTERS})"
    rf"(?:=(?P<value>[\d.eE+-]+))?)?\*(?P<id>\w*)$"
)


class CardTexts:
    """Maps card texts to numbers of a given table, or of one that grows as texts are read.

    Attributes:
        asks: bits of `Ask` of what the text says of the game, whatever its cards are.
    """

    def __init__(self, table: CardTable | None) -> None:
        self._given = table
        self._cards: list[Card] = list(table.cards) if table else []
        self.asks = 0
        self._by_key: dict[CardKey, int] = {}
        for number, card in enumerate(self._cards):
            self._by_key.setdefault(card.key, number)

    def table(self) -> CardTable:
        """The given table, or one of the cards that were read."""
        if self._given and (self._given.effects or not self.asks & Ask.EFFECTS):
            return self._given
        return _table_of(tuple(self._cards), self.asks)

    def know(self, card_id: str) -> None:
        """Add the real card with this id, which is in no hand and on no board."""
        if not any(card.real and card.id == card_id for card in self._cards):
            try:
                self._number(find_real(card_id, edition(OLD_EDITION).find(card_id).spec), card_id)
            except ManaforgeError as error:
                raise NotationError(f"{error}, as a gift") from None

    def card(self, number: int) -> Card:
        """The card of a number."""
        return self._cards[number]

    def of(self, text: str) -> int:
        """The number of a card.

        Raises:
            NotationError: the text is no card, or names one that is not in the given table.
        """
        if text.endswith("*") or _REAL.match(text):
            return self._number(self._real(text), text)
        match = _CARD.match(text)
        if not match:
            raise NotationError(
                f"not a card: {text!r}; a card needs its numbers, for example "
                '"Sen\'jin Shieldmasta 4:3/5T" (cost:attack/health, keyword letters); a minion may then have '
                '"now 2/1", "ready" and "arrived" (docs/notation.md)'
            )
        if match["name"] and _NUMBERS_FOR_NAME.match(match["name"]):
            raise NotationError(f"{text!r} reads as two cards or more; separate cards by '; '")
        try:
            value = float(match["value"]) if match["value"] else None
            letters = zip(KEYWORD_FIELDS, KEYWORD_LETTERS, strict=True)
            flags = {name: letter in match["letters"] for name, letter in letters}
            spec = MinionSpec(
                int(match["attack"]), int(match["health"]), int(match["cost"] or 0), value, **flags
            )
        except (CardError, ValueError) as error:
            raise NotationError(f"{error} in card {text!r}") from None
        return self._number(Card(id="", name=match["name"] or "", spec=spec), text)

    def _real(self, text: str) -> Card:
        """A card with a star: what its text says, with the numbers that are written, else as printed."""
        match = _REAL.match(text)
        if not match:
            raise NotationError(f"not a card: {text!r}; write for example 'Fireball*' or 'Fireball 4*'")
        try:
            named = edition(OLD_EDITION).find(match["name"])
            if match["cost"] is None:
                return edition(NEWEST_EDITION).find(match["id"]) if match["id"] else named
            letters = zip(KEYWORD_FIELDS, KEYWORD_LETTERS, strict=True)
            spec = MinionSpec(
                int(match["attack"] or 0),
                int(match["health"] or 1),
                int(match["cost"]),
                float(match["value"]) if match["value"] else None,
                **{name: letter in match["letters"] for name, letter in letters},
            )
            return find_real(match["id"] or match["name"], spec)
        except (ManaforgeError, ValueError) as error:
            raise NotationError(f"{error} in card {text!r}") from None

    def _number(self, card: Card, text: str) -> int:
        if card.key not in self._by_key:
            if self._given:
                raise NotationError(f"card {text!r} is not in this game's card table")
            self._by_key[card.key] = len(self._cards)
            self._cards.append(card)
        return self._by_key[card.key]


@lru_cache(maxsize=16)
def _table_of(cards: tuple[Card, ...], asks: int) -> CardTable:
    """A table of cards that were read: one position after another often has the same."""
    return CardTable(cards, asks)
