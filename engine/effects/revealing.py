"""Whether a Secret has anything to do: who or what it is about is there, and so is room for what it makes.

Source: the Hearthstone Wiki, Secret: one that can do nothing stays hidden.
"""

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE
from engine.effects.board import has_room, is_dying, place_of
from engine.effects.listen import ENDS
from engine.effects.targets import select
from engine.effects.zones import is_named
from engine.jit import njit_borrowing
from engine.vocabulary import Op, Pick


@njit_borrowing
def n_named(cards: np.ndarray, side: np.void, effect: np.void) -> int:
    """How many cards in a hand a row names."""
    n = 0
    for place in range(side["n_hand"]):
        n += 1 if is_named(cards, side["hand"][place], effect) else 0
    return n


@njit_borrowing
def has_object(state: np.void, cards: np.ndarray, effect: np.void, waiting: np.void, events: np.void) -> bool:
    """Whether a Secret's row can do anything: else the Secret stays hidden."""
    pick, op, subject = effect["pick"], effect["op"], int(waiting["target"])
    if subject > 0 and (pick == Pick.SUBJECT or op in (Op.REDIRECT, Op.DECOY)):
        seat = 0 if place_of(state["sides"][0], subject) >= 0 else 1
        place = place_of(state["sides"][seat], subject)
        if place < 0 or is_dying(state["sides"][seat]["board"][place]):
            return False
    own = state["sides"][waiting["seat"]]
    if op in (Op.SUMMON, Op.COPY, Op.REVIVE, Op.DECOY) and not has_room(own):
        return False
    was_full = events["before"][waiting["seat"]]["n_board"] == BOARD_SIZE
    if was_full and op in (Op.SUMMON, Op.COPY) and ENDS >> int(effect["trigger"]) & 1:
        return False  # as the action began
    if op in (Op.ADD, Op.COPY_TO_HAND) and own["n_hand"] == HAND_SIZE:
        return False
    if op in (Op.ENHANCE, Op.CHEAPEN) and n_named(cards, own, effect) == 0:
        return False
    if pick != Pick.RANDOM:
        return True
    return (
        select(state, effect, waiting["seat"], waiting["source"], subject, waiting["foe"], True, events) > 0
    )
