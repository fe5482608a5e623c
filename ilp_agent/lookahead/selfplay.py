"""Whole games of agents that look ahead, in compiled batches, and what can be learned from them."""

import threading

import numpy as np

from engine.codes import ActionKind, Outcome
from engine.jit import njit
from engine.rules import apply_plain, encode, outcome
from engine.streams import derive
from ilp_agent.lookahead.judge import Memory, new_memory
from ilp_agent.lookahead.kernel import NEVER, choose_turn
from ilp_agent.lookahead.records import MAX_ACTIONS_OF_TURN
from ilp_agent.lookahead.weights import kernel_rows

USE = np.dtype(
    [
        ("turns", "i8"),  # turns chosen
        ("judged", "i8"),  # positions judged
        ("nodes", "i8"),  # positions within turns
        ("unproven", "i8"),  # turns in which nodes ran out before all ends were found
    ]
)
"""What looking ahead used."""


@njit
def play_turns(
    cards: np.ndarray,
    rows: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    memory: Memory,
    actions: np.ndarray,
    use: np.ndarray,
) -> None:
    """Play each game on while an agent of this kind is to move.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        rows: of `kernel_rows`, weights and options.
        agents: shape (games, 2) integers into `rows`; -1 for another kind of agent.
        states: dtype `STATE`, shape (games,). Modified in place.
        memory: of `memory_of_thread`. Modified in place.
        actions: integers, shape (`MAX_ACTIONS_OF_TURN`,). Modified in place.
        use: dtype `USE`, shape (games,). Added to in place.
    """
    for game in range(len(states)):
        state, used = states[game], use[game]
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            row = rows[agents[game, state["active"]]]
            n = choose_turn(state, cards, row, NEVER, np.uint64(0), memory, actions)
            used["turns"] += 1
            if memory.judged[0] > 0:
                used["judged"] += memory.judged[0]
                used["nodes"] += memory.pool.n_nodes[0]
                used["unproven"] += memory.pool.unproven[0]
            carry_out(state, cards, actions, n, memory)


@njit
def carry_out(state: np.void, cards: np.ndarray, actions: np.ndarray, n: int, memory: Memory) -> None:
    """Make the first `n` actions, and end the turn unless it goes on. `state` is modified in place."""
    for step in range(n):
        apply_plain(state, cards, actions[step])
    if not memory.again[0] and outcome(state) == Outcome.ONGOING:
        apply_plain(state, cards, encode(ActionKind.END_TURN, 0, 0))


@njit
def record_games(
    cards: np.ndarray,
    rows: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,
    explore: int,
    memory: Memory,
    actions: np.ndarray,
    leaves: np.ndarray,
    whose: np.ndarray,
) -> int:
    """Play whole games of two looking agents, and note the positions that their chosen ends lead to.

    Args:
        cards: the card table.
        rows: of `kernel_rows`; row 0 goes first in every game, row 1 second.
        states: dtype `STATE`, shape (games,). Modified in place.
        keys: uint64, shape (games,): streams of exploring.
        explore: chance of a random end, in millionths.
        memory: of `memory_of_thread`. Modified in place.
        actions: integers, shape (`MAX_ACTIONS_OF_TURN`,). Modified in place.
        leaves: float64, shape (room, `N_FEATURES`). Modified in place: features, from their player's view.
        whose: int64, shape (room,). Modified in place: 2 game + seat of that player.

    Returns:
        How many were noted; as many as there is room at most.
    """
    n_leaves = 0
    for game in range(len(states)):
        state, number = states[game], 0
        while outcome(state) == Outcome.ONGOING:
            seat = state["active"]
            stream = derive(keys[game], number)
            n = choose_turn(state, cards, rows[seat], explore, stream, memory, actions)
            number += 1
            if memory.judged[0] > 0 and n_leaves < len(leaves):
                leaves[n_leaves] = memory.leaf
                whose[n_leaves] = 2 * game + seat
                n_leaves += 1
            carry_out(state, cards, actions, n, memory)
    return n_leaves


_LOCAL = threading.local()


def memory_of_thread() -> Memory:
    """This thread's memory, made once: kernels run without the GIL, so no two threads may share it."""
    if not hasattr(_LOCAL, "memory"):
        _LOCAL.memory = new_memory()
    memory: Memory = _LOCAL.memory
    return memory


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    chances: np.ndarray,  # noqa: ARG001
    turns: np.ndarray,
) -> None:
    """See `rivals.batch.PlayBatch`."""
    use, actions = np.zeros(len(states), USE), np.zeros(MAX_ACTIONS_OF_TURN, np.int64)
    play_turns(cards, kernel_rows(weights), agents, states, memory_of_thread(), actions, use)
    turns["unproven"] += use["unproven"]
