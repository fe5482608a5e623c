"""Append-only history of a folder: records (groups of files) committed by checksums in `checksums.txt`.

A record is one or more files. The files are renamed into place first; then a line with their checksums,
flushed to disk, commits the record. Runs, learnings and experiments store their results in this form. Only
one process writes to such a folder at a time. A file that does not match its checksum is reported, moved to
`aside/` and played again; a file that cannot be read at the moment is reported and left in place.
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
from evo.storage.files import find_symbolic_link, lock_folder, sync_folder, write_atomically

CHECKSUMS = "checksums.txt"

MAX_CHECKSUMS_BYTES = 2**26
"""Maximum size of `checksums.txt` in bytes: half a million generations of a run."""

TABLE_FOLDERS = ("generations", "pairings")
"""Folders of a run's tables, in the order of their checksums; the file in `generations/` is written last."""

RECORD_LINE = re.compile(r"(\w[\w.-]*(?:/\w[\w.-]*)?)((?: [0-9a-f]{64})+)\n", re.ASCII)
"""A line of `checksums.txt`: record name, then the SHA-256 of each of its files."""


class HistoryError(Exception):
    """A missing or damaged file of a folder's history."""


@dataclass(frozen=True)
class RecordLayout:
    """Layout of the history's records in a kind of folder.

    Attributes:
        files_of: maps a record's name to its file paths in the folder, in the order of their checksums.
        numbered: whether records are named 0000, 0001, ... and each depends on those before it; otherwise
            names are arbitrary, records are independent, and the last of several lines with one name counts.
    """

    files_of: Callable[[str], tuple[str, ...]]
    numbered: bool = True


GENERATION_RECORDS = RecordLayout(lambda name: tuple(f"{kind}/{name}.parquet" for kind in TABLE_FOLDERS))
"""Records of a run: one per generation."""


class Entry(NamedTuple):
    """A committed record: name, and hexadecimal SHA-256 of each file."""

    name: str
    sums: tuple[str, ...]

    @property
    def line(self) -> str:
        """The line of `checksums.txt` that commits the record."""
        return f"{self.name} {' '.join(self.sums)}\n"


class History(NamedTuple):
    """Parsed content of `checksums.txt`.

    Attributes:
        text: the whole file.
        entries: committed records, in the order of their lines.
        problem: why the remaining lines are ignored; "" if none are.
        torn: whether the ignored line is the last one and lacks its newline, as during a write.
    """

    text: str
    entries: list[Entry]
    problem: str
    torn: bool = False


def read_history(folder: Path, records: RecordLayout = GENERATION_RECORDS) -> History:
    """Read and parse `checksums.txt`; a missing file has no entries.

    For numbered records, parsing stops at the first line that is malformed or out of order; for others,
    malformed lines are skipped.

    Raises:
        OSError: the file exists and cannot be read.
    """
    try:
        text = read_bytes(folder / CHECKSUMS, MAX_CHECKSUMS_BYTES).decode("ascii", "replace")
    except FileNotFoundError:
        text = ""
    entries: dict[str, Entry] = {}
    bad = 0
    for number, line in enumerate(io.StringIO(text, newline="\n")):  # only a line feed ends a line
        found = RECORD_LINE.fullmatch(line)
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
    """SHA-256 of a file's bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def read_checked(folder: Path, name: str, digest: str) -> bytes:
    """Read a file, and verify the file's SHA-256.

    Args:
        folder: folder of the history.
        name: path of the file in the folder.
        digest: its committed SHA-256.

    Raises:
        HistoryError: it is missing, or differs from the committed file.
        OSError: it cannot be read.
    """
    try:
        content = read_bytes(folder / name)
    except FileNotFoundError:
        raise HistoryError(f"{name} is missing") from None
    if checksum(content) != digest:
        raise HistoryError(f"{name} is damaged: its checksum is not the one in {CHECKSUMS}")
    return content


def table_path(run: Path, kind: str, generation: int) -> Path:
    """Path of a generation's Parquet file; `kind` is a folder such as one of `TABLE_FOLDERS`."""
    return run / kind / f"{generation:04d}.parquet"


def read_committed(run: Path, kind: str, generation: int, entry: Entry) -> bytes:
    """Read and verify a committed generation's file; errors as of `read_checked`."""
    return read_checked(run, f"{kind}/{generation:04d}.parquet", entry.sums[TABLE_FOLDERS.index(kind)])


class LockedFolder:
    """A folder with a lock for a single writing process.

    Attributes:
        path: the folder.
    """

    WHAT: ClassVar[str] = ""
    """Prefix of the path in error messages."""

    ERROR: ClassVar[type[ManaforgeError]] = ManaforgeError

    path: Path
    _lock: IO[bytes] | None = None

    def acquire(self) -> None:
        """Lock the folder for this process; the lock is released when the process ends.

        Raises:
            ManaforgeError: another process holds the lock, or the folder contains a symbolic link.
            OSError: the folder cannot be used.
        """
        link = find_symbolic_link(self.path)
        if link is not None:
            raise self.ERROR(
                f"{link} is a symbolic link, which is not allowed here; replace it by the file itself"
            )
        self._lock = lock_folder(self.path)
        if self._lock is None:
            raise self.ERROR(f"{self.WHAT}{self.path} is in use by another process")

    def close(self) -> None:
        """Release the lock of the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class CheckedFolder(LockedFolder):
    """A locked folder with a history of records that are verified by checksums.

    Args:
        path: the folder.

    Attributes:
        path: the folder.
        problems: damage found on opening, one message each.
        entries: committed records, by name.
    """

    RECORDS: ClassVar[RecordLayout] = GENERATION_RECORDS

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []
        self.entries: dict[str, Entry] = {}
        self._committing = threading.Lock()

    def replace(self, name: str, content: bytes) -> None:
        """Write a file in the folder atomically; the temporary file is in the folder, not in a subfolder.

        Raises:
            OSError: the disk is full or fails.
        """
        write_atomically(self.path / name, content, self.path / f"{name.replace('/', '-')}.tmp")

    def commit_record(self, name: str, contents: Mapping[str, bytes]) -> None:
        """Commit a record: write the files, then the line in `checksums.txt`; thread-safe.

        Args:
            name: of the record.
            contents: content of its files by path, in the order of writing.

        Raises:
            OSError: the disk is full or fails; earlier records are intact.
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
                    with suppress(OSError):  # a partial line would corrupt the next one
                        lines.truncate(length)
                    raise
            self.entries[name] = entry

    def read_record(self, name: str) -> list[bytes]:
        """Read and verify the files of a committed record; errors as of `read_checked`."""
        entry = self.entries[name]
        names = self.RECORDS.files_of(name)
        return [read_checked(self.path, *named) for named in zip(names, entry.sums, strict=True)]

    def damage_of(self, name: str) -> str:
        """Describe the damage of a committed record; "" if the record is intact.

        Raises:
            ManaforgeError: it is intact, but this version cannot use it.
            OSError: it cannot be read.
        """
        try:
            self.read_record(name)
        except HistoryError as error:
            return str(error)
        return ""

    def check_records(self, *folders: str) -> bool:
        """Verify all records; report and set aside damaged records, and numbered records after a damaged one.

        Args:
            *folders: folders of numbered records, the one written last at the end; files in them that belong
                to no committed record are set aside.

        Returns:
            Whether there is damage; files of a record that was never committed are not damage.

        Raises:
            ManaforgeError: a record is intact, but this version cannot use it.
            OSError: a record cannot be read.
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
        present = [
            f"{folder}/{file.name}" for folder in folders for file in sorted((self.path / folder).iterdir())
        ]
        invalid = [file for name in damaged for file in self.RECORDS.files_of(name)]
        for name in [
            *present,
            *(name for name in invalid if name not in present and (self.path / name).exists()),
        ]:
            if name not in committed:
                self.set_aside(name)
        self.delete_temporary_files()
        return is_damaged

    def _holds_later(self, folder: str) -> bool:
        """Whether a subfolder has files of records after the first, which only exist after a commit."""
        return any(not file.name.startswith("0000.") for file in (self.path / folder).iterdir())

    def set_aside(self, name: str) -> None:
        """Move a damaged or uncommitted file to `aside/`, and report it."""
        aside = self.path / "aside"
        aside.mkdir(exist_ok=True)
        count = sum(1 for _ in aside.iterdir())
        target = f"aside/{count:03d}-{name.replace('/', '-')}"
        (self.path / name).replace(self.path / target)
        sync_folder(aside)
        self.problems.append(f"{name} was set aside as {target}")

    def delete_temporary_files(self) -> None:
        """Delete temporary files of interrupted writes."""
        for file in self.path.glob("*.tmp"):
            file.unlink()
