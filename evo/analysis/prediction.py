"""Which deck an opponent plays and which cards are left in it, by the cards seen; how often that is right.

The neighbours are those of the agents (`ilp_agent.lookahead.deck_prediction`); here a card is its name.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from engine import Deck
from engine.cards.lookup import find_facts
from engine.codes import DECK_SIZE
from engine.decks import COPIES
from engine.errors import DeckError, UnknownNameError, WrongValueError, unknown_name
from engine.streams import generator
from engine.view import MOST_SHOWN
from evo.seeds import Stream
from evo.stats.ratings import cluster_rate
from ilp_agent.lookahead.deck_prediction import NEIGHBOURS, different, find_neighbours, library_of

BODIES = "bodies"
"""What stands for the class of decks without one."""


class PredictionError(WrongValueError, ValueError):
    """What is asked of a prediction does not fit together."""


class LikelyCard(NamedTuple):
    """A card that may be left in a deck.

    Attributes:
        name: of the card.
        copies: the mean number that is left.
        chance: that at least one is.
    """

    name: str
    copies: float
    chance: float


class DeckLibrary:
    """Decks that an opponent may play.

    Args:
        decks: lists of 30 cards; random decks have none, and are left out.

    Raises:
        DeckError: no list is left.
    """

    def __init__(self, decks: Iterable[Deck]) -> None:
        self.decks = different(deck for deck in decks if not deck.random)
        if not self.decks:
            raise DeckError("a library needs a deck that is a list of cards, and there is none")
        self.names = sorted({card.name for deck in self.decks for card in deck.cards})
        self._number = {name: number for number, name in enumerate(self.names)}
        lists = [self._numbers(card.name for card in deck.cards) for deck in self.decks]
        sorts = np.arange(len(self.names) + 1)  # the last stands for cards that no deck holds
        self._kernel = library_of(self.decks, lists, sorts)
        self._counts = self._kernel.counts

    def likely_decks(self, seen: Sequence[str]) -> list[tuple[Deck, float]]:
        """The nearest decks and their chances, the likeliest first.

        Args:
            seen: names of cards, each as often as copies of it were seen.
        """
        places, chances = self._neighbours(self._numbers(seen))
        return [(self.decks[place], chance) for place, chance in zip(places, chances.tolist(), strict=True)]

    def likely_cards(self, seen: Sequence[str]) -> list[LikelyCard]:
        """The cards that may be left, the likeliest first; arguments as of `likely_decks`."""
        by_copy = self._chances(self._numbers(seen))
        order = sorted(range(len(self.names)), key=lambda card: (-by_copy[card].sum(), self.names[card]))
        cards = (LikelyCard(self.names[card], float(by_copy[card].sum()), by_copy[card, 0]) for card in order)
        return [card for card in cards if card.copies > 0]

    def guess(self, seen: Sequence[str]) -> Counter[str]:
        """The cards that are most likely left, so many as the deck has left; arguments as above."""
        by_copy = self._chances(self._numbers(seen))
        n = DECK_SIZE - len(seen)
        best = np.argsort(-by_copy, axis=None, kind="stable")[:n]
        return Counter(self.names[card] for card in (best // by_copy.shape[1]).tolist())

    def _numbers(self, names: Iterable[str]) -> list[int]:
        return [self._number.get(name, len(self.names)) for name in names]

    def _neighbours(self, seen: Sequence[int]) -> tuple[list[int], np.ndarray]:
        """Places of the nearest decks, and their chances."""
        shown, left, n_left, pools, chances = self._memory
        shown[: len(seen)] = seen
        found = find_neighbours(self._kernel, 0, shown, len(seen), left, n_left, pools, chances)
        return self._kernel.nearest[:found].tolist(), np.diff(chances[:found], prepend=0.0)

    def _chances(self, seen: Sequence[int]) -> np.ndarray:
        """By card, the chance that at least 1, 2, ... copies are left; shape (cards, most copies)."""
        places, chances = self._neighbours(seen)
        gone = np.bincount(np.array(seen, np.int64), minlength=len(self.names) + 1)
        left = self._counts[places] - gone
        found = np.zeros((len(self.names), self._most_copies))
        for copy in range(self._most_copies):
            found[:, copy] = chances @ (left[:, :-1] > copy)
        return found

    @cached_property
    def _most_copies(self) -> int:
        return int(self._counts.max())

    @cached_property
    def _memory(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return (
            np.zeros(MOST_SHOWN, np.int64),
            np.zeros((NEIGHBOURS, MOST_SHOWN), np.int64),
            np.zeros(NEIGHBOURS, np.int64),
            np.zeros(NEIGHBOURS, np.int64),
            np.zeros(NEIGHBOURS),
        )


def of_class(decks: Iterable[Deck], hero_class: str) -> tuple[Deck, ...]:
    """The decks of a class, or with `BODIES` those without one.

    Raises:
        UnknownNameError: no deck is of this class; the message lists the classes that there are.
    """
    decks = tuple(decks)
    wanted = "" if hero_class == BODIES else hero_class.casefold()
    found = tuple(deck for deck in decks if deck.hero_class == wanted)
    if not found:
        known = sorted({deck.hero_class or BODIES for deck in decks})
        raise unknown_name("class of a deck in the library", hero_class, known)
    return found


def card_name(text: str, library: DeckLibrary) -> str:
    """The name of a card by its name or id, case ignored; one that no deck of the library holds, too.

    Raises:
        UnknownNameError: there is no such card; the message lists the nearest of the library.
    """
    folded = {name.casefold(): name for name in library.names}
    if text.casefold() in folded:
        return folded[text.casefold()]
    try:
        return find_facts(text)[0].name
    except UnknownNameError:
        raise unknown_name("card", text, library.names) from None


def accuracy(decks: Sequence[Deck], orders: int, exchanged: Sequence[int], seed: int) -> pd.DataFrame:
    """How much of what is left of a deck is predicted right, by the number of cards seen.

    Every deck is seen card by card in random orders, by who knows its class and a library with the deck. A
    deck of which cards are exchanged for others of its class is not in the library, as decks that people
    change are not. One for which the library has too few others is then left out.

    Args:
        decks: of the library, of any class.
        orders: random orders of each deck, and exchanges.
        exchanged: numbers of cards that are exchanged for others, 0 to `DECK_SIZE`.
        seed: of orders and exchanges.

    Returns:
        A row for each number of cards exchanged and of cards seen: `exchanged`, `seen` (0 to 29), `right`
        (the share of the cards left that are predicted, mean over decks), its 95% interval `low` to `high`,
        and `decks`.
    """
    lists = [deck for deck in decks if not deck.random]
    rows = []
    for n in exchanged:
        found = [
            _shares(deck, lists, orders, n, generator(seed, Stream.PREDICTION, number, n))
            for number, deck in enumerate(lists)
            if n == 0 or len(_others(deck, lists)) * COPIES >= n
        ]
        for seen, of_decks in enumerate(np.array(found).T):
            rows.append((n, seen, *cluster_rate(of_decks, np.ones(len(found))), len(found)))
    return pd.DataFrame(rows, columns=["exchanged", "seen", "right", "low", "high", "decks"])


def _shares(
    deck: Deck, decks: Sequence[Deck], orders: int, exchanged: int, pick: np.random.Generator
) -> np.ndarray:
    """The share of the cards left that is predicted after each number of cards seen, mean over orders."""
    own_class = of_class(decks, deck.hero_class or BODIES)
    library, others = DeckLibrary(own_class), _others(deck, decks)
    total = np.zeros(DECK_SIZE)
    for _ in range(orders):
        names = [card.name for card in deck.cards]
        places = pick.choice(DECK_SIZE, exchanged, replace=False)
        for place in places:
            names[place] = ""
        for place in places:  # at most two of each
            names[place] = pick.choice([name for name in others if names.count(name) < COPIES])
        names = [names[place] for place in pick.permutation(DECK_SIZE)]
        for seen in range(DECK_SIZE):
            left = Counter(names[seen:])
            total[seen] += (library.guess(names[:seen]) & left).total() / (DECK_SIZE - seen)
    return total / orders


def _others(deck: Deck, decks: Iterable[Deck]) -> list[str]:
    """Names of cards of a library that a deck could hold and does not."""
    held = {card.name for card in deck.cards}
    may = {deck.hero_class, "neutral"}
    return sorted(
        {
            card.name
            for other in decks
            for card in other.cards
            if bool(other.hero_class) == bool(deck.hero_class)
            and (not deck.hero_class or card.class_name in may)
            and card.name not in held
        }
    )
