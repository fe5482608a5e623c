"""Chance outcomes by address: drawn from the game's stream, or given.

So twin games share their luck, and a game does not depend on the games beside it. An action is carried out in
one of three ways, as its `EVENTS` record says: outcomes are drawn (`draw_for`), given (`forced`), or imagined
by a player who thinks ahead (`think`, `imagine`). An action that needs more outcomes than were given stops
and says how many the next event has (`waiting`); what it has done to the state by then is no position.
"""

from collections.abc import Sequence

import numpy as np

from engine.codes import Purpose
from engine.effect_codes import MAX_OUTCOMES
from engine.effects.card_filters import asked_by
from engine.effects.triggers import OF_ENDS
from engine.errors import ChanceError
from engine.jit import njit_borrowing
from engine.state import EVENTS, NO_TARGET
from engine.streams import below, derive

MOST_IMAGINED = 8
"""Outcomes of an action that a player who thinks ahead looks at."""

IMAGINED = np.uint64(0x9E3779B97F4A7C15)
"""Streams of what is imagined begin here: a fixed number, so that thinking ahead repeats."""


@njit_borrowing
def draw_for(events: np.void, state: np.void, game: np.uint64) -> None:
    """Draw outcomes from the stream of a game, from the turn of `state` on. `events` is modified in place."""
    events["forced"] = -1
    events["game"] = game
    open_turn(events, state)


@njit_borrowing
def open_turn(events: np.void, state: np.void) -> None:
    """Go on with the chance of the turn that begins. `events` is modified in place."""
    events["number"] = 0
    events["turn"] = state["turn"]
    events["seat"] = state["active"]


@njit_borrowing
def think(events: np.void) -> None:
    """Carry actions out as a player who thinks ahead: drawn cards stay hidden, and chance stops an action.

    `events` is modified in place.
    """
    events["forced"] = 0
    events["game"] = 0
    events["blind"] = 1


@njit_borrowing
def imaginable(events: np.void) -> int:
    """How many outcomes to imagine of an action that chance has stopped, all equally likely."""
    return min(int(events["waiting"]), MOST_IMAGINED)


@njit_borrowing
def imagine(events: np.void, state: np.void, number: int, first: int) -> None:
    """Let the next action have the outcome `number` of those that `imaginable` counts.

    Of an event with at most `MOST_IMAGINED` outcomes each is one of them; what other events of the action
    give is drawn, from streams that no game uses. `events` is modified in place.

    Args:
        events: as `think` set it up.
        state: the position before the action.
        number: 0 to `imaginable(events)` - 1.
        first: outcomes of the event at which the action stopped.
    """
    events["forced"] = 1 if first <= MOST_IMAGINED else 0
    events["outcomes"][0] = number
    draw_imagined(events, state, number)


@njit_borrowing
def draw_imagined(events: np.void, state: np.void, number: int) -> None:
    """Draw what is not given from the imagined stream of a number. `events` is modified in place."""
    events["game"] = IMAGINED + np.uint64(number)
    open_turn(events, state)


@njit_borrowing
def begin_action(events: np.void, state: np.void, cards: np.ndarray) -> None:
    """Forget the last action, and note how the next begins. `events` is modified in place."""
    events["first"] = 0
    events["last"] = 0
    events["n_outcomes"] = 0
    events["waiting"] = 0
    events["hits"][:] = 0
    events["attacker"] = NO_TARGET
    events["defender"] = NO_TARGET
    events["played"] = 0
    events["decoy"] = 0
    events["unsure"] = 0
    events["fallen"] = 0
    events["broken"] = 0
    if asked_by(cards) & OF_ENDS:
        events["births"] = state["births"]
        for seat in range(2):
            before, side = events["before"][seat], state["sides"][seat]
            before["n_board"], before["n_hand"] = side["n_board"], side["n_hand"]
            before["armed"], before["kept"] = side["durability"] > 0, 1


@njit_borrowing
def chosen_of(events: np.void, n: int) -> int:
    """The outcome of an event with `n` equally likely ones: 0, 1, ..., n - 1. `events` is modified in place.

    An event with one outcome is none. Where an action stops, the answer is 0 and `waiting` is `n`.
    """
    if n <= 1:
        return 0
    event = events["n_outcomes"]
    if events["forced"] >= 0:
        if event < events["forced"]:
            events["n_outcomes"] += 1
            return min(int(events["outcomes"][event]), n - 1)
        if events["game"] == 0:
            events["waiting"] = n
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
    """Where the outcomes of chance events come from while actions are carried out.

    Attributes:
        array: the record that kernels read, shape (1,), dtype `EVENTS`.
    """

    def __init__(self) -> None:
        self.array = np.zeros(1, EVENTS)

    @classmethod
    def drawn(cls, key: np.uint64, states: np.ndarray) -> "Chance":
        """Outcomes of a game's stream, from the turn of a position on.

        Args:
            key: of the game, as deals have it (`engine.streams.stream_key`).
            states: the position, dtype `STATE`, shape (1,).
        """
        chance = cls()
        draw_for(chance.array[0], states[0], np.uint64(key))
        return chance

    @classmethod
    def given(cls, outcomes: Sequence[int] = ()) -> "Chance":
        """Outcomes given in advance, for one action: each counts from 0.

        Raises:
            ChanceError: there are too many, or one is no number that an event can have.
        """
        chance = cls()
        if len(outcomes) > MAX_OUTCOMES or not all(type(one) is int and 0 <= one < 2**15 for one in outcomes):
            raise ChanceError(
                f"outcomes must be at most {MAX_OUTCOMES} small integers from 0, got {outcomes!r}"
            )
        chance.array[0]["forced"] = len(outcomes)
        chance.array[0]["outcomes"][: len(outcomes)] = outcomes
        return chance

    @classmethod
    def blind(cls) -> "Chance":
        """None: chance stops an action, and drawn cards stay hidden, as for a player who thinks ahead."""
        chance = cls()
        think(chance.array[0])
        return chance

    @property
    def outcomes(self) -> tuple[int, ...]:
        """What fell out in the last action's events."""
        record = self.array[0]
        return tuple(record["outcomes"][: record["n_outcomes"]].tolist())

    @property
    def waiting(self) -> int:
        """How many outcomes the event has at which the last action stopped; 0 if it did not stop."""
        return int(self.array[0]["waiting"])
