"""Processes of Ray on this machine: which it cannot live without, which of them died; ending what is left."""

import contextlib
import os
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

AGENTS = {"dashboardagent": "dashboard agent", "runtimeenvagent": "agent of runtime environments"}
"""Processes of a raylet, which ends when one of them does; by what their command lines hold."""

LOOK_SECONDS = 0.1
"""Seconds between two looks, where there is no better way."""

_PROC = Path("/proc/self")

Services = dict[int, str]
"""Processes that Ray cannot live without: their names in messages, by number."""


def services_of(node: Any) -> Services:
    """The services that Ray needs on this machine, as far as they are there now: agents come after a raylet.

    Args:
        node: `ray._private.worker._global_node`; it knows the processes of a Ray that this process started.
    """
    own: Services = {}
    for name in ("gcs_server", "raylet"):
        for one in node.all_processes.get(name, ()):
            own[one.process.pid] = f"Ray's {name} (process {one.process.pid})"
            for child in _descendants(one.process.pid):
                command = _command(child).replace("_", "").lower()  # an agent begins by giving itself a title
                for part, agent in AGENTS.items():
                    if part in command:
                        own[child] = f"Ray's {agent} (process {child})"
    cluster = f" of the cluster at {node.gcs_address}"
    return own or {process: f"{name}{cluster}" for process, name in _raylet_at(node)}


def has_all(services: Services) -> bool:
    """Whether no service is still to come: of a Ray started here two and a raylet's agents, else a raylet."""
    return len(services) in (1, 2 + len(AGENTS))


class Deaths:
    """Learns at once when a process ends.

    Args:
        tell: called in a thread, once, when some have ended.
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._watched: dict[int, tuple[int, str]] = {}
        self._names = ""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="deaths", daemon=True)
        self._thread.start()

    def watch(self, services: Services) -> None:
        """Watch these processes too; nothing once closed."""
        with self._lock:
            if self._closing.is_set():
                return
            for process in services.keys() - self._watched.keys():
                self._watched[process] = (_descriptor(process), services[process])

    def names(self) -> str:
        """What ended first, joined if at once; empty if nothing has."""
        with self._lock:
            if not self._names:
                ended = (name for process, (file, name) in self._watched.items() if _ended(process, file))
                self._names = " and ".join(ended)
            return self._names

    def close(self) -> None:
        """Tell nothing from here on."""
        self._closing.set()
        self._thread.join()
        with self._lock:
            for file, _ in self._watched.values():
                if file >= 0:
                    os.close(file)
            self._watched = {}

    def _watch(self) -> None:
        while not self._closing.is_set():
            with self._lock:
                files = [file for file, _ in self._watched.values() if file >= 0]
            if files:
                poll = select.poll()
                for file in files:
                    poll.register(file, select.POLLIN)
                poll.poll(1000 * LOOK_SECONDS)
            else:
                self._closing.wait(LOOK_SECONDS)
            if self.names():
                if not self._closing.is_set():
                    self._tell()
                return


def end_session(session: int) -> None:
    """Kill all processes of a session but this one: services of Ray, and workers, orphans too.

    They end by themselves too, but a worker only after the games that it plays. What dies may start
    others meanwhile, so this looks until none is left.

    Args:
        session: the process that began it, which may be gone.
    """
    for _ in range(100):
        found = [process for process in _members(session) if process != os.getpid()]
        if not found:
            return
        for process in found:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)


def _members(session: int) -> Iterator[int]:
    """Living processes of a session."""
    for process, fields in _processes():
        if int(fields[3]) == session and fields[0] not in "ZX":
            yield process


def _processes() -> Iterator[tuple[int, list[str]]]:
    """All processes of this machine, with fields 3 and on of proc_pid_stat(5): state, parent, ..."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            yield int(entry.parent.name), entry.read_text(errors="replace").rpartition(")")[2].split()


def _descriptor(process: int) -> int:
    """A file that becomes readable when a process ends; -1 where there is none."""
    with contextlib.suppress(OSError, AttributeError):
        return os.pidfd_open(process)
    return -1


def _ended(process: int, file: int) -> bool:
    """Whether a process has ended, by its file if there is one."""
    if file < 0:
        return not lives(process)
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(0))


def _raylet_at(node: Any) -> Iterator[tuple[int, str]]:
    """The raylet of a cluster that this process has joined."""
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as raylet:
        raylet.connect(node.raylet_socket_name)
        size = struct.calcsize("3i")
        process = struct.unpack("3i", raylet.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0]
        if process and lives(process):
            yield process, f"the raylet on this machine (process {process})"


def _descendants(ancestor: int) -> list[int]:
    """What descends from a process, parents first."""
    children: dict[int, list[int]] = {}
    for process, fields in _processes():
        children.setdefault(int(fields[1]), []).append(process)
    found = list(children.get(ancestor, ()))
    for process in found:
        found += children.get(process, ())
    return found


def _command(process: int) -> str:
    """The command line of a process; empty if it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
    return ""


def lives(process: int) -> bool:
    """Whether a process of this machine lives: neither gone nor waiting for its parent."""
    try:
        if not _PROC.exists():
            os.kill(process, 0)
            return True
        return (
            Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            not in "ZX"
        )
    except OSError:
        return False
