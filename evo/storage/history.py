"""A run's history: the lines of `checksums.txt`, and the tables of generations they vouch for."""

import hashlib
import io
import re
from pathlib import Path
from typing import NamedTuple

from engine.received import read_bytes

KINDS = ("generations", "pairings")
"""Folders of tables, in the order of their checksums on a line; `generations/` completes a generation."""


LINE = re.compile(r"\d{4,} [0-9a-f]{64} [0-9a-f]{64}\n")
"""A committed generation in `checksums.txt`."""


class HistoryError(Exception):
    """A part of a history that cannot be trusted; the message says why."""


class Entry(NamedTuple):
    """A committed generation: SHA-256 of its two files, as hexadecimal digits."""

    generations: str
    pairings: str


assert Entry._fields == KINDS


class History(NamedTuple):
    """What `checksums.txt` says.

    Attributes:
        text: the whole file.
        entries: committed generations, 0 and up.
        problem: why the lines after them are ignored; "" if there are none.
        torn: whether the first ignored line is the last one and without its end, as while it is written.
    """

    text: str
    entries: list[Entry]
    problem: str
    torn: bool = False

    @property
    def good(self) -> str:
        """The lines of the entries."""
        return "".join(_lines(self.text)[: len(self.entries)])


def table_file(run: Path, kind: str, generation: int) -> Path:
    """The parquet file of a generation; `kind` is one of `KINDS`."""
    return run / kind / f"{generation:04d}.parquet"


def _lines(text: str) -> list[str]:
    """The lines of a text with their ends; only a line feed ends one."""
    return list(io.StringIO(text, newline="\n"))


def checksum(content: bytes) -> str:
    """What a line says of a file's bytes."""
    return hashlib.sha256(content).hexdigest()


def history_line(generation: int, entry: Entry) -> str:
    """The line that commits a generation, as `read_history` reads it."""
    return f"{generation:04d} {' '.join(entry)}\n"


def read_history(run: Path) -> History:
    """Read `checksums.txt` as far as its lines are complete and in order; a missing file has no entries."""
    try:
        text = read_bytes(run / "checksums.txt").decode("ascii", "replace")
    except FileNotFoundError:
        text = ""
    entries: list[Entry] = []
    for line in _lines(text):
        number, parts = len(entries), line.split(" ")
        if not LINE.fullmatch(line) or parts[0] != f"{number:04d}":
            problem = f"checksums.txt: line {number + 1} is torn or not that of generation {number}"
            return History(text, entries, problem, torn=not line.endswith("\n"))
        entries.append(Entry(*(part.strip() for part in parts[1:])))
    return History(text, entries, "")


def read_committed(run: Path, kind: str, generation: int, entry: Entry) -> bytes:
    """The bytes of a committed generation's file.

    Raises:
        HistoryError: it is missing, or differs from the one that was committed.
        OSError: it cannot be read.
    """
    file = table_file(run, kind, generation)
    try:
        content = read_bytes(file)
    except FileNotFoundError:
        raise HistoryError(f"{kind}/{file.name} is missing") from None
    if checksum(content) != getattr(entry, kind):
        raise HistoryError(f"{kind}/{file.name} is damaged: it does not agree with checksums.txt")
    return content
