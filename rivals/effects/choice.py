"""What agents that look one action ahead know, and what they choose where a card offers cards; compiled."""

import numpy as np

from engine.codes import ActionKind
from engine.jit import njit_borrowing
from engine.rules import encode
from engine.view import hide


@njit_borrowing
def best_choice(state: np.void, cards: np.ndarray) -> int:
    """The action that chooses the most valuable of the cards that are offered, the first of equals.

    Args:
        state: dtype `STATE`, in which something has to be chosen.
        cards: the card table.
    """
    best, chosen = -1.0, 0
    for place in range(state["n_options"]):
        number = state["options"][place]
        value = cards[number]["value"] if number >= 0 else 0.0
        if value > best:
            best, chosen = value, place
    return int(encode(ActionKind.CHOOSE, chosen, 0))


@njit_borrowing
def look(state: np.void, cards: np.ndarray, seen: np.ndarray) -> None:
    """Copy to `seen`, shape (1,), modified in place, what the active player knows of a position."""
    seen[0] = state
    hide(seen[0], cards, state["active"])
