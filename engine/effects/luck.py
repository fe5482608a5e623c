"""Chance in Python: outcomes that are drawn from a game's stream, or given."""

from collections.abc import Sequence

import numpy as np

from engine.effects.chance import draw_for, think
from engine.errors import ChanceError
from engine.events import EVENTS
from engine.vocabulary import MAX_OUTCOMES


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
