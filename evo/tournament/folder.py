"""The folder of a tournament: definition, batches of game results, damage checks, resuming.

While the tournament runs, `batches/` has one file per batch, named by its game numbers; at the end they are
merged into `games.parquet`. A game is a pure function of its number, so running the tournament again
continues with the first missing game.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from engine import Deck, ManaforgeError, Ruleset
from engine.decks import earlier_version_text
from engine.effect_codes import EFFECTS_VERSION
from engine.errors import WrongValueError
from engine.safe_files import read_bytes, read_json
from evo.decklibrary import deck_files_in
from evo.play.games import FAULT_TEXTS, GAME
from evo.play.results import impossible_games
from evo.stats.ratings import OUTCOME_WORDS
from evo.storage.files import (
    append_event,
    folder_error_text,
    json_bytes,
    json_digest,
    parquet_bytes,
    write_atomically,
)
from evo.storage.history import LockedFolder
from evo.storage.run_folder import DECKS, keep_decks
from evo.storage.schema import COUNT, NAME, ColumnType, count_rows, read_batches
from rivals import other_versions

TOURNAMENT_SCHEMA = 1

RESUMABLE_KEYS = ("games", "manaforge")
"""Keys of a definition that may differ when a tournament is resumed."""

OPTIONAL_KEYS = ("library", "actions")
"""Keys of a definition that are omitted if empty."""

LATER_COLUMNS = ("unproven",)
"""Columns that older versions did not write; they default to 0."""

SMALL_COUNT = ColumnType("whole number", COUNT.fits, 0, np.iinfo(np.int16).max)
UNSTORED_FIELDS = ("exact", "search")
"""Fields of a game result that are used only in evolution runs, and are 0 in tournaments."""

ACTIONS = "actions"
"""Subfolder of the games' actions: a file for each batch, named by its first game."""

BATCH_COLUMNS = dict.fromkeys((name for name in GAME.names or () if name not in UNSTORED_FIELDS), SMALL_COUNT)
"""Columns of a batch file."""

GAMES_COLUMNS = (
    {"setup": COUNT}
    | dict.fromkeys(("first", "second", "first_deck", "second_deck", "outcome", "fault"), NAME)
    | dict.fromkeys(("turns", "unproven"), SMALL_COUNT)
)
"""Columns of `games.parquet`; those that the schedule determines are only checked for damage."""

MAX_STORED_GAMES = 3_000_000
"""Maximum games in a folder, independent of its untrusted `tournament.json`. Reading and rating as many
takes 1 GB; our largest tournament has a million games."""


class TournamentError(ManaforgeError, ValueError):
    """Tournament that cannot be played; the message names the problem and says what to do."""


class DefinitionError(TournamentError, WrongValueError):
    """Invalid definition of a tournament: entrants, decks or options."""


@dataclass
class TournamentFolder(LockedFolder):
    """A tournament's folder, locked, from `open_tournament`.

    Attributes:
        path: the folder.
        played: games 0 to len - 1, dtype `evo.play.games.GAME`.
        problems: damage found on opening, and other remarks, one message each.
        deck_files: copied deck files in the folder, by deck name.
        library: folder of the copied library; None without one.
    """

    ERROR: ClassVar[type[ManaforgeError]] = TournamentError

    path: Path
    played: np.ndarray = field(default_factory=lambda: np.zeros(0, GAME))
    problems: list[str] = field(default_factory=list)
    deck_files: dict[str, Path] = field(default_factory=dict)
    library: Path | None = None

    def append(self, results: np.ndarray) -> None:
        """Save the results of the next games as a batch.

        Raises:
            TournamentError: the disk is full or fails; earlier batches are intact.
        """
        kept = np.zeros(len(results), GAME)
        for field_name in GAME.names or ():
            kept[field_name] = results[field_name]
        table = pd.DataFrame({name: kept[name] for name in BATCH_COLUMNS})
        start = len(self.played)
        name = f"{start:010d}-{start + len(results):010d}.parquet"
        self._write(self.path / "batches" / name, parquet_bytes(table, TOURNAMENT_SCHEMA))
        self.played = np.concatenate([self.played, clear_unstored_fields(kept)])

    def write_actions(self, start: int, table: pd.DataFrame) -> None:
        """Save the actions of games `start`, ..., before their results; replaces what a stopped run left.

        Raises:
            TournamentError: the disk is full or fails; earlier actions are intact.
        """
        folder = self.path / ACTIONS
        try:
            folder.mkdir(exist_ok=True)
            for file in folder.glob("*.parquet"):
                if file.stem.isdecimal() and int(file.stem) >= start:
                    file.unlink()
        except OSError as error:
            raise self._unwritable(folder, error) from None
        self._write(folder / f"{start:010d}.parquet", parquet_bytes(table, TOURNAMENT_SCHEMA))

    def missing_actions(self) -> str:
        """A sentence on games whose actions are not in the folder, though their results are; "" if none."""
        held = []
        for file in sorted((self.path / ACTIONS).glob("*.parquet")):
            if file.stem.isdecimal() and int(file.stem) < len(self.played):
                with contextlib.suppress(OSError, ValueError, pa.ArrowException):
                    column = pq.read_table(file, columns=["game"]).column("game").to_numpy()
                    held.append(np.unique(column))
        known = np.concatenate(held) if held else np.zeros(0, np.int64)
        left = len(self.played) - len(np.unique(known[known < len(self.played)]))
        return (
            f"the actions of {left:,} of {len(self.played):,} games are not in {self.path / ACTIONS}"
            if left
            else ""
        )

    def finish(self, games: pd.DataFrame) -> None:
        """Write all games to `games.parquet`, and delete the batches."""
        self.write("games.parquet", parquet_bytes(games, TOURNAMENT_SCHEMA))
        for file in batch_files(self.path):
            file.unlink()

    def write(self, name: str, content: bytes) -> None:
        """Write a file in the folder atomically.

        Raises:
            TournamentError: the disk is full or fails.
        """
        self._write(self.path / name, content)

    def copy_decks(self, decks: Iterable[Deck]) -> None:
        """Copy deck files into the folder.

        Raises:
            TournamentError: the disk is full or fails.
        """
        try:
            named = tuple(decks)
            files = zip(named, keep_decks(self.path, named), strict=True)
            self.deck_files = {deck.name: file for deck, file in files if file is not None}
        except OSError as error:
            raise self._unwritable(self.path / DECKS, error) from None

    def copy_library(self, source: Path) -> None:
        """Copy the deck files and deck codes of a library into the folder.

        Raises:
            TournamentError: the disk is full or fails.
        """
        self.library = self.path / "library"
        try:
            self.library.mkdir(exist_ok=True)
            for file in deck_files_in(source):
                if not (self.library / file.name).exists():
                    write_atomically(
                        self.library / file.name, read_bytes(file), self.path / f"{file.name}.tmp"
                    )
        except OSError as error:
            raise self._unwritable(self.library, error) from None

    def note(self, what: str) -> None:
        """Append a message on a handled failure of a worker to `log.jsonl`."""
        append_event(self.path / "log.jsonl", event="worker", what=what)

    def _write(self, target: Path, content: bytes) -> None:
        temporary = self.path / f"{target.name}.tmp"
        try:
            write_atomically(target, content, temporary)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise self._unwritable(target, error) from None

    def _unwritable(self, target: Path, error: OSError) -> TournamentError:
        return TournamentError(
            f"cannot write {target}: {error.strerror or error}; {len(self.played):,} games are safe. "
            "When there is space, repeat the command to continue"
        )

    def begin(self, definition: dict[str, Any], ruleset: Ruleset, most: int, decks: Sequence[Deck]) -> None:
        """Lock the folder, refuse another definition, and read the results of the games played.

        Raises:
            TournamentError: it is in use, or contains another tournament or other files.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        about = self.path / "tournament.json"
        if not about.exists() and any(
            file.suffix != ".tmp" and file.name not in ("lock", "batches") for file in self.path.iterdir()
        ):
            raise TournamentError(f"{self.path} is neither empty nor a tournament; choose another --out")
        self.acquire()
        (self.path / "batches").mkdir(exist_ok=True)
        if about.exists():
            self._compare(about, definition, decks)
        for leftover in self.path.glob("*.tmp"):
            leftover.unlink()
        self._read(ruleset, most)
        self._write(about, json_bytes(definition))

    def _compare(self, about: Path, definition: dict[str, Any], decks: Sequence[Deck]) -> None:
        try:
            known = read_json(about)
        except ValueError:
            known = {"manaforge": None}
        played_by = known.get("manaforge", [])
        if not isinstance(played_by, list) or not all(isinstance(one, str) for one in played_by):
            raise TournamentError(f"{about} is damaged; choose another --out")
        if known.get("schema") != TOURNAMENT_SCHEMA:
            raise TournamentError(
                f"{about} has schema {known.get('schema')!r}; this version reads schema {TOURNAMENT_SCHEMA}: "
                "choose another --out"
            )
        keys = dict.fromkeys((*definition, *(key for key in OPTIONAL_KEYS if key in known)))
        other = [key for key in keys if key not in RESUMABLE_KEYS and known.get(key) != definition.get(key)]
        if other:
            earlier = changed_agents_text(known, definition) if "entrants" in other else ""
            earlier = earlier or earlier_effects_text(decks, known.get("decks"))
            if earlier:
                raise TournamentError(f"{self.path} was played under {earlier}; choose another --out")
            raise TournamentError(
                f"{self.path} holds another tournament, which differs in {', '.join(other)}; "
                "choose another --out"
            )
        before = [number for number in played_by if number not in definition["manaforge"]]
        if before:
            self.problems.append(f"some of these games were played by manaforge {', '.join(before)}")
            definition["manaforge"] = [*before, *definition["manaforge"]]

    def _read(self, ruleset: Ruleset, most: int) -> None:
        """Read the results of the games played; set damaged files aside."""
        self.played = read_played(self.path, ruleset, most, self._set_aside, Path.unlink)
        for file in batch_files(self.path):
            if int(file.stem.split("-")[0]) > len(self.played):
                self._set_aside(file, f"{file.name} follows games that are missing")

    def _set_aside(self, file: Path, why: str) -> None:
        aside = self.path / "aside"
        aside.mkdir(exist_ok=True)
        target = aside / f"{sum(1 for _ in aside.iterdir()):03d}-{file.name}"
        file.replace(target)
        self.problems.append(
            f"{why}; it was set aside as {target.relative_to(self.path)}, to be played again"
        )


def deck_identity(deck: Deck, effects: int = EFFECTS_VERSION) -> dict[str, Any]:
    """Name of a deck, and a hash of the deck's cards and effects version, as JSON values."""
    return {"deck": deck.name, "cards_sha256": json_digest([deck.random, deck.identity_under(effects)[2:]])}


def changed_agents_text(known: dict[str, Any], definition: dict[str, Any]) -> str:
    """Describe the agents that have another version in one definition than in the other; "" if none has.

    Args:
        known: the definition of a folder.
        definition: that of this installation.
    """
    return other_versions(_versions_in(known), _versions_in(definition))


def _versions_in(definition: dict[str, Any]) -> dict[str, int]:
    """Play version of each agent kind in a definition, which may be a stranger's."""
    entrants, found = definition.get("entrants"), {}
    for one in entrants if isinstance(entrants, list) else []:
        if isinstance(one, dict) and isinstance(one.get("kind"), str):
            version = one.get("version", 1)
            found[one["kind"]] = version if isinstance(version, int) else 1
    return found


def earlier_effects_text(decks: Sequence[Deck], known: object) -> str:
    """Describe the earlier effects version under which a definition's decks match; "" if there is none."""
    return earlier_version_text(lambda version: [deck_identity(deck, version) for deck in decks] == known)


def open_tournament(
    path: Path, definition: dict[str, Any], ruleset: Ruleset, most: int, decks: Sequence[Deck] = ()
) -> TournamentFolder:
    """Open and lock the folder of a tournament, new or resumed.

    Args:
        path: the folder.
        definition: everything that determines the games, as JSON values, with `schema` and `games`.
        ruleset: of the games.
        most: number of games of the tournament.
        decks: of the tournament, to report an earlier effects version of older games.

    Raises:
        TournamentError: the folder cannot be used, is in use, or contains another tournament; or there are
            more games than a folder can store.
    """
    if most > MAX_STORED_GAMES:
        raise too_many_games_error(path, most)
    folder = TournamentFolder(path)
    with contextlib.ExitStack() as on_error:
        on_error.callback(folder.close)
        try:
            folder.begin(definition, ruleset, most, decks)
        except OSError as error:
            why = folder_error_text(error, path, "use folder")
            raise TournamentError(f"{why}; choose another --out") from None
        on_error.pop_all()
    return folder


def fewer_games_error(path: Path, held: int, wanted: int) -> TournamentError:
    """Error for a folder with more games than requested."""
    return TournamentError(
        f"{path} has {held:,} games, but --games asks for only {wanted:,} in all; use the former --games or "
        "more, or choose another --out"
    )


def too_many_games_error(path: Path, games: int) -> TournamentError:
    """Error for more games than a folder can store."""
    return TournamentError(
        f"{path} would have {games:,} games, but a tournament's folder can have "
        f"{MAX_STORED_GAMES:,} at most; play "
        "fewer games, or several tournaments with other seeds"
    )


def read_played(
    path: Path,
    ruleset: Ruleset,
    most: int,
    damaged: Callable[[Path, str], object],
    covered: Callable[[Path], object] = lambda _: None,
) -> np.ndarray:
    """Read the results in a tournament's folder, dtype `GAME`: `games.parquet`, then consecutive batches.

    Args:
        path: the folder.
        ruleset: of the games.
        most: number of games of the tournament.
        damaged: called with each damaged file and the reason; its games are missing.
        covered: called with each batch whose games are already in `games.parquet`.

    Raises:
        TournamentError: it has more games than the tournament, or than a folder can store.
    """
    parts: list[np.ndarray] = []

    @contextlib.contextmanager
    def damage(file: Path) -> Iterator[None]:
        try:
            yield
        except TournamentError:
            raise
        except (ValueError, KeyError, TypeError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            damaged(file, f"{file.name} is damaged ({reason})")

    whole = path / "games.parquet"
    if whole.exists():
        with damage(whole):
            parts.append(read_games(whole, GAMES_COLUMNS, ruleset, most))
    for file in batch_files(path):
        have = sum(map(len, parts))
        start, stop = map(int, file.stem.split("-"))
        if stop <= have:
            covered(file)
        elif start == have:
            with damage(file):
                if stop > MAX_STORED_GAMES:
                    raise too_many_games_error(path, stop)
                part = read_games(file, BATCH_COLUMNS, ruleset, stop - start)
                if len(part) != stop - start:
                    raise ValueError(f"it has {len(part)} games instead of {stop - start}")
                parts.append(part)
    return np.concatenate([np.zeros(0, GAME), *parts])


def batch_files(path: Path) -> list[Path]:
    """Batch files of a tournament, sorted by game number; other files are ignored."""
    found = (path / "batches").glob("*.parquet")
    return sorted(file for file in found if re.fullmatch(r"\d{10,}-\d{10,}", file.stem))


def clear_unstored_fields(results: np.ndarray) -> np.ndarray:
    """Copy results; in the copy, set the fields that are not stored (`UNSTORED_FIELDS`) to 0."""
    kept = results.copy()
    for name in UNSTORED_FIELDS:
        kept[name] = 0
    return kept


def read_games(file: Path, columns: Mapping[str, ColumnType], ruleset: Ruleset, most: int) -> np.ndarray:
    """Read results from a batch (`BATCH_COLUMNS`) or from `games.parquet`, which has outcomes as text.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not such a table, or a result is impossible.
        TournamentError: it has more games than the tournament, or than a folder can store.
    """
    content = read_bytes(file)
    rows = count_rows(content)
    if columns is GAMES_COLUMNS and rows > MAX_STORED_GAMES:
        raise too_many_games_error(file.parent, rows)
    if columns is GAMES_COLUMNS and rows > most:
        raise fewer_games_error(file.parent, rows, most)
    played = np.zeros(min(rows, most), GAME)
    stop = 0
    for table in read_batches(content, columns, most, LATER_COLUMNS):
        start, stop = stop, stop + len(table)
        for name in set(GAME.names or ()) & set(table.column_names):
            played[name][start:stop] = _numbers(table.column(name), name, columns[name])
    impossible = impossible_games(played, ruleset.turn_cap)
    if len(impossible):
        raise ValueError(f"the result of game {int(impossible[0])} is impossible")
    return played


def _numbers(column: pa.ChunkedArray, name: str, kind: ColumnType) -> np.ndarray:
    """Convert a column of results to numbers; texts become codes of outcomes or faults.

    Raises:
        ValueError: a text is not an outcome or fault.
    """
    if kind is not NAME:
        return np.asarray(column)
    codes = {text: int(code) for code, text in (OUTCOME_WORDS if name == "outcome" else FAULT_TEXTS).items()}
    words = column.combine_chunks()
    words = words if isinstance(words, pa.DictionaryArray) else words.dictionary_encode()
    known = np.array([codes.get(word, -1) for word in words.dictionary.to_pylist()], np.int64)
    numbers: np.ndarray = known[words.indices.to_numpy()]
    if (numbers < 0).any():
        raise ValueError(f"column {name} has unknown values")
    return numbers
