"""Memory of the exact solver, allocated once and handed in by the caller."""

from typing import NamedTuple

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE, MAX_MANA
from engine.jit import njit

MAX_LAYERS = BOARD_SIZE + 2
"""Tables of a subset convolution: before the first target, after each, and between guards and the others."""

USUAL_STATES = 2_048
"""States of a table that fit without allocating; a turn that needs more allocates for itself."""

MAX_LISTED = 3**BOARD_SIZE
"""Most sets of hits on one target: each of seven attackers hits it zero, one or two times."""

MAX_HITS = 2 * BOARD_SIZE
"""Most attacks of a turn."""


class Work(NamedTuple):
    """Arrays of the exact solver. All are modified in place."""

    layers: np.ndarray  # (MAX_LAYERS, 2, USUAL_STATES) float64: best value; 2nd axis: all targets so far dead
    mask: np.ndarray  # (7, MAX_LISTED) int64: single-attack sources of a set of hits, as bits
    counts: np.ndarray  # (7, MAX_LISTED) int64: hits of two-attack sources, two bits each
    gain: (
        np.ndarray
    )  # (7, MAX_LISTED) float64: value of a set of hits, deaths of single-attack sources included
    kills: np.ndarray  # (7, MAX_LISTED) bool: whether the set kills its target
    deaths: np.ndarray  # (7, MAX_LISTED) int64: single-attack sources on board that die by it
    listed: np.ndarray  # (7,) int64: how many sets each target has
    stats: np.ndarray  # (MAX_LISTED, 5) int64: of the target being listed; see `ilp_agent.hits`
    source: np.ndarray  # (7,) int64: friend of each source, single-attack sources first
    target: np.ndarray  # (7,) int64: enemy of each target, guards first
    kind: np.ndarray  # (7, 7) int64: what target t does to two-attack source r: 0 nothing, 1 hurts, 2 kills
    grade: np.ndarray  # (7, 7) int64: class of a hit on target t for two-attack source r
    graded: np.ndarray  # (7, 8) int64: damage of each class of a two-attack source
    radix: np.ndarray  # (7,) int64: digits of a two-attack source
    knapsack: np.ndarray  # (8, 12) float64: best value of other plays by slots and mana
    packed: np.ndarray  # (8, 12) int64: cards in it
    sums: np.ndarray  # (2048,) bool: reachable sums of damage
    hit_source: np.ndarray  # (14,) int64: friend of each chosen attack
    hit_target: np.ndarray  # (14,) int64: enemy place or HERO
    played: np.ndarray  # (17,) bool: friends played from hand
    dying: np.ndarray  # (17,) bool: friends that shall die
    killed: np.ndarray  # (7,) bool: enemies that shall die
    order: np.ndarray  # (14,) int64: the chosen attacks in a legal order


@njit
def new_work() -> Work:
    """Allocate the memory of the exact solver."""
    return Work(
        np.empty((MAX_LAYERS, 2, USUAL_STATES), np.float64),
        np.empty((BOARD_SIZE, MAX_LISTED), np.int64),
        np.empty((BOARD_SIZE, MAX_LISTED), np.int64),
        np.empty((BOARD_SIZE, MAX_LISTED), np.float64),
        np.empty((BOARD_SIZE, MAX_LISTED), np.bool_),
        np.empty((BOARD_SIZE, MAX_LISTED), np.int64),
        np.empty(BOARD_SIZE, np.int64),
        np.empty((MAX_LISTED, 5), np.int64),
        np.empty(BOARD_SIZE, np.int64),
        np.empty(BOARD_SIZE, np.int64),
        np.empty((BOARD_SIZE, BOARD_SIZE), np.int64),
        np.empty((BOARD_SIZE, BOARD_SIZE), np.int64),
        np.empty((BOARD_SIZE, BOARD_SIZE + 1), np.int64),
        np.empty(BOARD_SIZE, np.int64),
        np.empty((BOARD_SIZE + 1, MAX_MANA + 2), np.float64),
        np.empty((BOARD_SIZE + 1, MAX_MANA + 2), np.int64),
        np.empty(2_048, np.bool_),
        np.empty(MAX_HITS, np.int64),
        np.empty(MAX_HITS, np.int64),
        np.empty(BOARD_SIZE + HAND_SIZE, np.bool_),
        np.empty(BOARD_SIZE + HAND_SIZE, np.bool_),
        np.empty(BOARD_SIZE, np.bool_),
        np.empty(MAX_HITS, np.int64),
    )
