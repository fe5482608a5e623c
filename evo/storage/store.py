"""The run folder: a history that is its own checkpoint, written so that no crash can corrupt it.

A generation is two parquet files and a line in `checksums.txt`. `pairings/NNNN` is renamed into place first;
renaming `generations/NNNN` and then its line, each flushed to the disk, commit the generation. Files that do
not agree with the checksums are reported, set aside and played again. `runs/README.md` documents every file.
"""

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from engine import ManaforgeError
from engine.errors import WrongValueError
from engine.received import read_bytes, read_json
from evo.config import RunConfig
from evo.storage.decks import keep_decks
from evo.storage.files import append_event, parquet_bytes
from evo.storage.history import (
    KINDS,
    CheckedFolder,
    HistoryError,
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


class RunFolder(CheckedFolder):
    """One run on disk, from `create_run` or `open_run`.

    Attributes:
        path: the folder.
        config: of the run.
        committed: number of generations safely on disk: 0 to committed - 1.
        problems: damage found on opening, one sentence each.
    """

    WHAT = "run folder "
    ERROR = RunError

    def __init__(self, path: Path, config: RunConfig) -> None:
        super().__init__(path)
        self.config = config
        self.committed = 0

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
            tables = {"pairings": pairings, "generations": individuals}
            name = f"{generation:04d}"
            self.commit_record(
                name,
                {f"{kind}/{name}.parquet": parquet_bytes(tables[kind], RUN_SCHEMA) for kind in tables},
            )
        self.committed += 1

    def validation(self, generation: int) -> pd.DataFrame | None:
        """The table of a generation's validation; None if there is none, or it is damaged.

        Raises:
            RunError: the system does not let it be read; it is not played again for that.
        """
        file = table_file(self.path, "validation", generation)
        try:
            table = read_table(read_bytes(file), "validation", self.config).to_pandas()
        except SchemaError:
            return None
        except OSError as error:
            if error.errno in UNREADABLE:
                raise RunError(f"{file} cannot be read: {error.strerror}") from None
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
            self.replace(f"validation/{file.name}", content)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the run's own folder, all or nothing.

        Raises:
            RunError: the disk is full or fails.
        """
        with self._writing(name):
            self.replace(name, content)

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

    @contextlib.contextmanager
    def _writing(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            with contextlib.suppress(OSError):
                self.clear_leftovers()
            kept = f"generations 0 to {self.committed - 1} are safe" if self.committed else "nothing is lost"
            created = (self.path / "config.toml").exists()
            command = f"manaforge resume {self.path}" if created else "the same command again"
            raise RunError(
                f"cannot write {what} to {self.path}: {error.strerror or error}; {kept}. "
                f"When there is space: {command}"
            ) from None

    def check_history(self) -> None:
        """Count committed generations; report and set aside the first damaged one and all after it."""
        is_damaged = self.check_records("pairings", "generations")
        self.committed = len(self.entries)
        for name in ("champion.toml", "final.parquet"):
            if is_damaged and (self.path / name).exists():
                self.set_aside(name)

    def damage_of(self, name: str) -> str:
        """See `CheckedFolder`; tables of other rules or another schema are refused."""
        try:
            contents = self.read_record(name)
        except HistoryError as error:
            return str(error)
        for kind, content in zip(KINDS, contents, strict=True):
            try:
                check_origin(content)
            except SchemaError as error:
                raise RunError(f"run folder {self.path}: {kind}/{name}.parquet: {error}") from None
        return ""
