"""Where minions that effects summon come to stand; compiled."""

import numpy as np

from engine.effects.board import place_of
from engine.effects.harm import bring
from engine.jit import njit_borrowing
from engine.vocabulary import MAX_QUEUE


@njit_borrowing
def close_gap(state: np.void, seat: int, place: int, born: int, events: np.void) -> None:
    """Where minion `born` left its `place` on a board, the dead stood one further left. Modified in place."""
    if place_of(state["sides"][seat], born) == place:
        return  # the hand or the other board had no room
    for n in range(events["first"], events["last"]):
        other = events["queue"][n % MAX_QUEUE]
        if other["seat"] == seat and other["place"] > place:
            other["place"] -= 1


@njit_borrowing
def summon_beside(
    state: np.void,
    cards: np.ndarray,
    seat: int,
    number: int,
    left: bool,
    waiting: np.void,
    events: np.void,
) -> int:
    """Summon a minion next to its source, where a dead source stood, or at the right end; its place, or -1.

    Several that a Battlecry summons stand to the right and to the left of its minion in turn; several where a
    dead minion stood stand there in the order of its rows. `waiting` is modified in place.
    """
    side = state["sides"][seat]
    place = int(side["n_board"])
    own = seat == waiting["seat"]
    dead = own and waiting["place"] >= 0
    if dead:
        place = int(waiting["place"])
    elif own and waiting["source"] > 0:
        source = place_of(side, waiting["source"])
        if source >= 0:
            place = source if left else source + 1
    place = min(max(place, 0), int(side["n_board"]))
    if bring(state, cards, events, seat, number, place):
        if dead:
            waiting["place"] += 1
        for n in range(events["first"], events["last"]):
            other = events["queue"][n % MAX_QUEUE]
            if other["seat"] != seat or other["place"] < 0:
                continue
            later = other["was"] > waiting["was"] or other["source"] == waiting["source"]
            if other["place"] > place or (other["place"] == place and dead and later):
                other["place"] += 1
        return place
    return -1
