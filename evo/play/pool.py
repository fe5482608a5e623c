"""The protocol of worker pools, and the pool of threads on this machine.

Every pool hands out games through `evo.play.dispatch`, so that results depend only on the games.
"""

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol

import numpy as np

from engine import ManaforgeError
from engine.compile_progress import processors
from evo.play.dispatch import ChunkSizer, Dispatcher, Note, Watch
from evo.play.games import Roster, Schedule
from evo.play.results import Answer, play_chunk
from rivals.outside.agent import processes


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


class LocalPool:
    """Threads for compiled games, which run without the GIL; one thread for agents in Python.

    Args:
        workers: threads; 0 for one on each processor that may be used.
    """

    name = "local"

    def __init__(self, workers: int = 0) -> None:
        self.workers = workers or processors()
        self._threads = ThreadPoolExecutor(self.workers, "games")
        self._one_thread = ThreadPoolExecutor(1, "agents")
        self._compiled = Dispatcher(ChunkSizer(self.workers, 0.005), self.workers + 1)
        self._single = Dispatcher(ChunkSizer(1, 0.005), 2)

    @property
    def busy(self) -> float:
        """See `Pool`."""
        return self._compiled.busy + self._single.busy

    def play(self, roster: Roster, games: Schedule, watch: Watch = ignore, note: Note = ignore) -> np.ndarray:
        """Play all games; see `Pool`."""
        compiled = bool(roster.compiled(games).all())
        threads = self._threads if compiled else self._one_thread
        dispatcher = self._compiled if compiled else self._single
        return dispatcher.play(_Threads(threads, roster, games), roster, games, watch, note)

    def close(self) -> None:
        """End the threads; busy ones finish their chunk, in at most a second, agents from outside at once."""
        with processes.stopped():
            self._threads.shutdown(wait=True, cancel_futures=True)
            self._one_thread.shutdown(wait=True, cancel_futures=True)


class _Threads:
    """Threads of this process as `evo.play.dispatch.Workers`."""

    trusted = True

    def __init__(self, threads: ThreadPoolExecutor, roster: Roster, games: Schedule) -> None:
        self._threads, self._roster, self._games = threads, roster, games

    def start(self, start: int, stop: int) -> Future[Answer]:
        return self._threads.submit(play_chunk, self._roster, self._games.select(slice(start, stop)))

    def ready(self, tickets: Sequence[Future[Answer]], timeout: float) -> Sequence[Future[Answer]]:
        return list(wait(tickets, timeout=timeout, return_when=FIRST_COMPLETED).done)

    def result(self, ticket: Future[Answer]) -> Answer:
        return ticket.result()

    def cancel(self, ticket: Future[Answer]) -> None:
        ticket.cancel()
