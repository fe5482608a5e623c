"""Deck variants: the same deck with another number of a card or of minions with a keyword.

A varied deck is dealt anew in each game: the deal's stream puts the deck's places into an order, those that
have the thing before the others, and the first `count` of them have it. So a deck with 4 copies replaces the
cards that one with 2 replaces, and two more.
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
class Varied:
    """What is varied in a deck, and how many of its cards have it.

    Attributes:
        card: the card of which there are `count` copies; None for a keyword.
        keyword: a name of `engine.codes.KEYWORD_FIELDS`, which `count` minions have; "" for a card.
        count: 0 to 30.

    Raises:
        DeckError: there is neither a card nor a keyword, or both, or the count is out of range.
        UnknownNameError: there is no such keyword; the message lists the nearest.
    """

    card: Card | None
    keyword: str
    count: int

    def __post_init__(self) -> None:
        if bool(self.keyword) == (self.card is not None):
            raise DeckError("a deck is varied by a card or by a keyword, one of them")
        if self.keyword and self.keyword not in KEYWORD_FIELDS:
            raise unknown_name("keyword", self.keyword, KEYWORD_FIELDS)
        if type(self.count) is not int or not 0 <= self.count <= DECK_SIZE:
            raise DeckError(
                f"{self.count!r} {self.things} do not fit into a deck; take 0 to {DECK_SIZE}, whole numbers"
            )

    @property
    def name(self) -> str:
        """Of the card, or the keyword."""
        return self.card.name if self.card else self.keyword

    @property
    def things(self) -> str:
        """What is counted: "copies of Holy Smite", "minions with Divine Shield"."""
        if self.card:
            return f"copies of {self.card.name}"
        return f"minions with {self.keyword.replace('_', ' ').title()}"

    @property
    def effects(self) -> bool:
        """Whether the card does more than a body with keywords, which only a game with effects plays."""
        return self.card is not None and self.card.real

    @property
    def identity(self) -> list[Any]:
        """All that decides what is dealt, for the hashes of tournaments."""
        return self.identity_under(EFFECTS_VERSION)

    def identity_under(self, effects: int) -> list[Any]:
        """What `identity` is where games are played under this version of the effects."""
        version = [effects] if self.effects else []
        return [self.card.identity if self.card else self.keyword, self.count, *version]

    def has(self, card: Card) -> bool:
        """Whether a card of the deck has it as it is; printings of a card are one card."""
        if self.card:
            return card.name == self.card.name
        return bool(getattr(card.spec, self.keyword))

    def given(self, card: Card) -> Card | None:
        """What stands in place of a card once it has it; None where it never does, being no minion."""
        if self.has(card):
            return card
        if self.card:
            return self.card
        return _with(card, self.keyword, True) if card.kind == CardKind.MINION else None

    def without(self, card: Card) -> Card | None:
        """What stands in place of a card while it does not have it; None: another card of the deck."""
        if not self.has(card):
            return card
        return None if self.card else _with(card, self.keyword, False)

    def dealt(self, cards: Iterable[Card]) -> Iterator[Card]:
        """The cards that may be dealt in place of those of a deck."""
        for card in cards:
            yield from filter(None, (self.given(card), self.without(card)))

    def own(self, cards: Iterable[Card]) -> int:
        """How many of a deck's cards have it as they are."""
        return sum(map(self.has, cards))

    def most(self, cards: Iterable[Card]) -> int:
        """How many of a deck's cards can have it."""
        return sum(self.given(card) is not None for card in cards)

    def check(self, cards: Iterable[Card], name: str, random: bool) -> None:
        """Refuse a deck in which the count cannot be reached.

        Args:
            cards: of the deck; of a random deck, its pool.
            name: of the deck.
            random: whether `cards` is a pool.

        Raises:
            DeckError: too few cards can have it, or there is nothing to take its place.
        """
        cards = list(cards)
        own, most = self.own(cards), self.most(cards)
        if random and (own or most < len(cards)):
            raise DeckError(
                f"the pool of {name} holds {self.things} already, so their number is left to chance"
            )
        if not random and self.count > most:
            raise DeckError(f"{name} has {most} minions, so at most {most} {self.things}, got {self.count}")
        if not random and self.card and own == DECK_SIZE and self.count < own:
            raise DeckError(f"{name} holds nothing but {self.name}, so nothing can take its place")


def _with(card: Card, keyword: str, on: bool) -> Card:
    """A minion with or without a keyword; it is as exact as before."""
    flags = keyword_flags([keyword]) if on else {keyword: False}
    spec = replace(card.spec, **{keyword: flags[keyword]})
    return replace(card, spec=spec, exact=card.exact)
