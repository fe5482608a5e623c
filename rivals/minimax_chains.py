"""The action chains of a turn: every position that a player can end its turn in, each found once; compiled.

A chain is a sequence of actions up to the end of the turn, without it. Positions are gone on from in the
order of their value for who plays, the best first, so that a turn with more positions than memory has still
been followed where it promises most. Two sequences to the same position are one chain, the first that was
found.

With real cards, what chance decides ends a chain: its value is the mean over what can fall out. So does a
card that offers cards. After either, or where a card was drawn or a Secret may be revealed, the player
chooses anew.
"""

from typing import NamedTuple

import numpy as np

from engine.codes import MAX_ACTIONS, ActionKind, Outcome
from engine.effects.chance import imaginable, imagine, think
from engine.effects.futures import card_key, choices_key, minion_key, side_key
from engine.events import EVENTS
from engine.jit import njit, njit_borrowing
from engine.rules import apply, decode, legal_actions, outcome
from engine.state import STATE
from ilp_agent.search.keys import twin_before
from rivals.minimax_features import N_FEATURES, WON, value_of

MOST_POSITIONS = 2_000
"""Positions of one turn at most."""

SLOTS = 1 << 13
"""Places of the table that finds equal positions; a power of two, well above `MOST_POSITIONS`."""

MOST_STEPS = 64
"""Actions of a chain at most."""

GOES_ON, BY_CHANCE, BY_CHOICE = range(3)
"""Why no action follows in a chain: one may, chance decides the last, or cards are offered."""

NODE = np.dtype(
    [
        ("key", "u8"),  # hash of the position
        ("value", "f8"),  # for the player whose weights they are, if the turn ended here
        ("parent", "i4"),  # node it comes from; -1 at the start of the turn
        ("action", "i4"),  # by this action (`engine.rules.encode`)
        ("steps", "i2"),  # actions so far
        ("open", "i2"),  # 1: what follows cannot be known before its action is played
        ("ends", "i2"),  # GOES_ON, BY_CHANCE or BY_CHOICE
        ("picked", "i2"),  # 1: among the best that `pick_best` has found
    ]
)
"""A position within the turn."""


class Chains(NamedTuple):
    """Memory of one turn's chains. Modified in place."""

    states: np.ndarray
    """Positions of the nodes, dtype `STATE`; after chance they are none."""
    nodes: np.ndarray
    slots: np.ndarray
    """Node by key; open addressing."""
    stamps: np.ndarray
    """Turn a place of `slots` was last used in."""
    clock: np.ndarray
    """Number of the turn, shape (1,)."""
    heap: np.ndarray
    """Nodes to go on from, the best first."""
    n_heap: np.ndarray
    """How many, shape (1,)."""
    n_nodes: np.ndarray
    """How many nodes there are, shape (1,)."""
    unproven: np.ndarray
    """1: there were more positions than memory, shape (1,)."""
    actions: np.ndarray
    outcomes: np.ndarray
    """What can fall out, dtype `STATE`, shape (1,)."""
    thought: np.ndarray
    features: np.ndarray


@njit
def new_chains() -> Chains:
    """Memory for one turn: some two megabytes."""
    return Chains(
        np.zeros(MOST_POSITIONS, STATE),
        np.zeros(MOST_POSITIONS, NODE),
        np.empty(SLOTS, np.int32),
        np.zeros(SLOTS, np.int64),
        np.zeros(1, np.int64),
        np.empty(MOST_POSITIONS + 1, np.int32),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.empty(MAX_ACTIONS, np.int64),
        np.zeros(1, STATE),
        np.zeros(1, EVENTS),
        np.zeros(N_FEATURES, np.float64),
    )


@njit_borrowing
def find_chains(state: np.void, cards: np.ndarray, weights: np.ndarray, seat: int, chains: Chains) -> None:
    """Find the positions in which the active player can end its turn. `chains` is modified in place.

    Args:
        state: dtype `STATE`, not over; cards that are hidden in it are not played.
        cards: the card table.
        weights: shape (at least `N_FEATURES`,).
        seat: of the player whose weights they are: the opponent's best is worst for this one.
        chains: memory; node 0 is the start of the turn.
    """
    sign = 1.0 if state["active"] == seat else -1.0
    chains.clock[0] += 1
    chains.n_nodes[0], chains.n_heap[0], chains.unproven[0] = 1, 0, 0
    chains.states[0] = state
    root = chains.nodes[0]
    root["parent"], root["action"], root["steps"], root["open"], root["picked"] = -1, 0, 0, 0, 0
    root["ends"] = BY_CHOICE if state["n_options"] > 0 else GOES_ON
    root["value"] = value_of(state, seat, weights, chains.features)
    root["key"] = key_of(state)
    _is_new(0, chains)
    _push(0, sign, chains)
    while chains.n_heap[0] > 0:
        place = _pop(sign, chains)
        if sign * chains.nodes[place]["value"] == WON:
            return
        if not _expand(place, cards, weights, seat, sign, chains):
            chains.unproven[0] = 1
            return


@njit_borrowing
def _expand(
    place: int, cards: np.ndarray, weights: np.ndarray, seat: int, sign: float, chains: Chains
) -> bool:
    """Add all that can follow a node; whether there was room. `chains` is modified in place."""
    state, parent, thought = chains.states[place], chains.nodes[place], chains.thought[0]
    mover = state["active"]
    if outcome(state) != Outcome.ONGOING or parent["steps"] == MOST_STEPS:
        return True
    for number in range(legal_actions(state, cards, chains.actions)):
        action = chains.actions[number]
        kind, source, _ = decode(action)
        if kind == ActionKind.END_TURN:
            continue
        if kind == ActionKind.PLAY and twin_before(state["sides"][mover], source):
            continue
        n = int(chains.n_nodes[0])
        if n == MOST_POSITIONS:
            return False
        child, node = chains.states[n], chains.nodes[n]
        think(thought)
        chains.states[n] = state
        apply(child, cards, action, thought)
        node["parent"], node["action"], node["steps"] = place, action, parent["steps"] + 1
        node["open"], node["ends"], node["picked"] = 0, GOES_ON, 0
        if thought["waiting"]:
            node["open"], node["ends"] = 1, BY_CHANCE
            node["value"] = _mean_value(state, cards, action, weights, seat, chains)
            chains.n_nodes[0] = n + 1
            continue
        node["open"] = 1 if _is_unsure(state, child, thought) else 0
        node["ends"] = BY_CHOICE if child["n_options"] > 0 else GOES_ON
        node["value"] = value_of(child, seat, weights, chains.features)
        node["key"] = key_of(child)
        if _is_new(n, chains):
            chains.n_nodes[0] = n + 1
            if node["ends"] == GOES_ON:
                _push(n, sign, chains)
    return True


@njit_borrowing
def _is_unsure(before: np.void, after: np.void, thought: np.void) -> bool:
    """Whether more can be known once an action is played: a card was drawn, a Secret may be revealed."""
    if after["n_options"] > 0 or thought["unsure"]:
        return True
    if before["sides"][1 - before["active"]]["n_secrets"] > 0:
        return True
    drawn = before["sides"][0]["n_deck"] != after["sides"][0]["n_deck"]
    return bool(drawn or before["sides"][1]["n_deck"] != after["sides"][1]["n_deck"])


@njit_borrowing
def _mean_value(
    state: np.void, cards: np.ndarray, action: int, weights: np.ndarray, seat: int, chains: Chains
) -> float:
    """The mean value over what can fall out of an action at which `thought` stopped."""
    thought = chains.thought[0]
    first, n = thought["waiting"], imaginable(thought)
    total = 0.0
    for number in range(n):
        imagine(thought, state, number, first)
        chains.outcomes[0] = state
        apply(chains.outcomes[0], cards, action, thought)
        total += value_of(chains.outcomes[0], seat, weights, chains.features)
    return total / n


@njit_borrowing
def key_of(state: np.void) -> np.uint64:
    """A hash of a position within a turn; the order of boards and hands does not matter.

    It has only what every game keeps. `engine.effects.futures.future_key` has more where a card of the table
    asks for it, and the table of a batch of games has the cards of all of them.
    """
    seat = state["active"]
    total = choices_key(state)
    for who in range(2):
        side = state["sides"][who]
        own = np.uint64(1 if who == seat else 2)
        for place in range(side["n_board"]):
            total += minion_key(side["board"][place], own)
        total += side_key(side, own)
    side = state["sides"][seat]
    for place in range(side["n_hand"]):
        total += card_key(side["hand"][place])
    return total


@njit_borrowing
def _is_new(n: int, chains: Chains) -> bool:
    """Whether no node of this turn has the key of the node `n`; then it is remembered."""
    key = chains.nodes[n]["key"]
    slot = np.int64(key & np.uint64(SLOTS - 1))
    while chains.stamps[slot] == chains.clock[0]:
        if chains.nodes[chains.slots[slot]]["key"] == key:
            return False
        slot = (slot + 1) & (SLOTS - 1)
    chains.stamps[slot] = chains.clock[0]
    chains.slots[slot] = n
    return True


@njit_borrowing
def _is_before(one: int, other: int, sign: float, chains: Chains) -> bool:
    """Whether a node comes before another: the better for who plays; of equals the one found first."""
    first, second = sign * chains.nodes[one]["value"], sign * chains.nodes[other]["value"]
    return bool(first > second or (first == second and one < other))


@njit_borrowing
def _push(place: int, sign: float, chains: Chains) -> None:
    """Put a node on the heap. `chains` is modified in place."""
    heap, at = chains.heap, int(chains.n_heap[0])
    chains.n_heap[0] += 1
    while at > 0 and _is_before(place, heap[(at - 1) // 2], sign, chains):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = place


@njit_borrowing
def _pop(sign: float, chains: Chains) -> int:
    """Take the best node from the heap. `chains` is modified in place."""
    heap = chains.heap
    best = int(heap[0])
    chains.n_heap[0] -= 1
    n = int(chains.n_heap[0])
    place, at, child = int(heap[n]), 0, 1
    while child < n:
        if child + 1 < n and _is_before(heap[child + 1], heap[child], sign, chains):
            child += 1
        if _is_before(place, heap[child], sign, chains):
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = place
    return best


@njit_borrowing
def pick_best(sign: float, chains: Chains) -> int:
    """The best node for who plays that was not picked before; -1 where none is left. It is picked then.

    The start of a turn in which something has to be chosen first is no end of it.
    """
    best = -1
    for place in range(1 if chains.nodes[0]["ends"] == BY_CHOICE else 0, int(chains.n_nodes[0])):
        if not chains.nodes[place]["picked"] and (best < 0 or _is_before(place, best, sign, chains)):
            best = place
    if best >= 0:
        chains.nodes[best]["picked"] = 1
    return best
