"""Games of an agent that looks ahead against itself, and the positions that its turns lead to."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.codes import Outcome
from engine.events import EVENTS
from engine.jit import njit_borrowing
from engine.lazy import loaded
from engine.rules import outcome
from engine.streams import derive
from ilp_agent.lookahead.explore import explores
from ilp_agent.lookahead.features import N_FEATURES
from ilp_agent.lookahead.judge import Memory
from ilp_agent.lookahead.kernel import choose_turn
from ilp_agent.lookahead.records import MAX_ACTIONS_OF_TURN
from ilp_agent.lookahead.selfplay import carry_out, looking_of_thread, memory_of_thread
from ilp_agent.lookahead.weights import kernel_rows
from ilp_agent.search.backend import searcher_of_thread

USUAL_POSITIONS = 64
"""Room for positions a game, in the mean of a batch; games have some fifteen."""


@dataclass(frozen=True)
class Recorded:
    """Positions that turns led to, in the order of play within each game.

    A turn that decides the game, or in which there was nothing to choose, is left out.

    Attributes:
        features: float64, shape (positions, `N_FEATURES`): from their player's view, of the position that was
            judged: after the reply with depth 2.
        game: int64, shape (positions,): the game.
        seat: int64, shape (positions,): 0 or 1, the player.
        drawn: bool, shape (positions,): whether the end of the turn was drawn at random.
    """

    features: np.ndarray
    game: np.ndarray
    seat: np.ndarray
    drawn: np.ndarray


def record(
    cards: np.ndarray,
    row: np.ndarray,
    states: np.ndarray,
    chances: np.ndarray,
    keys: np.ndarray,
    explore: int,
) -> Recorded:
    """Play whole games of an agent against itself, and note the positions that its turns lead to.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        row: weights and options of the agent, shape (numbers,).
        states: dtype `STATE`, shape (games,), all of bodies or all of real cards. Modified in place.
        chances: uint64, shape (games,): the games' own streams.
        keys: uint64, shape (games,): streams of exploring.
        explore: chance of a random end of a turn, in millionths.
    """
    room = USUAL_POSITIONS * len(states)
    leaves, whose, drawn = np.zeros((room, N_FEATURES)), np.zeros(room, np.int64), np.zeros(room, np.bool_)
    rows = kernel_rows(row[None])
    if states["effects"].any():
        looking, search = looking_of_thread(), searcher_of_thread().ready()
        looking.know(cards)
        play: Callable[..., int] = loaded("ilp_agent.lookahead.cardrecording:record_card_games")
        known = looking.facts, *search, looking.memory, np.zeros(1, EVENTS)
        n = play(cards, looking.cards, rows[0], states, chances, keys, explore, *known, leaves, whose, drawn)
    else:
        actions = np.zeros(MAX_ACTIONS_OF_TURN, np.int64)
        n = record_games(
            cards, rows[0], states, keys, explore, memory_of_thread(), actions, leaves, whose, drawn
        )
    return Recorded(leaves[:n].copy(), whose[:n] // 2, whose[:n] % 2, drawn[:n].copy())


@njit_borrowing
def record_games(
    cards: np.ndarray,
    row: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,
    explore: int,
    memory: Memory,
    actions: np.ndarray,
    leaves: np.ndarray,
    whose: np.ndarray,
    drawn: np.ndarray,
) -> int:
    """`record` for games of bodies.

    Args:
        cards: the card table.
        row: of `kernel_rows`.
        states: dtype `STATE`, shape (games,). Modified in place.
        keys: uint64, shape (games,): streams of exploring.
        explore: chance of a random end, in millionths.
        memory: of `memory_of_thread`. Modified in place.
        actions: integers, shape (`MAX_ACTIONS_OF_TURN`,). Modified in place.
        leaves: float64, shape (room, `N_FEATURES`). Modified in place: features, from their player's view.
        whose: int64, shape (room,). Modified in place: 2 game + seat of that player.
        drawn: bool, shape (room,). Modified in place: whether the end was drawn at random.

    Returns:
        How many were noted; as many as there is room at most.
    """
    n_leaves = 0
    for game in range(len(states)):
        state, number = states[game], 0
        while outcome(state) == Outcome.ONGOING:
            seat, stream = state["active"], derive(keys[game], number)
            n = choose_turn(state, cards, row, explore, stream, memory, actions)
            number += 1
            if memory.judged[0] > 0 and n_leaves < len(leaves):
                note_leaf(
                    memory.leaf, 2 * game + seat, explores(explore, stream), n_leaves, leaves, whose, drawn
                )
                n_leaves += 1
            carry_out(state, cards, actions, n, memory)
    return n_leaves


@njit_borrowing
def note_leaf(
    leaf: np.ndarray,
    owner: int,
    is_drawn: bool,
    place: int,
    leaves: np.ndarray,
    whose: np.ndarray,
    drawn: np.ndarray,
) -> None:
    """Write a position at a place of the last three, which are modified in place."""
    for feature in range(N_FEATURES):
        leaves[place, feature] = leaf[feature]
    whose[place], drawn[place] = owner, is_drawn
