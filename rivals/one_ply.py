"""One-ply agents: score each legal action by its immediate result and play the best."""

from collections.abc import Callable
from typing import ClassVar, Generic, NamedTuple

import numpy as np

from engine import Action, PlayerView
from engine.batches import make_game_loop
from engine.codes import MAX_ACTIONS, ActionKind
from engine.effects.card_filters import has_effects
from engine.indirect_call import njit_indirect
from engine.jit import njit, njit_no_alloc, njit_no_alloc_inline
from engine.rules import apply, encode
from engine.state import CARD, EVENTS, STATE
from engine.view import hide_information
from ilp_agent.profiles import Profile, W
from rivals.batch import PlayBatch

BestAction = Callable[[np.void, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], int]
"""Kernel that chooses the best action of a position, as `engine.rules.encode` packs it.

Arguments: a state that is not over, the card table, the agent's weights, and workspaces to modify: integers,
shape (at least `MAX_ACTIONS`,); dtype `STATE`, shape (2,); dtype `EVENTS`, shape (1,).
"""


_WHOLE, _REAL = np.dtype(np.int64), np.dtype(np.float64)

one_ply = njit_indirect(STATE, (CARD,), (_REAL,), (_WHOLE,), (STATE,), (EVENTS,))
"""Decorator of a `BestAction`: games and Python share one kernel, which is compiled once."""


@njit_no_alloc
def best_choice(state: np.void, cards: np.ndarray) -> int:
    """Action that chooses the most valuable offered card, the first of equals.

    Args:
        state: dtype `STATE`, with a pending choice of cards.
        cards: the card table.
    """
    best, chosen = -1.0, 0
    for place in range(state["n_options"]):
        number = state["options"][place]
        value = cards[number]["value"] if number >= 0 else 0.0
        if value > best:
            best, chosen = value, place
    return int(encode(ActionKind.CHOOSE, chosen, 0))


@njit_no_alloc_inline
def visible_position(state: np.void, cards: np.ndarray, seen: np.ndarray) -> np.void:
    """The position as the active player sees it; `seen`, shape (1,), is modified in place.

    Without card effects no action of the own turn depends on a hidden card: the position itself is returned.
    """
    if not has_effects(cards):
        return state
    seen[0] = state
    hide_information(seen[0], cards, state["active"])
    known: np.void = seen[0]
    return known


class OnePlyMemory(NamedTuple):
    """Working memory for choosing an action. Modified in place."""

    actions: np.ndarray
    next_states: np.ndarray
    seen: np.ndarray
    effect_state: np.ndarray


def one_ply_batch(best_action: BestAction) -> PlayBatch:
    """Batch kernel of an agent that chooses one action at a time."""

    @njit_no_alloc
    def take_action(
        game: int,  # noqa: ARG001
        state: np.void,
        cards: np.ndarray,
        row: np.ndarray,
        events: np.void,
        memory: OnePlyMemory,
        used: np.void,  # noqa: ARG001
    ) -> None:
        """Play the best action; step of `engine.batches.make_game_loop`."""
        known = visible_position(state, cards, memory.seen)
        action = best_action(known, cards, row, memory.actions, memory.next_states, memory.effect_state)
        apply(state, cards, action, events)

    play_games = make_game_loop(take_action)

    def play_batch(
        cards: np.ndarray,
        weights: np.ndarray,
        agents: np.ndarray,
        states: np.ndarray,
        keys: np.ndarray,  # noqa: ARG001
        logs: np.ndarray,
        turns: np.ndarray,
        known: object = None,  # noqa: ARG001
    ) -> None:
        """Play a batch of games; see `rivals.batch.PlayBatch`."""
        actions, positions = np.empty(MAX_ACTIONS, np.int64), np.zeros(3, STATE)
        memory = OnePlyMemory(actions, positions[:2], positions[2:], np.zeros(1, EVENTS))
        play_games(cards, weights, agents, states, logs, memory, turns)

    return play_batch


def one_ply_choice(best_action: BestAction) -> Callable[..., int]:
    """Kernel that chooses an action, to be called from Python with the state in an array of shape (1,)."""

    @njit
    def choose(
        states: np.ndarray,
        cards: np.ndarray,
        weights: np.ndarray,
        actions: np.ndarray,
        next_states: np.ndarray,
        effect_state: np.ndarray,
    ) -> int:
        return best_action(states[0], cards, weights, actions, next_states, effect_state)

    return choose


class OnePlyAgent(Generic[W]):
    """Plays the action with the highest score; subclasses define the score.

    Args:
        profile: the weights and the name that results show; or weights alone.
    """

    usual_name: ClassVar[str]
    choose: ClassVar[Callable[..., int]]
    """Result of `one_ply_choice`, as a static method."""

    def __init__(self, profile: Profile[W] | W) -> None:
        self.weights: W
        if isinstance(profile, Profile):
            self.name, self.weights = profile.name, profile.weights
        else:
            self.name, self.weights = self.usual_name, profile
        self._array = self.weights.full_array
        self._actions = np.empty(MAX_ACTIONS, np.int64)
        self._next = np.zeros(2, STATE)
        self._events = np.zeros(1, EVENTS)

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """Legal action with the highest score."""
        states, cards = view.position.states, view.position.table.array
        code = self.choose(states, cards, self._array, self._actions, self._next, self._events)
        return Action.from_code(code)
