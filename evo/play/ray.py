"""The pool of many machines: Ray tasks, which a process of its own hands to Ray (`evo.play.ray_process`)."""

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
from engine.compile_progress import processors
from engine.kernel_cache import compiler_key
from evo.play.cluster import Deaths, end_session, find_cluster, lives, probe
from evo.play.dispatch import NO_LIMIT, ChunkSizer, Dispatcher, LostError, Note, Watch
from evo.play.games import Roster, Schedule
from evo.play.pool import ignore, never_stop
from evo.play.ray_process import OWN_KERNELS, Order, versions_for
from evo.play.results import Answer, PoolError, PoolLostError

JOIN_SECONDS = 600.0
"""How long to wait for a node with processors."""

CLOSE_SECONDS = 15.0
"""How long Ray may take to end before it is ended."""

LAST_SECONDS = 0.3
"""How long a process that was killed may take to be gone, after its services."""

LAST_BYTES = 4_000
"""Of what the process wrote on standard error, where its last line is looked for."""

CHILD = (
    "import sys; from multiprocessing.connection import Connection; driver = Connection(int(sys.argv[1])); "
    "sys.path[:], sys.argv[:] = driver.recv(); from evo.play.ray_process import main; main(driver)"
)
"""The program of the process that uses Ray: this interpreter, with this process's import path."""


class RayPool:
    """Ray tasks: for many cores, clusters, and agents that hold the GIL.

    Args:
        workers: tasks at once; 0 for all processors of the cluster.
        address: of a cluster ("auto" or HOST:PORT); empty to start Ray on this machine, which then listens
            only on 127.0.0.1.
        raise_if_stopped: called while Ray starts, and while waiting for nodes; raises to stop.

    Attributes:
        found: where "auto" found the cluster, as a sentence; else empty.

    Raises:
        PoolError: Ray cannot be started or reached.
        PoolLostError: Ray ended while nodes were waited for.
    """

    name = "ray"

    def __init__(
        self, workers: int = 0, address: str = "", raise_if_stopped: Callable[[], None] = never_stop
    ) -> None:
        self.found = ""
        if address == "auto":
            address, by = find_cluster()
            self.found = f"joins the cluster at {address}, which {by} names"
        if address:
            probe(address)
        self._raise_if_stopped = raise_if_stopped
        self._numbers = count()
        self._process = _RayProcess(Order(address, workers or processors()))
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
        """See `Pool`."""
        return self._dispatcher.busy

    def play(self, roster: Roster, games: Schedule, watch: Watch = ignore, note: Note = ignore) -> np.ndarray:
        """Play all games; see `Pool`. Nodes that joined a cluster meanwhile are used from here on.

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
        """The number of the process that uses Ray."""
        return self._process.pid

    def close(self) -> None:
        """Shut Ray down, if this pool started it; else leave the cluster."""
        self._process.close()

    def _processors(self) -> int:
        """Number of processors in the cluster; waits until a node with processors has joined.

        Raises:
            PoolError: no node has joined in `JOIN_SECONDS`.
        """
        until = time.monotonic() + JOIN_SECONDS
        while True:
            found = self._process.processors(self._raise_if_stopped)
            if found:
                return found
            if time.monotonic() > until:
                raise PoolError(f"no node with processors has joined the cluster in {JOIN_SECONDS:.0f} s")
            self._raise_if_stopped()
            time.sleep(0.5)


class _RayProcess:
    """The process that uses Ray, what it is asked for, and what it sends.

    Attributes:
        pid: its number.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self._written = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `_receive`, its reader
        ours, theirs = socket.socketpair()
        with theirs:
            handle = theirs.fileno()
            command = [sys.executable, "-P", "-c", CHILD, str(handle)]
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # where Ray repeats logs of what dies
                stderr=self._written,  # where its core says much of an address that is no cluster's
                pass_fds=[handle],
                start_new_session=True,  # Ctrl-C is for the driver, and `end_session` finds what it starts
            )
        self.pid = self._child.pid
        self._connection = Connection(ours.detach())
        self._sending = threading.Lock()
        self._asking = threading.Lock()
        self._inboxes: dict[int, queue.SimpleQueue[Any]] = {}
        self._replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._deaths = Deaths(self._end_at_once)
        self._kernels_sent: set[str] = set()
        self._said: set[str] = set()
        self._ended_here = False
        self._died = ""
        self._over = threading.Event()
        threading.Thread(target=self._receive, name="ray", daemon=True).start()
        self.send(sys.path, sys.argv)
        with contextlib.suppress(PoolLostError), self._sending:
            self._connection.send(order)

    def send_kernels(self) -> None:
        """Send the kernels that this process has compiled or loaded since the last time."""
        with self._asking:
            new = [name for name in list(kernel_cache.used) if name not in self._kernels_sent]
            files = {name: content for name in new if (content := kernel_cache.read(name)) is not None}
            self._kernels_sent.update(new)
            if files:
                self.send("kernels", compiler_key(), files)

    def say_once(self, sentence: str, note: Note) -> None:
        """Say what concerns a node, the first time."""
        if sentence not in self._said:
            self._said.add(sentence)
            note(sentence)

    def wait_until_up(self, raise_if_stopped: Callable[[], None]) -> None:
        """Wait until Ray is up.

        Raises:
            PoolError: it cannot be started or reached.
        """
        kind, *content = self._reply(raise_if_stopped)
        if kind == "failed":
            where = f" at {self._order.address}" if self._order.address else ""
            raise PoolError(f"cannot start Ray{where}: {content[0]}; --pool local needs no Ray")

    def processors(self, raise_if_stopped: Callable[[], None]) -> int:
        """Processors of the cluster now."""
        with self._asking:
            self.send("processors")
            return int(self._reply(raise_if_stopped)[1])

    def open_inbox(self, number: int) -> "queue.SimpleQueue[Any]":
        """Where results of a schedule arrive, as (kind, ticket, result); None when Ray has died."""
        inbox = self._inboxes[number] = queue.SimpleQueue()
        return inbox

    def close_inbox(self, number: int) -> None:
        """Drop results of a schedule from here on."""
        del self._inboxes[number]

    def send(self, *message: object) -> None:
        """Send a message.

        Raises:
            PoolLostError: the process has ended.
        """
        self.raise_if_over()
        try:
            with self._sending:
                self._connection.send(message)
        except OSError:
            self._over.wait(CLOSE_SECONDS)
            self.raise_if_over()
            raise

    def raise_if_over(self) -> None:
        """Stop if the process has ended.

        Raises:
            PoolLostError: it has; the message says what died.
        """
        if self._over.is_set():
            raise PoolLostError(self._died)

    def close(self) -> None:
        """Let Ray end in good order, then the process."""
        with contextlib.suppress(PoolLostError, OSError, subprocess.TimeoutExpired):
            self._deaths.close()
            self.send("close")
            self._child.wait(CLOSE_SECONDS)
        self.end()

    def end(self) -> None:
        """End the process at once, with the Ray that it started."""
        self._deaths.close()
        self._child.kill()
        self._child.wait()
        if not lives(self.pid):  # else a stranger has its number by now, and its session is empty
            end_session(self.pid)

    def _end_at_once(self) -> None:
        """End the process, which has lost a service; Ray's own end can take a minute.

        If it was killed itself, its services can be gone before all of it is.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(LAST_SECONDS)
            return
        self._ended_here = True
        self._child.kill()

    def _how_it_ended(self) -> str:
        """What is known of an end without a word: services end with the process that started them, too."""
        code = self._child.wait()
        if code < 0 and code != -signal.SIGABRT and not self._ended_here:  # Ray's core ends by SIGABRT too
            return f"the process that uses Ray ({self.pid}) was killed by signal {-code}"
        if self._deaths.names():
            return f"{self._deaths.names()} died"
        logs = "/tmp/ray/session_latest/logs"
        how = f"Ray's core ended its process, as it does when its raylet or head is gone (its logs: {logs})"
        return f"{how}; {self._last_words()}".removesuffix("; ")

    def _last_words(self) -> str:
        """The last line that the process wrote on standard error, if there is one."""
        size = self._written.seek(0, os.SEEK_END)
        self._written.seek(max(0, size - LAST_BYTES))
        lines = self._written.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"it last wrote: {last}" if last else ""

    def _reply(self, raise_if_stopped: Callable[[], None]) -> Any:
        while True:
            raise_if_stopped()
            with contextlib.suppress(queue.Empty):
                return self._replies.get(timeout=0.1)
            self.raise_if_over()

    def _receive(self) -> None:
        """Pass on what arrives, until the process ends."""
        died = ""
        try:
            while True:
                kind, *content = self._connection.recv()
                if kind == "died":
                    died = content[0]
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
        with self._written:
            self._died = died or self._how_it_ended()
        self._over.set()
        for inbox in list(self._inboxes.values()):
            inbox.put(None)


class _Tasks:
    """Ray tasks as `evo.play.dispatch.Workers`."""

    trusted = False

    def __init__(
        self, process: _RayProcess, number: int, roster: Roster, games: Schedule, note: Note
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
            raise LostError(result)
        if isinstance(result, Answer) and str(result.worker).endswith(OWN_KERNELS):
            node = str(result.worker).partition(" on ")[2]
            self._process.say_once(
                f"node {node}: its processor or compiler is not this machine's", self._note
            )
        return result

    def cancel(self, ticket: int) -> None:
        with contextlib.suppress(PoolLostError, OSError):
            self._process.send("cancel", self._number, ticket)

    def forget(self) -> None:
        """Give up the schedule, whose games are played or no longer wanted."""
        self._process.close_inbox(self._number)
        with contextlib.suppress(PoolLostError, OSError):
            self._process.send("forget", self._number)
