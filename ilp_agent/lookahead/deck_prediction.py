"""Opponent deck prediction: nearest neighbours in a deck library; compiled.

Source: Dash, Handali and Jia, "Do Androids Dream Of Explosive Sheep?", section 4.4: decks of the opponent's
class, ranked by their distance to the cards seen, in which rare cards count more. The distance of a deck is
the sum over seen cards missing from it of 1 + ln(decks / decks with the card); its likelihood is proportional
to exp(-distance). So a deck explains a missing card slightly less often than other decks contain it.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import log
from threading import local
from typing import NamedTuple

import numpy as np

from engine import Deck, find_deck
from engine.cards.patches import NO_PATCH, Patch
from engine.cards.table import CardTable
from engine.codes import DECK_SIZE
from engine.decks import build_card_table
from engine.effect_codes import HeroClassCode
from engine.jit import njit_no_alloc
from engine.shipped import shipped_decks
from engine.state import CARD

MAX_NEIGHBOURS = 64
"""Largest number of nearest decks; more than a class has, except in large libraries."""

CACHE_SIZE = 8
"""Size of the cache of libraries."""

_PRINT = ("cost", "attack", "health", "keywords", "value")
"""Printed values that identify a card without effects."""


class DeckLibrary(NamedTuple):
    """A library of known decks, from which kernels predict the opponent's deck."""

    decks: np.ndarray  # card numbers, int64, shape (decks, DECK_SIZE)
    sizes: np.ndarray  # number of cards: 30, or fewer of a pool; int64, shape (decks,)
    pools: np.ndarray  # 1: cards are drawn with replacement from a pool; int64, shape (decks,)
    sorts: np.ndarray  # identity of each card number; int64, shape (cards,)
    counts: np.ndarray  # copies in each deck by identity, int64, shape (decks, sorts)
    classes: np.ndarray  # a `HeroClassCode`; 0 without a class; int64, shape (decks,)
    weights: np.ndarray  # distance of a missing card, by class and identity; float64
    distances: np.ndarray  # workspace, float64, shape (decks,)
    nearest: np.ndarray  # nearest decks, int64, shape (MAX_NEIGHBOURS,). Modified in place


def build_library(
    decks: Sequence[Deck],
    numbers: Sequence[Sequence[int]],
    sorts: np.ndarray,
    classes: Sequence[int] | None = None,
) -> DeckLibrary:
    """Build the library of known decks from which kernels predict the opponent's deck.

    Args:
        decks: in an order independent of card numbers.
        numbers: card numbers of each deck.
        sorts: identity of each card number, from 0.
        classes: of each deck, 0 or a `HeroClassCode`; None: all 0.
    """
    n = len(decks)
    cards, counts = np.zeros((n, DECK_SIZE), np.int64), np.zeros((n, int(sorts.max(initial=0)) + 1), np.int64)
    for place, listed in enumerate(numbers):
        cards[place, : len(listed)] = listed
        np.add.at(counts[place], sorts[list(listed)], 1)
    known = np.zeros(n, np.int64) if classes is None else np.array(classes, np.int64)
    weights = np.zeros((len(HeroClassCode), counts.shape[1]))
    for name in set(known.tolist()):
        own = counts[known == name]
        decks_with = np.maximum((own > 0).sum(axis=0), 1)
        weights[name] = [1.0 + log(len(own) / n_holding) for n_holding in decks_with.tolist()]
    sizes = np.array([len(listed) for listed in numbers], np.int64)
    pools = np.array([deck.random for deck in decks], np.int64)
    nearest = np.zeros(MAX_NEIGHBOURS, np.int64)
    return DeckLibrary(cards, sizes, pools, sorts, counts, known, weights, np.zeros(n), nearest)


EMPTY_LIBRARY = build_library((), (), np.zeros(1, np.int64))
"""Library for agents without deck prediction."""


def distinct_decks(decks: Iterable[Deck]) -> tuple[Deck, ...]:
    """Distinct decks: a deck with the same cards and numbers as an earlier one is left out."""
    found: dict[tuple[object, ...], Deck] = {}
    for deck in decks:
        cards = tuple(sorted(card.key[:-1] for card in deck.cards))
        found.setdefault((deck.hero_class, deck.random, deck.varied, cards), deck)
    return tuple(found.values())


@lru_cache(maxsize=CACHE_SIZE)
def body_decks(further: tuple[Deck, ...] = (), patch: Patch = NO_PATCH) -> tuple[tuple[Deck, ...], CardTable]:
    """All shipped and further decks without card effects, patched, and a table of their cards."""
    decks = distinct_decks([*map(find_deck, sorted(shipped_decks())), *further])
    bodies = tuple(deck.patched(patch) for deck in decks if not deck.effects)
    return bodies, build_card_table(bodies)


@lru_cache(maxsize=CACHE_SIZE)
def class_decks(further: tuple[Deck, ...] = ()) -> tuple[Deck, ...]:
    """All shipped and further decks with a class; a game's table must hold their cards."""
    decks = distinct_decks([*map(find_deck, sorted(shipped_decks())), *further])
    return tuple(deck for deck in decks if deck.hero_class)


def library_in_table(table: CardTable, further: tuple[Deck, ...] = ()) -> DeckLibrary:
    """Deck library of the class decks by a table's card numbers; decks with other cards are left out."""
    number = table.number
    decks = [deck.patched(table.patch) for deck in class_decks(further)]
    decks = [deck for deck in decks if all(card.key in number for card in deck.cards)]
    numbers = [[number[card.key] for card in deck.cards] for deck in decks]
    classes = [int(table.array[number[deck.power.key]]["hero_class"]) for deck in decks if deck.power]
    sorts = np.unique([card.name for card in table.cards], return_inverse=True)[1]  # of all editions
    return build_library(decks, numbers, sorts.astype(np.int64).reshape(-1), classes)


def extend_table(
    cards: np.ndarray, further: tuple[Deck, ...] = (), patch: Patch = NO_PATCH
) -> tuple[np.ndarray, DeckLibrary]:
    """Append the cards of the library's decks to a card table without card effects; return both.

    Args:
        cards: the card table of a game or a batch of games.
        further: decks in addition to the shipped ones.
        patch: of the games' cards.

    Returns:
        The extended table, and the library by its card numbers.
    """
    decks, table = body_decks(further, patch)
    longer = np.frombuffer(cards.tobytes() + table.array.tobytes(), CARD)  # read-only, as tables are
    prints = np.stack([longer[name].astype(np.float64) for name in _PRINT], axis=1)
    sorts = np.unique(prints, axis=0, return_inverse=True)[1].astype(np.int64).reshape(-1)
    numbers = [[len(cards) + table.number[card.key] for card in deck.cards] for deck in decks]
    return longer, build_library(decks, numbers, sorts)


_LOCAL = local()


def table_and_library(
    cards: np.ndarray,
    predicts: bool,
    real: bool,
    table: CardTable | None,
    further: tuple[Deck, ...] = (),
) -> tuple[np.ndarray, DeckLibrary]:
    """Card table and library for a batch of agents, cached for this thread.

    Args:
        cards: the card table of a game or a batch of games.
        predicts: whether any agent predicts decks; else the table is unchanged and the library is empty.
        real: whether the games have card effects, whose table holds the library's cards already.
        table: the same cards; None: no prediction with card effects.
        further: decks in addition to the shipped ones.
    """
    if not predicts or (real and table is None):
        return cards, EMPTY_LIBRARY
    kept: dict[bool, tuple[np.ndarray, DeckLibrary]] = _LOCAL.__dict__.setdefault("kept", {})
    if getattr(_LOCAL, "table", None) is not cards or _LOCAL.further != further:
        _LOCAL.table, _LOCAL.further = cards, further
        kept.clear()
    if real not in kept:
        if real and table is not None:
            kept[real] = cards, library_in_table(table, further)
        else:
            kept[real] = extend_table(cards, further, table.patch if table is not None else NO_PATCH)
    return kept[real]


@njit_no_alloc
def find_neighbours(
    library: DeckLibrary,
    hero_class: int,
    seen: np.ndarray,
    n: int,
    left: np.ndarray,
    n_left: np.ndarray,
    pools: np.ndarray,
    chances: np.ndarray,
) -> int:
    """Find the decks nearest to the cards seen, with likelihoods and remaining cards; return their number.

    Args:
        library: `distances` and `nearest`, the decks found, are modified in place.
        hero_class: of the opponent, a `HeroClassCode`; 0 without one.
        seen: card numbers. Modified in place: sorted independently of card numbers.
        n: number of cards seen.
        left: remaining cards, shape (`MAX_NEIGHBOURS`, at least `DECK_SIZE`). Modified in place.
        n_left: their number, shape (`MAX_NEIGHBOURS`,). Modified in place.
        pools: 1 for decks drawn with replacement, shape (`MAX_NEIGHBOURS`,). Modified in place.
        chances: cumulative probabilities, shape (`MAX_NEIGHBOURS`,). Modified in place.

    Returns:
        The number of decks, the nearest first, ties in library order.
    """
    sort_seen(library, seen, n)
    for deck in range(len(library.sizes)):
        library.distances[deck] = -1.0
        if library.classes[deck] == hero_class:
            library.distances[deck] = deck_distance(library, deck, seen, n)
    found, total = 0, 0.0
    nearest = 0.0
    while found < MAX_NEIGHBOURS:
        best = -1
        for deck in range(len(library.sizes)):
            if library.distances[deck] >= 0.0 and (
                best < 0 or library.distances[deck] < library.distances[best]
            ):
                best = deck
        if best < 0:
            break
        if found == 0:
            nearest = library.distances[best]
        total += np.exp(nearest - library.distances[best])
        library.distances[best] = -1.0
        library.nearest[found] = best
        chances[found] = total
        pools[found] = library.pools[best]
        n_left[found] = list_remaining(library, best, seen, n, left[found])
        found += 1
    for place in range(found):
        chances[place] /= total
    return found


@njit_no_alloc
def sort_seen(library: DeckLibrary, seen: np.ndarray, n: int) -> None:
    """Sort the first `n` cards by identity, so that sums round alike. Modified in place."""
    for place in range(n):
        card, before = seen[place], place
        while before > 0 and library.sorts[seen[before - 1]] > library.sorts[card]:
            seen[before] = seen[before - 1]
            before -= 1
        seen[before] = card


@njit_no_alloc
def deck_distance(library: DeckLibrary, deck: int, seen: np.ndarray, n: int) -> float:
    """Distance of a deck: the weights of the seen cards that the deck lacks."""
    total = 0.0
    for place in range(n):
        sort, before = library.sorts[seen[place]], 0
        for other in range(place):
            if library.sorts[seen[other]] == sort:
                before += 1
        held = library.counts[deck, sort]
        if held == 0 or (held <= before and not library.pools[deck]):
            total += library.weights[library.classes[deck], sort]
    return float(total)


@njit_no_alloc
def list_remaining(library: DeckLibrary, deck: int, seen: np.ndarray, n: int, left: np.ndarray) -> int:
    """Write a deck's cards without those seen (of a pool all cards) to `left`; return their number.

    Returns:
        The number of cards.
    """
    found = 0
    for place in range(library.sizes[deck]):
        card = library.decks[deck, place]
        sort, before, times = library.sorts[card], 0, 0
        for other in range(place):
            if library.sorts[library.decks[deck, other]] == sort:
                before += 1
        for other in range(n):
            if library.sorts[seen[other]] == sort:
                times += 1
        if library.pools[deck] or before >= times:
            left[found] = card
            found += 1
    return found
