"""Memory of the exact solver, made once and handed in by the caller, and what its functions tell each other.

The memory is one record and not a tuple of arrays: kernels call each other often, and a record is passed as
one pointer. What one function found out for another is a named tuple (`Shape`, `Best`, `Found`).
"""

from typing import NamedTuple

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE, MAX_MANA
from engine.jit import njit_inline
from ilp_agent.turn import MAX_FRIENDS, MAX_HITS, MAX_HITS_EACH

MAX_LAYERS = BOARD_SIZE + 2
"""Tables of a subset convolution: before the first target, after each, and between guards and the others."""

SOME_ALIVE, ALL_DEAD = 0, 1
"""The two halves of a table: any of the targets so far alive, or all of them dead."""

USUAL_STATES = 50_008
"""States of a table that fit without allocating (7 MB in all); a turn that needs more allocates for itself.

No power of two, so that tables do not compete for the same lines of the cache.
"""

MAX_STATES = 2_000_000
"""States of the largest table there is memory for (290 MB in all)."""

HITS_BITS = MAX_HITS_EACH.bit_length()
"""Width of a two-hit source's field in "counts" of WORK."""

MAX_LISTED = (MAX_HITS_EACH + 1) ** BOARD_SIZE
"""Most sets of hits on one target: each of seven attackers hits it zero, one or two times."""

MAX_BLOCKS = 4_096
"""Combinations of digits whose emptiness is noted; it is looked up in the table for further ones."""

MAX_DIGITS = 12
"""Values a digit can take: at most five, and one for each class of damage (`ilp_agent.exact.convolution`)."""

ANY = 0
"""In "absorbs" and "pops" of WORK: whatever it is. No attack of 0 pops a shield."""

MET_SIZE = 1 << 14
"""Places of the table of positions met while ordering; a power of two."""

MAX_DAMAGE = 2_048
"""Bound of sums of damage that are told apart: more than any hero's health and armour."""

N_HIT_SUMS = 5
"""Columns of "hit_sums" of WORK (`ilp_agent.exact.hits`)."""

N_ORDER_ROWS = 6
"""Rows of "order_states" of WORK (`ilp_agent.exact.order`)."""

WORK = np.dtype(
    [
        # Sets of hits on each target, in the order they were listed.
        ("mask", "i8", (BOARD_SIZE, MAX_LISTED)),  # one-hit sources of the set, as bits
        ("counts", "i8", (BOARD_SIZE, MAX_LISTED)),  # hits of two-hit sources, HITS_BITS bits each
        ("gain", "f8", (BOARD_SIZE, MAX_LISTED)),  # value of the set, deaths of one-hit sources included
        ("kills", "i8", (BOARD_SIZE, MAX_LISTED)),  # 1: the set kills its target
        ("deaths", "i8", (BOARD_SIZE, MAX_LISTED)),  # one-hit sources on board that die by it
        (
            "dominated",
            "i8",
            (BOARD_SIZE, MAX_LISTED),
        ),  # 1: the set is better without some hit that loses value
        ("digits", "i1", (MAX_BLOCKS, BOARD_SIZE)),  # digits of each combination
        ("listed", "i8", (BOARD_SIZE,)),  # how many sets each target has
        ("hit_sums", "i8", (MAX_LISTED, N_HIT_SUMS)),  # of the target being listed
        # Who strikes, and whom.
        ("source", "i8", (BOARD_SIZE,)),  # friend of each source, one-hit sources first
        ("target", "i8", (BOARD_SIZE,)),  # enemy of each target, guards first
        # Two-hit sources.
        ("harm", "i8", (BOARD_SIZE, BOARD_SIZE)),  # what target t does to source r: NO_HARM, HURTS or KILLS
        ("damage_class", "i8", (BOARD_SIZE, BOARD_SIZE)),  # class of that damage
        ("class_damage", "i8", (BOARD_SIZE, BOARD_SIZE + 1)),  # damage of each class of source r
        ("class_rank", "i8", (BOARD_SIZE,)),  # of the classes of the source in hand
        ("stride", "i8", (BOARD_SIZE,)),  # states between two values of each digit
        ("radix", "i8", (BOARD_SIZE,)),  # values of each digit
        # Plays beside the hand attackers.
        ("knapsack", "f8", (BOARD_SIZE + 1, MAX_MANA + 2)),  # best value by places and mana
        ("packed", "i8", (BOARD_SIZE + 1, MAX_MANA + 2)),  # cards in it
        ("sums", "i1", (MAX_DAMAGE,)),  # sums of damage that can be made up
        # The chosen attacks and plays: what `retrace` writes and `order_hits` and `write_plan` read.
        ("hit_source", "i8", (MAX_HITS,)),  # friend of each attack
        ("hit_target", "i8", (MAX_HITS,)),  # enemy place or HERO
        ("played", "i1", (MAX_FRIENDS,)),  # 1: friend is played from hand
        ("dying", "i1", (MAX_FRIENDS,)),  # 1: friend shall die
        ("killed", "i1", (BOARD_SIZE,)),  # 1: enemy shall die
        ("absorbs", "i8", (MAX_FRIENDS,)),  # damage that friend's shield shall absorb, or ANY
        ("pops", "i8", (BOARD_SIZE,)),  # attack that shall pop the enemy's shield, or ANY
        ("order", "i8", (MAX_HITS,)),  # the attacks in a legal order
        # The search for that order.
        ("ranked", "i8", (MAX_HITS,)),  # the attacks in the order to try them
        ("keys", "i8", (MAX_HITS,)),  # by which they are ranked
        ("tried", "i8", (MAX_HITS + 1,)),  # rank tried at each depth
        ("placed", "i1", (MAX_HITS,)),  # 1: the attack tried at each depth was legal
        ("used", "i1", (MAX_HITS,)),  # 1: the attack is placed
        ("order_states", "i8", (MAX_HITS + 1, N_ORDER_ROWS, MAX_FRIENDS)),  # the turn at each depth
        ("met", "u8", (MET_SIZE,)),  # positions met while ordering attacks; 0: an empty place
        # Scratch of single functions.
        ("waiting", "i8", (MAX_HITS,)),  # attackers that may hit the hero
        ("plays", "f8", (BOARD_SIZE + 1,)),  # best value of other plays by deaths on board
        ("fill", "f8", (HAND_SIZE + 1, BOARD_SIZE + 1, MAX_MANA + 2)),  # knapsack by cards, places, mana
        ("cards", "i8", (HAND_SIZE + 1, BOARD_SIZE + 1, MAX_MANA + 2)),  # cards in it
        ("live", "i8", (MAX_BLOCKS,)),  # by combination: bits of the deaths with which a table holds anything
        ("step_to", "i8", (BOARD_SIZE, MAX_HITS_EACH + 1, MAX_DIGITS)),  # digit after hits on a target
        ("step_fate", "i8", (BOARD_SIZE, MAX_HITS_EACH + 1, MAX_DIGITS)),  # what becomes of the source
        ("step_lost", "i8", (BOARD_SIZE, MAX_HITS_EACH + 1, MAX_DIGITS, 2)),  # its body if it LIVES or DIES
        ("grouped", "i8", (MAX_LISTED,)),  # sets of hits on a target, those with equal counts side by side
        ("group", "i8", (MAX_LISTED + 1,)),  # where each group begins
        ("unspent", "i8", (1 << BOARD_SIZE,)),  # attack on the hero of the one-hit sources not in a mask
    ]
)
"""Arrays of the exact solver; all are modified in place."""


def new_work() -> np.void:
    """Allocate the memory of the exact solver: one record of dtype `WORK`, about 0.9 MB."""
    work: np.void = np.zeros(1, WORK)[0]
    return work


def new_layers() -> np.ndarray:
    """Tables of the convolution, (`MAX_LAYERS`, 2, `USUAL_STATES`) float64: best value of each state.

    The second axis is `SOME_ALIVE` or `ALL_DEAD`.
    """
    return np.empty((MAX_LAYERS, 2, USUAL_STATES), np.float64)


class Combatants(NamedTuple):
    """How many can strike and be struck: lengths of "source" and "target" of WORK."""

    n_single: int  # sources with one hit
    n_double: int  # sources with two
    n_guards: int  # targets that guard
    n_targets: int  # all targets


class Shape(NamedTuple):
    """Sizes of one convolution, for one set of hand attackers."""

    n_single: int  # sources with one hit
    n_double: int  # sources with two
    n_guards: int  # targets that guard
    n_targets: int  # all targets
    n_combinations: int  # of the digits of two-hit sources
    n_deaths: int  # levels of deaths on board beyond none
    n_masks: int  # sets of one-hit sources
    n_states: int  # states of a table
    room: int  # board places free for plays beside the hand attackers
    packed: int  # places the knapsack is filled for: more would hold no card
    mana: int  # left for plays beside the hand attackers, The Coin included


@njit_inline
def state_of(shape: Shape, deaths: int, combination: int, mask: int) -> int:
    """The number of a state."""
    return ((deaths * shape.n_combinations + combination) << shape.n_single) | mask


@njit_inline
def mask_of(shape: Shape, state: int) -> int:
    """One-hit sources that have struck in a state, as bits."""
    return state & (shape.n_masks - 1)


@njit_inline
def combination_of(shape: Shape, state: int) -> int:
    """Digits of the two-hit sources in a state."""
    return (state >> shape.n_single) % shape.n_combinations


@njit_inline
def deaths_of(shape: Shape, state: int) -> int:
    """Deaths on board in a state; at most `n_deaths`, which then means that or more."""
    return (state >> shape.n_single) // shape.n_combinations


class Best(NamedTuple):
    """The best plan found, enough to find it again."""

    value: float
    attackers: int  # bits of hand minions played to attack
    layer: int  # table it ends in
    half: int  # SOME_ALIVE or ALL_DEAD, of that table
    state: int
    lethal: int  # 1: the enemy hero dies


class Found(NamedTuple):
    """What a search found, and what the tables hold after it."""

    best: Best
    oversize: int  # 1: a set of hand attackers was left out, since its tables were too large
    attackers: int  # bits of the hand attackers the tables are of; -1: of none, they have to be filled again
    shape: Shape  # of these tables
    last: int  # the last of them
