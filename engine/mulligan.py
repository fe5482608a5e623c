"""The mulligan: which opening cards are exchanged, by the ruleset's rule or by a player's choice.

A player's choice is a row of the codes `Opening`, one for each number of the card table. What becomes of one
card then depends on no other: every place of the opening hand has its own place of the shuffled deck, drawn
beforehand, and a card that is replaced changes places with the card there. Two choices for the same deal thus
differ in the cards that they treat differently, and in nothing else.
"""

import numpy as np

from engine.codes import DECK_SIZE, HAND_SIZE, Opening
from engine.jit import njit
from engine.streams import shuffle


@njit
def replace_dear(side: np.void, cards: np.ndarray, above: int, key: np.uint64) -> None:
    """Replace each opening card dearer than `above` from the deck, then shuffle those back in.

    `side` is modified in place.
    """
    aside = np.zeros(HAND_SIZE, np.int16)
    n_aside = 0
    for place in range(side["n_hand"]):
        card = side["hand"][place]
        if cards[card]["cost"] > above and side["n_deck"] > 0:
            aside[n_aside] = card
            n_aside += 1
            side["n_deck"] -= 1
            side["hand"][place] = side["deck"][side["n_deck"]]
    for place in range(n_aside):
        side["deck"][side["n_deck"]] = aside[place]
        side["n_deck"] += 1
    if n_aside:
        shuffle(side["deck"], side["n_deck"], key)


@njit
def replace_chosen(side: np.void, cards: np.ndarray, above: int, choices: np.ndarray, key: np.uint64) -> None:
    """Exchange the opening cards that a player does not keep. `side` is modified in place.

    Args:
        side: whose hand is drawn and whose deck is shuffled.
        cards: the card table, dtype `engine.state.CARD`.
        above: where a choice is `Opening.BY_RULE`, cards dearer than this are replaced.
        choices: codes of `Opening` by card number, shape (cards,).
        key: of the seat's stream.
    """
    places = np.arange(DECK_SIZE)
    shuffle(places, side["n_deck"], key)
    for place in range(side["n_hand"]):
        card = side["hand"][place]
        choice = choices[card]
        if place >= side["n_deck"]:  # of a deck too small for all
            continue
        if choice == Opening.REPLACE or (choice == Opening.BY_RULE and cards[card]["cost"] > above):
            other = places[place]
            side["hand"][place] = side["deck"][other]
            side["deck"][other] = card
