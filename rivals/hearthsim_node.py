"""Nodes of HearthSim's search: their records, the memory of a search, and when two nodes are the same."""

from typing import NamedTuple

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE
from engine.combat import guards, is_guarded, may_attack_hero
from engine.jit import njit
from engine.packing import KEYWORD_BITS, PLACE_BITS, STAT_BITS, append_field
from engine.state import STATE
from engine.streams import mix
from ilp_agent.lookahead.features import N_COUNTS

BUDGET = 100_000
"""Nodes of a turn."""

SLOTS = 1 << 18
"""Places of the table that finds equal nodes."""

MAX_STEPS = 64
"""More actions than a turn can have."""

NODE = np.dtype(
    [
        ("key", "u8"),  # hash of everything that the rest of the turn can depend on
        ("value", "f8"),  # S if the turn ended here
        ("parent", "i4"),  # node it comes from
        ("action", "i4"),  # by this action (`engine.rules.encode`)
        ("from_place", "i2"),  # first enemy that may be attacked next
        ("last", "i2"),  # place of the minion that attacked last and still can; else -1
        ("played", "i2"),  # bits of the cards played, by their place in hand at the start of the turn
        ("attacked", "i2"),  # 1 once there was an attack
    ]
)
"""A node: a position within the turn."""

CARDS = np.dtype(
    [
        ("n", "i2"),  # minions in hand
        ("place", "i2", (HAND_SIZE,)),  # their places in hand
        ("coin", "i2"),  # place of The Coin; -1 without it
        ("mana", "i2"),
        ("died", "i2"),  # own minions that had died before this turn
        ("strikers", "i2"),  # bits of those that can attack on the turn they are played
    ]
)
"""The hand at the start of the turn."""

SEARCHED = np.dtype(
    [
        ("n", "i2"),  # actions
        (
            "actions",
            "i4",
            (MAX_STEPS,),
        ),  # as `engine.rules.encode` packs them; the end of the turn is left out
        ("score", "f8"),  # S at the end
        ("nodes", "i4"),  # nodes of the search
        ("unproven", "i2"),  # 1: the best was not proven, the budget ran out
    ]
)
"""The result of a search."""

OWN_MINION, ENEMY_MINION, REST = range(3)
"""What a word of a node's key is about."""

_ABOUT_BITS = 2
_ATTACKS_BITS = 2
_MINION_BITS = 2 * STAT_BITS + KEYWORD_BITS + 1
assert _ABOUT_BITS + _ATTACKS_BITS + 1 + _MINION_BITS <= 64
assert _ABOUT_BITS + 3 * PLACE_BITS + HAND_SIZE + 2 + 2 * STAT_BITS <= 64


class Tree(NamedTuple):
    """Memory of searches, one for each thread. Modified in place."""

    states: np.ndarray
    nodes: np.ndarray
    slots: np.ndarray
    """Node by key; open addressing."""
    stamps: np.ndarray
    """Search a place of `slots` was last used in."""
    clock: np.ndarray
    """Number of the search, shape (1,)."""
    hand: np.ndarray
    best_plays: np.ndarray
    """Best set of more cards by cards played and free places, shape (2**10, 8); bits of `CARDS` minions."""
    best_stamps: np.ndarray
    costs: np.ndarray
    counts: np.ndarray


@njit
def new_tree() -> Tree:
    """Memory for searches; some tens of megabytes that are touched as searches need them."""
    return Tree(
        np.empty(BUDGET, STATE),
        np.empty(BUDGET, NODE),
        np.empty(SLOTS, np.int32),
        np.zeros(SLOTS, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, CARDS),
        np.zeros((1 << HAND_SIZE, BOARD_SIZE + 1), np.int16),
        np.zeros(1 << HAND_SIZE, np.int64),
        np.zeros(1 << HAND_SIZE, np.int16),
        np.zeros(N_COUNTS, np.int64),
    )


@njit
def key_of(state: np.void, node: np.void, hand: np.void) -> np.uint64:
    """A hash of everything the rest of the turn can depend on; the order of the board does not matter."""
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    # Whether enemies already passed over may still be attacked: by a second attack or by a card in hand.
    again = node["last"] >= 0 or (hand["strikers"] & ~node["played"]) != 0
    total = np.uint64(0)
    for slot in range(own["n_board"]):
        minion = own["board"][slot]
        if minion["attacks_left"] == 0 or minion["attack"] == 0:
            continue
        again = again or minion["attacks_left"] > 1
        word = append_field(np.uint64(OWN_MINION), minion["attacks_left"], _ATTACKS_BITS)
        word = append_field(word, 1 if slot == node["last"] else 0, 1)
        total += mix(_append_minion(word, minion))
    first = node["from_place"]
    guarded = is_guarded(enemy)
    barred = False
    if guarded and not again:
        for slot in range(first):
            barred = barred or guards(enemy["board"][slot])
        first = first if barred else 0
    for slot in range(enemy["n_board"]):
        minion = enemy["board"][slot]
        if (slot >= first or again) and (not barred or guards(minion)):
            word = append_field(np.uint64(ENEMY_MINION), 1 if slot >= first else 0, 1)
            total += mix(_append_minion(word, minion))
    word = append_field(np.uint64(REST), own["n_board"], PLACE_BITS)
    word = append_field(word, own["mana"], PLACE_BITS)
    word = append_field(word, own["n_hand"], PLACE_BITS)
    word = append_field(word, node["played"], HAND_SIZE)
    word = append_field(word, 1 if barred else 0, 1)
    word = append_field(word, node["attacked"], 1)
    word = append_field(word, max(own["health"], 0), STAT_BITS)
    word = append_field(word, max(enemy["health"], 0), STAT_BITS)
    return total + mix(word)


@njit
def _append_minion(word: np.uint64, minion: np.void) -> np.uint64:
    """A word with a minion's numbers, in `_MINION_BITS` bits."""
    word = append_field(word, minion["attack"], STAT_BITS)
    word = append_field(word, minion["health"], STAT_BITS)
    word = append_field(word, minion["keywords"], KEYWORD_BITS)
    return append_field(word, minion["arrived"], 1)


@njit
def attacks_on_hero(minion: np.void) -> int:
    """Attacks a minion may still make on a hero behind no Taunt."""
    return int(minion["attacks_left"]) if minion["attack"] > 0 and may_attack_hero(minion) else 0
