"""Memory of the exact solver: one record, made once and handed in by the caller.

A record and not a tuple of arrays: kernels call each other often, and a record is passed as one pointer.
"""

from typing import NamedTuple

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE, MAX_MANA

MAX_LAYERS = BOARD_SIZE + 2
"""Tables of a subset convolution: before the first target, after each, and between guards and the others."""

USUAL_STATES = 50_008
"""States of a table that fit without allocating (7 MB in all); a turn that needs more allocates for itself.

No power of two, so that tables do not compete for the same lines of the cache.
"""

MAX_STATES = 2_000_000
"""States of the largest table there is memory for (290 MB in all)."""

MAX_LISTED = 3**BOARD_SIZE
"""Most sets of hits on one target: each of seven attackers hits it zero, one or two times."""

MAX_BLOCKS = 4_096
"""Combinations of digits whose emptiness is noted; further ones count as full."""

MAX_HITS = 2 * BOARD_SIZE
"""Most attacks of a turn."""

MET_SIZE = 1 << 14
"""Places of the table of positions met while ordering; a power of two."""

MAX_DAMAGE = 2_048
"""Bound of sums of damage that are told apart: more than any hero's health and armour."""

WORK = np.dtype(
    [
        ("mask", "i8", (BOARD_SIZE, MAX_LISTED)),  # one-hit sources of a set of hits, as bits
        ("counts", "i8", (BOARD_SIZE, MAX_LISTED)),  # hits of two-hit sources, two bits each
        ("gain", "f8", (BOARD_SIZE, MAX_LISTED)),  # value of a set, deaths of one-hit sources included
        ("kills", "i8", (BOARD_SIZE, MAX_LISTED)),  # 1: the set kills its target
        ("deaths", "i8", (BOARD_SIZE, MAX_LISTED)),  # one-hit sources on board that die by it
        ("dull", "i8", (BOARD_SIZE, MAX_LISTED)),  # 1: some hit of the set is worth less than nothing
        ("digits", "i1", (MAX_BLOCKS, BOARD_SIZE)),  # digits of each combination
        ("listed", "i8", (BOARD_SIZE,)),  # how many sets each target has
        ("stats", "i8", (MAX_LISTED, 5)),  # of the target being listed (ilp_agent.exact.hits)
        ("source", "i8", (BOARD_SIZE,)),  # friend of each source, one-hit sources first
        ("target", "i8", (BOARD_SIZE,)),  # enemy of each target, guards first
        ("kind", "i8", (BOARD_SIZE, BOARD_SIZE)),  # target t to two-hit source r: 0 nothing, 1 hurts, 2 kills
        ("grade", "i8", (BOARD_SIZE, BOARD_SIZE)),  # class of a hit on target t for two-hit source r
        ("graded", "i8", (BOARD_SIZE, BOARD_SIZE + 1)),  # damage of each class of a two-hit source
        ("ranks", "i8", (BOARD_SIZE,)),  # of the classes of the source being graded
        ("stride", "i8", (BOARD_SIZE,)),  # weight of each digit
        ("radix", "i8", (BOARD_SIZE,)),  # digits of a two-hit source
        ("knapsack", "f8", (BOARD_SIZE + 1, MAX_MANA + 2)),  # best value of other plays by places and mana
        ("places", "i8"),  # places the knapsack is filled for: more would hold no card
        ("packed", "i8", (BOARD_SIZE + 1, MAX_MANA + 2)),  # cards in it
        ("sums", "i1", (MAX_DAMAGE,)),  # sums of damage that can be made up
        ("hit_source", "i8", (MAX_HITS,)),  # friend of each chosen attack
        ("hit_target", "i8", (MAX_HITS,)),  # enemy place or HERO
        ("played", "i1", (BOARD_SIZE + HAND_SIZE,)),  # 1: friend is played from hand
        ("dying", "i1", (BOARD_SIZE + HAND_SIZE,)),  # 1: friend shall die
        ("killed", "i1", (BOARD_SIZE,)),  # 1: enemy shall die
        ("order", "i8", (MAX_HITS,)),  # the chosen attacks in a legal order
        ("ranked", "i8", (MAX_HITS,)),  # and in the order to try them
        ("keys", "i8", (MAX_HITS,)),  # by which they are ranked
        ("tried", "i8", (MAX_HITS + 1,)),  # rank tried at each depth
        ("placed", "i1", (MAX_HITS,)),  # 1: the attack tried at each depth was legal
        ("used", "i1", (MAX_HITS,)),  # 1: the attack is placed
        (
            "sim",
            "i8",
            (MAX_HITS + 1, 6, BOARD_SIZE + HAND_SIZE),
        ),  # the turn at each depth (exact.order)
        ("met", "u8", (MET_SIZE,)),  # positions met while ordering attacks; 0: an empty place
        ("waiting", "i8", (MAX_HITS,)),  # attackers that may hit the hero
        ("plays", "f8", (BOARD_SIZE + 1,)),  # best value of other plays by deaths on board
        ("fill", "f8", (HAND_SIZE + 1, BOARD_SIZE + 1, MAX_MANA + 2)),  # knapsack by cards, places, mana
        ("cards", "i8", (HAND_SIZE + 1, BOARD_SIZE + 1, MAX_MANA + 2)),  # cards in it
        ("live", "i8", (MAX_BLOCKS,)),  # by digits: bits of the deaths with which a table holds anything
        (
            "step_to",
            "i8",
            (BOARD_SIZE, 3, 12),
        ),  # digit after one or two hits on a target
        ("step_fate", "i8", (BOARD_SIZE, 3, 12)),  # what becomes of the source
        ("grouped", "i8", (MAX_LISTED,)),  # sets of hits on a target, those with equal counts side by side
        ("group", "i8", (MAX_LISTED + 1,)),  # where each group begins
        ("undone", "i8", (1 << BOARD_SIZE,)),  # attack on the hero of the one-hit sources not in a mask
        (
            "halved",
            "i1",
            (BOARD_SIZE + HAND_SIZE,),
        ),  # why a friend was given one attack instead of two (ilp_agent.exact.kernel)
        ("at_friend", "i8", (BOARD_SIZE,)),  # friend at each present place on board
        ("at_enemy", "i8", (BOARD_SIZE,)),  # enemy at each present place
        ("at_hand", "i8", (HAND_SIZE,)),  # hand number at each present place, The Coin left out
        ("friends_now", "i8"),  # friends on board now
        ("enemies_now", "i8"),  # enemies on board now
        ("shape", "i8", (7,)),  # of the tables last filled
        ("last", "i8"),  # their last layer
        ("oversize", "i8"),  # 1: some set of hand attackers was left out, its tables too large
        ("filled", "i8"),  # hand attackers they are for; -1: they are not kept
    ]
)
"""Arrays of the exact solver; all are modified in place."""


def new_work() -> np.void:
    """Allocate the memory of the exact solver: one record of dtype `WORK`, about 0.9 MB."""
    work: np.void = np.zeros(1, WORK)[0]
    return work


def new_layers() -> np.ndarray:
    """Tables of the convolution, (`MAX_LAYERS`, 2, `USUAL_STATES`) float64: best value of each state.

    On the second axis, 1 holds the states with all targets so far dead.
    """
    return np.empty((MAX_LAYERS, 2, USUAL_STATES), np.float64)


class Shape(NamedTuple):
    """Sizes of one convolution."""

    n_single: int  # sources with one hit
    n_double: int  # sources with two
    n_combinations: int  # of their digits
    n_deaths: int  # levels of deaths on board beyond none
    n_guards: int  # targets that guard
    n_targets: int  # all targets
    room: int  # board places free for plays beside the hand attackers


class Best(NamedTuple):
    """The best plan found, enough to find it again."""

    value: float
    attackers: int  # bits of hand minions played to attack
    layer: int  # table it ends in
    cleared: int  # 1: with all targets of that table dead
    state: int
    lethal: int  # 1: the enemy hero dies
