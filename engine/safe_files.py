"""Read untrusted files: regular files of bounded size only."""

import errno
import json
import os
import re
import stat
import tomllib
import unicodedata
from pathlib import Path
from typing import IO, Any

MAX_TOML_BYTES = 4 * 2**20
"""Largest TOML file, in bytes; the project writes at most some thousand."""

MAX_JSON_BYTES = 2**27
"""Largest JSON file, in bytes; a summary of many entrants has all their tables."""

MAX_JSON_VALUES = 3_000_000
"""Largest number of values in a JSON text: an empty list has three bytes of text and seventy in memory."""

MAX_FILE_BYTES = 2**28
"""Largest file of any other kind, in bytes."""

MAX_DOTS_IN_LINE, MAX_DOTS = 200, 50_000
"""Most dots outside of quotes and comments: long dotted keys take quadratic time and nest too deeply."""

_NO_KEY = re.compile(
    r"""
    (?P<many>  # of many lines; two quotes may stand before the closing three
        "{3} (?: [^"\\]++ | \\. | "(?!"") )*+ (?: "{3,5} )?
      | '{3} (?: [^']++ | '(?!'') )*+ (?: '{3,5} )?
    )
    | " (?: [^"\\\n]++ | \\[^\n] )*+ "?
    | ' [^'\n]*+ '?
    | \# [^\n]*+
    """,
    re.VERBOSE | re.DOTALL,
)
"""Pattern of strings and comments, closed or not, so that no text is searched twice."""


def is_one_line(text: str) -> bool:
    """Whether a text has no control characters, line breaks or paragraph breaks."""
    return all(unicodedata.category(letter) not in ("Cc", "Zl", "Zp") for letter in text)


def read_bytes(path: Path, most: int = MAX_FILE_BYTES) -> bytes:
    """Read a regular file of bounded size.

    Args:
        path: the file; a FIFO or a device is refused without blocking.
        most: largest size in bytes; a larger file is refused unread.

    Raises:
        OSError: it cannot be read; `strerror` has the reason.
    """
    with open_regular(path, os.O_RDONLY) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(most + 1) if size <= most else b""
        if size > most or len(content) > most:
            raise OSError(errno.EFBIG, f"it is larger than {most / 2**20:.0f} MB", str(path))
        return content


def open_regular(path: Path, flags: int) -> IO[bytes]:
    """Open a regular file; a FIFO or a device is refused without blocking.

    Args:
        path: the file.
        flags: flags of `os.open`.

    Raises:
        OSError: it cannot be opened; `strerror` has the reason.
    """
    try:
        handle = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except ValueError:  # a NUL, or characters that are not UTF-8
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        return os.fdopen(handle, "ab" if flags & os.O_APPEND else "rb")
    except BaseException:
        os.close(handle)
        raise


def distrust_reason(status: os.stat_result, writers: int = stat.S_IWOTH) -> str:
    """Reason why another user may control a file or folder; "" if only this user and root do.

    Args:
        status: status of the file or folder.
        writers: permission bits that must not be set, such as `stat.S_IWOTH`.
    """
    if status.st_uid not in (0, os.geteuid()):
        return f"it belongs to another user (number {status.st_uid})"
    if status.st_mode & writers & stat.S_IWOTH:
        return "every user may write it"
    return "its group may write it" if status.st_mode & writers & stat.S_IWGRP else ""


def read_text(path: Path, most: int = MAX_TOML_BYTES) -> str:
    """Read a text file of bounded size, with line ends normalised to LF.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not UTF-8 text.
    """
    try:
        text = read_bytes(path, most).decode()
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file.

    Raises:
        OSError: it cannot be read; `strerror` has the reason.
        ValueError: it is not UTF-8 text or not a JSON object.
    """
    return parse_json(read_text(path, MAX_JSON_BYTES))


def parse_json(text: str | bytes) -> dict[str, Any]:
    """Parse a JSON object of bounded size.

    Raises:
        ValueError: it is not a JSON object, nests too deeply, or has more than `MAX_JSON_VALUES` values.
    """
    values = sum(map(text.count, ",[{")) if isinstance(text, str) else sum(map(text.count, b",[{"))
    if values > MAX_JSON_VALUES:
        raise ValueError(f"it has more than {MAX_JSON_VALUES:,} values")
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("it nests too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")
    return content


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text of bounded complexity.

    Raises:
        ValueError: it is not TOML, or nests too deeply.
    """
    dots = _dots(text)
    if max(dots) > MAX_DOTS_IN_LINE or sum(dots) > MAX_DOTS:
        raise ValueError(
            f"it has more than {MAX_DOTS_IN_LINE} dots in a line, or {MAX_DOTS:,} in all, outside of quotes "
            "and comments"
        )
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def _dots(text: str) -> list[int]:
    """Count the dots outside of strings and comments in each line of a TOML text (keys span one line).

    Nothing is counted after the start of an unclosed string.
    """
    stripped = _NO_KEY.sub(lambda found: "\n" if found["many"] else "", text)
    return [line.count(".") for line in stripped.split("\n")]


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        OSError: it cannot be read; `strerror` has the reason.
        ValueError: it is not UTF-8 text or not TOML.
    """
    return parse_toml(read_text(path))
