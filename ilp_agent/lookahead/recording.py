"""Games of an agent that looks ahead against itself, hands `off`, and what can be learned from them.

`record` notes the position that every turn leads to. `record_pairs` compares two ends of one turn: it plays
the game on from both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from engine.codes import Outcome
from engine.effects.chance import draw_for
from engine.jit import njit_borrowing
from engine.rules import outcome
from engine.streams import below, derive
from ilp_agent.features import N_FEATURES
from ilp_agent.lookahead.evaluation import Memory, keep_features
from ilp_agent.lookahead.selfplay import ALWAYS, NEVER, NO_STREAM, carry_out, looking_at
from ilp_agent.lookahead.weights import kernel_rows

LATEST_PAIR = 16
"""A pair is drawn in one of so many first turns of both players."""

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
    """

    features: np.ndarray
    game: np.ndarray
    seat: np.ndarray


@dataclass(frozen=True)
class Pairs:
    """Two ends of one turn, and what the game came to after each.

    Ends of equal features are left out, and turns that decide the game.

    Attributes:
        features: float64, shape (pairs, 2, `N_FEATURES`): of the positions judged, from the player's view.
        points: float64, shape (pairs, 2): 1 where that player won, 1/2 for a draw.
    """

    features: np.ndarray
    points: np.ndarray


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
    leaves, whose = np.zeros((room, N_FEATURES)), np.zeros(room, np.int64)
    looking, memory = looking_at(cards)
    memory.hands.n_decks[0] = 0
    play = _recording_by(looking.choose)
    n = play(cards, kernel_rows(row[None])[0], states, chances, keys, explore, memory, leaves, whose)
    return Recorded(leaves[:n].copy(), whose[:n] // 2, whose[:n] % 2)


def record_pairs(
    cards: np.ndarray, row: np.ndarray, states: np.ndarray, chances: np.ndarray, keys: np.ndarray
) -> Pairs:
    """Play games of an agent against itself up to some turn, and on from two ends of it drawn at random.

    The turn is one of the first `LATEST_PAIR`, drawn too; a game that ends before gives no pair. Both
    continuations have the same order of decks and the same chance.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        row: weights and options of the agent, shape (numbers,).
        states: dtype `STATE`, shape (games,), all of bodies or all of real cards. Modified in place.
        chances: uint64, shape (games,): the games' own streams.
        keys: uint64, shape (games,): streams of what is drawn.
    """
    features, points = np.zeros((len(states), 2, N_FEATURES)), np.zeros((len(states), 2))
    looking, memory = looking_at(cards)
    memory.hands.n_decks[0] = 0
    then, compare = np.zeros_like(states[:1]), _comparing_by(looking.choose)
    n = compare(cards, kernel_rows(row[None])[0], states, chances, keys, memory, then, features, points)
    return Pairs(features[:n].copy(), points[:n].copy())


@cache
def _recording_by(choose: Callable[..., None]) -> Callable[..., int]:
    """The kernel of `record`, for a way to choose turns."""

    @njit_borrowing
    def record_games(
        cards: np.ndarray,
        row: np.ndarray,
        states: np.ndarray,
        chances: np.ndarray,
        keys: np.ndarray,
        explore: int,
        memory: Memory[Any],
        leaves: np.ndarray,
        whose: np.ndarray,
    ) -> int:
        """`record`; on real cards a turn may be chosen in several parts.

        Args:
            cards: the card table.
            row: of `kernel_rows`.
            states: dtype `STATE`, shape (games,). Modified in place.
            chances: uint64, shape (games,): the games' own streams.
            keys: uint64, shape (games,): streams of exploring.
            explore: chance of a random end, in millionths.
            memory: of `looking_at`. Modified in place.
            leaves: float64, shape (room, `N_FEATURES`). Modified in place: features, from its player's view.
            whose: int64, shape (room,). Modified in place: 2 game + seat of that player.

        Returns:
            How many were noted; as many as there is room at most.
        """
        n_leaves = 0
        for game in range(len(states)):
            state, number = states[game], 0
            draw_for(memory.luck[0], state, chances[game])
            while outcome(state) == Outcome.ONGOING:
                seat, stream = state["active"], derive(keys[game], number)
                choose(state, cards, row, explore, stream, memory)
                number += 1
                if memory.judged[0] > 0 and n_leaves < len(leaves):
                    keep_features(memory.leaf, leaves[n_leaves])
                    whose[n_leaves] = 2 * game + seat
                    n_leaves += 1
                carry_out(state, cards, memory.plan[0], memory.luck[0])
        return n_leaves

    return record_games


@cache
def _comparing_by(choose: Callable[..., None]) -> Callable[..., int]:
    """The kernel of `record_pairs`, for a way to choose turns."""

    @njit_borrowing
    def play_on(state: np.void, cards: np.ndarray, row: np.ndarray, turns: int, memory: Memory[Any]) -> None:
        """Play so many turns, each part of one counted, or to the end; `state` and `memory` are modified."""
        left = turns
        while left > 0 and outcome(state) == Outcome.ONGOING:
            choose(state, cards, row, NEVER, NO_STREAM, memory)
            carry_out(state, cards, memory.plan[0], memory.luck[0])
            left -= 1

    @njit_borrowing
    def compare_ends(
        cards: np.ndarray,
        row: np.ndarray,
        states: np.ndarray,
        chances: np.ndarray,
        keys: np.ndarray,
        memory: Memory[Any],
        then: np.ndarray,
        features: np.ndarray,
        points: np.ndarray,
    ) -> int:
        """`record_pairs`.

        Args:
            cards: the card table.
            row: of `kernel_rows`.
            states: dtype `STATE`, shape (games,). Modified in place.
            chances: uint64, shape (games,): the games' own streams.
            keys: uint64, shape (games,): streams of what is drawn.
            memory: of `looking_at`. Modified in place.
            then: dtype `STATE`, shape (1,). Modified in place.
            features: float64, shape (games, 2, `N_FEATURES`). Modified in place.
            points: float64, shape (games, 2). Modified in place.

        Returns:
            How many pairs there are.
        """
        found = 0
        for game in range(len(states)):
            state, luck = states[game], memory.luck[0]
            draw_for(luck, state, chances[game])
            play_on(state, cards, row, below(keys[game], WHEN, LATEST_PAIR), memory)
            whole = outcome(state) == Outcome.ONGOING
            for end in range(2):
                if whole:
                    then[0] = state
                    draw_for(luck, then[0], chances[game])
                    choose(then[0], cards, row, ALWAYS, derive(keys[game], end), memory)
                    whole = memory.judged[0] > 0
                    keep_features(memory.leaf, features[found, end])
                    carry_out(then[0], cards, memory.plan[0], luck)
                    play_on(then[0], cards, row, NO_END, memory)
                    points[found, end] = points_of(outcome(then[0]), state["active"])
            if whole and differ(features[found]):
                found += 1
        return found

    return compare_ends


WHEN = 2
"""Number of a game's stream for the turn of its pair; those below are of the two ends."""

NO_END = 1 << 30


@njit_borrowing
def points_of(end: int, seat: int) -> float:
    """1 for a win of the player at `seat`, 1/2 for a draw."""
    if end == Outcome.DRAW:
        return 0.5
    return 1.0 if (end == Outcome.FIRST_WINS) == (seat == 0) else 0.0


@njit_borrowing
def differ(features: np.ndarray) -> bool:
    """Whether two positions, shape (2, `N_FEATURES`), differ in any feature."""
    unlike = 0
    for feature in range(N_FEATURES):
        unlike += features[0, feature] != features[1, feature]
    return unlike > 0
