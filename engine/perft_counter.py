"""Perft: the number of action sequences of a given length, a test of move generators in chess.

Where cards have effects, each outcome of chance is a branch of its own, with its probability.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from engine.actions import Action
from engine.codes import MAX_ACTIONS, MAX_DEPTH
from engine.effects.chance import Chance
from engine.errors import NotationError
from engine.jit import njit
from engine.position import Position
from engine.rules import apply, legal_actions, play_checked
from engine.state import EVENTS, STATE


def perft(position: Position, depth: int) -> int:
    """Count the sequences of `depth` legal actions from a position; ends of turns count as actions.

    Sequences in which chance brings something else are different ones.

    Args:
        position: where to begin; not changed.
        depth: length of the sequences, 0 to 12. Games that end earlier are not counted.

    Raises:
        NotationError: the depth is out of range.
    """
    if type(depth) is not int or not 0 <= depth <= MAX_DEPTH:
        raise NotationError(f"depth must be an integer from 0 to {MAX_DEPTH}, got {depth!r}")
    if position.table.effects:
        return sum(1 for branch in branches(position, depth) if branch.depth == depth)
    states = np.zeros(depth + 1, STATE)
    states[0] = position.state
    return int(_count(states, position.table.array, depth))


@njit
def _count(states: np.ndarray, cards: np.ndarray, depth: int) -> int:
    """Depth-first without recursion: one state, action list and next index for each level."""
    if depth == 0:
        return 1
    actions, events = np.empty((depth, MAX_ACTIONS), np.int64), np.zeros(1, EVENTS)
    n_actions = np.zeros(depth, np.int64)
    following = np.zeros(depth, np.int64)
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


class Branch(NamedTuple):
    """The end of a sequence of actions.

    Attributes:
        depth: actions in it; fewer than were asked for where the game is over.
        probability: of it, where every legal action is played with the same probability.
        position: after it.
    """

    depth: int
    probability: Fraction
    position: Position


def branches(position: Position, depth: int) -> Iterator[Branch]:
    """All sequences of at most `depth` actions and of the outcomes of chance; their probabilities sum to 1.

    Args:
        position: where to begin; not changed.
        depth: 0 or more.
    """
    waiting = [Branch(0, Fraction(1), position)]
    while waiting:
        here = waiting.pop()
        actions = here.position.legal_actions() if here.depth < depth else []
        if not actions:
            yield here
        for action in actions:
            for chance, then in outcomes_of(here.position, action):
                waiting.append(Branch(here.depth + 1, here.probability * chance / len(actions), then))


def outcomes_of(position: Position, action: Action) -> Iterator[tuple[Fraction, Position]]:
    """Everything that can follow a legal action, each with its probability; equal positions may come twice.

    Args:
        position: where it is played; not changed.
        action: one of `position.legal_actions()`.
    """
    waiting: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while waiting:
        outcomes, probability = waiting.pop()
        then, chance = position.copy(), Chance.given(outcomes)
        play_checked(then.states, then.table.array, action.code, chance.array)
        if chance.waiting:
            each = probability / chance.waiting
            waiting += [((*outcomes, outcome), each) for outcome in range(chance.waiting)]
        else:
            yield probability, then
