"""Opponent deck prediction: nearest neighbours in a deck library; compiled.

Source: Dash, Handali and Jia, "Do Androids Dream Of Explosive Sheep?", section 4.4: decks of the opponent's
class by the distance of the cards seen, in which rare cards count more. A deck is as far away as the seen
cards that it does not hold, each with 1 + ln(decks / decks that hold it); decks are as likely as e to the
minus distance. So a deck explains a card that it does not hold as often as other decks hold it, and a little
less.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import log
from threading import local
from typing import NamedTuple

import numpy as np

from engine import Deck, find_deck
from engine.cards.table import CardTable
from engine.codes import DECK_SIZE
from engine.decks import table_of
from engine.effect_codes import HeroName
from engine.jit import njit_borrowing
from engine.shipped import shipped_decks
from engine.state import CARD

NEIGHBOURS = 64
"""Nearest decks that are kept: all of a class but in large libraries."""

KEPT = 8
"""Libraries that are kept, the last ones used."""

_PRINT = ("cost", "attack", "health", "keywords", "value")
"""What a body is: two with the same of these are the same card to whoever predicts."""


class Library(NamedTuple):
    """Decks as kernels read them."""

    decks: np.ndarray  # card numbers, int64, shape (decks, DECK_SIZE)
    sizes: np.ndarray  # how many of them count: 30, or fewer of a pool; int64, shape (decks,)
    pools: np.ndarray  # 1 where each card of the deck is drawn from all of them; int64, shape (decks,)
    sorts: np.ndarray  # by card number, which card it is; int64, shape (cards,)
    counts: np.ndarray  # copies in each deck by `sorts`, int64, shape (decks, sorts)
    classes: np.ndarray  # a `HeroName`; 0 of a deck of bodies; int64, shape (decks,)
    weights: np.ndarray  # by class and `sorts`, what one that is missing adds to a distance; float64
    distances: np.ndarray  # memory, float64, shape (decks,)
    nearest: np.ndarray  # the decks that were found, int64, shape (NEIGHBOURS,). Modified in place


def library_of(
    decks: Sequence[Deck],
    numbers: Sequence[Sequence[int]],
    sorts: np.ndarray,
    classes: Sequence[int] | None = None,
) -> Library:
    """A library for kernels.

    Args:
        decks: in an order that no numbering of cards changes.
        numbers: of the cards of each.
        sorts: by card number, which card it is: 0 and up.
        classes: of each, 0 or a `HeroName`; None: all are as of one class, 0.
    """
    n = len(decks)
    cards, counts = np.zeros((n, DECK_SIZE), np.int64), np.zeros((n, int(sorts.max(initial=0)) + 1), np.int64)
    for place, listed in enumerate(numbers):
        cards[place, : len(listed)] = listed
        np.add.at(counts[place], sorts[list(listed)], 1)
    known = np.zeros(n, np.int64) if classes is None else np.array(classes, np.int64)
    weights = np.zeros((len(HeroName), counts.shape[1]))
    for name in set(known.tolist()):
        own = counts[known == name]
        held = np.maximum((own > 0).sum(axis=0), 1)
        weights[name] = [1.0 + log(len(own) / times) for times in held.tolist()]
    sizes = np.array([len(listed) for listed in numbers], np.int64)
    pools = np.array([deck.random for deck in decks], np.int64)
    nearest = np.zeros(NEIGHBOURS, np.int64)
    return Library(cards, sizes, pools, sorts, counts, known, weights, np.zeros(n), nearest)


EMPTY_LIBRARY = library_of((), (), np.zeros(1, np.int64))
"""For agents that predict nothing."""


def different(decks: Iterable[Deck]) -> tuple[Deck, ...]:
    """Decks without those that list the same cards as one before them, which would count twice."""
    found: dict[tuple[object, ...], Deck] = {}
    for deck in decks:
        names = tuple(sorted(card.name for card in deck.cards))
        found.setdefault((deck.hero_class, deck.random, deck.varied, names), deck)
    return tuple(found.values())


@lru_cache(maxsize=KEPT)
def body_decks(further: tuple[Deck, ...] = ()) -> tuple[tuple[Deck, ...], CardTable]:
    """The decks of bodies among the shipped ones and further ones, and a table of their cards."""
    decks = different([*map(find_deck, sorted(shipped_decks())), *further])
    bodies = tuple(deck for deck in decks if not deck.effects)
    return bodies, table_of(bodies)


@lru_cache(maxsize=KEPT)
def class_decks(further: tuple[Deck, ...] = ()) -> tuple[Deck, ...]:
    """The decks with a class among the shipped ones and further ones; a game's table holds their cards."""
    decks = different([*map(find_deck, sorted(shipped_decks())), *further])
    return tuple(deck for deck in decks if deck.hero_class)


def library_in(table: CardTable, further: tuple[Deck, ...] = ()) -> Library:
    """The decks with a class, by the numbers of a table; decks of which it lacks a card are left out."""
    number = table.number
    decks = [deck for deck in class_decks(further) if all(card.key in number for card in deck.cards)]
    numbers = [[number[card.key] for card in deck.cards] for deck in decks]
    classes = [int(table.array[number[deck.power.key]]["hero_class"]) for deck in decks if deck.power]
    sorts = np.unique([card.name for card in table.cards], return_inverse=True)[1]  # of all editions
    return library_of(decks, numbers, sorts.astype(np.int64).reshape(-1), classes)


def with_library(cards: np.ndarray, further: tuple[Deck, ...] = ()) -> tuple[np.ndarray, Library]:
    """A card table of bodies, and the same with the cards of the library's decks behind its own.

    Args:
        cards: the card table of a game or a batch of games.
        further: decks beside the shipped ones.

    Returns:
        The longer table, and the library by its numbers.
    """
    decks, table = body_decks(further)
    longer = np.frombuffer(cards.tobytes() + table.array.tobytes(), CARD)  # read-only, as tables are
    prints = np.stack([longer[name].astype(np.float64) for name in _PRINT], axis=1)
    sorts = np.unique(prints, axis=0, return_inverse=True)[1].astype(np.int64).reshape(-1)
    numbers = [[len(cards) + table.number[card.key] for card in deck.cards] for deck in decks]
    return longer, library_of(decks, numbers, sorts)


_LOCAL = local()


def library_for(
    cards: np.ndarray,
    predicts: bool,
    real: bool,
    table: CardTable | None,
    further: tuple[Deck, ...] = (),
) -> tuple[np.ndarray, Library]:
    """A card table and a library, for agents of which some predict the opponent's deck; kept for this thread.

    Args:
        cards: the card table of a game or a batch of games.
        predicts: whether one does; else the table stays as it is, and the library is empty.
        real: whether it is about games on real cards, whose table holds the library's cards already.
        table: the same cards; None: on real cards nothing is predicted.
        further: decks of the library beside the shipped ones.
    """
    if not predicts or (real and table is None):
        return cards, EMPTY_LIBRARY
    kept: dict[bool, tuple[np.ndarray, Library]] = _LOCAL.__dict__.setdefault("kept", {})
    if getattr(_LOCAL, "table", None) is not cards or _LOCAL.further != further:
        _LOCAL.table, _LOCAL.further = cards, further
        kept.clear()
    if real not in kept:
        if real and table is not None:
            kept[real] = cards, library_in(table, further)
        else:
            kept[real] = with_library(cards, further)
    return kept[real]


@njit_borrowing
def find_neighbours(
    library: Library,
    hero_class: int,
    seen: np.ndarray,
    n: int,
    left: np.ndarray,
    n_left: np.ndarray,
    pools: np.ndarray,
    chances: np.ndarray,
) -> int:
    """Find the decks nearest to the cards seen, how likely each is, and what is left of it.

    Args:
        library: its `distances` are modified in place, and `nearest`, which are those found.
        hero_class: of the opponent, a `HeroName`; 0 without one.
        seen: card numbers. Modified in place: put in an order that no numbering of cards changes.
        n: how many.
        left: card numbers, shape (`NEIGHBOURS`, at least `DECK_SIZE`). Modified in place.
        n_left: shape (`NEIGHBOURS`,). Modified in place.
        pools: 1 where cards of a deck are drawn with replacement, as above.
        chances: of each deck and those before it together, as above.

    Returns:
        How many decks there are, the nearest first; of equals the first of the library.
    """
    order_seen(library, seen, n)
    for deck in range(len(library.sizes)):
        library.distances[deck] = -1.0
        if library.classes[deck] == hero_class:
            library.distances[deck] = distance_of(library, deck, seen, n)
    found, total = 0, 0.0
    nearest = 0.0
    while found < NEIGHBOURS:
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
        n_left[found] = list_left(library, best, seen, n, left[found])
        found += 1
    for place in range(found):
        chances[place] /= total
    return found


@njit_borrowing
def order_seen(library: Library, seen: np.ndarray, n: int) -> None:
    """Put the first `n` cards in the order of what they are, so that sums add up alike. Modified in place."""
    for place in range(n):
        card, before = seen[place], place
        while before > 0 and library.sorts[seen[before - 1]] > library.sorts[card]:
            seen[before] = seen[before - 1]
            before -= 1
        seen[before] = card


@njit_borrowing
def distance_of(library: Library, deck: int, seen: np.ndarray, n: int) -> float:
    """How far away a deck is: the seen cards that it does not hold, by their weights."""
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


@njit_borrowing
def list_left(library: Library, deck: int, seen: np.ndarray, n: int, left: np.ndarray) -> int:
    """List the cards of a deck without those seen; of a pool all. `left` is modified in place.

    Returns:
        How many there are.
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
