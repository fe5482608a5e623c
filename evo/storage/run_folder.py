"""The run folder: create, open, commit generations; a crash-safe history that serves as the checkpoint.

A generation is two Parquet files and a line in `checksums.txt`. `pairings/NNNN` is renamed into place first,
then `generations/NNNN`; the line, flushed to disk, commits the generation. Files that do not match their
checksums are reported, set aside and played again. `runs/README.md` documents every file.
"""

import contextlib
import errno
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

import pandas as pd

from engine import Deck, ManaforgeError, find_deck
from engine.decks import earlier_version_text
from engine.errors import WrongValueError
from engine.safe_files import read_bytes, read_json
from evo.config.files import read_config, read_toml, resolve_deck_path
from evo.config.messages import counted
from evo.config.run_config import ConfigError, RunConfig, removed_key_message
from evo.storage.files import (
    OPPONENTS,
    RUNS,
    append_event,
    find_blocking_file,
    folder_error_text,
    json_bytes,
    not_a_run_text,
    parquet_bytes,
    sync_folder,
    write_atomically,
)
from evo.storage.history import (
    TABLE_FOLDERS,
    CheckedFolder,
    HistoryError,
    read_committed,
    read_history,
    table_path,
)
from evo.storage.schema import RUN_SCHEMA, SchemaError, check_versions, read_table

DECKS = "decks"
"""Subfolder of a run or tournament with its deck files."""

MAX_NAME_LENGTH = 60
"""Maximum length of a deck file's name, in characters."""


def keep_decks(folder: Path, decks: Iterable[Deck]) -> list[Path | None]:
    """Copy deck files into a folder's subfolder `decks`; returns the copy's path for each deck, or None.

    Args:
        folder: existing folder of a run or tournament.
        decks: the decks; shipped decks and deck codes have no file and are skipped.

    Returns:
        The copied file of each deck; None for a skipped one.

    Raises:
        OSError: a file cannot be written.
    """
    kept: list[Path | None] = []
    taken = {"config"}  # config.toml marks a run folder
    for deck in decks:
        file = None
        if deck.text:
            stem = re.sub(r"[^A-Za-z0-9_-]+", "-", deck.name).strip("-")[:MAX_NAME_LENGTH] or "deck"
            numbered = (f"{stem}-{number}" for number in count(2))
            stem = next(name for name in chain([stem], numbered) if name.casefold() not in taken)
            file = folder / DECKS / f"{stem}.toml"
            taken.add(stem.casefold())
            file.parent.mkdir(exist_ok=True)
            write_atomically(file, deck.text.encode(), folder / f"{file.name}.tmp")
        kept.append(file)
    return kept


def missing_decks(folder: Path, decks: Iterable[object]) -> list[str]:
    """Decks of a configuration that cannot be found, relative to the run folder or the current folder."""
    missing = []
    for deck in decks:
        try:
            find_deck(resolve_deck_path(str(deck), folder))
        except ManaforgeError:
            missing.append(str(deck))
    return missing


ACCESS_ERRORS = (errno.EACCES, errno.EPERM, errno.EIO)
"""Operating system errors that do not mean damage: permissions, or a transient I/O error."""


PAIR_DIGITS = frozenset("01234")
"""Half points of a deal's two games, as digits."""

_VALIDATED = {"who": "best", "pairs": ""}
"""Default values of columns that older versions did not write in `validation/`."""


class RunError(ManaforgeError, RuntimeError):
    """Run folder that cannot be used; the message names the folder and says what to do."""


class RunNameError(RunError, WrongValueError):
    """Path given for a run that is not a run folder, or was given before."""


class RunFolder(CheckedFolder):
    """A run's folder, open: configuration, history and tables; from `create_run` or `open_run`.

    Attributes:
        path: the folder.
        config: of the run.
        committed: number of committed generations: 0 to committed - 1.
        problems: damage found on opening, one message each.
    """

    WHAT = "run folder "
    ERROR = RunError

    def __init__(self, path: Path, config: RunConfig) -> None:
        super().__init__(path)
        self.config = config
        self.committed = 0

    def tables(self, kind: str) -> Iterator[pd.DataFrame]:
        """Iterate over the tables of all committed generations; `kind` is "generations" or "pairings".

        Raises:
            RunError: a table is missing, damaged or unreadable.
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
                file = table_path(self.path, kind, generation)
                raise RunError(f"{file} cannot be read: {error}") from None

    def commit(self, generation: int, individuals: pd.DataFrame, pairings: pd.DataFrame) -> None:
        """Commit a generation's tables atomically.

        Raises:
            RunError: the disk is full or fails; earlier generations are intact.
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
        """Read the table of a generation's validation; None if the table is missing or damaged.

        Raises:
            RunError: the operating system denies reading it; it is not played again in this case.
        """
        file = table_path(self.path, "validation", generation)
        try:
            table = read_table(read_bytes(file), "validation", self.config).to_pandas()
        except SchemaError:
            return None
        except OSError as error:
            if error.errno in ACCESS_ERRORS:
                raise RunError(f"{file} cannot be read: {error.strerror}") from None
            return None
        table = table.assign(**{name: table.get(name, default) for name, default in _VALIDATED.items()})
        blocks = [list(own["opponent"].isna()) for _, own in table.groupby("who", sort=False)]
        whole = [len(block) > 1 and block == [True, *[False] * (len(block) - 1)] for block in blocks]
        known = bool(whole) and all(whole) and table["who"].iloc[0] == _VALIDATED["who"]
        known &= all(set(text) <= PAIR_DIGITS for text in table["pairs"])
        return table if known and (table["generation"] == generation).all() else None

    def write_validation(self, generation: int, content: bytes) -> None:
        """Write the table of a generation's validation.

        Raises:
            RunError: the disk is full or fails.
        """
        file = table_path(self.path, "validation", generation)
        with self._writing(f"the validation of generation {generation}"):
            file.parent.mkdir(exist_ok=True)
            self.replace(f"validation/{file.name}", content)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the run folder atomically.

        Raises:
            RunError: the disk is full or fails.
        """
        with self._writing(name):
            self.replace(name, content)

    def write_config(self) -> None:
        """Write `config.toml`; deck files in this folder are written as relative paths.

        Raises:
            RunError: the disk is full or fails.
        """
        self.write("config.toml", self.config.to_toml(self.path).encode())

    def copy_decks(self) -> None:
        """Copy the deck files into the folder, and refer to the copies in the configuration.

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
        """Append an event with a time stamp to `log.jsonl`; write errors are ignored."""
        append_event(self.path / "log.jsonl", **event)

    def manifest(self) -> dict[str, Any]:
        """Read `manifest.json`; {} if the file is missing or damaged, since no result depends on it.

        Raises:
            RunError: the operating system denies reading it; it is not rewritten in this case.
        """
        file = self.path / "manifest.json"
        try:
            content = read_json(file)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in ACCESS_ERRORS:
                raise RunError(f"{file} cannot be read: {error.strerror}") from None
            return {}
        return content if isinstance(content.get("sessions"), list) else {}

    @contextlib.contextmanager
    def _writing(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            with contextlib.suppress(OSError):
                self.delete_temporary_files()
            kept = f"generations 0 to {self.committed - 1} are safe" if self.committed else "nothing is lost"
            created = (self.path / "config.toml").exists()
            command = f"manaforge resume {self.path}" if created else "the command again"
            raise RunError(
                f"cannot write {what} to {self.path}: {error.strerror or error}; {kept}. "
                f"When there is space, run {command}"
            ) from None

    def check_history(self) -> None:
        """Verify committed generations; set aside the first damaged one and all later ones."""
        is_damaged = self.check_records("pairings", "generations")
        self.committed = len(self.entries)
        for name in ("champion.toml", "final.parquet"):
            if is_damaged and (self.path / name).exists():
                self.set_aside(name)

    def damage_of(self, name: str) -> str:
        """Describe a generation's damage, "" if intact; raise if the tables have other rules or schema."""
        try:
            contents = self.read_record(name)
        except HistoryError as error:
            return str(error)
        for kind, content in zip(TABLE_FOLDERS, contents, strict=True):
            try:
                check_versions(content)
            except SchemaError as error:
                raise RunError(f"run folder {self.path}: {kind}/{name}.parquet: {error}") from None
        return ""


def create_run(path: Path, config: RunConfig, manifest: dict[str, Any], opponents: bytes = b"") -> RunFolder:
    """Create and lock a run folder; `opponents` is the content of the file of fixed opponents.

    Raises:
        RunError: it cannot be created, is not empty, or is in use.
    """
    with contextlib.ExitStack() as on_error:
        folder = RunFolder(path, config)
        on_error.callback(folder.close)
        try:
            path.mkdir(parents=True, exist_ok=True)
            check_empty(path)
            folder.acquire()
            for kind in TABLE_FOLDERS:
                (path / kind).mkdir(exist_ok=True)
            sync_folder(path)
        except OSError as error:
            raise RunError(
                f"{folder_error_text(error, path, 'create run folder')}; choose another --out"
            ) from None
        folder.write("manifest.json", json_bytes({"schema": RUN_SCHEMA, **manifest}))
        if opponents:
            folder.write(OPPONENTS, opponents)
        folder.copy_decks()
        folder.write_config()  # last, since config.toml marks a complete run folder
        on_error.pop_all()
    return folder


def check_empty(path: Path) -> None:
    """Refuse a folder that is not empty, except for leftovers of an interrupted `create_run`.

    Raises:
        RunError: the folder is not empty, or is a file.
    """
    file = find_blocking_file(path)
    if file is not None:
        raise RunError(f"{file} is a file; choose another --out")
    if (path / "config.toml").exists():
        raise RunError(f"run folder {path} is not empty; to continue it: manaforge resume {path}")
    for entry in path.iterdir() if path.exists() else ():
        leftover = entry.name in ("lock", "manifest.json", OPPONENTS) or entry.suffix == ".tmp"
        empty = entry.name in ("generations", "pairings") and entry.is_dir() and not any(entry.iterdir())
        copies = entry.name == DECKS and (path / "manifest.json").exists()
        if not (leftover or empty or copies):
            raise RunError(f"run folder {path} is not empty; choose another --out")


def open_run(path: Path) -> RunFolder:
    """Open and lock a run folder to continue the run; set damaged files aside and list them in `problems`.

    Raises:
        RunError: it is not a run folder, is in use, has an unknown schema, or uses a removed key.
        ConfigError: its configuration is invalid.
    """
    folder = RunFolder(path, open_run_read_only(path).config)
    for key, value in folder.config.removed.items():
        raise RunError(f"run folder {path}: {removed_key_message(key, value)}")
    with contextlib.ExitStack() as on_error:
        on_error.callback(folder.close)
        try:
            folder.acquire()
            for kind in TABLE_FOLDERS:
                (path / kind).mkdir(exist_ok=True)
            folder.check_history()
        except OSError as error:
            raise RunError(folder_error_text(error, path, "use run folder")) from None
        on_error.pop_all()
    return folder


def resolve_run_path(path: Path) -> Path:
    """Resolve the path of a run: the path itself if it exists, else the folder of this name in `runs/`."""
    return RUNS / path if not path.exists() and (RUNS / path).is_dir() else path


def read_run_config(path: Path) -> RunConfig:
    """Read the configuration of a run folder.

    Raises:
        ConfigError: it is invalid; for a missing deck file the message says how to supply it.
    """
    file = path / "config.toml"
    try:
        return read_config(file, stored=True)
    except ConfigError as error:
        if missing_decks(path, [deck for named in _decks_named(path).values() for deck in named]):
            raise ConfigError(
                f"{error}; to supply the deck file: manaforge resume {path} --decks FILE"
            ) from None
        raise ConfigError(str(error)) from None  # an error of the run's own file, not of the command line


def replace_missing_decks(path: Path, decks: Sequence[str]) -> None:
    """Replace missing deck files of a run folder, and refer to the new files in the run's `config.toml`.

    Args:
        path: the run folder.
        decks: replacements of the missing decks, or of all decks of the run and its library, in order.

    Raises:
        RunError: no deck is missing, their number differs, or the run was started with other cards.
        ConfigError, DeckError: a deck cannot be read.
    """
    named = {
        key: [resolve_deck_path(deck, path) for deck in decks] for key, decks in _decks_named(path).items()
    }
    own = [deck for decks in named.values() for deck in decks]
    missing = missing_decks(path, own)
    if not missing:
        raise RunError(
            f"run folder {path} has all its decks; leave out --decks, which replaces missing files"
        )
    given = list(decks)
    for deck in given:
        find_deck(deck)
    if len(given) == len(missing):
        given = [given.pop(0) if deck in missing else deck for deck in own]
    if len(given) != len(own):
        raise RunError(
            f"run folder {path} lacks the decks {', '.join(missing)}; "
            f"give {counted(len(missing), 'file')} with --decks"
        )
    whole = iter(given)
    sets = [
        f"{key}={json.dumps([next(whole) for _ in decks], ensure_ascii=False)}"
        for key, decks in named.items()
    ]
    folder = RunFolder(path, read_config(path / "config.toml", sets, stored=True))
    known = folder.manifest().get("config_hash")
    if known is None:
        raise RunError(
            f"run folder {path} has no readable manifest.json, so nothing tells whether it was started with "
            "these decks; start a new run"
        )
    if known != folder.config.digest:
        check_effects_version(folder, known)
        names = ", ".join(folder.config.deck_names)
        raise RunError(
            f"run folder {path} was started with other decks or cards than these ({names}); give "
            "--decks the deck files of its start"
        )
    with folder:
        folder.acquire()
        folder.copy_decks()
        folder.write_config()


def check_effects_version(folder: RunFolder, known: str) -> None:
    """Refuse a run whose configuration hash `known` is of an earlier version of the card effects.

    Raises:
        RunError: it does.
    """
    earlier = earlier_version_text(lambda version: folder.config.digest_for_effects(version) == known)
    if earlier:
        raise RunError(f"run folder {folder.path} was started under {earlier}; start a new run")


def _decks_named(path: Path) -> dict[str, list[Any]]:
    """Deck names in a run's configuration, by key: `decks` and `library`, if not empty."""
    content = read_toml(path / "config.toml", "configuration")
    found = {key: content.get(key) for key in ("decks", "library")}
    return {key: decks for key, decks in found.items() if isinstance(decks, list) and decks}


def open_run_read_only(path: Path) -> RunFolder:
    """Open a run folder read-only, without lock, even during a run; checksums are not verified.

    Raises:
        RunError: it is not a run folder, or has an unknown schema.
        ConfigError: its configuration is invalid.
    """
    if not (path / "config.toml").is_file():
        raise RunNameError(not_a_run_text(path))
    folder = RunFolder(path, read_run_config(path))
    schema = folder.manifest().get("schema", RUN_SCHEMA)
    if schema != RUN_SCHEMA:
        raise RunError(f"run folder {path} has schema {schema!r}; this version reads schema {RUN_SCHEMA}")
    with contextlib.suppress(OSError):
        folder.committed = len(read_history(path).entries)
    return folder
