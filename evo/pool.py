"""Who plays the games: threads on this machine, or Ray's workers on many. The only file that imports ray.

Both cut a schedule of games into parts sized by the speed seen so far, keep a bounded number of parts in
flight and put the results back by their place, so that what comes out depends on the games alone.
"""

import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

import numpy as np

from engine import ManaforgeError
from evo.games import GAME, Schedule, Table, play_part

PARTS_A_WORKER = 8
LONGEST_PART = 1.0
"""Seconds."""


class PoolError(ManaforgeError, RuntimeError):
    """A pool that cannot start, or lost its workers."""


class InterruptedRunError(ManaforgeError):
    """Someone asked to stop; nothing that was finished is lost.

    Attributes:
        signal: number of the signal.
    """

    def __init__(self, signal: int) -> None:
        super().__init__(f"stopped by signal {signal}")
        self.signal = signal


Watch = Callable[[int], None]
"""Called on the caller's thread with the number of games just finished; raises to stop early."""


def _ignore(_: int) -> None:
    pass


class Pool(Protocol):
    """Plays schedules. The same games give the same results in every pool, with any number of workers."""

    name: str
    workers: int
    busy: float
    """Seconds that workers have spent playing, summed over them."""

    def play(self, table: Table, games: Schedule, watch: Watch = _ignore) -> np.ndarray:
        """Play all games; dtype `GAME`, shape (games,), in the order of the schedule."""
        ...

    def close(self) -> None:
        """Let the workers go."""
        ...


class Pace:
    """How many games to hand out at a time.

    Args:
        workers: how many play.
        shortest: seconds; parts are not cut finer.
    """

    def __init__(self, workers: int, shortest: float) -> None:
        self.workers = workers
        self.shortest = shortest
        self._speed: dict[bool, float] = {True: 4000.0, False: 10.0}

    def part(self, left: int, total: int, compiled: bool) -> int:
        """Games of the next part: a second's, or a fair share of all, or of what is left towards the end."""
        speed = self._speed[compiled]
        share = min(total / (PARTS_A_WORKER * self.workers), left / (2 * self.workers))
        share = max(min(share, LONGEST_PART * speed), self.shortest * speed)
        return int(min(max(share, 1), left))

    def saw(self, games: int, seconds: float, compiled: bool) -> None:
        """Learn the speed of one worker."""
        if seconds > 0 and games > 0:
            self._speed[compiled] += 0.5 * (games / seconds - self._speed[compiled])


class LocalPool:
    """Threads over compiled games, which run without Python's lock; one thread for agents in Python.

    Args:
        workers: threads; 0 for one on each processor that may be used.
    """

    name = "local"

    def __init__(self, workers: int = 0) -> None:
        self.workers = workers or processors()
        self.busy = 0.0
        self._pace = Pace(self.workers, 0.005)
        self._single = Pace(1, 0.005)
        self._threads = ThreadPoolExecutor(self.workers, "games")
        self._one_thread = ThreadPoolExecutor(1, "agents")

    def play(self, table: Table, games: Schedule, watch: Watch = _ignore) -> np.ndarray:
        """Play all games; see `Pool`."""
        compiled = bool(table.compiled(games).all())
        pace = self._pace if compiled else self._single
        threads = self._threads if compiled else self._one_thread
        futures: dict[Future[tuple[np.ndarray, float]], tuple[int, int]] = {}
        played = np.zeros(len(games), GAME)
        start = 0
        try:
            while start < len(games) or futures:
                while start < len(games) and len(futures) < pace.workers + 1:
                    stop = start + pace.part(len(games) - start, len(games), compiled)
                    part = games.part(slice(start, stop))
                    futures[threads.submit(_timed, table, part)] = (start, stop)
                    start = stop
                done, _ = wait(futures, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    first, last = futures.pop(future)
                    played[first:last], seconds = future.result()
                    self.busy += seconds
                    pace.saw(last - first, seconds, compiled)
                    watch(last - first)
                if not done:
                    watch(0)
        finally:
            for future in futures:
                future.cancel()
        return played

    def close(self) -> None:
        """Let the threads end; those at work finish their part, at most a second."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._one_thread.shutdown(wait=True, cancel_futures=True)


def _timed(table: Table, games: Schedule) -> tuple[np.ndarray, float]:
    began = time.perf_counter()
    return play_part(table, games), time.perf_counter() - began


class RayPool:
    """Ray tasks: for many cores, clusters, and agents that hold Python's lock.

    Args:
        workers: tasks at once; 0 for all processors of the cluster.
        address: of a cluster ("auto" or HOST:PORT); empty for a Ray of our own on this machine.

    Raises:
        PoolError: Ray cannot be started or reached.
    """

    name = "ray"

    def __init__(self, workers: int = 0, address: str = "") -> None:
        import ray  # noqa: PLC0415 - takes a second, and laptops need not have it

        self._ray: Any = ray
        self._own = not ray.is_initialized()
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            if self._own and address:
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
            elif self._own:
                ray.init(
                    address="local",
                    num_cpus=workers or processors(),
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
        except Exception as error:
            raise PoolError(
                f"cannot start Ray{f' at {address}' if address else ''}: {error}; --pool local needs no Ray"
            ) from None
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():  # Ray sets its own
                signal.signal(number, handler)
        self.workers = workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self.busy = 0.0
        # A Ray of our own runs as many at once as it has processors; in a cluster, this is the limit.
        self._in_flight = self.workers if address and workers else 2 * self.workers
        self._pace = Pace(self.workers, 0.05)
        self._play = ray.remote(num_cpus=1, max_retries=5)(_timed_range).options(enable_task_events=False)
        self._table: tuple[Table | None, Any] = (None, None)

    def play(self, table: Table, games: Schedule, watch: Watch = _ignore) -> np.ndarray:
        """Play all games; see `Pool`."""
        ray, pace = self._ray, self._pace
        compiled = bool(table.compiled(games).all())
        if self._table[0] != table:
            self._table = (table, ray.put(table))
        shared = ray.put(games)
        pending: dict[Any, tuple[int, int]] = {}
        played = np.zeros(len(games), GAME)
        start = 0
        try:
            while start < len(games) or pending:
                while start < len(games) and len(pending) < self._in_flight:
                    stop = start + pace.part(len(games) - start, len(games), compiled)
                    pending[self._play.remote(self._table[1], shared, start, stop)] = (start, stop)
                    start = stop
                done, _ = ray.wait(list(pending), num_returns=1, timeout=0.2)
                for task in done:
                    first, last = pending.pop(task)
                    played[first:last], seconds = ray.get(task)
                    self.busy += seconds
                    pace.saw(last - first, seconds, compiled)
                    watch(last - first)
                if not done:
                    watch(0)
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, ManaforgeError):
                raise cause from None
            raise PoolError(f"a worker failed: {cause!r}") from None
        except ray.exceptions.RayError as error:
            raise PoolError(f"Ray lost its workers: {error}") from None
        finally:
            for task in pending:
                with contextlib.suppress(Exception):
                    ray.cancel(task, force=True)
        return played

    def close(self) -> None:
        """End the Ray this pool started; leave one that was there."""
        if self._own:
            self._ray.shutdown()


def _timed_range(table: Table, games: Schedule, start: int, stop: int) -> tuple[np.ndarray, float]:
    return _timed(table, games.part(slice(start, stop)))


def processors() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def open_pool(kind: str, workers: int, address: str, compiled: bool) -> Iterator[tuple[Pool, str]]:
    """A pool, and a sentence that says which and why; closed at the end.

    Args:
        kind: "auto", "local" or "ray".
        workers: how many; 0 for all processors.
        address: of a Ray cluster, or empty.
        compiled: whether games run compiled.

    Raises:
        PoolError: the pool cannot start.
    """
    chosen, why = kind, "as asked"
    if kind == "auto":
        if address:
            chosen, why = "ray", "a cluster is given"
        elif not compiled and (workers or processors()) > 1:
            chosen, why = "ray", "these agents hold Python's lock, so threads would not help"
        else:
            chosen, why = "local", "threads are enough for compiled games on this machine"
    if address and chosen == "local":
        raise PoolError(f"pool 'local' plays on this machine; for the cluster at {address} use --pool ray")
    pool: Pool = LocalPool(workers) if chosen == "local" else RayPool(workers, address)
    note = ""
    if chosen == "local" and not compiled:
        note = "; agents in Python hold its lock, so one thread plays"
    try:
        yield pool, f"pool {pool.name} with {pool.workers} workers ({why}{note})"
    finally:
        pool.close()
