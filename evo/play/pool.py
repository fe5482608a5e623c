"""The protocol of pools, which play games: threads on this machine, or Ray workers on many.

Every pool hands out games through `evo.play.dispatch`, so that results depend only on the games.
"""

from typing import Protocol

import numpy as np

from engine import ManaforgeError
from evo.play.dispatch import Note, Watch
from evo.play.games import Roster, Schedule


class InterruptedRunError(ManaforgeError):
    """A signal asked to stop; nothing that was finished is lost.

    Attributes:
        signal: number of the signal.
    """

    def __init__(self, signal: int) -> None:
        super().__init__(f"stopped by signal {signal}")
        self.signal = signal


def ignore(_: object) -> None:
    """Do nothing."""


def never_stop() -> None:
    """Never stop."""


class Pool(Protocol):
    """Plays schedules. The same games give the same results in every pool, with any number of workers.

    Several threads may play at once; they share the workers.
    """

    name: str
    workers: int

    @property
    def busy(self) -> float:
        """Seconds that workers have spent playing, summed over them."""
        ...

    def play(self, roster: Roster, games: Schedule, watch: Watch = ignore, note: Note = ignore) -> np.ndarray:
        """Play all games; dtype `evo.play.games.GAME`, shape (games,), in the order of the schedule.

        `note` is called with a sentence for each result that was refused, lost or late.
        """
        ...

    def close(self) -> None:
        """End the workers."""
        ...
