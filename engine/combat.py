"""What of a minion on the board decides about attacks, compiled."""

import numpy as np

from engine.codes import Keyword
from engine.jit import njit_borrowing


@njit_borrowing
def guards(minion: np.void) -> bool:
    """Whether a minion forces attackers to choose it: Taunt, unless Stealth hides it."""
    return bool((minion["keywords"] & (Keyword.TAUNT | Keyword.STEALTH)) == Keyword.TAUNT)


@njit_borrowing
def is_guarded(side: np.void) -> bool:
    """Whether a minion with Taunt stands before all else on a side."""
    found = False
    for slot in range(side["n_board"]):
        found = found or guards(side["board"][slot])
    return found


@njit_borrowing
def may_attack_hero(minion: np.void) -> bool:
    """Whether a minion that may attack may attack heroes too: not on the turn Rush alone let it."""
    return bool(minion["arrived"] == 0 or (minion["keywords"] & Keyword.CHARGE) != 0)
