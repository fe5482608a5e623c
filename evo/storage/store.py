"""The run folder: a history that is its own checkpoint, written so that no crash can corrupt it.

A generation is two parquet files and a line in `checksums.txt`. `pairings/NNNN` is renamed into place first;
renaming `generations/NNNN` and then its line, each flushed to the disk, commit the generation. Files that do
not agree with the checksums are reported, set aside and played again. `runs/README.md` documents every file.
"""

import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pandas as pd

from engine import ManaforgeError
from engine.errors import WrongValueError
from engine.received import read_bytes, read_json
from evo.config import RunConfig
from evo.storage.decks import keep_decks
from evo.storage.files import (
    append_event,
    first_link,
    parquet_bytes,
    replace_file,
    sync_folder,
    take_lock,
)
from evo.storage.history import (
    KINDS,
    Entry,
    HistoryError,
    checksum,
    history_line,
    read_committed,
    read_history,
    table_file,
)
from evo.storage.schema import RUN_SCHEMA, SchemaError, check_origin, read_table

UNREADABLE = (errno.EACCES, errno.EPERM, errno.EIO)
"""Errors of the system about a file that may be whole: another user or another time may read it."""


HALF_POINTS = frozenset("01234")
"""What a deal's two games may give, as digits."""

_VALIDATED = {"who": "best", "pairs": ""}
"""What the tables of `validation/` that older versions wrote do not say."""


class RunError(ManaforgeError, RuntimeError):
    """A run folder that cannot be used; the message names it and the way out."""


class RunNameError(RunError, WrongValueError):
    """A path for a run that is none, or named twice; the message says what it is, and the way out."""


@dataclass
class RunFolder:
    """One run on disk, from `create_run` or `open_run`.

    Attributes:
        path: the folder.
        config: of the run.
        committed: number of generations safely on disk: 0 to committed - 1.
        problems: damage found on opening, one sentence each.
    """

    path: Path
    config: RunConfig
    committed: int = 0
    problems: list[str] = field(default_factory=list)
    _lock: IO[bytes] | None = None

    def tables(self, kind: str) -> Iterator[pd.DataFrame]:
        """The tables of all committed generations in their order; `kind` is "generations" or "pairings".

        Raises:
            RunError: one differs from what was committed.
        """
        try:
            entries = read_history(self.path).entries[: self.committed]
        except OSError as error:
            raise RunError(f"{self.path / 'checksums.txt'} cannot be read: {error.strerror}") from None
        for generation, entry in enumerate(entries):
            try:
                content = read_committed(self.path, kind, generation, entry)
                yield read_table(content, kind, self.config).to_pandas()
            except (HistoryError, SchemaError, OSError) as error:
                file = table_file(self.path, kind, generation)
                raise RunError(f"{file} cannot be read: {error}") from None

    def commit(self, generation: int, individuals: pd.DataFrame, pairings: pd.DataFrame) -> None:
        """Write a generation, all or nothing.

        Raises:
            RunError: the disk is full or fails; what was committed before is intact.
        """
        assert generation == self.committed, "generations are committed in order"
        with self._writing(f"generation {generation}"):
            sums = {}
            for kind, table in (("pairings", pairings), ("generations", individuals)):
                content = parquet_bytes(table, RUN_SCHEMA)
                self._replace(table_file(self.path, kind, generation), content)
                sums[kind] = checksum(content)
            with (self.path / "checksums.txt").open("a", encoding="ascii") as file:
                file.write(history_line(generation, Entry(**sums)))
                file.flush()
                os.fsync(file.fileno())
        self.committed += 1

    def validation(self, generation: int) -> pd.DataFrame | None:
        """The table of a generation's validation; None if there is none that can be read."""
        try:
            content = read_bytes(table_file(self.path, "validation", generation))
            table = read_table(content, "validation", self.config).to_pandas()
        except (OSError, SchemaError):
            return None
        table = table.assign(**{name: table.get(name, default) for name, default in _VALIDATED.items()})
        blocks = [list(own["opponent"].isna()) for _, own in table.groupby("who", sort=False)]
        whole = [len(block) > 1 and block == [True, *[False] * (len(block) - 1)] for block in blocks]
        known = bool(whole) and all(whole) and table["who"].iloc[0] == _VALIDATED["who"]
        known &= all(set(text) <= HALF_POINTS for text in table["pairs"])
        return table if known and (table["generation"] == generation).all() else None

    def write_validation(self, generation: int, content: bytes) -> None:
        """Write the table of a generation's validation.

        Raises:
            RunError: the disk is full or fails.
        """
        file = table_file(self.path, "validation", generation)
        with self._writing(f"the validation of generation {generation}"):
            file.parent.mkdir(exist_ok=True)
            self._replace(file, content)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the run's own folder, all or nothing.

        Raises:
            RunError: the disk is full or fails.
        """
        with self._writing(name):
            self._replace(self.path / name, content)

    def write_config(self) -> None:
        """Write `config.toml`, with the deck files of this folder named relative to it.

        Raises:
            RunError: the disk is full or fails.
        """
        self.write("config.toml", self.config.to_toml(self.path).encode())

    def keep_decks(self) -> None:
        """Copy the files of the decks into the folder; the configuration then names the copies.

        Raises:
            RunError: the disk is full or fails.
        """
        with self._writing("the decks"):
            kept = keep_decks(self.path, (*self.config.found_decks, *self.config.found_library))
        if any(kept):
            texts = (*self.config.decks, *self.config.library)
            named = [str(file or text) for file, text in zip(kept, texts, strict=True)]
            n = len(self.config.decks)
            more = {"library": named[n:]} if self.config.library else {}
            self.config = self.config.changed(decks=named[:n], **more)

    def note(self, **event: Any) -> None:
        """Append an event with its time to `log.jsonl`; a failure to write is ignored."""
        append_event(self.path / "log.jsonl", **event)

    def manifest(self) -> dict[str, Any]:
        """`manifest.json`, or {} if it is missing or damaged: no result depends on it.

        Raises:
            RunError: the system does not let it be read; it is not written anew for that.
        """
        file = self.path / "manifest.json"
        try:
            content = read_json(file)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in UNREADABLE:
                raise RunError(f"{file} cannot be read: {error.strerror}") from None
            return {}
        return content if isinstance(content.get("sessions"), list) else {}

    def close(self) -> None:
        """Release the folder, so that another process may continue the run."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _replace(self, target: Path, content: bytes) -> None:
        """Write a file; the temporary one stays outside the history."""
        replace_file(target, content, self.path / f"{target.parent.name}-{target.name}.tmp")

    @contextlib.contextmanager
    def _writing(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            with contextlib.suppress(OSError):
                self._clear_leftovers()
            kept = f"generations 0 to {self.committed - 1} are safe" if self.committed else "nothing is lost"
            created = (self.path / "config.toml").exists()
            command = f"manaforge resume {self.path}" if created else "the same command again"
            raise RunError(
                f"cannot write {what} to {self.path}: {error.strerror or error}; {kept}. "
                f"When there is space: {command}"
            ) from None

    def acquire(self) -> None:
        """Take the operating system's lock, which ends with the process.

        Raises:
            RunError: another process holds it, or the folder has a link that leads out of it.
        """
        link = first_link(self.path)
        if link is not None:
            raise RunError(f"{link} is a symbolic link; a run folder holds its own files")
        lock = take_lock(self.path)
        if lock is None:
            raise RunError(f"run folder {self.path} is in use by another process")
        self._lock = lock

    def check_history(self) -> None:
        """Count committed generations; report and set aside the first damaged one and all after it."""
        history = read_history(self.path)
        problem = history.problem
        for generation, entry in enumerate(history.entries):
            damage = self._damage(generation, entry)
            if damage:
                history, problem = history._replace(entries=history.entries[:generation]), damage
                break
        if problem:
            self.problems.append(problem)
        self.committed = len(history.entries)
        later = [file for file in (self.path / "generations").iterdir() if file.name != "0000.parquet"]
        if not history.text and later:  # only the first may exist before its line does
            self.problems.append("checksums.txt is missing or empty")
        broken = bool(self.problems)
        if history.text != history.good:
            self._replace(self.path / "checksums.txt", history.good.encode())
        for kind in ("pairings", "generations"):
            committed = {table_file(self.path, kind, number) for number in range(self.committed)}
            for file in sorted((self.path / kind).iterdir()):
                if file not in committed:
                    self._set_aside(file)
        for name in ("champion.toml", "final.parquet"):
            if broken and (self.path / name).exists():
                self._set_aside(self.path / name)
        self._clear_leftovers()

    def _clear_leftovers(self) -> None:
        """Delete temporary files."""
        for file in self.path.glob("*.tmp"):
            file.unlink()

    def _damage(self, generation: int, entry: Entry) -> str:
        """What is wrong with a generation's files, or "".

        Raises:
            RunError: they were written under other rules or another schema.
        """
        for kind in KINDS:
            try:
                check_origin(read_committed(self.path, kind, generation, entry))
            except HistoryError as error:
                return str(error)
            except SchemaError as error:
                raise RunError(f"run folder {self.path}: {kind}/{generation:04d}.parquet: {error}") from None
        return ""

    def _set_aside(self, file: Path) -> None:
        aside = self.path / "aside"
        aside.mkdir(exist_ok=True)
        name = f"{file.parent.name}-{file.name}" if file.parent != self.path else file.name
        count = sum(1 for _ in aside.iterdir())
        file.replace(aside / f"{count:03d}-{name}")
        sync_folder(aside)
        self.problems.append(f"{file.relative_to(self.path)} was set aside as aside/{count:03d}-{name}")
