"""Games of bodies as games with effects, for the search, compiled."""

import numpy as np

from engine.jit import njit


@njit
def give_births(states: np.ndarray, cards: np.ndarray) -> None:
    """Make a game of bodies one with effects.

    Minions get births in the order of the boards, those of the player to move first.

    Args:
        states: dtype `engine.state.STATE`, shape (1,). Modified in place.
        cards: the card table.
    """
    state = states[0]
    state["effects"] = 1
    state["births"] = 0
    for turn in range(2):
        side = state["sides"][state["active"] if turn == 0 else 1 - state["active"]]
        for place in range(side["n_board"]):
            minion = side["board"][place]
            state["births"] += 1
            minion["born"] = state["births"]
            minion["max_health"] = max(cards[minion["card"]]["health"], minion["health"])
