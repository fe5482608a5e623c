"""The child process that uses Ray for a worker pool (`evo.play.ray`). The only file that imports ray.

Ray's core ends its process when the node or the cluster's head is gone: without a message, at once or up to a
minute later, and no exception can be caught. Hence only this child uses Ray. The driver watches the services
that the child reports; the child watches the head of a cluster. Messages in both directions are tuples whose
first part is their kind.
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
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, NoReturn

from engine import ManaforgeError, kernel_cache
from engine.kernel_cache import compiler_key
from evo.play.cluster import RayServices, all_services_running, kill_session, ray_services
from evo.play.games import Roster, Schedule
from evo.play.results import ChunkResult, VersionError, play_chunk, play_versions
from rivals import is_outside
from rivals.outside.agent import NotStartedError, check_starts
from rivals.outside.parameters import parameters_text

LOOPBACK_VARIABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Environment variable of Ray: "0" binds it to 127.0.0.1, on Linux too; else it binds to all addresses."""

HEAD_TIMEOUT_VARIABLE = "RAY_gcs_rpc_server_reconnect_timeout_s"
"""Environment variable of Ray: seconds without the head, for clusters whose head is restarted."""

HEAD_SECONDS = 5.0
"""Seconds without the head if `HEAD_TIMEOUT_VARIABLE` is not set; Ray itself waits for a minute."""

HEAD_POLL_SECONDS = 0.5
"""Seconds between two checks of the head, and of services that start later."""

DRIVER_POLL_SECONDS = 0.1
"""Seconds between two checks that the driver runs."""

WAIT_SECONDS = 0.02
"""Seconds to wait for results before reading new messages."""


OWN_KERNELS_SUFFIX = ", which compiles its own kernels"
"""Suffix of a worker's name if its processor or compiler differs from the driver's."""


class Kernels(NamedTuple):
    """Machine code of kernels compiled by the driver.

    Attributes:
        compiler: `engine.kernel_cache.compiler_key` of the driver.
        names: of their files in the kernel cache.
        files: Ray's reference to the files' contents by name, in a list so that Ray fetches it on demand.
    """

    compiler: str
    names: tuple[str, ...]
    files: list[Any]


class RayTarget(NamedTuple):
    """The Ray cluster to join, or the settings of a Ray to start.

    Attributes:
        address: of a cluster; empty to start Ray on this machine, which then listens only on 127.0.0.1.
        processors: number of processors of a Ray started on this machine.
    """

    address: str
    processors: int


def main(connection: Connection) -> None:
    """Start or join Ray, then serve the driver's requests until the driver or Ray ends."""
    for number in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C reaches the whole group: the driver decides
        signal.signal(number, lambda *_: None)
    _RayProcess(connection).run()


class _RayProcess:
    """The child's end: serves the driver's requests with Ray, and watches driver and cluster."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._closing = threading.Event()
        self._shared: dict[int, tuple[Any, ...]] = {}
        self._kernels: list[Kernels] = []
        self._pending: dict[Any, tuple[int, int]] = {}
        self._ray: Any = None
        self._play: Any = None

    def run(self) -> None:
        """Serve the driver until it ends or closes the connection."""
        threading.Thread(target=self._end_with_driver, args=(os.getppid(),), daemon=True).start()
        try:
            order: RayTarget = self._connection.recv()
        except (EOFError, OSError):
            return
        if not order.address:
            os.environ.setdefault(LOOPBACK_VARIABLE, "0")  # read when ray is imported
        try:
            self._start(order)
        except BaseException as error:  # of any type, since the driver waits
            self._send("failed", str(error))
            return
        self._play = self._ray.remote(num_cpus=1, max_retries=5)(play_range).options(enable_task_events=False)
        threading.Thread(target=self._watch, args=(order,), daemon=True).start()
        self._send("up")
        try:
            while self._handle_requests():
                self._send_results()
        except (EOFError, ConnectionError):  # the driver has ended: no orderly shutdown needed
            _end_now(0)
        except Exception as error:  # such as a broken pipe to an ended raylet
            time.sleep(1.0)  # `_watch` may report the cause first
            self._report_end(f"Ray failed: {error}")
        self._closing.set()
        self._ray.shutdown()

    def _start(self, order: RayTarget) -> None:
        """Start or join Ray in a thread, so that it does not replace this process's signal handlers.

        The thread never ends: Linux ends Ray's processes with the thread that started them.
        """
        import ray  # noqa: PLC0415 - takes a second; errors are reported from here

        self._ray = ray
        arguments: dict[str, Any] = {"address": order.address}
        if not order.address:
            arguments = {"address": "local", "num_cpus": order.processors, "include_dashboard": False}
        failed: list[BaseException] = []
        started = threading.Event()
        _own_signals(ray)

        def start() -> None:
            try:
                ray.init(log_to_driver=False, logging_level=logging.ERROR, **arguments)
            except BaseException as error:  # of any type, since the main thread waits
                failed.append(error)
            started.set()
            threading.Event().wait()

        threading.Thread(target=start, name="ray.init", daemon=True).start()
        started.wait()
        _own_signals(ray)
        if failed:
            raise failed[0]

    def _handle_requests(self) -> bool:
        """Handle the driver's requests; wait for one if no task runs. Returns False on a request to close."""
        while self._connection.poll(0 if self._pending else None):
            kind, *content = self._connection.recv()
            if kind == "close":
                return False
            if kind == "share":
                number, versions, roster, games = content
                self._shared[number] = (versions, self._ray.put(roster), self._ray.put(games))
            elif kind == "kernels":
                compiler, files = content
                self._kernels.append(Kernels(compiler, tuple(files), [self._ray.put(files)]))
            elif kind == "forget":
                self._shared.pop(content[0], None)
            elif kind == "play":
                number, ticket, start, stop = content
                task = self._play.remote(*self._shared[number], start, stop, self._kernels)
                self._pending[task] = (number, ticket)
            elif kind == "cancel":
                self._cancel(tuple(content))
            elif kind == "processors":
                self._send("processors", int(self._ray.cluster_resources().get("CPU", 0)))
        return True

    def _cancel(self, ticket: tuple[Any, ...]) -> None:
        """Cancel the tasks of a ticket (schedule number, ticket number)."""
        for task in [task for task, other_ticket in self._pending.items() if other_ticket == ticket]:
            del self._pending[task]
            with contextlib.suppress(Exception):
                self._ray.cancel(task, force=True)

    def _send_results(self) -> None:
        """Send the results of finished tasks."""
        if not self._pending:
            return
        done, others = self._ray.wait(list(self._pending), num_returns=1, timeout=WAIT_SECONDS)
        if done and others:
            done += self._ray.wait(others, num_returns=len(others), timeout=0)[0]
        for task in done:
            kind, result = self._result(task)
            self._send(kind, *self._pending.pop(task), result)

    def _result(self, task: Any) -> tuple[str, object]:
        """Result of a finished task: ("answer", result), ("error", our exception) or ("lost", reason)."""
        errors = self._ray.exceptions
        try:
            return "answer", self._ray.get(task)
        except errors.RayTaskError as error:
            if isinstance(error.cause, ManaforgeError):
                return "error", error.cause
            why = f"it failed: {error.cause!r}; every node needs this version of manaforge, docs/cluster.md"
            return "lost", why
        except errors.RayError as error:
            return "lost", str(error).splitlines()[0]

    def _send(self, *message: object) -> None:
        """Send a message to the driver."""
        with self._sending:
            self._connection.send(message)

    def _report_end(self, cause: str) -> None:
        """Report the cause of an end, and end this process at once: Ray's shutdown takes up to a minute."""
        with contextlib.suppress(OSError):
            self._send("died", cause)
        _end_now(1)

    def _end_with_driver(self, driver: int) -> None:
        """End this process when the driver has ended, even if a call of Ray blocks; a thread's body."""
        while os.getppid() == driver:
            time.sleep(DRIVER_POLL_SECONDS)
        _end_now(0)

    def _watch(self, order: RayTarget) -> None:
        """Report this node's services to the driver, and watch the head of a cluster; a thread's body."""
        node = self._ray._private.worker._global_node
        if node is None:  # Ray client (ray://): no local services
            return
        services: RayServices = {}
        host, _, port = node.gcs_address.rpartition(":")
        patience = float(os.environ.get(HEAD_TIMEOUT_VARIABLE, HEAD_SECONDS))
        answered = time.monotonic()
        while True:
            found = services if all_services_running(services) else ray_services(node)
            if found != services:
                services = found
                self._send("services", services)
            if not order.address or _listens(host.strip("[]"), int(port)):
                answered = time.monotonic()
            elif time.monotonic() - answered > patience:
                self._report_end(
                    f"the head of the cluster at {node.gcs_address} has not answered for {patience:.0f} s"
                )
            if self._closing.wait(HEAD_POLL_SECONDS):
                return


def _end_now(code: int) -> NoReturn:
    """End this process and all that it started at once, since Ray may not shut down in order."""
    kill_session(os.getpid())
    os._exit(code)


def _listens(host: str, port: int) -> bool:
    """Whether a server listens at an address."""
    try:
        socket.create_connection((host, port), timeout=1.0).close()
    except OSError:
        return False
    return True


def _own_signals(ray: Any) -> None:
    """Context that keeps this process's handlers of SIGINT and SIGTERM while Ray starts.

    Ray installs a C++ handler below Python's, once a process, in the half second before `ray.init` returns;
    a SIGTERM meanwhile prints a stack of machine code. So the handler is installed now, and Python's handlers
    are restored at once. If Ray renames the function, the second call restores them.
    """
    with contextlib.suppress(AttributeError, OSError):
        library = ctypes.CDLL(ray._raylet.__file__)
        install = library._ZN3ray6RayLog27InstallFailureSignalHandlerEPKcb  # program, chain
        install.argtypes, install.restype = (ctypes.c_char_p, ctypes.c_bool), None
        install(None, True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.getsignal(number))


def play_range(
    versions: dict[str, str],
    roster: Roster,
    games: Schedule,
    start: int,
    stop: int,
    kernels: Sequence[Kernels] = (),
) -> ChunkResult:
    """Ray task: play games `start` to `stop` - 1 of a schedule, with the driver's kernels if these fit.

    Raises:
        VersionError: this worker has other rules, cards, kernels or solvers than the driver.
        NotStartedError: an agent from outside cannot be started on this node.
    """
    own = versions_for(roster)
    if own != versions:
        differences = ", ".join(
            f"{name} {own.get(name)} instead of {value}"
            for name, value in versions.items()
            if own.get(name) != value
        )
        raise VersionError(
            f"{worker_name()} has {differences}; all nodes of a run need the same versions. Install "
            "them everywhere from requirements.lock (docs/cluster.md)"
        )
    worker = worker_name() + ("" if all(map(install_kernels, kernels)) else OWN_KERNELS_SUFFIX)
    return play_chunk(roster, games.select(slice(start, stop)), worker)


def install_kernels(kernels: Kernels) -> bool:
    """Store the driver's kernels in this node's cache; returns whether the kernels fit this compiler."""
    if kernels.compiler != compiler_key():
        return False
    if kernels.names not in _cached:
        missing = [name for name in kernels.names if not kernel_cache.exists(name)]
        if missing:
            import ray  # noqa: PLC0415 - already imported in a worker

            files = ray.get(kernels.files[0])
            for name in missing:
                kernel_cache.write(name, files[name])
        _cached.add(kernels.names)
    return True


_cached: set[tuple[str, ...]] = set()
"""Names of kernels that are in this worker's cache."""


def versions_for(roster: Roster) -> dict[str, str]:
    """Versions that must agree on all nodes: rules, solvers, and parameters of agents from outside.

    Raises:
        NotStartedError: an agent from outside cannot be started on this node.
    """
    found = play_versions(roster.backends)
    for agent in {player.kind for player in roster.players if is_outside(player.kind)}:
        try:
            found[f"the parameters of {agent}"] = parameters_text(check_starts(agent))
        except NotStartedError as error:
            raise NotStartedError(
                f"{worker_name()}: {error}; every node needs this agent, in the same place"
            ) from None
    return found


def worker_name() -> str:
    """Name of this worker: process, host, processor, Python version."""
    return (
        f"worker {os.getpid()} on {socket.gethostname()} ({platform.machine()}, "
        f"Python {sys.version_info.major}.{sys.version_info.minor})"
    )
