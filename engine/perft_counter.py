"""Perft: counts of action sequences of a given length, as chess programs use to test move generators.

In games with effects, each chance outcome is a branch with its probability.
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

    Different chance outcomes make different sequences.

    Args:
        position: the root; not changed.
        depth: length of the sequences, 0 to 12. Games that end earlier are not counted.

    Raises:
        NotationError: the depth is out of range.
    """
    if type(depth) is not int or not 0 <= depth <= MAX_DEPTH:
        raise NotationError(f"depth must be an integer from 0 to {MAX_DEPTH}, got {depth!r}")
    if position.table.effects:
        return sum(1 for branch in perft_leaves(position, depth) if branch.depth == depth)
    states = np.zeros(depth + 1, STATE)
    states[0] = position.state
    return int(_count(states, position.table.array, depth))


@njit
def _count(states: np.ndarray, cards: np.ndarray, depth: int) -> int:
    """Count leaves depth-first without recursion: one state, action list and next index for each level."""
    if depth == 0:
        return 1
    actions, events = np.empty((depth, MAX_ACTIONS), np.int64), np.zeros(1, EVENTS)
    n_actions = np.zeros(depth, np.int64)
    next_action = np.zeros(depth, np.int64)
    n_actions[0] = legal_actions(states[0], cards, actions[0])
    level = 0
    total = 0
    while level >= 0:
        if level == depth - 1:
            total += n_actions[level]
            level -= 1
        elif next_action[level] == n_actions[level]:
            level -= 1
        else:
            states[level + 1] = states[level]
            apply(states[level + 1], cards, actions[level, next_action[level]], events[0])
            next_action[level] += 1
            level += 1
            n_actions[level] = legal_actions(states[level], cards, actions[level])
            next_action[level] = 0
    return total


class PerftLeaf(NamedTuple):
    """Leaf of the tree of action sequences.

    Attributes:
        depth: number of actions; less than requested if the game is over.
        probability: probability under uniformly random legal actions.
        position: the position at the leaf.
    """

    depth: int
    probability: Fraction
    position: Position


def perft_leaves(position: Position, depth: int) -> Iterator[PerftLeaf]:
    """Enumerate the leaves of all sequences of `depth` actions with their chance outcomes.

    Their probabilities sum to 1.

    Args:
        position: the root; not changed.
        depth: 0 or more.
    """
    stack = [PerftLeaf(0, Fraction(1), position)]
    while stack:
        branch = stack.pop()
        actions = branch.position.legal_actions() if branch.depth < depth else []
        if not actions:
            yield branch
        for action in actions:
            for chance, next_position in chance_successors(branch.position, action):
                stack.append(
                    PerftLeaf(branch.depth + 1, branch.probability * chance / len(actions), next_position)
                )


def chance_successors(position: Position, action: Action) -> Iterator[tuple[Fraction, Position]]:
    """Enumerate the chance outcomes of a legal action: probability and position, possibly with duplicates.

    Args:
        position: the position before it; not changed.
        action: one of `position.legal_actions()`.
    """
    stack: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while stack:
        outcomes, probability = stack.pop()
        next_position, chance = position.copy(), Chance.given(outcomes)
        play_checked(next_position.states, next_position.table.array, action.code, chance.array)
        if chance.n_pending_outcomes:
            share = probability / chance.n_pending_outcomes
            stack += [((*outcomes, outcome), share) for outcome in range(chance.n_pending_outcomes)]
        else:
            yield probability, next_position
