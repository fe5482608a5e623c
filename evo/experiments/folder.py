"""The folder of an experiment: definition, cached game results, checksums; interrupted experiments resume.

    experiment.json     definition: everything that determines the results
    games/0000.parquet  results of the first schedule, and so on (`ExperimentFolder.caching_play`)
    parts/              results of the schedule in progress, for a command that is stopped and repeated
    points/             runs of `bench-optimisers`
    checksums.txt       a line for each of these files, which commits it (`evo.storage.history`)

Tables, figures and a page are written at the end.
"""

import contextlib
import re
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from engine import RULES_VERSION, ManaforgeError
from engine.errors import WrongValueError
from engine.safe_files import parse_json, read_bytes
from evo.play.games import PlayFunction, Roster, Schedule
from evo.play.pool import WorkerPool
from evo.play.results import faults_of_our_agents
from evo.storage.files import EXPERIMENT, folder_error_text, json_bytes, parquet_bytes
from evo.storage.history import (
    CHECKSUMS,
    CheckedFolder,
    Entry,
    HistoryError,
    RecordLayout,
    checksum,
    read_history,
)
from evo.tournament.folder import (
    BATCH_COLUMNS,
    TOURNAMENT_SCHEMA,
    clear_unstored_fields,
    read_games,
)

SCHEMA = 2
"""Schema version of `experiment.json`."""

RESULT_FOLDERS = ("points", "games")
"""Subfolders of results."""

PARTS = "parts"
"""Subfolder of the parts of the schedule in progress, which is empty once the schedule is committed."""

PART_SECONDS = 20.0
"""Seconds of games that a stop loses, approximately."""

FIRST_PART = 2
"""Games for each worker in the first part of a session: few, since the speed is not known yet."""

MAX_PART = 10**7
"""Most games of a part."""

_PART_NAME = re.compile(r"(\d{4,})-(\d{9,})-([0-9a-f]{64})\.parquet")
"""Name of a part: number of the schedule, number of its first game, and checksum."""


class ExperimentError(ManaforgeError, RuntimeError):
    """An experiment folder that cannot be used; the message names the folder and says what to do."""


class ExperimentOptionError(ExperimentError, WrongValueError):
    """An invalid option of an experiment."""


def _files_of(name: str) -> tuple[str, ...]:
    """Files of a record of the history: the file of that name; () if the name is not of a record."""
    return (name,) if name == EXPERIMENT or name.partition("/")[0] in RESULT_FOLDERS else ()


class ExperimentFolder(CheckedFolder):
    """An experiment folder locked by this process; see `open_experiment`.

    Attributes:
        path: the folder.
        problems: damage found on opening, one sentence each.
    """

    ERROR = ExperimentError
    RECORDS = RecordLayout(_files_of, numbered=False)

    def write(self, name: str, content: bytes) -> None:
        """Write a file in the folder atomically, without a checksum; `name` may have a subfolder.

        Raises:
            ExperimentError: the disk is full or fails.
        """
        try:
            (self.path / name).parent.mkdir(exist_ok=True)
            self.replace(name, content)
        except OSError as error:
            raise self._unwritable(name, error) from None

    def commit_file(self, name: str, content: bytes) -> None:
        """Commit a file with its checksum, for a resumed command to read; `name` may have a subfolder.

        Raises:
            ExperimentError: the disk is full or fails.
        """
        try:
            (self.path / name).parent.mkdir(exist_ok=True)
            self.commit_record(name, {name: content})
        except OSError as error:
            raise self._unwritable(name, error) from None

    def read_json_file(self, name: str) -> dict[str, Any]:
        """Read a committed JSON file; {} if it is missing or damaged."""
        try:
            return parse_json(self.read_record(name)[0]) if name in self.entries else {}
        except (HistoryError, ValueError):
            return {}

    def caching_play(self, pool: WorkerPool, advance: Callable[[int], None]) -> PlayFunction:
        """Make a play function that caches results: schedules committed before are read, not played.

        Schedules must come in the same order every time. A schedule with a game lost by a fault of our agents
        is not committed; its parts before that game stay, so that a repeated command begins there.

        Args:
            pool: plays the schedules.
            advance: called with the number of games just finished or read; raises to stop early.
        """
        numbers, size = count(), FIRST_PART * pool.workers

        def playing(roster: Roster, games: Schedule) -> np.ndarray:
            nonlocal size
            number = next(numbers)
            name = _schedule_file(number)
            if name in self.entries:
                advance(len(games))
                return self._games_in(name, roster, len(games))
            parts = self._read_parts(number, roster, len(games))
            done, sound = sum(map(len, parts)), True
            advance(done)
            while done < len(games):
                end, began = min(done + size, len(games)), time.monotonic()
                part = games.select(slice(done, end))
                parts.append(clear_unstored_fields(pool.play(roster, part, advance)))
                sound = sound and not len(faults_of_our_agents(roster, part, parts[-1]))
                if sound and end < len(games):  # games after a fault cannot be used without it
                    content = _games_bytes(parts[-1])
                    self.write(f"{PARTS}/{number:04d}-{done:09d}-{checksum(content)}.parquet", content)
                speed = (end - done) / max(time.monotonic() - began, 1e-3)
                size = max(1, int(min(4 * size, PART_SECONDS * speed, MAX_PART)))
                done = end
            played = np.concatenate(parts) if parts else pool.play(roster, games, advance)
            if sound:
                self.commit_file(name, _games_bytes(played))
                self._remove_committed_parts()
            return played

        return playing

    def _part_files(self) -> list[tuple[Path, int, int, str]]:
        """Files of parts in order, each with schedule, first game and checksum; other files are ignored."""
        found = []
        for file in sorted((self.path / PARTS).glob("*.parquet")):
            match = _PART_NAME.fullmatch(file.name)
            if match and file.is_file():
                found.append((file, int(match[1]), int(match[2]), match[3]))
        return found

    def _read_parts(self, number: int, roster: Roster, n: int) -> list[np.ndarray]:
        """Results of the first games of a schedule of `n`, from its parts; parts that do not fit are removed.

        A part fits if it is undamaged and begins where the one before it ends.

        Raises:
            ExperimentError: a part cannot be removed.
        """
        parts: list[np.ndarray] = []
        for file, schedule, start, digest in self._part_files():
            if schedule != number:
                continue
            done = sum(map(len, parts))
            try:
                if start != done or checksum(read_bytes(file)) != digest:
                    raise ValueError("it does not fit")
                parts.append(read_games(file, BATCH_COLUMNS, roster.ruleset, n - done))
            except (OSError, ValueError):
                self._remove_part(file)
        return parts

    def _remove_committed_parts(self) -> None:
        """Remove the parts of committed schedules, and their folder once it is empty.

        Raises:
            ExperimentError: a part cannot be removed.
        """
        for file, number, *_ in self._part_files():
            if _schedule_file(number) in self.entries:
                self._remove_part(file)
        with contextlib.suppress(OSError):
            (self.path / PARTS).rmdir()

    def _remove_part(self, file: Path) -> None:
        """Remove the file of a part.

        Raises:
            ExperimentError: it cannot be removed.
        """
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise ExperimentError(
                f"cannot remove {file}: {error.strerror or error}; remove it, "
                "and repeat the command to continue"
            ) from None

    def _games_in(self, name: str, roster: Roster, n: int) -> np.ndarray:
        """Read the committed results of a schedule of `n` games.

        Raises:
            ExperimentError: the file does not fit the schedule, despite its checksum.
        """
        try:
            played = read_games(self.path / name, BATCH_COLUMNS, roster.ruleset, n)
            if len(played) != n:
                raise ValueError(f"it has {len(played):,} games instead of {n:,}")
        except ValueError as error:
            raise ExperimentError(f"{self.path / name}: {error}; choose another --out") from None
        return played

    def begin(self, kind: str, definition: dict[str, Any]) -> None:
        """Lock the folder; refuse another definition; verify the committed files.

        Raises:
            ExperimentError: the folder is in use, has another definition, or a file in place of a subfolder.
            OSError: it cannot be read or written.
        """
        self.acquire()
        for name in (*RESULT_FOLDERS, PARTS):
            if (self.path / name).exists() and not (self.path / name).is_dir():
                raise ExperimentOptionError(
                    f"{self.path / name} is a file where results need a folder; move it away, or choose "
                    "another --out"
                )
        versioned = {"kind": kind, "rules": RULES_VERSION, **definition}
        content = json_bytes({"schema": SCHEMA, **versioned})
        existing = self._content_of(EXPERIMENT)
        sums = {entry.name: entry.sums for entry in read_history(self.path, self.RECORDS).entries}
        is_older = EXPERIMENT not in sums and _json_or_none(existing) == parse_json(json_bytes(versioned))
        is_this = content == existing or sums.get(EXPERIMENT) == (checksum(content),) or is_older
        if not is_this and (existing or sums):
            raise ExperimentOptionError(
                f"{self.path} was begun with other options or another version; choose another --out"
            )
        if is_older and not sums:  # older format, without checksums
            names = [f"points/{file.name}" for file in sorted((self.path / "points").glob("*.json"))]
            lines = [Entry(name, (checksum(self._content_of(name)),)).line for name in names]
            self.replace(CHECKSUMS, "".join(lines).encode())
        elif not sums and any((self.path / part).exists() for part in RESULT_FOLDERS):
            self.problems.append(f"{CHECKSUMS} is missing or damaged")
        self.check_records()
        if self._content_of(EXPERIMENT) != content or EXPERIMENT not in self.entries:
            self.commit_file(EXPERIMENT, content)
        self._remove_committed_parts()

    def _content_of(self, name: str) -> bytes:
        """Content of a file in the folder; b"" if there is no such file."""
        try:
            return read_bytes(self.path / name)
        except FileNotFoundError:
            return b""

    def _unwritable(self, name: str, error: OSError) -> ExperimentError:
        """Error for a file that cannot be written."""
        return ExperimentError(
            f"cannot write {self.path / name}: {error.strerror or error}; earlier results are safe. When "
            "there is space, repeat the command to continue"
        )


def open_experiment(path: Path, kind: str, definition: dict[str, Any]) -> ExperimentFolder:
    """Open and lock an experiment folder, new or begun by the same command.

    Args:
        path: the folder.
        kind: name of the command.
        definition: everything that determines the results, as JSON values.

    Raises:
        ExperimentError: the folder has other contents, is in use, or cannot be created.
    """
    folder = ExperimentFolder(path)
    with contextlib.ExitStack() as on_error:
        on_error.callback(folder.close)
        try:
            is_one = any((path / name).exists() for name in (EXPERIMENT, CHECKSUMS))
            if path.exists() and not is_one and not all(map(_is_leftover, path.iterdir())):
                raise ExperimentOptionError(f"{path} is not empty and no {kind} folder; choose another --out")
            path.mkdir(parents=True, exist_ok=True)
            folder.begin(kind, definition)
        except OSError as error:
            why = folder_error_text(error, path, f"use the folder of {kind}")
            raise ExperimentOptionError(f"{why}; choose another --out") from None
        on_error.pop_all()
    return folder


def _schedule_file(number: int) -> str:
    """File of the results of a schedule, relative to the folder."""
    return f"games/{number:04d}.parquet"


def _is_leftover(entry: Path) -> bool:
    """Whether a file is a remnant of a command that ended early: the lock or a temporary file."""
    return entry.name == "lock" or entry.suffix == ".tmp"


def _games_bytes(played: np.ndarray) -> bytes:
    """Results of games as a Parquet file."""
    return parquet_bytes(
        pd.DataFrame({column: played[column] for column in BATCH_COLUMNS}), TOURNAMENT_SCHEMA
    )


def _json_or_none(content: bytes) -> dict[str, Any] | None:
    """Parse JSON; None if it is invalid."""
    try:
        return parse_json(content)
    except ValueError:
        return None
