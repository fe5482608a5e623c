"""Records and memory of a pool of ends: the best different positions that a turn of bodies can end in."""

from typing import NamedTuple

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE
from engine.events import EVENTS
from engine.jit import njit
from engine.state import STATE
from ilp_agent.lookahead.options import MOST_BUDGET

MAX_NODES = 4_096
"""Most positions within a turn that one pool looks at."""

MAX_ENDS = MOST_BUDGET
"""Most ends that one pool keeps."""

SLOTS = 1 << 14
"""Places of the table that finds equal nodes; a power of two, well above `MAX_NODES`."""

MAX_ACTIONS_OF_TURN = 64
"""More actions than a turn of bodies can have."""

NODE = np.dtype(
    [
        ("key", "u8"),  # hash of the position, and of what the order of attacks still allows
        ("gain", "f8"),  # of the objective, by the actions so far
        ("parent", "i4"),  # node it comes from; -1 at the start of the turn
        ("action", "i4"),  # by this action (`engine.rules.encode`)
        ("coin", "i2"),  # 1: The Coin was played before that action
        ("from_place", "i2"),  # first enemy that may be attacked next
        ("last", "i2"),  # place of the minion that attacked last and still can; else -1
        ("attacked", "i2"),  # 1 once there was an attack
        ("played", "i2"),  # minions played so far, bits of their places in hand at the start of the turn
        ("survival", "i2", (BOARD_SIZE,)),  # health that each own minion's survival counts, by place
    ]
)
"""A position within a turn: what can follow it, and what led to it."""

END = np.dtype(
    [
        ("key", "u8"),  # hash of the position at the end of the turn
        ("value", "f8"),  # the objective of the best way to it
        ("node", "i4"),  # it comes after this node
        ("plays", "i2"),  # by playing these minions, bits of their places in hand at the start of the turn
        ("hits", "i4"),  # and by these attacks on the hero, bits of `Pool.hits`
        ("lethal", "i2"),  # 1: the enemy hero is dead
    ]
)
"""An end of a turn."""

PLAYS = np.dtype(
    [
        ("bits", "i2"),  # places in hand at the start of the turn
        ("cost", "i2"),  # mana
        ("size", "i2"),  # minions
        ("copies", "i2"),  # 1: it leaves out an earlier copy of a card, which was perhaps played to attack
        ("gain", "f8"),  # of the objective
    ]
)
"""A set of minions that mana at the start of the turn allows."""

MAX_HITS_ON_HERO = 2 * BOARD_SIZE


class Pool(NamedTuple):
    """Memory of a pool, one for each thread. Modified in place."""

    states: np.ndarray  # of nodes, dtype STATE
    nodes: np.ndarray  # dtype NODE
    slots: np.ndarray  # node by key; open addressing
    stamps: np.ndarray  # pool that a place of `slots` was last used in
    clock: np.ndarray  # number of the pool, shape (1,)
    ends: np.ndarray  # dtype END, the best `n` of them
    end_states: np.ndarray  # dtype STATE, in the same order
    plays: np.ndarray  # dtype PLAYS, by gain, the best first
    n_plays: np.ndarray  # how many, shape (1,)
    hits: np.ndarray  # attacks on the hero that a node allows: the place of who makes it
    least: np.ndarray  # the value of the worst end, shape (1,)
    luck: np.ndarray  # dtype EVENTS, shape (1,): what actions tell
    trial: np.ndarray  # dtype STATE, shape (1,): an end that is tried
    actions: np.ndarray  # those that lead to it
    n_nodes: np.ndarray  # how many nodes there are, shape (1,)
    unproven: np.ndarray  # 1: nodes ran out, shape (1,)


@njit
def new_pool() -> Pool:
    """Memory for pools: some five megabytes."""
    return Pool(
        np.zeros(MAX_NODES, STATE),
        np.zeros(MAX_NODES, NODE),
        np.empty(SLOTS, np.int32),
        np.zeros(SLOTS, np.int64),
        np.zeros(1, np.int64),
        np.zeros(MAX_ENDS, END),
        np.zeros(MAX_ENDS, STATE),
        np.zeros((1 << HAND_SIZE) + 1, PLAYS),
        np.zeros(1, np.int64),
        np.zeros(MAX_HITS_ON_HERO, np.int64),
        np.zeros(1, np.float64),
        np.zeros(1, EVENTS),
        np.zeros(1, STATE),
        np.zeros(MAX_ACTIONS_OF_TURN, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )
