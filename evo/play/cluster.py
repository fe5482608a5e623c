"""Which Ray cluster an address means, without Ray: `auto` is looked up here, and checked for who wrote it."""

import contextlib
import os
import socket
import stat
import sys
from pathlib import Path

from engine.received import why_untrusted
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
