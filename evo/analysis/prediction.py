"""Deck prediction: an opponent's likely decks and remaining cards from the cards seen, and the accuracy.

The nearest decks are those of the agents (`ilp_agent.lookahead.deck_prediction`); here a card is its name.
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
from engine.view import MAX_SHOWN
from evo.seeds import Stream
from evo.stats.ratings import cluster_rate
from ilp_agent.lookahead.deck_prediction import (
    MAX_NEIGHBOURS,
    build_library,
    distinct_decks,
    find_neighbours,
)

BODIES = "bodies"
"""Class name of decks without a class."""


class PredictionError(WrongValueError, ValueError):
    """Options of a deck prediction that do not fit together."""


class LikelyCard(NamedTuple):
    """A card that may remain in a deck.

    Attributes:
        name: name of the card.
        copies: expected number of remaining copies.
        chance: probability that at least one remains.
    """

    name: str
    copies: float
    chance: float


class DeckLibrary:
    """Library of decks that an opponent may play, with nearest-neighbour prediction.

    Args:
        decks: lists of 30 cards; random decks are left out.

    Raises:
        DeckError: no list is left.
    """

    def __init__(self, decks: Iterable[Deck]) -> None:
        self.decks = distinct_decks(deck for deck in decks if not deck.random)
        if not self.decks:
            raise DeckError("the deck library has no deck with a fixed list of cards; add one")
        self.names = sorted({card.name for deck in self.decks for card in deck.cards})
        self._number = {name: number for number, name in enumerate(self.names)}
        lists = [self._numbers(card.name for card in deck.cards) for deck in self.decks]
        sorts = np.arange(len(self.names) + 1)  # the last number stands for cards in no deck
        self._kernel = build_library(self.decks, lists, sorts)
        self._counts = self._kernel.counts

    def likely_decks(self, seen: Sequence[str]) -> list[tuple[Deck, float]]:
        """Decks nearest to the cards seen, with probabilities, the likeliest first.

        Args:
            seen: names of cards, repeated for every copy seen.
        """
        places, chances = self._neighbours(self._numbers(seen))
        return [(self.decks[place], chance) for place, chance in zip(places, chances.tolist(), strict=True)]

    def likely_cards(self, seen: Sequence[str]) -> list[LikelyCard]:
        """Cards that may remain in the deck, the likeliest first; arguments as in `likely_decks`."""
        by_copy = self._chances(self._numbers(seen))
        order = sorted(range(len(self.names)), key=lambda card: (-by_copy[card].sum(), self.names[card]))
        cards = (LikelyCard(self.names[card], float(by_copy[card].sum()), by_copy[card, 0]) for card in order)
        return [card for card in cards if card.copies > 0]

    def guess(self, seen: Sequence[str]) -> Counter[str]:
        """Likeliest remaining cards, as many as remain in the deck; arguments as in `likely_decks`."""
        by_copy = self._chances(self._numbers(seen))
        n = DECK_SIZE - len(seen)
        best = np.argsort(-by_copy, axis=None, kind="stable")[:n]
        return Counter(self.names[card] for card in (best // by_copy.shape[1]).tolist())

    def _numbers(self, names: Iterable[str]) -> list[int]:
        return [self._number.get(name, len(self.names)) for name in names]

    def _neighbours(self, seen: Sequence[int]) -> tuple[list[int], np.ndarray]:
        """Indices of the decks nearest to the cards seen, and the probability of each deck."""
        shown, left, n_left, pools, chances = self._memory
        shown[: len(seen)] = seen
        found = find_neighbours(self._kernel, 0, shown, len(seen), left, n_left, pools, chances)
        return self._kernel.nearest[:found].tolist(), np.diff(chances[:found], prepend=0.0)

    def _chances(self, seen: Sequence[int]) -> np.ndarray:
        """Probability that at least 1, 2, ... copies of each card remain; shape (cards, most copies)."""
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
            np.zeros(MAX_SHOWN, np.int64),
            np.zeros((MAX_NEIGHBOURS, MAX_SHOWN), np.int64),
            np.zeros(MAX_NEIGHBOURS, np.int64),
            np.zeros(MAX_NEIGHBOURS, np.int64),
            np.zeros(MAX_NEIGHBOURS),
        )


def decks_of_class(decks: Iterable[Deck], hero_class: str) -> tuple[Deck, ...]:
    """Decks of a class; for `BODIES`, decks without a class.

    Raises:
        UnknownNameError: no deck is of this class; the message lists the known classes.
    """
    decks = tuple(decks)
    wanted = "" if hero_class == BODIES else hero_class.casefold()
    found = tuple(deck for deck in decks if deck.hero_class == wanted)
    if not found:
        known = sorted({deck.hero_class or BODIES for deck in decks})
        raise unknown_name("class of a deck in the library", hero_class, known)
    return found


def card_name(text: str, library: DeckLibrary) -> str:
    """Find a card by name or id, ignoring case, and return its name; library decks need not hold the card.

    Raises:
        UnknownNameError: there is no such card; the message suggests the nearest of the library.
    """
    folded = {name.casefold(): name for name in library.names}
    if text.casefold() in folded:
        return folded[text.casefold()]
    try:
        return find_facts(text)[0].name
    except UnknownNameError:
        raise unknown_name("card", text, library.names) from None


def prediction_accuracy(
    decks: Sequence[Deck], orders: int, exchanged: Sequence[int], seed: int
) -> pd.DataFrame:
    """Prediction accuracy: share of the remaining cards predicted correctly, by number of cards seen.

    The cards of every deck are revealed in random orders; its class is given. To imitate decks that people
    modify, some cards are exchanged for others of the class, so that the deck is not in the library; decks
    for which the library has too few other cards are left out.

    Args:
        decks: decks of the library, of any class.
        orders: random orders and exchanges per deck.
        exchanged: numbers of cards to exchange, 0 to `DECK_SIZE`.
        seed: seed of orders and exchanges.

    Returns:
        One row per number of cards exchanged and of cards seen: `exchanged`, `seen` (0 to 29), `right` (the
        share of the remaining cards that is predicted, mean over decks), its 95% interval `low` to `high`,
        and `decks`.
    """
    lists = [deck for deck in decks if not deck.random]
    rows = []
    for n in exchanged:
        found = [
            _shares_predicted(deck, lists, orders, n, generator(seed, Stream.PREDICTION, number, n))
            for number, deck in enumerate(lists)
            if n == 0 or len(_exchange_candidates(deck, lists)) * COPIES >= n
        ]
        for seen, of_decks in enumerate(np.array(found).T):
            rows.append((n, seen, *cluster_rate(of_decks, np.ones(len(found))), len(found)))
    return pd.DataFrame(rows, columns=["exchanged", "seen", "right", "low", "high", "decks"])


def _shares_predicted(
    deck: Deck, decks: Sequence[Deck], orders: int, exchanged: int, pick: np.random.Generator
) -> np.ndarray:
    """Share of the remaining cards predicted after each number of cards seen, mean over orders."""
    own_class = decks_of_class(decks, deck.hero_class or BODIES)
    library, others = DeckLibrary(own_class), _exchange_candidates(deck, decks)
    total = np.zeros(DECK_SIZE)
    for _ in range(orders):
        names = [card.name for card in deck.cards]
        places = pick.choice(DECK_SIZE, exchanged, replace=False)
        for place in places:
            names[place] = ""
        for place in places:  # at most two copies of each card
            names[place] = pick.choice([name for name in others if names.count(name) < COPIES])
        names = [names[place] for place in pick.permutation(DECK_SIZE)]
        for seen in range(DECK_SIZE):
            left = Counter(names[seen:])
            total[seen] += (library.guess(names[:seen]) & left).total() / (DECK_SIZE - seen)
    return total / orders


def _exchange_candidates(deck: Deck, decks: Iterable[Deck]) -> list[str]:
    """Names of cards of the library's decks that a deck may hold and does not."""
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
