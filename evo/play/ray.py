"""Ray worker pool for clusters, the driver's side; a child process uses Ray (`evo.play.ray_process`)."""

import contextlib
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from engine import ManaforgeError, kernel_cache
from engine.compile_progress import available_processors
from engine.kernel_cache import compiler_key
from evo.play.cluster import (
    ProcessWatcher,
    check_head_listens,
    find_cluster,
    is_running,
    kill_session,
)
from evo.play.dispatch import (
    NO_LIMIT,
    ChunkSizer,
    Dispatcher,
    MessageCallback,
    ProgressCallback,
    WorkerLostError,
)
from evo.play.games import Roster, Schedule
from evo.play.pool import no_op_callback, no_stop_check
from evo.play.ray_process import OWN_KERNELS_SUFFIX, RayTarget, versions_for
from evo.play.results import ChunkResult, PoolError, PoolLostError

JOIN_SECONDS = 600.0
"""Seconds to wait for a node with processors."""

CLOSE_SECONDS = 15.0
"""Seconds to wait for Ray's shutdown before it is killed."""

KILL_WAIT_SECONDS = 0.3
"""Seconds to wait for a killed process to end, after its services."""

STDERR_TAIL_BYTES = 4_000
"""Length of the tail of the child's standard error that is searched for its last line."""

CHILD_PROGRAM = (
    "import sys; from multiprocessing.connection import Connection; driver = Connection(int(sys.argv[1])); "
    "sys.path[:], sys.argv[:] = driver.recv(); from evo.play.ray_process import main; main(driver)"
)
"""Program of the child process that uses Ray: this interpreter with this process's import path."""


class RayPool:
    """Worker pool of Ray tasks: for many cores, clusters, and agents that hold the GIL.

    Args:
        workers: number of concurrent tasks; 0 for all processors of the cluster.
        address: of a cluster ("auto" or HOST:PORT); empty to start Ray on this machine, which then listens
            only on 127.0.0.1.
        raise_if_stopped: called while Ray starts, and while waiting for nodes; raises to stop.

    Attributes:
        found: for "auto", a sentence with the cluster and its source; else empty.

    Raises:
        PoolError: Ray cannot be started or reached.
        PoolLostError: Ray ended while waiting for nodes.
    """

    name = "ray"

    def __init__(
        self, workers: int = 0, address: str = "", raise_if_stopped: Callable[[], None] = no_stop_check
    ) -> None:
        self.found = ""
        if address == "auto":
            address, source = find_cluster()
            self.found = f"joins the cluster at {address}, found in {source}"
        if address:
            check_head_listens(address)
        self._raise_if_stopped = raise_if_stopped
        self._numbers = count()
        self._process = _RayProcess(RayTarget(address, workers or available_processors()))
        try:
            self._process.wait_until_up(raise_if_stopped)
            raise_if_stopped()
            self._grows = bool(address) and not workers
            self.workers = workers or self._processors()
        except BaseException:
            self._process.end()
            raise
        # Ray started here runs one task on each of its processors; in a cluster, this is the limit.
        most = workers if address and workers else NO_LIMIT
        self._dispatcher = Dispatcher(ChunkSizer(self.workers, 0.05), 2 * self.workers, most)

    @property
    def busy(self) -> float:
        """Seconds that the workers have spent playing; see `evo.play.pool.WorkerPool`."""
        return self._dispatcher.busy

    def play(
        self,
        roster: Roster,
        games: Schedule,
        watch: ProgressCallback = no_op_callback,
        note: MessageCallback = no_op_callback,
    ) -> np.ndarray:
        """Play a schedule, also on nodes that have joined since; see `evo.play.pool.WorkerPool`.

        Raises:
            PoolLostError: Ray ended.
        """
        if self._grows:
            self.workers = self._dispatcher.sizer.workers = self._processors()
            self._dispatcher.in_flight = 2 * self.workers
        tasks = _Tasks(self._process, next(self._numbers), roster, games, note)
        try:
            return self._dispatcher.play(tasks, roster, games, watch, note)
        finally:
            tasks.forget()

    @property
    def process(self) -> int:
        """Process id of the child process that uses Ray."""
        return self._process.pid

    def close(self) -> None:
        """Shut down Ray if this pool started it; else leave the cluster."""
        self._process.close()

    def _processors(self) -> int:
        """Number of processors (CPUs) in the cluster; waits until a node that offers processors has joined.

        Raises:
            PoolError: no node has joined within `JOIN_SECONDS`.
        """
        until = time.monotonic() + JOIN_SECONDS
        while True:
            found = self._process.processors(self._raise_if_stopped)
            if found:
                return found
            if time.monotonic() > until:
                raise PoolError(
                    f"no node with free processors has joined the cluster within {JOIN_SECONDS:.0f} s; start "
                    "nodes with ray start --address HOST:PORT (docs/cluster.md)"
                )
            self._raise_if_stopped()
            time.sleep(0.5)


class _RayProcess:
    """The driver's end of the child process that uses Ray: requests, replies and the child's end.

    Attributes:
        pid: number of the child process.
    """

    def __init__(self, order: RayTarget) -> None:
        self._order = order
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `_receive`, its reader
        ours, theirs = socket.socketpair()
        with theirs:
            handle = theirs.fileno()
            command = [sys.executable, "-P", "-c", CHILD_PROGRAM, str(handle)]
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # Ray repeats logs of ended workers on it
                stderr=self._stderr,  # Ray's core reports a wrong address on it
                pass_fds=[handle],
                start_new_session=True,  # Ctrl-C is for the driver; `kill_session` finds all processes of Ray
            )
        self.pid = self._child.pid
        self._connection = Connection(ours.detach())
        self._sending = threading.Lock()
        self._asking = threading.Lock()
        self._inboxes: dict[int, queue.SimpleQueue[Any]] = {}
        self._replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._deaths = ProcessWatcher(self._end_at_once)
        self._kernels_sent: set[str] = set()
        self._notes: set[str] = set()
        self._ended_here = False
        self._cause = ""
        self._ended = threading.Event()
        threading.Thread(target=self._receive, name="ray", daemon=True).start()
        self.send(sys.path, sys.argv)
        with contextlib.suppress(PoolLostError), self._sending:
            self._connection.send(order)

    def send_kernels(self) -> None:
        """Send the child the kernels that this process has compiled or loaded since the last call."""
        with self._asking:
            new = [name for name in list(kernel_cache.used_machine_code) if name not in self._kernels_sent]
            files = {name: content for name in new if (content := kernel_cache.read(name)) is not None}
            self._kernels_sent.update(new)
            if files:
                self.send("kernels", compiler_key(), files)

    def say_once(self, sentence: str, note: MessageCallback) -> None:
        """Pass a sentence to `note`, unless it was passed before."""
        if sentence not in self._notes:
            self._notes.add(sentence)
            note(sentence)

    def wait_until_up(self, raise_if_stopped: Callable[[], None]) -> None:
        """Wait until Ray is up.

        Raises:
            PoolError: Ray cannot be started or reached.
        """
        kind, *content = self._reply(raise_if_stopped)
        if kind == "failed":
            where = f" at {self._order.address}" if self._order.address else ""
            raise PoolError(f"cannot start Ray{where}: {content[0]}; --pool local needs no Ray")

    def processors(self, raise_if_stopped: Callable[[], None]) -> int:
        """Current number of processors of the cluster."""
        with self._asking:
            self.send("processors")
            return int(self._reply(raise_if_stopped)[1])

    def open_inbox(self, number: int) -> "queue.SimpleQueue[Any]":
        """Open a queue for the results of a schedule: (kind, ticket, result), or None once Ray has ended."""
        inbox = self._inboxes[number] = queue.SimpleQueue()
        return inbox

    def close_inbox(self, number: int) -> None:
        """Drop further results of a schedule."""
        del self._inboxes[number]

    def send(self, *message: object) -> None:
        """Send a message to the child.

        Raises:
            PoolLostError: the child has ended.
        """
        self.raise_if_over()
        try:
            with self._sending:
                self._connection.send(message)
        except OSError:
            self._ended.wait(CLOSE_SECONDS)
            self.raise_if_over()
            raise

    def raise_if_over(self) -> None:
        """Raise if the child process has ended.

        Raises:
            PoolLostError: the child has ended; the message gives the cause.
        """
        if self._ended.is_set():
            raise PoolLostError(self._cause)

    def close(self) -> None:
        """Shut down Ray in order, then end the child."""
        with contextlib.suppress(PoolLostError, OSError, subprocess.TimeoutExpired):
            self._deaths.close()
            self.send("close")
            self._child.wait(CLOSE_SECONDS)
        self.end()

    def end(self) -> None:
        """Kill the child, and the Ray that it started."""
        self._deaths.close()
        self._child.kill()
        self._child.wait()
        if not is_running(self.pid):  # else the number was given to another process, and the session is empty
            kill_session(self.pid)

    def _end_at_once(self) -> None:
        """Kill the child after it has lost a Ray service; Ray's own shutdown can take a minute.

        If the child itself was killed, its services may end before it does.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(KILL_WAIT_SECONDS)
            return
        self._ended_here = True
        self._child.kill()

    def _how_it_ended(self) -> str:
        """Reason why the child ended without a message; Ray services end with their parent process."""
        code = self._child.wait()
        if code < 0 and code != -signal.SIGABRT and not self._ended_here:  # Ray's core ends by SIGABRT too
            return f"the process that uses Ray ({self.pid}) was killed by signal {-code}"
        if self._deaths.names():
            return f"{self._deaths.names()} died"
        logs = "/tmp/ray/session_latest/logs"
        message = f"Ray's core ended its process, as it does when raylet or head are gone (its logs: {logs})"
        return f"{message}; {self._last_error_line()}".removesuffix("; ")

    def _last_error_line(self) -> str:
        """The last line of the child's standard error, as a clause; "" if there is none."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - STDERR_TAIL_BYTES))
        lines = self._stderr.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"it last wrote: {last}" if last else ""

    def _reply(self, raise_if_stopped: Callable[[], None]) -> Any:
        """Wait for the child's next reply."""
        while True:
            raise_if_stopped()
            with contextlib.suppress(queue.Empty):
                return self._replies.get(timeout=0.1)
            self.raise_if_over()

    def _receive(self) -> None:
        """Distribute the child's messages until the child ends; a thread's body."""
        cause = ""
        try:
            while True:
                kind, *content = self._connection.recv()
                if kind == "died":
                    cause = content[0]
                elif kind == "services":
                    self._deaths.watch(content[0])
                elif kind in ("answer", "error", "lost"):
                    inbox = self._inboxes.get(content[0])
                    if inbox is not None:
                        inbox.put((kind, *content[1:]))
                else:
                    self._replies.put((kind, *content))
        except (EOFError, OSError):
            pass
        with self._stderr:
            self._cause = cause or self._how_it_ended()
        self._ended.set()
        for inbox in list(self._inboxes.values()):
            inbox.put(None)


class _Tasks:
    """Ray tasks as workers (`evo.play.dispatch.Workers`)."""

    trusted = False

    def __init__(
        self, process: _RayProcess, number: int, roster: Roster, games: Schedule, note: MessageCallback
    ) -> None:
        self._process, self._number, self._note = process, number, note
        self._tickets = count()
        self._results: dict[int, tuple[str, Any]] = {}
        self._inbox = process.open_inbox(number)
        process.send_kernels()
        process.send("share", number, versions_for(roster), roster, games)

    def start(self, start: int, stop: int) -> int:
        ticket = next(self._tickets)
        self._process.send("play", self._number, ticket, start, stop)
        return ticket

    def ready(self, tickets: Sequence[int], timeout: float) -> Sequence[int]:
        done = []
        with contextlib.suppress(queue.Empty):
            arrived = self._inbox.get(timeout=timeout)
            while arrived is not None:
                kind, ticket, result = arrived
                self._results[ticket] = (kind, result)
                done.append(ticket)
                arrived = self._inbox.get_nowait()
        self._process.raise_if_over()
        return [ticket for ticket in done if ticket in tickets]

    def result(self, ticket: int) -> object:
        kind, result = self._results.pop(ticket)
        if kind == "error":
            assert isinstance(result, ManaforgeError)
            raise result
        if kind == "lost":
            raise WorkerLostError(result)
        if isinstance(result, ChunkResult) and str(result.worker).endswith(OWN_KERNELS_SUFFIX):
            node = str(result.worker).partition(" on ")[2]
            self._process.say_once(
                f"node {node} compiles its own kernels: another processor or compiler than here",
                self._note,
            )
        return result

    def cancel(self, ticket: int) -> None:
        with contextlib.suppress(PoolLostError, OSError):
            self._process.send("cancel", self._number, ticket)

    def forget(self) -> None:
        """Have the child drop the schedule, whose games are played or cancelled."""
        self._process.close_inbox(self._number)
        with contextlib.suppress(PoolLostError, OSError):
            self._process.send("forget", self._number)
