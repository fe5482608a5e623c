"""Ray cluster addresses, and the Ray processes of this machine, without importing Ray."""

import contextlib
import os
import select
import signal
import socket
import stat
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from engine.safe_files import distrust_reason
from evo.play.results import PoolAddressError, PoolError

PROBE_SECONDS = 5.0
"""Timeout of a connection to a cluster's head, in seconds."""

HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""The HTTP/2 connection preface: the magic octets and an empty SETTINGS frame."""

FRAME_HEADER_BYTES, SETTINGS_FRAME = 9, 4
"""Length of an HTTP/2 frame header in bytes, and the frame type SETTINGS (fourth byte)."""

MAX_ADDRESS_BYTES = 1_000
"""Bytes read from Ray's address file at most."""


def find_cluster() -> tuple[str, str]:
    """Find the cluster of this machine; returns address and source (RAY_ADDRESS or Ray's address file).

    Workers of a cluster control its drivers, and every user may write to the file's folder: a file that
    another user owns or may write is refused. Ray's own search is not used, since it joins any raylet found
    among the processes of this machine.

    Raises:
        PoolError: there is no cluster, or another user may have written its address.
    """
    given = os.environ.get("RAY_ADDRESS", "")
    if given and given != "auto":
        return given, "RAY_ADDRESS"
    file = address_file()
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as opened:
            refuse_untrusted_file(file, os.fstat(handle))
            address = opened.read(MAX_ADDRESS_BYTES).decode("ascii").strip()
    except FileNotFoundError:
        raise PoolError(
            f"--address auto: no cluster found on this machine: RAY_ADDRESS is not set, and {file} (written "
            "by ray start) does not exist. Name the cluster: --address HOST:PORT"
        ) from None
    except OSError as error:
        raise PoolError(
            f"--address auto: cannot read {file}: {error.strerror}. Name the cluster: --address HOST:PORT"
        ) from None
    except UnicodeDecodeError:
        raise PoolError(
            f"--address auto: {file} does not contain an address. Name the cluster: --address HOST:PORT"
        ) from None
    return address, str(file)


def address_file() -> Path:
    """The file in which `ray start` stores the cluster's address."""
    linux = sys.platform.startswith("linux")
    folder = os.environ.get("RAY_TMPDIR") or (linux and os.environ.get("TMPDIR")) or "/tmp"
    return Path(folder) / "ray" / "ray_current_cluster"


def refuse_untrusted_file(file: Path, status: os.stat_result) -> None:
    """Refuse an address file that another user owns or may write, is no regular file or has hard links.

    Raises:
        PoolError: the file is refused.
    """
    if not stat.S_ISREG(status.st_mode):
        why = "it is not a regular file"
    else:
        why = distrust_reason(status) or ("it has several hard links" if status.st_nlink > 1 else "")
    if why:
        raise PoolError(
            f"--address auto: {file} is not trusted: {why}, and a cluster can run code on the machines "
            "that join it. Name a cluster that you trust: --address HOST:PORT"
        )


def check_address(address: str) -> None:
    """Refuse a malformed cluster address.

    Raises:
        PoolAddressError: it is none of "", "auto", HOST:PORT and SCHEME://...
    """
    host, _, port = address.rpartition(":")
    known = address in ("", "auto") or "://" in address
    if not known and (not host or not port.isdecimal() or not 0 < int(port) < 65536):
        raise PoolAddressError(f"--address takes auto or HOST:PORT, got {address!r}")


def check_head_listens(address: str) -> None:
    """Raise if no cluster head listens at an address; Ray itself would retry for minutes.

    Raises:
        PoolError: the address is malformed, or no head of a Ray cluster listens there.
    """
    check_address(address)
    if "://" in address:
        return
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=PROBE_SECONDS) as connection:
            is_head = os.environ.get("RAY_USE_TLS", "0") != "0" or _speaks_http2(connection)
    except (OSError, UnicodeError) as error:  # UnicodeError: not a host name
        why = getattr(error, "strerror", None) or str(error)
        raise PoolError(
            f"no answer from {address}: {why}; is the cluster's head running? --pool local needs no Ray"
        ) from None
    if not is_head:
        raise PoolError(f"the server at {address} is no head of a Ray cluster; --pool local needs no Ray")


def _speaks_http2(connection: socket.socket) -> bool:
    """Whether a server answers the HTTP/2 preface with SETTINGS (RFC 9113, 3.4), as Ray's gRPC head does."""
    frame = b""
    with contextlib.suppress(OSError):
        connection.sendall(HTTP2_PREFACE)
        while len(frame) < FRAME_HEADER_BYTES and (
            received := connection.recv(FRAME_HEADER_BYTES - len(frame))
        ):
            frame += received
    return len(frame) == FRAME_HEADER_BYTES and frame[3] == SETTINGS_FRAME


RAYLET_AGENTS = {"dashboardagent": "dashboard agent", "runtimeenvagent": "agent of runtime environments"}
"""Agents of a raylet, which ends when one of them ends; keys: parts of their command lines."""

POLL_SECONDS = 0.1
"""Seconds between two checks of processes."""

_PROC = Path("/proc/self")

RayServices = dict[int, str]
"""Processes that Ray needs: their names in messages, by process number."""


def ray_services(node: Any) -> RayServices:
    """Ray's service processes that already run on this machine; the raylet's agents start after the raylet.

    Args:
        node: `ray._private.worker._global_node`; it has the processes of a Ray that this process started.
    """
    own: RayServices = {}
    for name in ("gcs_server", "raylet"):
        for service in node.all_processes.get(name, ()):
            own[service.process.pid] = f"Ray's {name} (process {service.process.pid})"
            for child in _descendants(service.process.pid):
                command = _command(child).replace("_", "").lower()  # an agent changes its title as it starts
                for part, agent in RAYLET_AGENTS.items():
                    if part in command:
                        own[child] = f"Ray's {agent} (process {child})"
    cluster = f" of the cluster at {node.gcs_address}"
    return own or {process: f"{name}{cluster}" for process, name in _raylet_at(node)}


def all_services_running(services: RayServices) -> bool:
    """Whether all Ray services run: for a Ray started here two and the raylet's agents, else a raylet."""
    return len(services) in (1, 2 + len(RAYLET_AGENTS))


class ProcessWatcher:
    """A thread that watches processes, and calls back as soon as one ends.

    Args:
        tell: callback, called once from the thread when watched processes have ended.
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._watched: dict[int, tuple[int, str]] = {}
        self._names = ""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="deaths", daemon=True)
        self._thread.start()

    def watch(self, services: RayServices) -> None:
        """Watch further processes; no effect once the watcher is closed."""
        with self._lock:
            if self._closing.is_set():
                return
            for process in services.keys() - self._watched.keys():
                self._watched[process] = (_descriptor(process), services[process])

    def names(self) -> str:
        """Names of the watched processes that ended first, joined by "and"; empty while all run."""
        with self._lock:
            if not self._names:
                ended = (name for process, (file, name) in self._watched.items() if _ended(process, file))
                self._names = " and ".join(ended)
            return self._names

    def close(self) -> None:
        """Stop watching: the callback is not called any more."""
        self._closing.set()
        self._thread.join()
        with self._lock:
            for file, _ in self._watched.values():
                if file >= 0:
                    os.close(file)
            self._watched = {}

    def _watch(self) -> None:
        """Wait until a watched process ends, then call back; the thread's body."""
        while not self._closing.is_set():
            with self._lock:
                files = [file for file, _ in self._watched.values() if file >= 0]
            if files:
                poll = select.poll()
                for file in files:
                    poll.register(file, select.POLLIN)
                poll.poll(1000 * POLL_SECONDS)
            else:
                self._closing.wait(POLL_SECONDS)
            if self.names():
                if not self._closing.is_set():
                    self._tell()
                return


def kill_session(session: int) -> None:
    """Kill all processes of a process session but this one: Ray's services and workers, orphans too.

    They would end by themselves too, but a worker only after its games. A process may start others before it
    ends, so this repeats until none is left.

    Args:
        session: number of the session's first process, which may have ended.
    """
    for _ in range(100):
        found = [process for process in _members(session) if process != os.getpid()]
        if not found:
            return
        for process in found:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)


def _members(session: int) -> Iterator[int]:
    """Ids of the running processes of a process session."""
    for process, fields in _processes():
        if int(fields[3]) == session and fields[0] not in "ZX":
            yield process


def _processes() -> Iterator[tuple[int, list[str]]]:
    """Ids of all processes of this machine, with fields 3 onwards of proc_pid_stat(5): state, parent, ..."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            yield int(entry.parent.name), entry.read_text(errors="replace").rpartition(")")[2].split()


def _descriptor(process: int) -> int:
    """A file descriptor that becomes readable when a process ends (pidfd); -1 if there is none."""
    with contextlib.suppress(OSError, AttributeError):
        return os.pidfd_open(process)
    return -1


def _ended(process: int, file: int) -> bool:
    """Whether a process has ended, by its pidfd `file` (-1: by process id)."""
    if file < 0:
        return not is_running(process)
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(0))


def _raylet_at(node: Any) -> Iterator[tuple[int, str]]:
    """Process id and name of the raylet of the cluster that this process has joined."""
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as raylet:
        raylet.connect(node.raylet_socket_name)
        size = struct.calcsize("3i")
        process = struct.unpack("3i", raylet.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0]
        if process and is_running(process):
            yield process, f"the raylet on this machine (process {process})"


def _descendants(ancestor: int) -> list[int]:
    """Ids of the descendants of a process, parents first."""
    children: dict[int, list[int]] = {}
    for process, fields in _processes():
        children.setdefault(int(fields[1]), []).append(process)
    found = list(children.get(ancestor, ()))
    for process in found:
        found += children.get(process, ())
    return found


def _command(process: int) -> str:
    """The command line of a process; empty if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
    return ""


def is_running(process: int) -> bool:
    """Whether a process of this machine exists and is no zombie."""
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
