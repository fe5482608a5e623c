"""The pool of many machines: Ray tasks. The only file that imports ray."""

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
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine import ManaforgeError
from evo.play.chunking import ChunkSizer
from evo.play.dispatch import NO_LIMIT, Dispatcher, LostError, Note, Watch
from evo.play.games import Roster, Schedule
from evo.play.pool import ignore, never_stop, processors
from evo.play.results import Answer, PoolError, VersionError, play_chunk
from ilp_agent.versions import play_versions

LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Set to "0", it makes Ray bind to 127.0.0.1, on Linux too; else Ray binds to all addresses."""

JOIN_SECONDS = 600.0
"""How long to wait for a node with processors."""

PROBE_SECONDS = 5.0
"""How long to wait for a connection to a cluster's head."""


class RayPool:
    """Ray tasks: for many cores, clusters, and agents that hold the GIL.

    Args:
        workers: tasks at once; 0 for all processors of the cluster.
        address: of a cluster ("auto" or HOST:PORT); empty to start Ray on this machine, which then listens
            only on 127.0.0.1.
        raise_if_stopped: called once Ray is up, and while waiting for nodes; raises to stop.

    Raises:
        PoolError: Ray cannot be started or reached.
    """

    name = "ray"

    def __init__(
        self, workers: int = 0, address: str = "", raise_if_stopped: Callable[[], None] = never_stop
    ) -> None:
        if address:
            _probe(address)
        else:
            os.environ.setdefault(LOOPBACK, "0")  # read when ray is imported
        import ray  # noqa: PLC0415 - takes a second, and is optional

        self._ray: Any = ray
        self._own = not ray.is_initialized()
        arguments: dict[str, Any] = {"address": address}
        if not address:
            arguments = {"address": "local", "num_cpus": workers or processors(), "include_dashboard": False}
        self._raise_if_stopped = raise_if_stopped
        self._over = threading.Event()
        if self._own:
            self._start(arguments)
        try:
            raise_if_stopped()
            self._grows = bool(address) and not workers
            self.workers = workers or self._processors()
        except BaseException:
            self.close()
            raise
        # Ray started here runs one task on each of its processors; in a cluster, this is the limit.
        most = workers if address and workers else NO_LIMIT
        self._dispatcher = Dispatcher(ChunkSizer(self.workers, 0.05), 2 * self.workers, most)
        self._play = ray.remote(num_cpus=1, max_retries=5)(play_range).options(enable_task_events=False)
        self._roster: tuple[Roster | None, Any] = (None, None)

    @property
    def busy(self) -> float:
        """See `Pool`."""
        return self._dispatcher.busy

    def play(self, roster: Roster, games: Schedule, watch: Watch = ignore, note: Note = ignore) -> np.ndarray:
        """Play all games; see `Pool`. Nodes that joined a cluster meanwhile are used from here on."""
        if self._grows:
            self.workers = self._dispatcher.sizer.workers = self._processors()
            self._dispatcher.in_flight = 2 * self.workers
        known, shared = self._roster
        if known != roster:
            shared = self._ray.put(roster)
            self._roster = (roster, shared)
        tasks = _Tasks(self, play_versions(roster.backends), shared, games)
        return self._dispatcher.play(tasks, roster, games, watch, note)

    def close(self) -> None:
        """Shut Ray down, if this pool started it."""
        if self._own:
            self._ray.shutdown()
        self._over.set()

    def _start(self, arguments: dict[str, Any]) -> None:
        """Start or join Ray in a thread, where it does not replace this process's signal handlers.

        The thread stays until `close`: Linux ends Ray's processes with the thread that started them.

        Raises:
            PoolError: Ray cannot be started or reached.
        """
        failed: list[BaseException] = []
        started = threading.Event()
        _own_signals(self._ray)

        def start() -> None:
            try:
                self._ray.init(log_to_driver=False, logging_level=logging.ERROR, **arguments)
            except BaseException as error:  # of any kind, since the caller waits
                failed.append(error)
                self._over.set()
            started.set()
            self._over.wait()

        threading.Thread(target=start, name="ray.init", daemon=True).start()
        while not started.wait(0.1):  # short, so that signals are noted; they are acted on once Ray is up
            pass
        _own_signals(self._ray)
        if failed:
            where = f" at {arguments['address']}" if arguments["address"] != "local" else ""
            raise PoolError(f"cannot start Ray{where}: {failed[0]}; --pool local needs no Ray")

    def _processors(self) -> int:
        """Number of processors in the cluster; waits until a node with processors has joined.

        Raises:
            PoolError: no node has joined in `JOIN_SECONDS`.
        """
        until = time.monotonic() + JOIN_SECONDS
        while True:
            found = int(self._ray.cluster_resources().get("CPU", 0))
            if found:
                return found
            if time.monotonic() > until:
                raise PoolError(f"no node with processors has joined the cluster in {JOIN_SECONDS:.0f} s")
            self._raise_if_stopped()
            time.sleep(0.5)


class _Tasks:
    """Ray tasks as `evo.play.dispatch.Workers`."""

    trusted = False

    def __init__(self, pool: RayPool, versions: dict[str, str], roster: Any, games: Schedule) -> None:
        self._ray, self._play = pool._ray, pool._play
        self._versions, self._roster, self._games = versions, roster, self._ray.put(games)

    def start(self, start: int, stop: int) -> Any:
        return self._play.remote(self._versions, self._roster, self._games, start, stop)

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


def play_range(versions: dict[str, str], roster: Roster, games: Schedule, start: int, stop: int) -> Answer:
    """A Ray task: plays games `start` to `stop` - 1 of a schedule.

    Raises:
        VersionError: this worker has other rules, cards, kernels or solvers than the driver.
    """
    own = play_versions(roster.backends)
    if own != versions:
        other = ", ".join(
            f"{name} {own.get(name)} instead of {value}"
            for name, value in versions.items()
            if own.get(name) != value
        )
        raise VersionError(
            f"{who_am_i()} has {other}; all nodes of a run need the same versions. Install them everywhere "
            "from requirements.lock (docs/cluster.md)"
        )
    return play_chunk(roster, games.select(slice(start, stop)), who_am_i())


def _own_signals(ray: Any) -> None:
    """Keep this process's handlers of SIGINT and SIGTERM while Ray starts.

    Ray installs a C++ handler below Python's, once a process, in the half second before `ray.init` returns;
    a SIGTERM meanwhile prints a stack of machine code. So it is made to install it now, and Python's
    handlers are restored at once. If Ray renames the function, the second call restores them.
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
    """Refuse an address at which nothing listens, which Ray would retry for minutes.

    Raises:
        PoolError: it is not an address, or nothing listens there.
    """
    if address == "auto" or "://" in address:
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise PoolError(f"--address takes auto or HOST:PORT, got {address!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PROBE_SECONDS).close()
    except (OSError, UnicodeError) as error:  # UnicodeError: not a host name
        why = getattr(error, "strerror", None) or str(error)
        raise PoolError(
            f"no answer from {address}: {why}; is the cluster's head running? --pool local needs no Ray"
        ) from None


def who_am_i() -> str:
    """Text that identifies this worker: process, host, processor, Python."""
    return (
        f"worker {os.getpid()} on {socket.gethostname()} ({platform.machine()}, "
        f"Python {sys.version_info.major}.{sys.version_info.minor})"
    )
