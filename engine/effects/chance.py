"""Outcomes of chance events: drawn from the game's random stream, given by the caller, or hypothetical.

Streams are addressed by game, turn and event number: paired games share their outcomes (common random
numbers), and a game does not depend on other games. The `EVENTS` record of an action says how it gets its
outcomes: drawn (`draw_from_stream`), given in advance (`forced`), or hypothetical, for a planning agent
(`begin_hypothetical`, `set_hypothetical_outcome`). An action that needs more outcomes than were given stops;
`waiting` is then the number of outcomes of the next event, and the state is incomplete and must be discarded.
"""

from collections.abc import Sequence

import numpy as np

from engine.codes import Purpose
from engine.effect_codes import MAX_OUTCOMES
from engine.effects.card_filters import needed_features
from engine.effects.triggers import ACTION_END_FEATURES
from engine.errors import ChanceError
from engine.jit import njit_no_alloc
from engine.state import EVENTS, NO_TARGET
from engine.streams import below, derive

MAX_HYPOTHETICAL = 8
"""Maximum number of hypothetical outcomes of an action that a planning agent evaluates."""

HYPOTHETICAL_KEY = np.uint64(0x9E3779B97F4A7C15)
"""First key of the streams of hypothetical outcomes; fixed, so that planning is reproducible."""


@njit_no_alloc
def draw_from_stream(events: np.void, state: np.void, game: np.uint64) -> None:
    """Draw outcomes from a game's random stream, from the current turn on. `events` is modified in place."""
    events["forced"] = -1
    events["game"] = game
    select_turn_stream(events, state)


@njit_no_alloc
def select_turn_stream(events: np.void, state: np.void) -> None:
    """Select the random stream of the turn that begins. `events` is modified in place."""
    events["number"] = 0
    events["turn"] = state["turn"]
    events["seat"] = state["active"]


@njit_no_alloc
def begin_hypothetical(events: np.void) -> None:
    """Set up hypothetical actions of a planning agent: they stop at chance events and hide drawn cards.

    `events` is modified in place.
    """
    events["forced"] = 0
    events["game"] = 0
    events["hides_draws"] = 1


@njit_no_alloc
def n_hypothetical(events: np.void) -> int:
    """Number of equally likely hypothetical outcomes to evaluate of an action stopped by chance."""
    return min(int(events["n_pending_outcomes"]), MAX_HYPOTHETICAL)


@njit_no_alloc
def set_hypothetical_outcome(events: np.void, state: np.void, number: int, first: int) -> None:
    """Select the hypothetical outcome `number` for the next action, out of `n_hypothetical`.

    An event with at most `MAX_HYPOTHETICAL` outcomes is enumerated; the outcomes of all other events of the
    action are drawn from streams that no game uses. `events` is modified in place.

    Args:
        events: set up by `begin_hypothetical`.
        state: the position before the action.
        number: 0 to `n_hypothetical(events)` - 1.
        first: number of outcomes of the event at which the action stopped.
    """
    events["forced"] = 1 if first <= MAX_HYPOTHETICAL else 0
    events["outcomes"][0] = number
    draw_hypothetical(events, state, number)


@njit_no_alloc
def draw_hypothetical(events: np.void, state: np.void, number: int) -> None:
    """Draw further outcomes from the hypothetical stream `number`. `events` is modified in place."""
    events["game"] = HYPOTHETICAL_KEY + np.uint64(number)
    select_turn_stream(events, state)


@njit_no_alloc
def begin_action(events: np.void, state: np.void, cards: np.ndarray) -> None:
    """Clear the records of the last action, and save the state before the next one. Modifies `events`."""
    events["first"] = 0
    events["last"] = 0
    events["n_outcomes"] = 0
    events["n_pending_outcomes"] = 0
    events["hits"][:] = 0
    events["attacker"] = NO_TARGET
    events["defender"] = NO_TARGET
    events["played"] = 0
    events["decoy"] = 0
    events["depends_on_hidden"] = 0
    events["listeners_id"] = -1
    events["dead_heroes"] = 0
    events["broken_weapon_bits"] = 0
    if needed_features(cards) & ACTION_END_FEATURES:
        events["last_entity_id"] = state["last_entity_id"]
        for seat in range(2):
            before, side = events["before"][seat], state["sides"][seat]
            before["n_board"], before["n_hand"] = side["n_board"], side["n_hand"]
            before["armed"], before["same_weapon"] = side["durability"] > 0, 1


@njit_no_alloc
def draw_outcome(events: np.void, n: int) -> int:
    """Outcome of a chance event with `n` equally likely ones: 0 to n - 1. `events` is modified in place.

    A single outcome is no event. If the action stops, the result is 0 and `events["waiting"]` becomes `n`.
    """
    if n <= 1:
        return 0
    event = events["n_outcomes"]
    if events["forced"] >= 0:
        if event < events["forced"]:
            events["n_outcomes"] += 1
            return min(int(events["outcomes"][event]), n - 1)
        if events["game"] == 0:
            events["n_pending_outcomes"] = n
            return 0
    if events["number"] == 0:
        turn = derive(derive(events["game"], Purpose.CHANCE), events["turn"])
        events["key"] = derive(turn, events["seat"])
    outcome = below(events["key"], events["number"], n)
    events["number"] += 1
    if event < MAX_OUTCOMES:
        events["outcomes"][event] = outcome
        events["n_outcomes"] += 1
    return outcome


class Chance:
    """Source of chance outcomes for the actions of a game.

    Attributes:
        array: the record for kernels, shape (1,), dtype `EVENTS`.
    """

    def __init__(self) -> None:
        self.array = np.zeros(1, EVENTS)

    @classmethod
    def drawn(cls, key: np.uint64, states: np.ndarray) -> "Chance":
        """Outcomes drawn from a game's random stream, from the turn of a position on.

        Args:
            key: the game's key, as for its deal (`engine.streams.stream_key`).
            states: the position, dtype `STATE`, shape (1,).
        """
        chance = cls()
        draw_from_stream(chance.array[0], states[0], np.uint64(key))
        return chance

    @classmethod
    def given(cls, outcomes: Sequence[int] = ()) -> "Chance":
        """Outcomes given in advance for one action, each counted from 0.

        Raises:
            ChanceError: there are more than `MAX_OUTCOMES`, or one is not an integer from 0 to 2**15 - 1.
        """
        chance = cls()
        if len(outcomes) > MAX_OUTCOMES or not all(type(n) is int and 0 <= n < 2**15 for n in outcomes):
            raise ChanceError(
                f"give at most {MAX_OUTCOMES} outcomes, each an integer from 0 to 32767, got {outcomes!r}"
            )
        chance.array[0]["forced"] = len(outcomes)
        chance.array[0]["outcomes"][: len(outcomes)] = outcomes
        return chance

    @classmethod
    def blind(cls) -> "Chance":
        """No outcomes: actions stop at chance events and drawn cards stay hidden, as for a planning agent."""
        chance = cls()
        begin_hypothetical(chance.array[0])
        return chance

    @property
    def outcomes(self) -> tuple[int, ...]:
        """Outcomes of the last action's chance events."""
        record = self.array[0]
        return tuple(record["outcomes"][: record["n_outcomes"]].tolist())

    @property
    def n_pending_outcomes(self) -> int:
        """Number of outcomes of the event at which the last action stopped; 0 if it did not stop."""
        return int(self.array[0]["n_pending_outcomes"])
