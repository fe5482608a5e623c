"""The history of a folder: the lines of `checksums.txt`, and the records that they vouch for.

A record is one file or more. They are renamed into place first; then their line, flushed to the disk too,
commits them. Runs, learnings and experiments keep what they have played in this form, and only one process
writes to such a folder at a time. What does not agree with its line is named, set aside, and played again;
what cannot be read now is named and left as it is.
"""

import hashlib
import io
import os
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, NamedTuple, Self

from engine import ManaforgeError
from engine.safe_files import read_bytes
from evo.storage.files import first_link, replace_file, sync_folder, take_lock

CHECKSUMS = "checksums.txt"

MOST_LINES = 2**26
"""Bytes of `checksums.txt`: half a million generations of a run."""

KINDS = ("generations", "pairings")
"""Folders of a run's tables, in the order of their checksums; `generations/` completes a generation."""

LINE = re.compile(r"(\w[\w.-]*(?:/\w[\w.-]*)?)((?: [0-9a-f]{64})+)\n", re.ASCII)
"""A record in `checksums.txt`: its name, and the SHA-256 of each of its files."""


class HistoryError(Exception):
    """A part of a history that cannot be trusted; the message says why."""


@dataclass(frozen=True)
class Records:
    """Which records a folder holds.

    Attributes:
        files_of: the files of a record by its name, below the folder, in the order of their checksums.
        numbered: whether they are called 0000, 0001, ..., each made from those before it; else they have any
            names, each stands alone, and of two lines with one name the last counts.
    """

    files_of: Callable[[str], tuple[str, ...]]
    numbered: bool = True


TABLES = Records(lambda name: tuple(f"{kind}/{name}.parquet" for kind in KINDS))
"""Of a run: its generations."""


class Entry(NamedTuple):
    """A record: its name, and the SHA-256 of its files as hexadecimal digits."""

    name: str
    sums: tuple[str, ...]

    @property
    def line(self) -> str:
        """What commits it."""
        return f"{self.name} {' '.join(self.sums)}\n"


class History(NamedTuple):
    """What `checksums.txt` says.

    Attributes:
        text: the whole file.
        entries: committed records, in the order of their lines.
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
        return "".join(entry.line for entry in self.entries)


def read_history(folder: Path, records: Records = TABLES) -> History:
    """Read `checksums.txt`; a missing file has no entries.

    Of numbered records as far as lines are complete and in order; of others all that are complete.

    Raises:
        OSError: it is there and cannot be read.
    """
    try:
        text = read_bytes(folder / CHECKSUMS, MOST_LINES).decode("ascii", "replace")
    except FileNotFoundError:
        text = ""
    entries: dict[str, Entry] = {}
    bad = 0
    for number, line in enumerate(io.StringIO(text, newline="\n")):  # only a line feed ends one
        found = LINE.fullmatch(line)
        name, sums = (found[1], tuple(found[2].split())) if found else ("", ())
        is_next = name == f"{number:04d}" or not records.numbered
        if not found or not is_next or len(sums) != len(records.files_of(name)):
            bad = bad or number + 1
            if records.numbered:
                break
            continue
        entries[name] = Entry(name, sums)
    problem = f"{CHECKSUMS}: line {bad} is torn or out of place" if bad else ""
    return History(text, [*entries.values()], problem, bad > 0 and not line.endswith("\n"))


def checksum(content: bytes) -> str:
    """What a line says of a file's bytes."""
    return hashlib.sha256(content).hexdigest()


def read_checked(folder: Path, name: str, digest: str) -> bytes:
    """The bytes of a file below a folder.

    Raises:
        HistoryError: it is missing, or differs from the one that was committed.
        OSError: it cannot be read.
    """
    try:
        content = read_bytes(folder / name)
    except FileNotFoundError:
        raise HistoryError(f"{name} is missing") from None
    if checksum(content) != digest:
        raise HistoryError(f"{name} is damaged: it does not agree with {CHECKSUMS}")
    return content


def table_file(run: Path, kind: str, generation: int) -> Path:
    """The parquet file of a generation; `kind` is one of `KINDS`."""
    return run / kind / f"{generation:04d}.parquet"


def read_committed(run: Path, kind: str, generation: int, entry: Entry) -> bytes:
    """The bytes of a committed generation's file; errors as of `read_checked`."""
    return read_checked(run, f"{kind}/{generation:04d}.parquet", entry.sums[KINDS.index(kind)])


class LockedFolder:
    """A folder that one process writes at a time.

    Attributes:
        path: the folder.
    """

    WHAT: ClassVar[str] = ""
    """Stands before its path in messages."""

    ERROR: ClassVar[type[ManaforgeError]] = ManaforgeError

    path: Path
    _lock: IO[bytes] | None = None

    def acquire(self) -> None:
        """Take the operating system's lock, which ends with the process.

        Raises:
            ManaforgeError: another process holds it, or the folder has a link that leads out of it.
            OSError: the folder cannot be used.
        """
        link = first_link(self.path)
        if link is not None:
            raise self.ERROR(f"{link} is a symbolic link; the folder holds its own files")
        self._lock = take_lock(self.path)
        if self._lock is None:
            raise self.ERROR(f"{self.WHAT}{self.path} is in use by another process")

    def close(self) -> None:
        """Release the folder, so that another process may use it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class CheckedFolder(LockedFolder):
    """A folder that one process writes at a time, with records that are known by their checksums.

    Args:
        path: the folder.

    Attributes:
        path: the folder.
        problems: damage found on opening, one sentence each.
        entries: the committed records, by name.
    """

    RECORDS: ClassVar[Records] = TABLES

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []
        self.entries: dict[str, Entry] = {}
        self._committing = threading.Lock()

    def replace(self, name: str, content: bytes) -> None:
        """Write a file below the folder, all or nothing; the temporary one stays in the folder itself.

        Raises:
            OSError: the disk is full or fails.
        """
        replace_file(self.path / name, content, self.path / f"{name.replace('/', '-')}.tmp")

    def commit_record(self, name: str, contents: Mapping[str, bytes]) -> None:
        """Write the files of a record, then its line; in any thread.

        Args:
            name: of the record.
            contents: of its files, by name, in the order in which they are written.

        Raises:
            OSError: the disk is full or fails; what was committed before is intact.
        """
        with self._committing:
            for file, content in contents.items():
                self.replace(file, content)
            sums = tuple(checksum(contents[file]) for file in self.RECORDS.files_of(name))
            entry = Entry(name, sums)
            with (self.path / CHECKSUMS).open("ab") as lines:
                length = lines.tell()
                try:
                    lines.write(entry.line.encode())
                    lines.flush()
                    os.fsync(lines.fileno())
                except OSError:
                    with suppress(OSError):  # half a line would spoil the next
                        lines.truncate(length)
                    raise
            self.entries[name] = entry

    def read_record(self, name: str) -> list[bytes]:
        """The files of a committed record; errors as of `read_checked`."""
        entry = self.entries[name]
        names = self.RECORDS.files_of(name)
        return [read_checked(self.path, *one) for one in zip(names, entry.sums, strict=True)]

    def damage_of(self, name: str) -> str:
        """What is wrong with a committed record, or "".

        Raises:
            ManaforgeError: it is whole, and of no use here.
            OSError: it cannot be read.
        """
        try:
            self.read_record(name)
        except HistoryError as error:
            return str(error)
        return ""

    def check_records(self, *folders: str) -> bool:
        """Find which records count; report and set aside the damaged ones, and those made from them.

        Args:
            *folders: of numbered records, the one that completes a record last; what lies in them and belongs
                to none is set aside.

        Returns:
            Whether something is damaged; files of a record that was never committed are not.

        Raises:
            ManaforgeError: a record is whole, and of no use here.
            OSError: one cannot be read.
        """
        history = read_history(self.path, self.RECORDS)
        self.entries, problem = {entry.name: entry for entry in history.entries}, history.problem
        damaged = []
        for name in [*self.entries]:
            damage = self.damage_of(name)
            if damage:
                damaged.append(name)
                self.problems.append(damage)
                if self.RECORDS.numbered:
                    problem = ""
                    break
        if problem:
            self.problems.append(problem)
        if damaged and self.RECORDS.numbered:
            damaged = [name for name in self.entries if name >= damaged[0]]
        self.entries = {name: entry for name, entry in self.entries.items() if name not in damaged}
        if folders and not history.text and self._holds_later(folders[-1]):
            self.problems.append(f"{CHECKSUMS} is missing or empty")
        is_damaged = bool(self.problems)
        text = "".join(entry.line for entry in self.entries.values())
        if text != history.text:
            self.replace(CHECKSUMS, text.encode())
        committed = {file for name in self.entries for file in self.RECORDS.files_of(name)}
        lie = [f"{one}/{file.name}" for one in folders for file in sorted((self.path / one).iterdir())]
        gone = [file for name in damaged for file in self.RECORDS.files_of(name)]
        for name in [*lie, *(name for name in gone if name not in lie and (self.path / name).exists())]:
            if name not in committed:
                self.set_aside(name)
        self.clear_leftovers()
        return is_damaged

    def _holds_later(self, folder: str) -> bool:
        """Whether there is more than the first record, whose files alone may exist before any line does."""
        return any(not file.name.startswith("0000.") for file in (self.path / folder).iterdir())

    def set_aside(self, name: str) -> None:
        """Move a file below the folder to `aside/`, and report it."""
        aside = self.path / "aside"
        aside.mkdir(exist_ok=True)
        count = sum(1 for _ in aside.iterdir())
        target = f"aside/{count:03d}-{name.replace('/', '-')}"
        (self.path / name).replace(self.path / target)
        sync_folder(aside)
        self.problems.append(f"{name} was set aside as {target}")

    def clear_leftovers(self) -> None:
        """Delete temporary files."""
        for file in self.path.glob("*.tmp"):
            file.unlink()
