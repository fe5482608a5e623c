"""The search's memory of positions: a dense list, and a table of places that grows with it, compiled."""

import numpy as np

from engine.jit import njit
from ilp_agent.search.work import SearchMemory

NOWHERE = -1


@njit
def find(key: np.uint64, memory: SearchMemory) -> int:
    """The place of a position in the memory; `NOWHERE` where it has not been searched."""
    mask = memory.size[0] - 1
    slot = np.int64(key) & mask
    while True:
        place = np.int64(memory.slots[slot])
        if place == NOWHERE or memory.memo[place]["key"] == key:
            return int(place)
        slot = (slot + 1) & mask


@njit
def add(key: np.uint64, memory: SearchMemory) -> int:
    """A new place in the memory, for the caller to fill, the key first. `memory` is modified in place."""
    place = memory.size[1]
    memory.size[1] += 1
    if 2 * memory.size[1] > memory.size[0]:
        memory.size[0] *= 2
        memory.slots[: memory.size[0]] = NOWHERE
        for other in range(place):
            _enter(memory.memo[other]["key"], other, memory)
    _enter(key, place, memory)
    return int(place)


@njit
def _enter(key: np.uint64, place: int, memory: SearchMemory) -> None:
    mask = memory.size[0] - 1
    slot = np.int64(key) & mask
    while memory.slots[slot] != NOWHERE:
        slot = (slot + 1) & mask
    memory.slots[slot] = place
