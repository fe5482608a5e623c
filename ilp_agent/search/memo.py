"""The search's memory of positions: a dense list, and a table of places that grows with it, compiled."""

import numpy as np

from engine.jit import njit_borrowing

NOWHERE = -1


@njit_borrowing
def find(key: np.uint64, work: np.void, memo: np.ndarray, slots: np.ndarray) -> int:
    """The place of a position in the memory; `NOWHERE` where it has not been searched."""
    mask = work["n_slots"] - 1
    slot = np.int64(key) & mask
    while True:
        place = np.int64(slots[slot])
        if place == NOWHERE or memo[place]["key"] == key:
            return int(place)
        slot = (slot + 1) & mask


@njit_borrowing
def add(key: np.uint64, work: np.void, memo: np.ndarray, slots: np.ndarray) -> int:
    """A new place in the memory, for the caller to fill. All but the key are modified in place."""
    place = work["n_memo"]
    work["n_memo"] += 1
    if 2 * work["n_memo"] > work["n_slots"]:
        work["n_slots"] *= 2
        slots[: work["n_slots"]] = NOWHERE
        for other in range(place):
            _enter(memo[other]["key"], other, work, slots)
    _enter(key, place, work, slots)
    return int(place)


@njit_borrowing
def _enter(key: np.uint64, place: int, work: np.void, slots: np.ndarray) -> None:
    mask = work["n_slots"] - 1
    slot = np.int64(key) & mask
    while slots[slot] != NOWHERE:
        slot = (slot + 1) & mask
    slots[slot] = place
