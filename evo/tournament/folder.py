"""The folder of a tournament, which keeps every game played, in the order of their numbers.

While the tournament runs, `batches/` holds one file for each batch, named by its games; at the end they
become `games.parquet`. Games are pure functions of their numbers, so running the tournament again continues
with the first game that is missing.
"""

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from engine import Deck, ManaforgeError
from evo.play.games import GAME
from evo.play.matchups import FAULTS
from evo.stats.points import OUTCOMES
from evo.storage.decks import DECKS, keep_decks
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
"""Parts of a definition that may differ when a tournament is run again."""


ADDED = ("unproven",)
"""Columns that older versions did not write; their values are 0."""


class TournamentError(ManaforgeError, ValueError):
    """A tournament that cannot be played; the message names what is wrong and the way out."""


@dataclass
class TournamentFolder:
    """A tournament on disk, from `open_tournament`.

    Attributes:
        path: the folder.
        played: games 0 to len - 1, dtype `evo.play.games.GAME`.
        problems: damage found on opening, and other remarks, one sentence each.
        deck_files: the files of the decks that are kept here, by the deck's name.
    """

    path: Path
    played: np.ndarray = field(default_factory=lambda: np.zeros(0, GAME))
    problems: list[str] = field(default_factory=list)
    deck_files: dict[str, Path] = field(default_factory=dict)
    _lock: IO[str] | None = None

    def append(self, results: np.ndarray) -> None:
        """Save the results of the games that follow those played.

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

    def keep_decks(self, decks: Iterable[Deck]) -> None:
        """Write the files of decks into the folder.

        Raises:
            TournamentError: the disk is full or fails.
        """
        try:
            self.deck_files = keep_decks(self.path, decks)
        except OSError as error:
            raise self._unwritable(self.path / DECKS, error) from None

    def note(self, what: str) -> None:
        """Append a worker's failure that was handled to `log.jsonl`."""
        append_event(self.path / "log.jsonl", event="worker", what=what)

    def close(self) -> None:
        """Release the folder."""
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
            raise self._unwritable(target, error) from None

    def _unwritable(self, target: Path, error: OSError) -> TournamentError:
        return TournamentError(
            f"cannot write {target}: {error.strerror or error}; {len(self.played):,} games are safe. "
            "When there is space, the same command continues"
        )

    def _batches(self) -> list[Path]:
        """Files of batches, by their first game; other names are ignored."""
        found = (self.path / "batches").glob("*.parquet")
        return sorted(file for file in found if re.fullmatch(r"\d{10,}-\d{10,}", file.stem))

    def begin(self, definition: dict[str, Any]) -> None:
        """Lock the folder, compare its content with a definition, and read the games played.

        Raises:
            TournamentError: it is in use, or holds something else.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        about = self.path / "tournament.json"
        if not about.exists() and any(
            file.suffix != ".tmp" and file.name not in ("lock", "batches") for file in self.path.iterdir()
        ):
            raise TournamentError(f"{self.path} is neither empty nor a tournament; choose another --out")
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
        before = [number for number in known.get("manaforge", []) if number not in definition["manaforge"]]
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
    """Lock a folder for a tournament, new or to be continued.

    Args:
        path: the folder.
        definition: all that determines the games, as JSON values, with `schema` and `games`.

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
        ValueError: a value is unknown.
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
