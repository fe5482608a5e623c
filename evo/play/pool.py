"""Who plays the games: threads on this machine, or Ray's workers on many. The only file that imports ray.

Both hand games out as `evo.play.dispatch` has it, so that what comes out depends on the games alone.
"""

import contextlib
import ctypes
import logging
import os
import platform
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

import numpy as np

from engine import ManaforgeError
from engine.versions import play_versions
from evo.play.chunking import Pace
from evo.play.dispatch import NO_LIMIT, Dispatcher, LostError, Note, Watch
from evo.play.games import Schedule, Table
from evo.play.results import Answer, PoolError, VersionError, play_answer

LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""With "0" in it a Ray binds to 127.0.0.1, on Linux too; else to every address of the machine."""

JOIN_SECONDS = 600.0
"""How long to wait for a node with processors."""

PROBE_SECONDS = 5.0
"""How long to wait for a cluster's head to take a connection."""


class InterruptedRunError(ManaforgeError):
    """Someone asked to stop; nothing that was finished is lost.

    Attributes:
        signal: number of the signal.
    """

    def __init__(self, signal: int) -> None:
        super().__init__(f"stopped by signal {signal}")
        self.signal = signal


def ignore(_: object) -> None:
    """Tell nobody."""


def go_on() -> None:
    """Heed nobody."""


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

    def play(self, table: Table, games: Schedule, watch: Watch = ignore, note: Note = ignore) -> np.ndarray:
        """Play all games; dtype `evo.play.games.GAME`, shape (games,), in the order of the schedule.

        `note` is told what went wrong with workers and was mended.
        """
        ...

    def close(self) -> None:
        """Let the workers go."""
        ...


class LocalPool:
    """Threads over compiled games, which run without Python's lock; one thread for agents in Python.

    Args:
        workers: threads; 0 for one on each processor that may be used.
    """

    name = "local"

    def __init__(self, workers: int = 0) -> None:
        self.workers = workers or processors()
        self._threads = ThreadPoolExecutor(self.workers, "games")
        self._one_thread = ThreadPoolExecutor(1, "agents")
        self._compiled = Dispatcher(Pace(self.workers, 0.005), self.workers + 1)
        self._single = Dispatcher(Pace(1, 0.005), 2)

    @property
    def busy(self) -> float:
        """See `Pool`."""
        return self._compiled.busy + self._single.busy

    def play(self, table: Table, games: Schedule, watch: Watch = ignore, note: Note = ignore) -> np.ndarray:
        """Play all games; see `Pool`."""
        compiled = bool(table.compiled(games).all())
        threads = self._threads if compiled else self._one_thread
        dispatcher = self._compiled if compiled else self._single
        return dispatcher.play(_Threads(threads, table, games), table, games, watch, note)

    def close(self) -> None:
        """Let the threads end; those at work finish their part, at most a second."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._one_thread.shutdown(wait=True, cancel_futures=True)


class _Threads:
    """Threads of this process as `evo.play.dispatch.Workers`."""

    trusted = True

    def __init__(self, threads: ThreadPoolExecutor, table: Table, games: Schedule) -> None:
        self._threads, self._table, self._games = threads, table, games

    def start(self, start: int, stop: int) -> Future[Answer]:
        return self._threads.submit(play_answer, self._table, self._games.part(slice(start, stop)))

    def ready(self, tickets: Sequence[Future[Answer]], timeout: float) -> Sequence[Future[Answer]]:
        return list(wait(tickets, timeout=timeout, return_when=FIRST_COMPLETED).done)

    def result(self, ticket: Future[Answer]) -> Answer:
        return ticket.result()

    def cancel(self, ticket: Future[Answer]) -> None:
        ticket.cancel()


class RayPool:
    """Ray tasks: for many cores, clusters, and agents that hold Python's lock.

    Args:
        workers: tasks at once; 0 for all processors of the cluster.
        address: of a cluster ("auto" or HOST:PORT); empty for a Ray of our own on this machine, which then
            listens on 127.0.0.1 alone.
        heed: called once Ray is up, and while nodes are waited for; raises to stop.

    Raises:
        PoolError: Ray cannot be started or reached.
    """

    name = "ray"

    def __init__(self, workers: int = 0, address: str = "", heed: Callable[[], None] = go_on) -> None:
        if address:
            _probe(address)
        else:
            os.environ.setdefault(LOOPBACK, "0")  # read when ray is imported
        import ray  # noqa: PLC0415 - takes a second, and laptops need not have it

        self._ray: Any = ray
        self._own = not ray.is_initialized()
        arguments: dict[str, Any] = {"address": address}
        if not address:
            arguments = {"address": "local", "num_cpus": workers or processors(), "include_dashboard": False}
        self._heed = heed
        self._over = threading.Event()
        if self._own:
            self._start(arguments)
        try:
            heed()
            self._grows = bool(address) and not workers
            self.workers = workers or self._processors()
        except BaseException:
            self.close()
            raise
        # A Ray of our own runs as many at once as it has processors; in a cluster, this is the limit.
        most = workers if address and workers else NO_LIMIT
        self._dispatcher = Dispatcher(Pace(self.workers, 0.05), 2 * self.workers, most)
        self._play = ray.remote(num_cpus=1, max_retries=5)(play_range).options(enable_task_events=False)
        self._versions = play_versions()
        self._table: tuple[Table | None, Any] = (None, None)

    @property
    def busy(self) -> float:
        """See `Pool`."""
        return self._dispatcher.busy

    def play(self, table: Table, games: Schedule, watch: Watch = ignore, note: Note = ignore) -> np.ndarray:
        """Play all games; see `Pool`. Nodes that joined a cluster meanwhile are used from here on."""
        if self._grows:
            self.workers = self._dispatcher.pace.workers = self._processors()
            self._dispatcher.in_flight = 2 * self.workers
        known, shared = self._table
        if known != table:
            shared = self._ray.put(table)
            self._table = (table, shared)
        return self._dispatcher.play(_Tasks(self, shared, games), table, games, watch, note)

    def close(self) -> None:
        """End the Ray this pool started; leave one that was there."""
        if self._own:
            self._ray.shutdown()
        self._over.set()

    def _start(self, arguments: dict[str, Any]) -> None:
        """Start or join a Ray, in a thread: there it leaves this process's signal handlers alone.

        The thread stays until `close`: Linux ends Ray's processes with the thread that began them.

        Raises:
            PoolError: it cannot be done.
        """
        failed: list[BaseException] = []
        started = threading.Event()
        _own_signals(self._ray)

        def start() -> None:
            try:
                self._ray.init(log_to_driver=False, logging_level=logging.ERROR, **arguments)
            except BaseException as error:  # whatever it is, someone waits
                failed.append(error)
                self._over.set()
            started.set()
            self._over.wait()

        threading.Thread(target=start, name="ray.init", daemon=True).start()
        while not started.wait(0.1):  # short, so that signals are heard; they are heeded once it is up
            pass
        _own_signals(self._ray)
        if failed:
            where = f" at {arguments['address']}" if arguments["address"] != "local" else ""
            raise PoolError(f"cannot start Ray{where}: {failed[0]}; --pool local needs no Ray")

    def _processors(self) -> int:
        """Processors of the cluster; waited for where no node with any has joined yet.

        Raises:
            PoolError: none comes.
        """
        until = time.monotonic() + JOIN_SECONDS
        while True:
            found = int(self._ray.cluster_resources().get("CPU", 0))
            if found:
                return found
            if time.monotonic() > until:
                raise PoolError(f"no node with processors has joined the cluster in {JOIN_SECONDS:.0f} s")
            self._heed()
            time.sleep(0.5)


class _Tasks:
    """Ray's tasks as `evo.play.dispatch.Workers`."""

    trusted = False

    def __init__(self, pool: RayPool, table: Any, games: Schedule) -> None:
        self._ray, self._play, self._versions = pool._ray, pool._play, pool._versions
        self._table, self._games = table, self._ray.put(games)

    def start(self, start: int, stop: int) -> Any:
        return self._play.remote(self._versions, self._table, self._games, start, stop)

    def ready(self, tickets: Sequence[Any], timeout: float) -> Sequence[Any]:
        done, others = self._ray.wait(list(tickets), num_returns=1, timeout=timeout)
        if done and others:
            done += self._ray.wait(others, num_returns=len(others), timeout=0)[0]
        return list(done)

    def result(self, ticket: Any) -> object:
        errors = self._ray.exceptions
        try:
            return self._ray.get(ticket)
        except errors.RayTaskError as error:
            if isinstance(error.cause, ManaforgeError):
                raise error.cause from None
            raise LostError(
                f"it failed: {error.cause!r}; every node needs this version of manaforge, docs/cluster.md"
            ) from None
        except errors.RayError as error:
            raise LostError(str(error).splitlines()[0]) from None

    def cancel(self, ticket: Any) -> None:
        with contextlib.suppress(Exception):
            self._ray.cancel(ticket, force=True)


def play_range(versions: dict[str, str], table: Table, games: Schedule, start: int, stop: int) -> Answer:
    """A task of Ray: games `start` to `stop` - 1 of a schedule.

    Raises:
        VersionError: this worker has other rules, cards or kernels than the driver.
    """
    own = play_versions()
    if own != versions:
        other = ", ".join(
            f"{name} {own.get(name)} instead of {value}"
            for name, value in versions.items()
            if own.get(name) != value
        )
        raise VersionError(
            f"{who_am_i()} has {other}; a run plays on one version only. Install the same on every node, "
            "from requirements.lock (docs/cluster.md)"
        )
    return play_answer(table, games.part(slice(start, stop)), who_am_i())


def _own_signals(ray: Any) -> None:
    """Keep this process's handlers of SIGINT and SIGTERM while Ray starts.

    Ray puts a handler in C++ below Python's, once a process and within the half second before `ray.init`
    returns; a SIGTERM meanwhile prints a stack of machine code. So let it do so now, and put Python's back at
    once. Should Ray name the function otherwise one day, Python's come back when this is called again.
    """
    with contextlib.suppress(AttributeError, OSError):
        library = ctypes.CDLL(ray._raylet.__file__)
        install = library._ZN3ray6RayLog27InstallFailureSignalHandlerEPKcb  # program, chain
        install.argtypes, install.restype = (ctypes.c_char_p, ctypes.c_bool), None
        install(None, True)
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.getsignal(number))


def _probe(address: str) -> None:
    """Refuse an address at which nothing listens, which Ray would try for minutes.

    Raises:
        PoolError: it is no address, or nobody is there.
    """
    if address == "auto" or "://" in address:
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise PoolError(f"--address takes auto or HOST:PORT, got {address!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PROBE_SECONDS).close()
    except (OSError, UnicodeError) as error:  # the latter for what can be no host's name
        why = getattr(error, "strerror", None) or str(error)
        raise PoolError(
            f"nobody answers at {address}: {why}; is the cluster's head up? --pool local needs no Ray"
        ) from None


def who_am_i() -> str:
    """This worker in words: host, process, processor, Python."""
    return (
        f"worker {os.getpid()} on {socket.gethostname()} ({platform.machine()}, "
        f"Python {sys.version_info.major}.{sys.version_info.minor})"
    )


def processors() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def open_pool(
    kind: str, workers: int, address: str, compiled: bool, heed: Callable[[], None] = go_on
) -> Iterator[tuple[Pool, str]]:
    """A pool, and a sentence that says which and why; closed at the end.

    Args:
        kind: "auto", "local" or "ray".
        workers: how many; 0 for all processors.
        address: of a Ray cluster, or empty.
        compiled: whether games run compiled.
        heed: called once Ray is up, and while nodes are waited for; raises to stop.

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
    pool: Pool = LocalPool(workers) if chosen == "local" else RayPool(workers, address, heed)
    note = ""
    if chosen == "local" and not compiled:
        note = "; agents in Python hold its lock, so one thread plays"
    try:
        yield pool, f"pool {pool.name} with {pool.workers} workers ({why}{note})"
    finally:
        pool.close()
