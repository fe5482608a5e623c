"""What a player imagines of hidden cards: a position in which nothing is hidden, drawn from a view alone.

The own deck is known but for its order, and is shuffled. Of the opponent's hand and deck a view tells the
numbers of cards alone; each of them is drawn from the cards that the player can see: its own deck and hand
and the minions on the enemy board. With equal decks these are cards that the opponent plays, too. Where
there are none, cards stay hidden, and nobody plays them. Secrets stay hidden, and nothing reveals them.

Nothing here depends on how cards are numbered: a batch of games has one table for all its decks, a single
game one for its two.
"""

import numpy as np

from engine.codes import BOARD_SIZE, DECK_SIZE, HAND_SIZE, UNKNOWN
from engine.jit import njit_borrowing
from engine.streams import below, derive, shuffle

MOST_POSSIBLE = DECK_SIZE + HAND_SIZE + BOARD_SIZE
"""Cards that hidden ones may be drawn from."""

_OWN_DECK, _HAND, _DECK = range(3)
"""Streams below that of what is imagined."""


@njit_borrowing
def list_possible(state: np.void, seat: int, possible: np.ndarray) -> int:
    """List the cards that hidden ones of the opponent are drawn from; how many there are.

    Args:
        state: dtype `STATE`, as the player at `seat` sees it.
        seat: 0 or 1.
        possible: integers, shape (`MOST_POSSIBLE`,). Modified in place.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    n = 0
    for place in range(own["n_deck"]):
        possible[n] = own["deck"][place]
        n += 1
    for place in range(own["n_hand"]):
        if own["hand"][place] >= 0:
            possible[n] = own["hand"][place]
            n += 1
    for place in range(enemy["n_board"]):
        possible[n] = enemy["board"][place]["card"]
        n += 1
    return n


@njit_borrowing
def imagine_hidden(state: np.void, seat: int, possible: np.ndarray, n: int, key: np.uint64) -> None:
    """Shuffle the own deck, and draw the opponent's hidden cards. `state` is modified in place.

    Args:
        state: dtype `STATE`, as the player at `seat` sees it, its deck in the order of `order_deck`
            (`ilp_agent.lookahead.unseen`).
        seat: 0 or 1.
        possible: what hidden cards are drawn from, each as likely, however often it was drawn.
        n: how many of these there are.
        key: the stream.
    """
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    shuffle(own["deck"], own["n_deck"], derive(key, _OWN_DECK))
    if n == 0:
        return
    hand, deck = derive(key, _HAND), derive(key, _DECK)
    for place in range(enemy["n_hand"]):
        if enemy["hand"][place] == UNKNOWN:
            enemy["hand"][place] = possible[below(hand, place, n)]
    for place in range(enemy["n_deck"]):
        if enemy["deck"][place] == UNKNOWN:
            enemy["deck"][place] = possible[below(deck, place, n)]
