"""Ray cluster addresses and Ray's processes on this machine, without importing Ray."""

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

from engine.safe_files import why_untrusted
from evo.play.results import PlaceError, PoolError

PROBE_SECONDS = 5.0
"""How long to wait for a connection to a cluster's head."""

HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""What a client of HTTP/2 begins with: the magic words, and a frame of settings that sets nothing."""

FRAME_HEAD, SETTINGS = 9, 4
"""Bytes of a frame's head, and the type in its fourth byte."""

LONGEST_ADDRESS = 1_000
"""Bytes."""


def find_cluster() -> tuple[str, str]:
    """The cluster of this machine, and what names it: the variable RAY_ADDRESS, else Ray's address file.

    Workers of a cluster control its drivers, and the file is where every user may write: a file that somebody
    else owns or may write is refused. Ray's own search, which also joins any raylet it finds among the
    processes of this machine, is not used.

    Raises:
        PoolError: there is no cluster, or its address comes from somebody else.
    """
    given = os.environ.get("RAY_ADDRESS", "")
    if given and given != "auto":
        return given, "RAY_ADDRESS"
    file = address_file()
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as opened:
            refuse_others(file, os.fstat(handle))
            address = opened.read(LONGEST_ADDRESS).decode("ascii").strip()
    except FileNotFoundError:
        raise PoolError(
            f"--address auto: no cluster runs here: RAY_ADDRESS is not set, and {file}, which ray start "
            "writes, does not exist. Name the cluster: --address HOST:PORT"
        ) from None
    except OSError as error:
        raise PoolError(f"--address auto: {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise PoolError(f"--address auto: {file} does not hold an address") from None
    return address, str(file)


def address_file() -> Path:
    """The file in which `ray start` keeps its address."""
    linux = sys.platform.startswith("linux")
    folder = os.environ.get("RAY_TMPDIR") or (linux and os.environ.get("TMPDIR")) or "/tmp"
    return Path(folder) / "ray" / "ray_current_cluster"


def refuse_others(file: Path, status: os.stat_result) -> None:
    """Refuse a file that somebody else owns or may write, or that may also be another file.

    Raises:
        PoolError: it is one.
    """
    if not stat.S_ISREG(status.st_mode):
        why = "it is not a regular file"
    else:
        why = why_untrusted(status) or ("it has a second name elsewhere" if status.st_nlink > 1 else "")
    if why:
        raise PoolError(
            f"--address auto: {file} is not followed: {why}, and whoever chooses a cluster can run code on "
            "the machines that join it. Name one you trust: --address HOST:PORT"
        )


def check_address(address: str) -> None:
    """Refuse what is not the form of an address.

    Raises:
        PlaceError: it is not.
    """
    host, _, port = address.rpartition(":")
    known = address in ("", "auto") or "://" in address
    if not known and (not host or not port.isdecimal() or not 0 < int(port) < 65536):
        raise PlaceError(f"--address takes auto or HOST:PORT, got {address!r}")


def probe(address: str) -> None:
    """Refuse an address where no cluster's head listens, which Ray would retry for minutes.

    Raises:
        PoolError: it is not an address, nothing listens there, or what listens is no head.
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
        raise PoolError(f"what listens at {address} is no head of a Ray cluster; --pool local needs no Ray")


def _speaks_http2(connection: socket.socket) -> bool:
    """Whether a server answers HTTP/2's preface with settings (RFC 9113, 3.4), as Ray's head does by gRPC."""
    frame = b""
    with contextlib.suppress(OSError):
        connection.sendall(HTTP2_PREFACE)
        while len(frame) < FRAME_HEAD and (more := connection.recv(FRAME_HEAD - len(frame))):
            frame += more
    return len(frame) == FRAME_HEAD and frame[3] == SETTINGS


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
