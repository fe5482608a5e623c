"""Worker pools: their protocol, and the thread pool of this machine.

Every pool dispatches games through `evo.play.dispatch`, so that results depend only on the games.
"""

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol

import numpy as np

from engine import ManaforgeError
from engine.compile_progress import available_processors
from evo.play.dispatch import ChunkSizer, Dispatcher, MessageCallback, ProgressCallback
from evo.play.games import Roster, Schedule
from evo.play.results import ChunkResult, play_chunk
from rivals.outside.agent import processes


class InterruptedRunError(ManaforgeError):
    """The run was stopped by a signal; all finished results are stored.

    Attributes:
        signal: number of the signal.
    """

    def __init__(self, signal: int) -> None:
        super().__init__(f"stopped by signal {signal}")
        self.signal = signal


def no_op_callback(_: object) -> None:
    """Progress or message callback that does nothing."""


def no_stop_check() -> None:
    """Do nothing: the stop check of games that nothing can stop."""


class WorkerPool(Protocol):
    """A worker pool that plays schedules. Results do not depend on the kind of pool or number of workers.

    Several threads may call `play` at once; they share the workers.
    """

    name: str
    workers: int

    @property
    def busy(self) -> float:
        """Seconds that the workers have spent playing, summed over workers."""
        ...

    def play(
        self,
        roster: Roster,
        games: Schedule,
        watch: ProgressCallback = no_op_callback,
        note: MessageCallback = no_op_callback,
    ) -> np.ndarray:
        """Play a schedule; returns dtype `evo.play.games.GAME`, shape (games,), in the schedule's order.

        `watch` and `note`: see `evo.play.dispatch`.
        """
        ...

    def close(self) -> None:
        """End the workers."""
        ...


class LocalPool:
    """Thread pool: threads for compiled games, which release the GIL, and one thread for Python agents.

    Args:
        workers: number of threads; 0 for one per available processor.
    """

    name = "local"

    def __init__(self, workers: int = 0) -> None:
        self.workers = workers or available_processors()
        self._threads = ThreadPoolExecutor(self.workers, "games")
        self._one_thread = ThreadPoolExecutor(1, "agents")
        self._compiled = Dispatcher(ChunkSizer(self.workers, 0.005), self.workers + 1)
        self._single = Dispatcher(ChunkSizer(1, 0.005), 2)

    @property
    def busy(self) -> float:
        """Seconds spent playing; see `WorkerPool`."""
        return self._compiled.busy + self._single.busy

    def play(
        self,
        roster: Roster,
        games: Schedule,
        watch: ProgressCallback = no_op_callback,
        note: MessageCallback = no_op_callback,
    ) -> np.ndarray:
        """Play a schedule; see `WorkerPool`."""
        compiled = bool(roster.compiled(games).all())
        threads = self._threads if compiled else self._one_thread
        dispatcher = self._compiled if compiled else self._single
        return dispatcher.play(_Threads(threads, roster, games), roster, games, watch, note)

    def close(self) -> None:
        """End the threads; running chunks finish first (about a second), agents from outside end at once."""
        with processes.stopped():
            self._threads.shutdown(wait=True, cancel_futures=True)
            self._one_thread.shutdown(wait=True, cancel_futures=True)


class _Threads:
    """Threads of this process as workers (`evo.play.dispatch.Workers`)."""

    trusted = True

    def __init__(self, threads: ThreadPoolExecutor, roster: Roster, games: Schedule) -> None:
        self._threads, self._roster, self._games = threads, roster, games

    def start(self, start: int, stop: int) -> Future[ChunkResult]:
        return self._threads.submit(play_chunk, self._roster, self._games.select(slice(start, stop)))

    def ready(self, tickets: Sequence[Future[ChunkResult]], timeout: float) -> Sequence[Future[ChunkResult]]:
        return list(wait(tickets, timeout=timeout, return_when=FIRST_COMPLETED).done)

    def result(self, ticket: Future[ChunkResult]) -> ChunkResult:
        return ticket.result()

    def cancel(self, ticket: Future[ChunkResult]) -> None:
        ticket.cancel()
