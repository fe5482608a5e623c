"""Folders shown by the server, found below one folder, with a cache of what was read."""

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Generic, TypeVar

from evo.analysis.listing import run_row, tournament_row
from evo.storage.files import first_link

RUN, TOURNAMENT = "config.toml", "tournament.json"
"""Files by which runs and tournaments are known."""

WATCHED = (
    *(RUN, "champion.toml", "checksums.txt", "log.jsonl", "manifest.json"),
    *(TOURNAMENT, "summary.json", "games.parquet", "batches", "lock"),
)
"""Files of a folder that say whether anything changed."""

TABLES = ("generations", "pairings", "validation", "batches", "decks", "library")
"""Folders below that hold a folder's tables and decks."""

DEEPEST = 8
"""Folders below one another that are looked into."""

SECONDS_TO_READ = 0.2
"""Folders are read for so long, and one that is not known yet in any case; the others are read next time."""

SHARED_FOR = 10
"""A look at all folders is shown to whoever asks, until this many times as long as it took have gone by."""


@dataclass(frozen=True)
class Listed:
    """What a list shows.

    Attributes:
        runs: rows of `evo.analysis.listing.run_row`, by name.
        tournaments: rows of `evo.analysis.listing.tournament_row`, by name.
        waiting: how many folders were not read yet; they have a row with the state "...".
    """

    runs: list[dict[str, Any]]
    tournaments: list[dict[str, Any]]
    waiting: int

    @cached_property
    def seen(self) -> str:
        """A hash of all of it."""
        content = repr((self.runs, self.tournaments, self.waiting))
        return hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()[:16]


Signature = tuple[tuple[int, int], ...]
"""When the watched files were written, and their sizes."""


@dataclass
class Catalogue:
    """All runs and tournaments below a folder.

    Attributes:
        root: the folder, without symbolic links.
    """

    root: Path
    _known: dict[tuple[str, str], tuple[Signature, dict[str, Any]]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _last: Listed | None = field(default=None, repr=False)
    _fresh_until: float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        self.root = self.root.resolve()

    def listed(self) -> Listed:
        """The rows of all folders, as the last look found them, which serves all who ask (`SHARED_FOR`)."""
        with self._lock:
            if self._last is None or time.monotonic() >= self._fresh_until:
                return self._look()
            return self._last

    def look(self) -> Listed:
        """The rows of all folders there are now."""
        with self._lock:
            return self._look()

    def _look(self) -> Listed:
        began = time.monotonic()
        self._last = self._listed()
        self._fresh_until = time.monotonic() + SHARED_FOR * (time.monotonic() - began)
        return self._last

    def _listed(self) -> Listed:
        spent, waiting, read_new = 0.0, 0, False
        rows: dict[str, list[dict[str, Any]]] = {RUN: [], TOURNAMENT: []}
        there = set()
        for path, mark in self._walk():
            name = self._name(path)
            there.add((mark, name))
            is_new = (mark, name) not in self._known
            began = time.monotonic()
            row = self._row(path, mark, name, spent < SECONDS_TO_READ or (is_new and not read_new))
            spent += time.monotonic() - began
            read_new |= is_new and row is not None
            if row is None:
                waiting += 1
                row = {"run" if mark == RUN else "tournament": name, "state": "..."}
            rows[mark].append(row)
        for gone in set(self._known) - there:
            del self._known[gone]
        return Listed(rows[RUN], rows[TOURNAMENT], waiting)

    def find(self, name: str, mark: str) -> Path | None:
        """The folder of this name, if it is one with a mark below the root; None for any other text.

        A folder has one name: no other spelling of it, such as one through a link, is looked up.
        """
        if str(PurePosixPath(name)) != name or name.startswith("/"):
            return None
        path = self.root / name
        try:
            inside = path.resolve() == path and (path / mark).is_file() and link_in(path) is None
        except (OSError, ValueError):  # a name that no file can have
            return None
        return path if inside else None

    def relative(self, text: object) -> str:
        """A text that names files of the root by their place below it."""
        return str(text).replace(f"{self.root}/", "")

    def _row(self, path: Path, mark: str, name: str, may_read: bool) -> dict[str, Any] | None:
        """A folder's row; None where it would have to be read and may not be."""
        signature = signature_of(path)
        known = self._known.get((mark, name))
        if known is not None and known[0] == signature and known[1]["state"] != "running":
            return known[1]
        if not may_read:
            return known[1] if known is not None else None
        read: Callable[[Path, str], dict[str, Any]] = run_row if mark == RUN else tournament_row
        row = read(path, name)
        self._known[mark, name] = signature, row
        return row

    def _walk(self) -> Iterator[tuple[Path, str]]:
        """Folders with their marks, by name; runs are not looked into."""
        waiting = [(self.root, 0)]
        while waiting:
            folder, depth = waiting.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:  # deleted meanwhile, or not ours to read
                continue
            names = {entry.name for entry in entries}
            if any(entry.is_symlink() for entry in entries if entry.name in WATCHED):
                continue
            if RUN in names:
                yield folder, RUN
                continue
            if TOURNAMENT in names:
                yield folder, TOURNAMENT
            if depth < DEEPEST:
                below = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
                waiting += [(Path(entry.path), depth + 1) for entry in reversed(below)]

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self.root)) if path != self.root else "."


def link_in(path: Path) -> Path | None:
    """The first symbolic link in a folder or in one below it that holds its tables; None without one."""
    below = [path / name for name in TABLES]
    for folder in (path, *(one for one in below if one.is_dir())):
        link = first_link(folder)
        if link is not None:
            return link
    return None


def whole_signature_of(path: Path) -> Signature:
    """What changes when anything in a folder does, its tables too."""
    found = [signature_of(path)]
    for name in TABLES:
        try:
            with os.scandir(path / name) as entries:
                seen = sorted((entry.name, entry.stat()) for entry in entries)
        except OSError:
            continue
        found.append(tuple((stat.st_mtime_ns, stat.st_size) for _, stat in seen))
    return tuple(pair for part in found for pair in part)


def signature_of(path: Path) -> Signature:
    """What changes when a folder's content does."""
    found = []
    for name in WATCHED:
        try:
            seen = os.stat(path / name)  # noqa: PTH116 - a thousand folders are looked at
            found.append((seen.st_mtime_ns, seen.st_size))
        except OSError:
            found.append((0, -1))
    return tuple(found)


FRESH = 1.0
"""Seconds in which nobody reads again what grows: many may look at it at a time."""

Content = TypeVar("Content")


class Kept(Generic[Content]):
    """Contents of folders, read again only when their files change.

    Args:
        read: reads a folder.
        most: contents that are kept; those not asked for the longest go first.
        grows: whether a content is read again although no watched file changed.
    """

    def __init__(
        self, read: Callable[[Path], Content], most: int, grows: Callable[[Content], bool] = lambda _: False
    ) -> None:
        self._read, self._most, self._grows = read, most, grows
        self._known: OrderedDict[Path, tuple[Signature, float, Content]] = OrderedDict()
        self._reading: dict[Path, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, path: Path) -> Content:
        """A folder's content; who asks while it is read waits for it."""
        signature = whole_signature_of(path)
        with self._lock:
            own = self._reading.setdefault(path, threading.Lock())
        with own:
            known = self._known.get(path)
            if known is not None and known[0] == signature:
                _, read, content = known
                if time.monotonic() - read < FRESH or not self._grows(content):
                    return content
            content = self._read(path)
            with self._lock:
                self._known[path] = signature, time.monotonic(), content
                self._known.move_to_end(path)
                while len(self._known) > self._most:
                    old, _ = self._known.popitem(last=False)
                    self._reading.pop(old, None)
        return content
