"""The folder of a tournament: every game played is kept, in the order of their numbers.

While it goes on, `batches/` holds one file for each batch, named by its games; at the end they become
`games.parquet`. Games are pure functions of their numbers, so whoever runs the tournament again plays on
from the first game that is missing.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from engine import ManaforgeError
from evo.play.games import GAME
from evo.play.matchups import FAULTS
from evo.stats.points import OUTCOMES
from evo.storage.files import (
    append_event,
    first_link,
    json_bytes,
    parquet_bytes,
    read_parquet,
    replace_file,
    take_lock,
)

TOURNAMENT_SCHEMA = 1

MAY_GROW = ("games", "manaforge")
"""What of a definition may differ when a tournament is run again."""


ADDED = ("unproven",)
"""What games of older versions do not tell; they count as 0."""


class TournamentError(ManaforgeError, ValueError):
    """A tournament that cannot be played; the message names what is wrong and the way out."""


@dataclass
class TournamentFolder:
    """A tournament on disk. Made by `open_tournament`.

    Attributes:
        path: the folder.
        played: games 0 to len - 1, dtype `evo.play.games.GAME`.
        problems: what was found damaged and set aside, in words.
    """

    path: Path
    played: np.ndarray = field(default_factory=lambda: np.zeros(0, GAME))
    problems: list[str] = field(default_factory=list)
    _lock: IO[str] | None = None

    def append(self, results: np.ndarray) -> None:
        """Save the games that follow those played.

        Raises:
            TournamentError: the disk is full or fails; what was saved before is intact.
        """
        table = pd.DataFrame({name: results[name] for name in GAME.names or ()})
        start = len(self.played)
        name = f"{start:010d}-{start + len(results):010d}.parquet"
        self._write(self.path / "batches" / name, parquet_bytes(table, TOURNAMENT_SCHEMA))
        self.played = np.concatenate([self.played, results])

    def finish(self, games: pd.DataFrame) -> None:
        """Write `games.parquet` and drop the batches it holds."""
        self.write("games.parquet", parquet_bytes(games, TOURNAMENT_SCHEMA))
        for file in self._batches():
            file.unlink()

    def write(self, name: str, content: bytes) -> None:
        """Write a file, all or nothing.

        Raises:
            TournamentError: the disk is full or fails.
        """
        self._write(self.path / name, content)

    def note(self, what: str) -> None:
        """Append what went wrong with a worker and was mended to `log.jsonl`."""
        append_event(self.path / "log.jsonl", event="worker", what=what)

    def close(self) -> None:
        """Let go of the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> "TournamentFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, target: Path, content: bytes) -> None:
        temporary = self.path / f"{target.name}.tmp"
        try:
            replace_file(target, content, temporary)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise TournamentError(
                f"cannot write {target}: {error.strerror or error}; {len(self.played):,} games are safe. "
                "When there is room, the same command goes on"
            ) from None

    def _batches(self) -> list[Path]:
        """Files of games by their first; other names are none of ours."""
        found = (self.path / "batches").glob("*.parquet")
        return sorted(file for file in found if re.fullmatch(r"\d{10,}-\d{10,}", file.stem))

    def begin(self, definition: dict[str, Any]) -> None:
        """Take the folder, compare what it holds with a definition, and read what was played.

        Raises:
            TournamentError: it is in use, or holds something else.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        about = self.path / "tournament.json"
        if not about.exists() and any(
            file.suffix != ".tmp" and file.name not in ("lock", "batches") for file in self.path.iterdir()
        ):
            raise TournamentError(f"{self.path} is not empty and no tournament; choose another --out")
        link = first_link(self.path)
        if link is not None:
            raise TournamentError(f"{link} is a symbolic link; a tournament's folder holds its own files")
        self._lock = take_lock(self.path)
        if self._lock is None:
            raise TournamentError(f"{self.path} is in use by another process")
        (self.path / "batches").mkdir(exist_ok=True)
        if about.exists():
            self._compare(about, definition)
        for leftover in self.path.glob("*.tmp"):
            leftover.unlink()
        self._read()
        self._write(about, json_bytes(definition))

    def _compare(self, about: Path, definition: dict[str, Any]) -> None:
        try:
            known = json.loads(about.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            known = None
        if not isinstance(known, dict) or not isinstance(known.get("manaforge", []), list):
            raise TournamentError(f"{about} is damaged; choose another --out")
        if known.get("schema") != TOURNAMENT_SCHEMA:
            raise TournamentError(
                f"{about} has schema {known.get('schema')!r}; this version reads schema {TOURNAMENT_SCHEMA}"
            )
        keys = [key for key in definition if key not in MAY_GROW]
        other = [key for key in keys if known.get(key) != definition[key]]
        if other:
            raise TournamentError(
                f"{self.path} holds another tournament ({', '.join(other)} differ); choose another --out"
            )
        before = [one for one in known.get("manaforge", []) if one not in definition["manaforge"]]
        if before:
            self.problems.append(f"some of these games were played by manaforge {', '.join(before)}")
            definition["manaforge"] = [*before, *definition["manaforge"]]

    def _read(self) -> None:
        """Games from `games.parquet`, then from the batches that follow; damage is set aside."""
        parts: list[np.ndarray] = []
        whole = self.path / "games.parquet"
        if whole.exists():
            with self._damage(whole):
                parts.append(_decode(read_parquet(whole)))
        for file in self._batches():
            have = sum(map(len, parts))
            start, stop = map(int, file.stem.split("-"))
            if stop <= have:
                file.unlink()  # in games.parquet already
            elif start == have:
                with self._damage(file):
                    part = _plain(read_parquet(file))
                    if len(part) != stop - start:
                        raise ValueError(f"it has {len(part)} games")
                    parts.append(part)
        self.played = np.concatenate([np.zeros(0, GAME), *parts])
        for file in self._batches():
            if int(file.stem.split("-")[0]) > len(self.played):
                self._set_aside(file, f"{file.name} follows games that are missing")

    @contextlib.contextmanager
    def _damage(self, file: Path) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            self._set_aside(file, f"{file.name} is damaged ({reason})")

    def _set_aside(self, file: Path, why: str) -> None:
        aside = self.path / "aside"
        aside.mkdir(exist_ok=True)
        target = aside / f"{sum(1 for _ in aside.iterdir()):03d}-{file.name}"
        file.replace(target)
        self.problems.append(
            f"{why}; it was set aside as {target.relative_to(self.path)}, to be played again"
        )


def open_tournament(path: Path, definition: dict[str, Any]) -> TournamentFolder:
    """Take a folder for a tournament, new or to go on with.

    Args:
        path: the folder.
        definition: all that decides the games, as JSON has it, with `schema` and `games`.

    Raises:
        TournamentError: the folder cannot be used, is in use, or holds another tournament.
    """
    folder = TournamentFolder(path)
    with contextlib.ExitStack() as on_error:
        on_error.callback(folder.close)
        try:
            folder.begin(definition)
        except (FileExistsError, NotADirectoryError):
            raise TournamentError(f"{path} is a file; choose another --out") from None
        except OSError as error:
            raise TournamentError(f"cannot use folder {path}: {error.strerror or error}") from None
        on_error.pop_all()
    return folder


def _plain(table: pd.DataFrame) -> np.ndarray:
    """Results from a batch."""
    played = np.zeros(len(table), GAME)
    for name in GAME.names or ():
        if name in table or name not in ADDED:
            played[name] = table[name]
    return played


def _decode(table: pd.DataFrame) -> np.ndarray:
    """Results from `games.parquet`.

    Raises:
        ValueError: a value is none of ours.
    """
    played = np.zeros(len(table), GAME)
    played["turns"] = table["turns"]
    played["unproven"] = table.get("unproven", 0)
    for name, meaning in (("outcome", OUTCOMES), ("fault", FAULTS)):
        codes = {text: int(code) for code, text in meaning.items()}
        values = table[name].astype(object).map(codes)
        if values.isna().any():
            raise ValueError(f"{name} has unknown values")
        played[name] = values
    return played
