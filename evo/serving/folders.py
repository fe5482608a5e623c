"""Catalogue of the runs and tournaments below a folder, and a cache of folder contents."""

import hashlib
import os
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Generic, TypeVar

from evo.analysis.listing import run_row, tournament_row
from evo.storage.files import find_symbolic_link

RUN_MARKER, TOURNAMENT_MARKER = "config.toml", "tournament.json"
"""Marker files of run and tournament folders."""

WATCHED_FILES = (
    *(RUN_MARKER, "champion.toml", "checksums.txt", "log.jsonl", "manifest.json"),
    *(TOURNAMENT_MARKER, "summary.json", "games.parquet", "batches", "lock"),
)
"""Files whose changes mean that a folder has changed."""

TABLE_FOLDERS = ("generations", "pairings", "validation", "batches", "decks", "library")
"""Subfolders with tables and decks."""

MAX_FOLDER_DEPTH = 8
"""Most levels of nested folders that are searched."""

SECONDS_TO_READ = 0.2
"""Time limit for reading folders per listing; at least one new folder is read, the rest next time."""

LISTING_REUSE_FACTOR = 10
"""A listing is reused for this many times the time that it took."""


@dataclass(frozen=True)
class Listing:
    """A listing of all runs and tournaments below the root folder.

    Attributes:
        runs: rows of `evo.analysis.listing.run_row`, by name.
        tournaments: rows of `evo.analysis.listing.tournament_row`, by name.
        waiting: number of folders not read yet; their rows have the state "...".
    """

    runs: list[dict[str, Any]]
    tournaments: list[dict[str, Any]]
    waiting: int

    @cached_property
    def studies(self) -> list[str]:
        """Folders with several runs, by name."""
        folders = Counter(run["run"].rpartition("/")[0] for run in self.runs)
        return sorted(name for name, n in folders.items() if name and n > 1)

    @cached_property
    def seen(self) -> str:
        """Hash of the listing, which a browser sends back to learn of changes."""
        content = repr((self.runs, self.tournaments, self.waiting))
        return hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()[:16]


Signature = tuple[tuple[int, int], ...]
"""Modification times and sizes of the watched files."""


@dataclass
class Catalogue:
    """Catalogue of all runs and tournaments below a folder.

    Attributes:
        root: the folder, with symbolic links resolved.
    """

    root: Path
    _cache: dict[tuple[str, str], tuple[Signature, dict[str, Any]]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _last: Listing | None = field(default=None, repr=False)
    _fresh_until: float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        self.root = self.root.resolve()

    def listing(self) -> Listing:
        """The last listing of all folders, or a new listing if that is too old (`LISTING_REUSE_FACTOR`)."""
        with self._lock:
            if self._last is None or time.monotonic() >= self._fresh_until:
                return self._refresh()
            return self._last

    def new_listing(self) -> Listing:
        """A new listing of all folders."""
        with self._lock:
            return self._refresh()

    def _refresh(self) -> Listing:
        """Make a new listing, and set the time until which it is reused."""
        began = time.monotonic()
        self._last = self._make_listing()
        self._fresh_until = time.monotonic() + LISTING_REUSE_FACTOR * (time.monotonic() - began)
        return self._last

    def _make_listing(self) -> Listing:
        """Make a new listing within `SECONDS_TO_READ`."""
        seconds, waiting, has_read_new = 0.0, 0, False
        rows: dict[str, list[dict[str, Any]]] = {RUN_MARKER: [], TOURNAMENT_MARKER: []}
        present = set()
        for path, mark in self._walk():
            name = self._name(path)
            present.add((mark, name))
            is_new = (mark, name) not in self._cache
            began = time.monotonic()
            row = self._row(path, mark, name, seconds < SECONDS_TO_READ or (is_new and not has_read_new))
            seconds += time.monotonic() - began
            has_read_new |= is_new and row is not None
            if row is None:
                waiting += 1
                row = {"run" if mark == RUN_MARKER else "tournament": name, "state": "..."}
            rows[mark].append(row)
        for gone in set(self._cache) - present:
            del self._cache[gone]
        return Listing(rows[RUN_MARKER], rows[TOURNAMENT_MARKER], waiting)

    def find(self, name: str, mark: str) -> Path | None:
        """Find a folder below the root by name; None without the file `mark`, or for a text that is no name.

        A folder has one name: other spellings, such as paths through links, are not found.
        """
        if str(PurePosixPath(name)) != name or name.startswith("/"):
            return None
        path = self.root / name
        try:
            inside = path.resolve() == path and (path / mark).is_file() and link_in(path) is None
        except (OSError, ValueError):  # an impossible file name
            return None
        return path if inside else None

    def relative(self, text: object) -> str:
        """A text with the root's path removed, so that pages do not reveal it."""
        return str(text).replace(f"{self.root}/", "")

    def _row(self, path: Path, mark: str, name: str, may_read: bool) -> dict[str, Any] | None:
        """A folder's row in the listing; None if the row is not cached and `may_read` is false."""
        signature = signature_of(path)
        cached = self._cache.get((mark, name))
        if cached is not None and cached[0] == signature and cached[1]["state"] != "running":
            return cached[1]
        if not may_read:
            return cached[1] if cached is not None else None
        read: Callable[[Path, str], dict[str, Any]] = run_row if mark == RUN_MARKER else tournament_row
        row = read(path, name)
        self._cache[mark, name] = signature, row
        return row

    def _walk(self) -> Iterator[tuple[Path, str]]:
        """All run and tournament folders with the marker file, in name order; subfolders of runs excluded."""
        stack = [(self.root, 0)]
        while stack:
            folder, depth = stack.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:  # deleted meanwhile, or no permission
                continue
            names = {entry.name for entry in entries}
            if any(entry.is_symlink() for entry in entries if entry.name in WATCHED_FILES):
                continue
            if RUN_MARKER in names:
                yield folder, RUN_MARKER
                continue
            if TOURNAMENT_MARKER in names:
                yield folder, TOURNAMENT_MARKER
            if depth < MAX_FOLDER_DEPTH:
                subfolders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
                stack += [(Path(entry.path), depth + 1) for entry in reversed(subfolders)]

    def _name(self, path: Path) -> str:
        """Name of a folder: its path relative to the root."""
        return str(path.relative_to(self.root)) if path != self.root else "."


def link_in(path: Path) -> Path | None:
    """The first symbolic link in a folder or its subfolders of tables; None if there is none."""
    subfolders = [path / name for name in TABLE_FOLDERS]
    for folder in (path, *(subfolder for subfolder in subfolders if subfolder.is_dir())):
        link = find_symbolic_link(folder)
        if link is not None:
            return link
    return None


def full_signature_of(path: Path) -> Signature:
    """Signature of a folder and its subfolders of tables: changes when any file changes."""
    found = [signature_of(path)]
    for name in TABLE_FOLDERS:
        try:
            with os.scandir(path / name) as entries:
                files = sorted((entry.name, entry.stat()) for entry in entries)
        except OSError:
            continue
        found.append(tuple((stat.st_mtime_ns, stat.st_size) for _, stat in files))
    return tuple(pair for part in found for pair in part)


def signature_of(path: Path) -> Signature:
    """Signature of a folder: modification times and sizes of its watched files."""
    found = []
    for name in WATCHED_FILES:
        try:
            stat = os.stat(path / name)  # noqa: PTH116 - fast for a thousand folders
            found.append((stat.st_mtime_ns, stat.st_size))
        except OSError:
            found.append((0, -1))
    return tuple(found)


MIN_REREAD_SECONDS = 1.0
"""Seconds for which a growing content is not read again; many clients may ask at a time."""

Content = TypeVar("Content")


class FolderCache(Generic[Content]):
    """LRU cache of folder contents, invalidated when the folder's files change.

    Args:
        read: reads a folder.
        most: most contents in the cache; the least recently used are dropped.
        grows: whether a content may change without a change of watched files.
    """

    def __init__(
        self, read: Callable[[Path], Content], most: int, grows: Callable[[Content], bool] = lambda _: False
    ) -> None:
        self._read, self._most, self._grows = read, most, grows
        self._cache: OrderedDict[Path, tuple[Signature, float, Content]] = OrderedDict()
        self._reading: dict[Path, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, path: Path) -> Content:
        """A folder's content from the cache, or read; concurrent requests wait for a single read."""
        signature = full_signature_of(path)
        with self._lock:
            reading = self._reading.setdefault(path, threading.Lock())
        with reading:
            cached = self._cache.get(path)
            if cached is not None and cached[0] == signature:
                _, read, content = cached
                if time.monotonic() - read < MIN_REREAD_SECONDS or not self._grows(content):
                    return content
            content = self._read(path)
            with self._lock:
                self._cache[path] = signature, time.monotonic(), content
                self._cache.move_to_end(path)
                while len(self._cache) > self._most:
                    old, _ = self._cache.popitem(last=False)
                    self._reading.pop(old, None)
        return content
