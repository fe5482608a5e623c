"""Perft: the number of action sequences of a given length, as chess programs count to test their rules."""

import numpy as np

from engine.codes import MAX_ACTIONS, MAX_DEPTH
from engine.errors import NotationError
from engine.events import EVENTS
from engine.jit import njit
from engine.position import Position
from engine.rules import apply, legal_actions
from engine.state import STATE


def perft(position: Position, depth: int) -> int:
    """Count the sequences of `depth` legal actions from a position; ends of turns count as actions.

    Args:
        position: where to begin; not changed.
        depth: length of the sequences, 0 to 12. Games that end earlier are not counted.

    Raises:
        NotationError: the depth is out of range.
    """
    if type(depth) is not int or not 0 <= depth <= MAX_DEPTH:
        raise NotationError(f"depth must be an integer from 0 to {MAX_DEPTH}, got {depth!r}")
    states = np.zeros(depth + 1, STATE)
    states[0] = position.state
    return int(_count(states, position.table.array, depth))


@njit
def _count(states: np.ndarray, cards: np.ndarray, depth: int) -> int:
    """Depth-first without recursion: one state, action list and next index for each level."""
    if depth == 0:
        return 1
    actions = np.empty((depth, MAX_ACTIONS), np.int64)
    n_actions = np.zeros(depth, np.int64)
    following = np.zeros(depth, np.int64)
    events = np.zeros(1, EVENTS)
    n_actions[0] = legal_actions(states[0], cards, actions[0])
    level = 0
    total = 0
    while level >= 0:
        if level == depth - 1:
            total += n_actions[level]
            level -= 1
        elif following[level] == n_actions[level]:
            level -= 1
        else:
            states[level + 1] = states[level]
            apply(states[level + 1], cards, actions[level, following[level]], events[0])
            following[level] += 1
            level += 1
            n_actions[level] = legal_actions(states[level], cards, actions[level])
            following[level] = 0
    return total
