"""Self-play data for learning the evaluation: one position per turn, and pairs of ends of the same turn.

The opponent's hand is not modelled (`hands` is `off`). `record_positions` collects the evaluated position of
every turn. `record_pairs` plays games on from two ends of one turn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from engine.codes import Outcome
from engine.effects.chance import draw_from_stream
from engine.jit import njit_no_alloc
from engine.rules import outcome
from engine.streams import below, derive
from ilp_agent.features import N_FEATURES
from ilp_agent.lookahead.evaluation import LookaheadMemory, copy_features
from ilp_agent.lookahead.selfplay import ALWAYS, NEVER, NO_STREAM, apply_plan, lookahead_kernels
from ilp_agent.lookahead.weights import CARD_PART, kernel_rows

MAX_PAIR_TURN = 16
"""Pairs are sampled from this many first turns of both players."""

POSITIONS_PER_GAME = 64
"""Room for positions per game, on average over a batch; games have some fifteen."""


@dataclass(frozen=True)
class RecordedPositions:
    """The evaluated position of each turn, in the order of play within each game.

    Turns that decide the game, or that leave no choice, are omitted.

    Attributes:
        features: float64, shape (positions, `N_FEATURES`): of the evaluated position, from its player's view;
            after the reply with depth 2.
        game: int64, shape (positions,): index of the game.
        seat: int64, shape (positions,): 0 or 1, the player.
    """

    features: np.ndarray
    game: np.ndarray
    seat: np.ndarray


@dataclass(frozen=True)
class EndPairs:
    """Pairs of ends of one turn, and the results of the games played on from each.

    Pairs with equal features (and counts) and turns that decide the game are omitted.

    Attributes:
        features: float64, shape (pairs, 2, `N_FEATURES`): of the evaluated positions, from the player's view;
            counts of cards follow if the row has card values (`evaluation.value_of_cards`).
        points: float64, shape (pairs, 2): 1 if that player won, 1/2 for a draw.
    """

    features: np.ndarray
    points: np.ndarray


def record_positions(
    cards: np.ndarray,
    row: np.ndarray,
    states: np.ndarray,
    chances: np.ndarray,
    keys: np.ndarray,
    explore: int,
) -> RecordedPositions:
    """Play whole self-play games and record the evaluated position of each turn.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        row: weights and options of the agent, shape (numbers,).
        states: dtype `STATE`, shape (games,), all with or all without card effects. Modified in place.
        chances: uint64, shape (games,): chance streams of the games.
        keys: uint64, shape (games,): exploration streams.
        explore: probability of a random end of a turn, in millionths.
    """
    room = POSITIONS_PER_GAME * len(states)
    features, players = np.zeros((room, N_FEATURES)), np.zeros(room, np.int64)
    kernels, memory = lookahead_kernels(cards)
    memory.hands.n_decks[0] = 0
    play = _recording_kernel(kernels.choose)
    n = play(cards, kernel_rows(row[None])[0], states, chances, keys, explore, memory, features, players)
    return RecordedPositions(features[:n].copy(), players[:n] // 2, players[:n] % 2)


def record_pairs(
    cards: np.ndarray, row: np.ndarray, states: np.ndarray, chances: np.ndarray, keys: np.ndarray
) -> EndPairs:
    """Play self-play games up to a random turn, and on from two random ends of that turn.

    The turn is one of the first `MAX_PAIR_TURN`; a game that ends earlier gives no pair. Both continuations
    have the same deck orders and chance streams (common random numbers).

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        row: weights and options of the agent, shape (numbers,); card values after them count cards.
        states: dtype `STATE`, shape (games,), all with or all without card effects. Modified in place.
        chances: uint64, shape (games,): chance streams of the games.
        keys: uint64, shape (games,): streams of the turns and ends.
    """
    width = N_FEATURES + len(row[CARD_PART])
    features, points = np.zeros((len(states), 2, width)), np.zeros((len(states), 2))
    kernels, memory = lookahead_kernels(cards)
    memory = memory._replace(features=np.zeros(width), leaf=np.zeros(width))
    memory.hands.n_decks[0] = 0
    then, compare = np.zeros_like(states[:1]), _comparing_kernel(kernels.choose)
    n = compare(cards, kernel_rows(row[None])[0], states, chances, keys, memory, then, features, points)
    return EndPairs(features[:n].copy(), points[:n].copy())


@cache
def _recording_kernel(choose: Callable[..., None]) -> Callable[..., int]:
    """Kernel of `record_positions`, for a kernel that chooses turns."""

    @njit_no_alloc
    def record_games(
        cards: np.ndarray,
        row: np.ndarray,
        states: np.ndarray,
        chances: np.ndarray,
        keys: np.ndarray,
        explore: int,
        memory: LookaheadMemory[Any],
        leaves: np.ndarray,
        players: np.ndarray,
    ) -> int:
        """Play and record games; with card effects a turn may take several searches.

        Args:
            cards: the card table.
            row: of `kernel_rows`.
            states: dtype `STATE`, shape (games,). Modified in place.
            chances: uint64, shape (games,): chance streams of the games.
            keys: uint64, shape (games,): exploration streams.
            explore: probability of a random end, in millionths.
            memory: of `lookahead_kernels`. Modified in place.
            leaves: float64, shape (room, `N_FEATURES`). Modified in place: features, from its player's view.
            players: int64, shape (room,). Modified in place: 2 game + seat of that player.

        Returns:
            The number of recorded positions, limited by the room.
        """
        n_leaves = 0
        for game in range(len(states)):
            state, number = states[game], 0
            draw_from_stream(memory.events[0], state, chances[game])
            while outcome(state) == Outcome.ONGOING:
                seat, stream = state["active"], derive(keys[game], number)
                choose(state, cards, row, explore, stream, memory)
                number += 1
                if memory.judged[0] > 0 and n_leaves < len(leaves):
                    copy_features(memory.leaf, leaves[n_leaves])
                    players[n_leaves] = 2 * game + seat
                    n_leaves += 1
                apply_plan(state, cards, memory.plan[0], memory.events[0])
        return n_leaves

    return record_games


@cache
def _comparing_kernel(choose: Callable[..., None]) -> Callable[..., int]:
    """Kernel of `record_pairs`, for a kernel that chooses turns."""

    @njit_no_alloc
    def play_on(
        state: np.void, cards: np.ndarray, row: np.ndarray, turns: int, memory: LookaheadMemory[Any]
    ) -> None:
        """Play `turns` searches on, or to the end of the game. Modifies `state` and `memory`."""
        left = turns
        while left > 0 and outcome(state) == Outcome.ONGOING:
            choose(state, cards, row, NEVER, NO_STREAM, memory)
            apply_plan(state, cards, memory.plan[0], memory.events[0])
            left -= 1

    @njit_no_alloc
    def compare_ends(
        cards: np.ndarray,
        row: np.ndarray,
        states: np.ndarray,
        chances: np.ndarray,
        keys: np.ndarray,
        memory: LookaheadMemory[Any],
        then: np.ndarray,
        features: np.ndarray,
        points: np.ndarray,
    ) -> int:
        """Play and compare pairs; see `record_pairs`.

        Args:
            cards: the card table.
            row: of `kernel_rows`.
            states: dtype `STATE`, shape (games,). Modified in place.
            chances: uint64, shape (games,): chance streams of the games.
            keys: uint64, shape (games,): streams of the turns and ends.
            memory: of `lookahead_kernels`. Modified in place.
            then: dtype `STATE`, shape (1,). Modified in place.
            features: float64, shape (games, 2, features and counts). Modified in place.
            points: float64, shape (games, 2). Modified in place.

        Returns:
            The number of pairs.
        """
        found = 0
        for game in range(len(states)):
            state, events = states[game], memory.events[0]
            draw_from_stream(events, state, chances[game])
            play_on(state, cards, row, below(keys[game], PAIR_TURN_STREAM, MAX_PAIR_TURN), memory)
            is_valid = outcome(state) == Outcome.ONGOING
            for end in range(2):
                if is_valid:
                    then[0] = state
                    draw_from_stream(events, then[0], chances[game])
                    choose(then[0], cards, row, ALWAYS, derive(keys[game], end), memory)
                    is_valid = memory.judged[0] > 0
                    copy_features(memory.leaf, features[found, end])
                    apply_plan(then[0], cards, memory.plan[0], events)
                    play_on(then[0], cards, row, NO_TURN_LIMIT, memory)
                    points[found, end] = points_of(outcome(then[0]), state["active"])
            if is_valid and features_differ(features[found]):
                found += 1
        return found

    return compare_ends


PAIR_TURN_STREAM = 2
"""Index of a game's stream for the turn of its pair; lower ones are for both ends."""

NO_TURN_LIMIT = 1 << 30


@njit_no_alloc
def points_of(end: int, seat: int) -> float:
    """Points of the player at `seat`: 1 for a win, 1/2 for a draw."""
    if end == Outcome.DRAW:
        return 0.5
    return 1.0 if (end == Outcome.FIRST_WINS) == (seat == 0) else 0.0


@njit_no_alloc
def features_differ(features: np.ndarray) -> bool:
    """Whether two positions, shape (2, features and counts), differ in any of them."""
    n_different = 0
    for feature in range(features.shape[1]):
        n_different += features[0, feature] != features[1, feature]
    return n_different > 0
