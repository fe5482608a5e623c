"""Ends of turns drawn at random now and then: what the agent would not play; compiled."""

import numpy as np

from engine.jit import njit_borrowing
from engine.streams import below

NEVER = 0
"""A chance of exploring, in millionths."""

ALWAYS = 1_000_000

NO_STREAM = np.uint64(0)
"""Stands for the stream where nothing is drawn."""

_WHETHER, _WHICH = range(2)
"""Numbers of a stream: whether an end is drawn, and which."""


@njit_borrowing
def draw_end(explore: int, key: np.uint64, found: int) -> int:
    """The number of an end drawn at random, below `found`; -1 where none is drawn.

    Args:
        explore: chance that one is, in millionths.
        key: stream of the turn.
        found: how many ends there are, >= 1.
    """
    if explore > NEVER and below(key, _WHETHER, ALWAYS) < explore:
        return int(below(key, _WHICH, found))
    return -1
