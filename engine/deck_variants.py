"""Deck variants: a deck with a given number of copies of a card, or of minions with a keyword.

Each deal chooses the cards that are replaced: its random stream orders the deck's places, cards that already
have the property first, and the first `count` get it. So a variant with 4 copies replaces the cards that the
variant with 2 replaces, and two more.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from engine.cards import Card
from engine.codes import DECK_SIZE, KEYWORD_FIELDS
from engine.effect_codes import EFFECTS_VERSION, CardKind
from engine.errors import DeckError, unknown_name
from engine.minion import keyword_flags


@dataclass(frozen=True, slots=True)
class DeckVariant:
    """A property of cards (a given card, or a keyword) and the number of a deck's cards with it.

    Attributes:
        card: the deck has `count` copies of this card; None for a keyword.
        keyword: `count` minions have this keyword, of `engine.codes.KEYWORD_FIELDS`; "" for a card.
        count: 0 to 30.

    Raises:
        DeckError: neither or both of card and keyword are given, or the count is out of range.
        UnknownNameError: there is no such keyword; the message lists the nearest.
    """

    card: Card | None
    keyword: str
    count: int

    def __post_init__(self) -> None:
        if bool(self.keyword) == (self.card is not None):
            raise DeckError("a deck variant needs a card or a keyword, not both")
        if self.keyword and self.keyword not in KEYWORD_FIELDS:
            raise unknown_name("keyword", self.keyword, KEYWORD_FIELDS)
        if type(self.count) is not int or not 0 <= self.count <= DECK_SIZE:
            raise DeckError(
                f"the number of {self.plural_noun} must be an integer from 0 to {DECK_SIZE}, "
                f"got {self.count!r}"
            )

    @property
    def name(self) -> str:
        """Name of the card or keyword."""
        return self.card.name if self.card else self.keyword

    @property
    def plural_noun(self) -> str:
        """Plural noun phrase for messages: "copies of Holy Smite", "minions with Divine Shield"."""
        if self.card:
            return f"copies of {self.card.name}"
        return f"minions with {self.keyword.replace('_', ' ').title()}"

    @property
    def effects(self) -> bool:
        """Whether the card needs a game with effects, being a real card."""
        return self.card is not None and self.card.real

    @property
    def identity(self) -> list[Any]:
        """Content that determines the deal, for the hashes of tournaments."""
        return self.identity_under(EFFECTS_VERSION)

    def identity_under(self, effects: int) -> list[Any]:
        """The `identity` under a given version of the effects."""
        version = [effects] if self.effects else []
        return [self.card.identity if self.card else self.keyword, self.count, *version]

    def has(self, card: Card) -> bool:
        """Whether a card of the deck has the property unchanged; reprints count as the same card."""
        if self.card:
            return card.name == self.card.name
        return bool(getattr(card.spec, self.keyword))

    def with_property(self, card: Card) -> Card | None:
        """Replacement of a card with the property; None if the card cannot have the keyword."""
        if self.has(card):
            return card
        if self.card:
            return self.card
        return _with(card, self.keyword, True) if card.kind == CardKind.MINION else None

    def without_property(self, card: Card) -> Card | None:
        """Replacement of a card without the property; None: any other card of the deck."""
        if not self.has(card):
            return card
        return None if self.card else _with(card, self.keyword, False)

    def possible_cards(self, cards: Iterable[Card]) -> Iterator[Card]:
        """All replacements that a variant of a deck with these cards may have."""
        for card in cards:
            yield from filter(None, (self.with_property(card), self.without_property(card)))

    def n_unchanged(self, cards: Iterable[Card]) -> int:
        """Number of a deck's cards that have the property unchanged."""
        return sum(map(self.has, cards))

    def max_count(self, cards: Iterable[Card]) -> int:
        """Number of a deck's cards that can have the property."""
        return sum(self.with_property(card) is not None for card in cards)

    def check(self, cards: Iterable[Card], name: str, random: bool) -> None:
        """Refuse a deck that cannot reach the count.

        Args:
            cards: the deck's cards; of a random deck, its pool.
            name: the deck's name.
            random: whether `cards` is a pool.

        Raises:
            DeckError: too few cards can have the property, or no other card can replace the copies.
        """
        cards = list(cards)
        own, most = self.n_unchanged(cards), self.max_count(cards)
        if random and (own or most < len(cards)):
            raise DeckError(
                f"{name} draws each game's cards from a pool that already has {self.plural_noun}, so their "
                "number cannot be set; choose a deck with a fixed list of cards"
            )
        if not random and self.count > most:
            raise DeckError(
                f"{name} has {most} minions, so at most {most} {self.plural_noun}, got {self.count}"
            )
        if not random and self.card and own == DECK_SIZE and self.count < own:
            raise DeckError(f"{name} has only {self.name}, so no other card can replace it")


def _with(card: Card, keyword: str, present: bool) -> Card:
    """A minion with a keyword added or removed; `exact` stays."""
    flags = keyword_flags([keyword]) if present else {keyword: False}
    spec = replace(card.spec, **{keyword: flags[keyword]})
    return replace(card, spec=spec, exact=card.exact)
