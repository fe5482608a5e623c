"""What a player chooses to keep of the opening hand, by card, and the same as kernels read it."""

from collections.abc import Iterable, Mapping

import numpy as np

from engine.cards import Card
from engine.codes import Opening
from engine.errors import KeepsError, unknown_name

Keeps = Mapping[str, bool]
"""Whether a player keeps an opening card, by its id; others go by the ruleset's rule."""


def card_word(card: Card) -> str:
    """What names a card in `Keeps`: its id, or the name of one that is in no catalogue."""
    return card.id or card.name


def choices_of(cards: Iterable[Card], keeps: Keeps | None) -> np.ndarray:
    """A player's choice as kernels read it: codes of `Opening`, uint8, shape (cards,).

    Args:
        cards: of the card table, in its order.
        keeps: the choice; None: the ruleset's rule, which is an empty row.

    Raises:
        UnknownNameError: there is no such card in the game; the message lists the nearest.
        KeepsError: it is not said by True or False whether a card is kept.
    """
    if keeps is None:
        return np.zeros(0, np.uint8)
    words = [card_word(card) for card in cards]
    for word in keeps:
        if word not in words:
            raise unknown_name("opening card", word, words)
    for word, kept in keeps.items():
        if not isinstance(kept, bool | np.bool_):
            raise KeepsError(f"keeps: {word} must be True or False, got {kept!r}")
    codes = {True: Opening.KEEP, False: Opening.REPLACE, None: Opening.BY_RULE}
    return np.array([codes[keeps.get(word)] for word in words], np.uint8)
