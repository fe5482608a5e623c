"""The folder of an experiment: what it is, what it has played, and what it came to.

    experiment.json     what all results depend on
    games/0000.parquet  results of the first schedule of games, and so on (`ExperimentFolder.playing`)
    points/             runs of `bench-optimisers`
    checksums.txt       a line for each of these files, which commits it (`evo.storage.history`)

Tables, figures and a page follow at the end.
"""

import contextlib
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from engine import RULES_VERSION, ManaforgeError
from engine.errors import WrongValueError
from engine.safe_files import parse_json, read_bytes
from evo.play.games import Play, Roster, Schedule
from evo.play.pool import Pool
from evo.play.results import own_faults
from evo.storage.files import EXPERIMENT, json_bytes, parquet_bytes, why_unusable
from evo.storage.history import CHECKSUMS, CheckedFolder, Entry, HistoryError, Records, checksum, read_history
from evo.tournament.folder import BATCH, TOURNAMENT_SCHEMA, read_games, without_uncounted

SCHEMA = 2

PARTS = ("points", "games")
"""Folders of what was played."""


class ExperimentError(ManaforgeError, RuntimeError):
    """A folder of an experiment that cannot be used; the message names it and the way out."""


class ExperimentOptionError(ExperimentError, WrongValueError):
    """An option of an experiment that it cannot use."""


def _files_of(name: str) -> tuple[str, ...]:
    """A record is a file of its name; none for the name of any other file."""
    return (name,) if name == EXPERIMENT or name.partition("/")[0] in PARTS else ()


class ExperimentFolder(CheckedFolder):
    """A folder that this process writes alone, from `open_experiment`.

    Attributes:
        path: the folder.
        problems: damage found on opening, one sentence each.
    """

    ERROR = ExperimentError
    RECORDS = Records(_files_of, numbered=False)

    def write(self, name: str, content: bytes) -> None:
        """Write a file, all or nothing.

        Raises:
            ExperimentError: the disk is full or fails.
        """
        try:
            self.replace(name, content)
        except OSError as error:
            raise self._unwritable(name, error) from None

    def keep(self, name: str, content: bytes) -> None:
        """Write a file that the same command reads when it goes on, with its checksum; it may be in a folder.

        Raises:
            ExperimentError: the disk is full or fails.
        """
        try:
            (self.path / name).parent.mkdir(exist_ok=True)
            self.commit_record(name, {name: content})
        except OSError as error:
            raise self._unwritable(name, error) from None

    def kept(self, name: str) -> dict[str, Any]:
        """A JSON file that was kept; {} if there is none, or it is none any more."""
        try:
            return parse_json(self.read_record(name)[0]) if name in self.entries else {}
        except (HistoryError, ValueError):
            return {}

    def playing(self, pool: Pool, advance: Callable[[int], None]) -> Play:
        """Plays schedules and keeps their results; those that were kept before are not played again.

        The same schedules must be asked for in the same order every time.

        Args:
            pool: plays them.
            advance: called with the number of games just finished, or kept; raises to stop early.
        """
        numbers = count()

        def playing(roster: Roster, games: Schedule) -> np.ndarray:
            name = f"games/{next(numbers):04d}.parquet"
            if name in self.entries:
                advance(len(games))
                return self._games_in(name, roster, len(games))
            played = without_uncounted(pool.play(roster, games, advance))
            if not len(own_faults(roster, games, played)):
                table = pd.DataFrame({column: played[column] for column in BATCH})
                self.keep(name, parquet_bytes(table, TOURNAMENT_SCHEMA))
            return played

        return playing

    def _games_in(self, name: str, roster: Roster, n: int) -> np.ndarray:
        """The results of a schedule that were kept.

        Raises:
            ExperimentError: they are none of such a schedule, though whoever made the folder says so.
        """
        try:
            played = read_games(self.path / name, BATCH, roster.ruleset, n)
            if len(played) != n:
                raise ValueError(f"it has {len(played):,} games of {n:,}")
        except ValueError as error:
            raise ExperimentError(f"{self.path / name}: {error}; choose another --out") from None
        return played

    def begin(self, kind: str, definition: dict[str, Any]) -> None:
        """Lock the folder, compare what it is with a definition, and check what it has kept.

        Raises:
            ExperimentError: it is in use, or holds something else.
            OSError: it cannot be read or written.
        """
        self.acquire()
        older = {"kind": kind, "rules": RULES_VERSION, **definition}
        content = json_bytes({"schema": SCHEMA, **older})
        found = self._content_of(EXPERIMENT)
        sums = {entry.name: entry.sums for entry in read_history(self.path, self.RECORDS).entries}
        is_older = EXPERIMENT not in sums and _json_or_none(found) == parse_json(json_bytes(older))
        is_this = content == found or sums.get(EXPERIMENT) == (checksum(content),) or is_older
        if not is_this and (found or sums):
            raise ExperimentOptionError(
                f"{self.path} was begun with other options or another version; choose another --out"
            )
        if is_older and not sums:  # from before there were checksums
            kept = [f"points/{file.name}" for file in sorted((self.path / "points").glob("*.json"))]
            lines = [Entry(name, (checksum(self._content_of(name)),)).line for name in kept]
            self.replace(CHECKSUMS, "".join(lines).encode())
        elif not sums and any((self.path / part).exists() for part in PARTS):
            self.problems.append(f"{CHECKSUMS} is missing or damaged")
        self.check_records()
        if self._content_of(EXPERIMENT) != content or EXPERIMENT not in self.entries:
            self.keep(EXPERIMENT, content)

    def _content_of(self, name: str) -> bytes:
        """The bytes of a file; none where there is no such file."""
        try:
            return read_bytes(self.path / name)
        except FileNotFoundError:
            return b""

    def _unwritable(self, name: str, error: OSError) -> ExperimentError:
        return ExperimentError(
            f"cannot write {self.path / name}: {error.strerror or error}; what was kept before is safe: when "
            "there is space, the same command goes on"
        )


def open_experiment(path: Path, kind: str, definition: dict[str, Any]) -> ExperimentFolder:
    """The folder of an experiment, new or begun by the same command.

    Args:
        path: the folder.
        kind: name of the command.
        definition: all that its results depend on, as JSON values.

    Raises:
        ExperimentError: it is something else, in use, or cannot be made.
    """
    folder = ExperimentFolder(path)
    with contextlib.ExitStack() as on_error:
        on_error.callback(folder.close)
        try:
            is_one = any((path / name).exists() for name in (EXPERIMENT, CHECKSUMS))
            if path.exists() and not is_one and not all(map(_is_leftover, path.iterdir())):
                raise ExperimentOptionError(f"{path} is not empty and holds no {kind}; choose another --out")
            path.mkdir(parents=True, exist_ok=True)
            folder.begin(kind, definition)
        except OSError as error:
            raise ExperimentOptionError(why_unusable(error, path, f"use the folder of {kind}")) from None
        on_error.pop_all()
    return folder


def _is_leftover(entry: Path) -> bool:
    """Whether a file is left by a command that ended before the folder was one."""
    return entry.name == "lock" or entry.suffix == ".tmp"


def _json_or_none(content: bytes) -> dict[str, Any] | None:
    try:
        return parse_json(content)
    except ValueError:
        return None
