"""Working memory of the exact solver, allocated once by the caller, and the solver's result types.

The memory is one record, not a tuple of arrays: kernels call each other often, and a record is passed as one
pointer. Functions return named tuples (`Shape`, `BestState`, `SearchResult`).
"""

from typing import NamedTuple

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE, MAX_MANA
from engine.jit import njit_inline
from ilp_agent.turn import MAX_FRIENDS, MAX_HITS, MAX_HITS_EACH

MAX_LAYERS = BOARD_SIZE + 2
"""Most tables of a convolution: before the first target, after each, and between guards and the others."""

SOME_ALIVE, ALL_DEAD = 0, 1
"""The two halves of a table: some target so far alive, or all of them dead."""

PREALLOCATED_STATES = 50_008
"""States of a preallocated table (7 MB for all tables); a turn that needs more allocates its own tables.

Not a power of two, so that tables do not compete for the same cache lines.
"""

MAX_STATES = 2_000_000
"""States of the largest table allowed (290 MB for all tables)."""

HITS_BITS = MAX_HITS_EACH.bit_length()
"""Bits of a two-hit source's field in "counts" of WORK."""

MAX_HIT_SETS = (MAX_HITS_EACH + 1) ** BOARD_SIZE
"""Most sets of hits on one target: each of seven attackers hits it 0, 1 or 2 times."""

MAX_TABULATED_COMBINATIONS = 4_096
"""Combinations of digits with precomputed digits and reachability; others are computed on demand."""

MAX_DIGITS = 12
"""Values a digit can take: at most five, and one for each class of damage (`ilp_agent.exact.convolution`)."""

ANY_HIT = 0
"""In "absorbs" and "pops" of WORK: any hit. 0 is free for this, since no hit with attack 0 pops a shield."""

ORDER_TABLE_SIZE = 1 << 14
"""Slots of the hash table of positions visited while ordering; a power of two."""

MAX_DAMAGE = 2_048
"""Upper bound of tabulated damage sums: more than any hero's health plus armour."""

N_HIT_SUMS = 5
"""Columns of "hit_sums" of WORK (`ilp_agent.exact.hits`)."""

N_ORDER_ROWS = 6
"""Rows of "order_states" of WORK (`ilp_agent.exact.order`)."""

WORK = np.dtype(
    [
        # Sets of hits on each target, in listing order.
        ("mask", "i8", (BOARD_SIZE, MAX_HIT_SETS)),  # one-hit sources of the set, as bits
        ("counts", "i8", (BOARD_SIZE, MAX_HIT_SETS)),  # hits of two-hit sources, HITS_BITS bits each
        ("gain", "f8", (BOARD_SIZE, MAX_HIT_SETS)),  # value of the set, deaths of one-hit sources included
        ("kills", "i8", (BOARD_SIZE, MAX_HIT_SETS)),  # 1: the set kills its target
        ("deaths", "i8", (BOARD_SIZE, MAX_HIT_SETS)),  # number of one-hit sources on board that die by it
        (
            "dominated",
            "i8",
            (BOARD_SIZE, MAX_HIT_SETS),
        ),  # 1: the set is better without one of its hits, which loses value
        ("digits", "i1", (MAX_TABULATED_COMBINATIONS, BOARD_SIZE)),  # digits of each combination
        ("listed", "i8", (BOARD_SIZE,)),  # number of sets of each target
        ("hit_sums", "i8", (MAX_HIT_SETS, N_HIT_SUMS)),  # of the sets of the target being listed
        # Attackers and targets.
        ("source", "i8", (BOARD_SIZE,)),  # friendly minion of each source, one-hit sources first
        ("target", "i8", (BOARD_SIZE,)),  # enemy minion of each target, guards first
        # Two-hit sources.
        ("harm", "i8", (BOARD_SIZE, BOARD_SIZE)),  # effect of target t on source r: NO_HARM, HURTS or KILLS
        ("damage_class", "i8", (BOARD_SIZE, BOARD_SIZE)),  # class of that damage
        ("class_damage", "i8", (BOARD_SIZE, BOARD_SIZE + 1)),  # damage of each class of source r
        ("class_rank", "i8", (BOARD_SIZE,)),  # ranks of the classes of the current source
        ("stride", "i8", (BOARD_SIZE,)),  # step between two values of each digit
        ("radix", "i8", (BOARD_SIZE,)),  # number of values of each digit
        # Plays other than the hand attackers.
        ("knapsack", "f8", (BOARD_SIZE + 1, MAX_MANA + 2)),  # best value by board slots and mana
        ("packed", "i8", (BOARD_SIZE + 1, MAX_MANA + 2)),  # its number of cards
        ("sums", "i1", (MAX_DAMAGE,)),  # 1: reachable sum of damage
        # The chosen attacks and plays, written by `trace_back`, read by `order_hits` and `write_plan`.
        ("hit_source", "i8", (MAX_HITS,)),  # friendly minion of each attack
        ("hit_target", "i8", (MAX_HITS,)),  # enemy index or HERO
        ("played", "i1", (MAX_FRIENDS,)),  # 1: the minion is played from hand
        ("dying", "i1", (MAX_FRIENDS,)),  # 1: the friendly minion must die
        ("killed", "i1", (BOARD_SIZE,)),  # 1: the enemy must die
        ("absorbs", "i8", (MAX_FRIENDS,)),  # damage that the minion's shield must absorb, or ANY
        ("pops", "i8", (BOARD_SIZE,)),  # attack that must pop the enemy's shield, or ANY
        ("order", "i8", (MAX_HITS,)),  # the attacks in a legal order
        # The search for that order.
        ("ranked", "i8", (MAX_HITS,)),  # the attacks in trial order
        ("keys", "i8", (MAX_HITS,)),  # sort keys of the trial order
        ("tried", "i8", (MAX_HITS + 1,)),  # rank tried at each depth
        ("placed", "i1", (MAX_HITS,)),  # 1: the attack tried at each depth was legal
        ("used", "i1", (MAX_HITS,)),  # 1: the attack is in the current order
        ("order_states", "i8", (MAX_HITS + 1, N_ORDER_ROWS, MAX_FRIENDS)),  # the turn at each depth
        ("met", "u8", (ORDER_TABLE_SIZE,)),  # hashes of positions visited while ordering; 0: an empty slot
        # Scratch of single functions.
        ("waiting", "i8", (MAX_HITS,)),  # attackers that may hit the hero
        ("plays", "f8", (BOARD_SIZE + 1,)),  # best value of other plays by deaths on board
        ("fill", "f8", (HAND_SIZE + 1, BOARD_SIZE + 1, MAX_MANA + 2)),  # knapsack by cards, slots, mana
        ("cards", "i8", (HAND_SIZE + 1, BOARD_SIZE + 1, MAX_MANA + 2)),  # its number of cards
        (
            "live",
            "i8",
            (MAX_TABULATED_COMBINATIONS,),
        ),  # by combination: bits of the death counts with reachable states
        ("step_to", "i8", (BOARD_SIZE, MAX_HITS_EACH + 1, MAX_DIGITS)),  # digit after hits on a target
        ("step_fate", "i8", (BOARD_SIZE, MAX_HITS_EACH + 1, MAX_DIGITS)),  # LIVES, DIES or MAY_DIE
        ("step_lost", "i8", (BOARD_SIZE, MAX_HITS_EACH + 1, MAX_DIGITS, 2)),  # its loss if it LIVES or DIES
        ("grouped", "i8", (MAX_HIT_SETS,)),  # sets of hits on a target, grouped by equal counts
        ("group", "i8", (MAX_HIT_SETS + 1,)),  # start of each group
        ("hero_damage_left", "i8", (1 << BOARD_SIZE,)),  # of the one-hit sources outside each mask
    ]
)
"""Working arrays of the exact solver; all are modified in place."""


def new_work() -> np.void:
    """Allocate the working memory of the exact solver: one record of dtype `WORK`, about 0.9 MB."""
    work: np.void = np.zeros(1, WORK)[0]
    return work


def new_layers() -> np.ndarray:
    """Allocate the convolution's tables, float64 (`MAX_LAYERS`, 2, `PREALLOCATED_STATES`): values of states.

    The second axis is `SOME_ALIVE` or `ALL_DEAD`.
    """
    return np.empty((MAX_LAYERS, 2, PREALLOCATED_STATES), np.float64)


class Combatants(NamedTuple):
    """Numbers of attackers and targets: lengths of "source" and "target" of WORK."""

    n_single: int  # sources with one hit
    n_double: int  # sources with two hits
    n_guards: int  # targets with Taunt
    n_targets: int  # all targets


class Shape(NamedTuple):
    """Sizes of one convolution, for one set of hand attackers."""

    n_single: int  # sources with one hit
    n_double: int  # sources with two hits
    n_guards: int  # targets with Taunt
    n_targets: int  # all targets
    n_combinations: int  # combinations of the digits of two-hit sources
    n_deaths: int  # largest tracked number of own deaths on board
    n_masks: int  # sets of one-hit sources
    n_states: int  # states of a table
    free_slots: int  # free board slots for plays other than the hand attackers
    knapsack_slots: int  # board slots of the knapsack: more would hold no card
    mana: int  # mana left for plays other than the hand attackers, The Coin included


@njit_inline
def state_of(shape: Shape, deaths: int, combination: int, mask: int) -> int:
    """The index of a state in a table, from own deaths, digits and one-hit sources."""
    return ((deaths * shape.n_combinations + combination) << shape.n_single) | mask


@njit_inline
def mask_of(shape: Shape, state: int) -> int:
    """One-hit sources that have attacked in a state, as bits."""
    return state & (shape.n_masks - 1)


@njit_inline
def combination_of(shape: Shape, state: int) -> int:
    """Combination of the two-hit sources' digits in a state."""
    return (state >> shape.n_single) % shape.n_combinations


@njit_inline
def deaths_of(shape: Shape, state: int) -> int:
    """Own deaths on board in a state, saturated: `n_deaths` means that many or more."""
    return (state >> shape.n_single) // shape.n_combinations


class BestState(NamedTuple):
    """The best final state found, from which the plan is traced back."""

    value: float
    attackers: int  # bits of hand minions played to attack
    layer: int  # table of the final state
    half: int  # SOME_ALIVE or ALL_DEAD, of that table
    state: int
    lethal: int  # 1: the enemy hero dies


class SearchResult(NamedTuple):
    """Result of a search, and the contents of the tables after it."""

    best: BestState
    oversize: int  # 1: a set of hand attackers was skipped because its tables were too large
    attackers: int  # bits of the hand attackers whose tables are kept; -1: none, refill before use
    shape: Shape  # of the kept tables
    last: int  # index of the last table
