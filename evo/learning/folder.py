"""The folder of a learning run: configuration, samples and results of each round, checksums.

    learning.toml         the configuration, complete
    rounds/0001.parquet   samples of a round
    rounds/0001.json      its value, loss, calibration and tests
    checksums.txt         a line for each round, which commits it (`evo.storage.history`)
    also/0001.parquet     samples of other learning runs (`also`), copied at the start
    also.json             their sources and checksums
    manifest.json         the version, and the BLAS of the fits
    profile.toml, curve.csv, report.html    written at the end

A round is a function of the configuration, the rounds before it and, in the last digits, the BLAS kernel; a
continued run is reproducible bit for bit.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from scipy.sparse import csr_matrix

from engine import ManaforgeError
from engine.errors import WrongValueError
from engine.safe_files import MAX_FILE_BYTES, parse_json, read_bytes, read_json
from evo.config.files import read_config_as
from evo.learning.config import LearnConfig
from evo.learning.methods import METHODS, Samples, Value, blas_kernel, count_newest_rounds
from evo.storage.files import (
    LEARNING,
    find_symbolic_link,
    folder_error_text,
    json_bytes,
    json_digest,
    parquet_bytes,
    write_error_text,
)
from evo.storage.history import (
    CHECKSUMS,
    CheckedFolder,
    Entry,
    HistoryError,
    RecordLayout,
    checksum,
    read_history,
)
from evo.storage.schema import COUNT, MAX_TEXT_BYTES, NAME, NUMBER, SCORE, count_rows, read_batches
from ilp_agent.card_values import ZONES
from ilp_agent.features import FEATURES
from rivals import agent_versions, other_versions

SCHEMA = 2
"""Schema version of round files."""

SCHEMA_WITHOUT_CHECKSUMS = 1
"""Schema version of rounds before `checksums.txt` existed; each counts once its files exist."""

SAMPLES_SCHEMA = 1
"""Schema version of sample files."""

MANIFEST = "manifest.json"
"""File with the version that wrote the folder and the BLAS of its fits."""

OTHER_SAMPLES = "also.json"
"""File that lists the samples of other learning runs."""

MAX_SAMPLES_PER_ROUND = 3_000_000
"""Most samples of a round (750 MB); `logistic` and `td` take about twenty per game."""

_SAMPLE = dict.fromkeys(FEATURES, NUMBER) | {"points": SCORE, "sequence": COUNT}
"""Columns of a sample file."""

_CARDS = {f"{zone}_cards": NAME for zone in ZONES}
"""Further columns of a sample file with counts of cards: JSON objects of card ids and counts other than 0."""

MAX_CARD_COUNT = 60
"""Largest difference of copies of a card."""


class LearningError(ManaforgeError, ValueError):
    """A learning folder that cannot be used; the message names the folder and says what to do."""


Number = Annotated[float, Field(ge=-1e100, le=1e100, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=2**53)]
Positive = Annotated[Count, Field(gt=0)]


class _Content(BaseModel):
    """Base class of the validated parts of a round's JSON file."""

    model_config = ConfigDict(strict=True)


class _Test(_Content):
    """JSON content of a round's test games against one opponent."""

    opponent: str
    games: Count
    score: Annotated[Number, Field(ge=-1, le=2)]
    low: Annotated[Number, Field(ge=-1, le=2)]
    high: Annotated[Number, Field(ge=-1, le=2)]


class _Round(_Content):
    """JSON content of round 0: tests of the initial profile."""

    number_of_schema: Count = Field(alias="schema")
    config_hash: str
    round: Count
    tests: list[_Test]


Weights = Annotated[list[Number], Field(min_length=len(FEATURES), max_length=len(FEATURES))]


class _FittedRound(_Round):
    """JSON content of a fitted round: any but round 0."""

    games: Positive
    samples: Positive
    told: Positive
    sha256: str
    loss: Number | None
    calibration: list[Annotated[tuple[Share, Share, Positive], Field(strict=False)]]
    weights: Weights
    intercept: Number
    scale: Weights
    cards: dict[str, dict[str, Annotated[tuple[Number, Positive], Field(strict=False)]]] = {}


def _files_of(name: str) -> tuple[str, ...]:
    """Files of a round; round 0, the initial profile, has no samples."""
    content = f"rounds/{name}.json"
    return (content, f"rounds/{name}.parquet") if int(name) else (content,)


class LearningFolder(CheckedFolder):
    """An open learning folder; see `open_learning` and `read_learning`.

    Attributes:
        path: the folder.
        config: its configuration.
        others: checksums of the samples of other learning runs.
        rounds: contents of the committed rounds; round 0 is the initial profile.
        problems: damage found on opening, one sentence each.
    """

    ERROR = LearningError
    RECORDS = RecordLayout(_files_of)

    def __init__(self, path: Path, config: LearnConfig) -> None:
        super().__init__(path)
        self.config = config
        self.others: list[str] = []
        self.rounds: list[dict[str, Any]] = []

    @property
    def digest(self) -> str:
        """Digest of the configuration and of the samples of other learning runs."""
        return json_digest([self.config.digest, self.others]) if self.others else self.config.digest

    @property
    def first_digest(self) -> str:
        """`digest` as if all agents had play version 1 (`LearnConfig.first_digest`)."""
        first = self.config.first_digest
        return json_digest([first, self.others]) if self.others else first

    def read_other_digests(self) -> None:
        """Read the list of the samples copied from other learning runs, with checksums.

        Raises:
            LearningError: the list is missing or damaged.
        """
        if not self.config.also:
            return
        file = self.path / OTHER_SAMPLES
        try:
            found = [entry["sha256"] for entry in read_json(file)["samples"]]
            if not found or not all(isinstance(text, str) for text in found):
                raise ValueError("it lists no samples")
        except (OSError, KeyError, ValueError, TypeError) as error:
            raise LearningError(f"cannot read {file}: {error}; start again in another --out") from None
        self.others = found

    def read_other_samples(self) -> list[tuple[str, int, bytes]]:
        """Read the samples of other learning runs from the other folders: folder, round and file content.

        Raises:
            LearningPathError: a folder cannot be read, has no round, or is of another kind of method.
        """
        found = []
        for text in self.config.also:
            try:
                other = read_learning(Path(text))
                if METHODS[other.config.method].PAIRED != METHODS[self.config.method].PAIRED:
                    raise LearningError(
                        f"it was learned by method {other.config.method}, whose samples method "
                        f"{self.config.method} cannot use; leave it out"
                    )
                unknown = sorted(set(other.config.card_ids) - set(self.config.card_ids))
                if unknown and self.config.card_values:  # else counts are not read
                    raise LearningError(
                        f"its decks have {len(unknown)} cards that the decks of this learning lack, such as "
                        f"{', '.join(unknown[:3])}: their values cannot be fitted here; leave it out"
                    )
                if len(other.rounds) < 2:
                    raise LearningError("it has no round yet; play rounds with manaforge learn")
                found += [(text, n, other.sample_bytes(n)) for n in range(1, len(other.rounds))]
            except ManaforgeError as error:
                raise LearningPathError(f"also: {text}: {error}") from None
        return found

    def copy_other_samples(self, found: Sequence[tuple[str, int, bytes]]) -> None:
        """Copy samples of other learning runs into this folder."""
        entries = []
        for i, (text, number, content) in enumerate(found, 1):
            self.write(f"also/{i:04d}.parquet", content)
            entries.append({"folder": text, "round": number, "sha256": checksum(content)})
        self.write(OTHER_SAMPLES, json_bytes({"samples": entries}))

    def take(self, file: str) -> None:
        """Lock the folder, and raise if `file` cannot be written, before games are played for it.

        Raises:
            LearningError: another process uses the folder, or the file cannot be written.
        """
        try:
            self.acquire()
            why = write_error_text(self.path / file, self.path / f"{file}.tmp")
        except OSError as error:
            why = str(error.strerror or error)
        if why:
            raise LearningError(f"cannot write {self.path / file}: {why}; make the folder writable")

    def check_blas(self) -> str:
        """Check that the next round is fitted with the BLAS of earlier rounds; return its name, or "".

        Raises:
            LearningError: another BLAS fitted the rounds before, so the next would not be reproducible.
            OSError: the manifest cannot be read.
        """
        done = len(read_history(self.path, self.RECORDS).entries)
        if not METHODS[self.config.method].BY_BLAS or done > self.config.rounds:
            return ""
        kernel = blas_kernel()
        try:
            known = read_json(self.path / MANIFEST).get("blas")
        except (FileNotFoundError, ValueError):
            known = None
        if done > 1 and isinstance(known, str) and known.strip() not in ("", kernel):
            raise LearningError(
                f"the rounds of {self.path} were fitted with {known}, but this process has {kernel}, which "
                "sums in another order: the next round would differ in the last digits. Continue on such a "
                "processor, or use its kernel if this processor can run it, "
                f"OPENBLAS_CORETYPE={known.split()[-1]}; or choose another --out"
            )
        return kernel

    def read_rounds(self) -> None:
        """Read the committed rounds; another process may still play further rounds.

        Raises:
            LearningError: a round is damaged, cannot be read, or was written by another version.
        """
        try:
            history = read_history(self.path, self.RECORDS)
            self.entries = {entry.name: entry for entry in history.entries}
            damage = "" if history.torn else history.problem
            if not (self.path / CHECKSUMS).exists():
                self.entries, damage = self._read_unchecked()
            for name in self.entries:
                damage = damage or self.damage_of(name)
        except OSError as error:
            raise LearningError(folder_error_text(error, self.path, "read")) from None
        if damage:
            again = "run manaforge learn on it again to replay that round"
            raise LearningError(f"{self.path}: {damage}; {again}")

    def has_valid_rounds(self) -> bool:
        """Whether the folder has rounds of this configuration, all undamaged."""
        try:
            self.read_rounds()
        except LearningError:
            return False
        return bool(self.rounds)

    def check_rounds(self) -> None:
        """Read the committed rounds, with the folder locked; set damaged rounds aside, to be played again.

        Raises:
            LearningError: a round was written by another version, or played by another version of an agent.
            OSError: a round cannot be read.
        """
        if not (self.path / CHECKSUMS).exists():
            entries, damage = self._read_unchecked()
            self.problems += [damage] if damage else []
            self.replace(CHECKSUMS, "".join(entry.line for entry in entries.values()).encode())
        self.check_records("rounds")
        if any(content["config_hash"] != self.digest for content in self.rounds):
            kinds, effects = [one.kind for one in self.config.opponents], self.config.found_decks[0].effects
            other = other_versions(dict.fromkeys(kinds, 1), agent_versions(effects))
            raise LearningError(f"{self.path} was played with {other}; choose another --out")

    def damage_of(self, name: str) -> str:
        """Damage of a round, as of `CheckedFolder`; an undamaged round is added to `rounds`."""
        try:
            content = parse_json(self.read_record(name)[0].decode())
        except HistoryError as error:
            return str(error)
        except ValueError as error:
            return f"rounds/{name}.json: {error}"
        try:
            model = _FittedRound if int(name) else _Round
            content = model.model_validate(content).model_dump(by_alias=True, exclude_unset=True)
            if content["round"] != int(name):
                raise ValueError(f"it records round {content['round']}")
        except ValueError as error:
            why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
            return f"rounds/{name}.json is no round of manaforge learn: {why}"
        known = self.digest, self.first_digest
        if content["schema"] not in (SCHEMA, SCHEMA_WITHOUT_CHECKSUMS) or content["config_hash"] not in known:
            raise LearningError(
                f"the rounds of {self.path} were played under other rules or another configuration, or a "
                "deck, the profile or an opponent has changed since then; restore it, or choose another --out"
            )
        self.rounds[int(name) :] = [content]
        return ""

    def _read_unchecked(self) -> tuple[dict[str, Entry], str]:
        """Rounds of a folder without `checksums.txt` (older format), and the damage of the first bad round.

        Raises:
            OSError: a round cannot be read.
        """
        found: dict[str, Entry] = {}
        for number in count():
            name = f"{number:04d}"
            try:
                contents = [read_bytes(self.path / file) for file in _files_of(name)]
                content = parse_json(contents[0].decode())
                if content.get("schema") != SCHEMA_WITHOUT_CHECKSUMS:
                    raise ValueError(f"it is of schema {content.get('schema')!r}, and {CHECKSUMS} is missing")
                if number and checksum(contents[1]) != content.get("sha256"):
                    raise ValueError("its sample file is not the one that the fit used")
            except FileNotFoundError:
                break
            except ValueError as error:
                return found, f"rounds/{name}.json: {error}"
            found[name] = Entry(name, tuple(map(checksum, contents)))
        return found, ""

    def value(self, number: int) -> Value | None:
        """The value function fitted in a round; None for round 0."""
        content = self.rounds[number]
        if "weights" not in content:
            return None
        fitted = np.array(content["weights"]), content["intercept"], np.array(content["scale"])
        ids, zones = self.config.card_ids, content.get("cards", {})
        cards = [zones.get(zone, {}).get(card, (0.0, 0)) for zone in ZONES for card in ids]
        return Value(
            *fitted,
            np.array([value for value, _ in cards], np.float64),
            np.array([n for _, n in cards], np.int64),
        )

    def cards_json(self, value: Value) -> dict[str, dict[str, list[float]]]:
        """Learned cards of a value function by zone and id: log-odds of a copy, and number of samples."""
        ids = self.config.card_ids
        found = list(zip([*ids, *ids], value.cards.tolist(), value.card_samples.tolist(), strict=True))
        return {
            zone: {card: [x, n] for card, x, n in part if n}
            for zone, part in zip(ZONES, (found[: len(ids)], found[len(ids) :]), strict=True)
        }

    def samples(self, number: int) -> Samples:
        """Read the samples of a committed round.

        Raises:
            LearningError: they cannot be read.
        """
        file = self._round(number, "parquet")
        return _samples_in(file, self.rounds[number]["sha256"], self.config.card_ids)

    def sample_bytes(self, number: int) -> bytes:
        """Content of the sample file of a committed round; errors as of `samples`."""
        self.samples(number)
        return read_bytes(self._round(number, "parquet"))

    def samples_to_fit(self, new: Samples | None = None) -> list[Samples]:
        """Samples for the next fit: of other learning runs (`also`), newest committed rounds, a new round.

        Args:
            new: samples of the new round; None: no new round.

        Raises:
            LearningError: they cannot be read.
        """
        also = self.path / "also"
        found = [
            _samples_in(also / f"{i:04d}.parquet", checksum, self.config.card_ids, optional=True)
            for i, checksum in enumerate(self.others, 1)
        ]
        sizes = [content["samples"] for content in self.rounds[1:]]
        sizes += [len(new.points)] if new else []
        n_rounds = count_newest_rounds(sizes) if METHODS[self.config.method].ALL_ROUNDS else 1
        first = 1 + len(sizes) - n_rounds
        own = [self.samples(number) for number in range(first, len(self.rounds))]
        return [*found, *own, *([new] if new else [])]

    def commit(self, content: Mapping[str, Any], samples: Samples | None = None) -> None:
        """Write a round's result and samples, and commit the round.

        Raises:
            LearningError: the disk is full or fails, or there are more samples than can be read again.
        """
        name, files = f"{len(self.rounds):04d}", {}
        record = {"schema": SCHEMA, "config_hash": self.digest, **content}
        if samples is not None:
            table = pd.DataFrame(samples.features.astype(np.float32), columns=list(FEATURES))
            table["points"], table["sequence"] = samples.points, samples.sequence
            texts = 0
            if samples.cards is not None:
                for column, written in _card_texts(samples.cards, self.config.card_ids).items():
                    table[column] = written
                    texts += sum(map(len, written))
            data = parquet_bytes(table, SAMPLES_SCHEMA)
            too_large = len(data) > MAX_FILE_BYTES or texts > MAX_TEXT_BYTES // 2
            if len(table) > MAX_SAMPLES_PER_ROUND or too_large:
                raise LearningError(
                    f"a round of {self.path} has {len(table):,} samples; the most that can be read again are "
                    f"{MAX_SAMPLES_PER_ROUND:,} samples and {MAX_FILE_BYTES / 2**20:.0f} MB: "
                    "set fewer games per round and "
                    "more rounds"
                )
            files[f"rounds/{name}.parquet"] = data
            record["sha256"] = checksum(data)
        files[f"rounds/{name}.json"] = json_bytes(record)
        with self._writing():
            self.commit_record(name, files)
        self.rounds.append(record)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the folder atomically.

        Raises:
            LearningError: the disk is full or fails.
        """
        with self._writing():
            self.replace(name, content)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Context that turns an OSError of a write into a LearningError."""
        try:
            yield
        except OSError as error:
            raise LearningError(folder_error_text(error, self.path, "write to")) from None

    def _round(self, number: int, kind: str) -> Path:
        """Path of one kind of file of a round."""
        return self.path / "rounds" / f"{number:04d}.{kind}"


class LearningPathError(LearningError, WrongValueError):
    """A path given by the user that is no learning folder."""


@contextlib.contextmanager
def open_learning(path: Path, config: LearnConfig) -> Iterator[LearningFolder]:
    """Open and lock a learning folder, new or to be continued.

    Raises:
        LearningError: the folder cannot be used, is in use, or has other contents.
    """
    config_file = path / LEARNING
    if path.exists() and not path.is_dir():
        raise LearningError(f"{path} is a file; choose another --out")
    if path.is_dir() and any(path.iterdir()) and not (path / "rounds").is_dir():
        raise LearningError(f"{path} is not empty and no learning folder; choose another --out")
    folder = LearningFolder(path, config)
    others = [] if (path / OTHER_SAMPLES).exists() else folder.read_other_samples()
    with folder:
        try:
            parts = [path / name for name in ("rounds", *(["also"] if config.also else []))]
            for part in parts:
                part.mkdir(parents=True, exist_ok=True)
            link = next(filter(None, map(find_symbolic_link, parts)), None)
            if link is not None:
                raise LearningError(f"{link} is a symbolic link; choose another --out")
            folder.acquire()
            if others:
                folder.copy_other_samples(others)
            folder.read_other_digests()
            previous_digest = _digest_in(config_file) if config_file.exists() else config.digest
            if previous_digest not in ("", config.digest) and not folder.has_valid_rounds():
                raise LearningError(
                    f"{path} was begun with another configuration, {config_file}; choose another --out"
                )
            kernel = folder.check_blas()
            folder.check_rounds()
        except OSError as error:
            raise LearningError(
                f"{folder_error_text(error, path, 'use folder')}; choose another --out"
            ) from None
        if previous_digest != config.digest:
            folder.problems.append(f"{LEARNING} was damaged and is written again")
        if kernel:
            manifest = {"manaforge": version("manaforge"), "blas": kernel}
            folder.write(MANIFEST, json_bytes(manifest))
        folder.write(LEARNING, config.to_toml().encode())
        yield folder


def _digest_in(file: Path) -> str:
    """The digest of the configuration in a file; "" for an invalid file.

    Raises:
        OSError: the file cannot be read.
    """
    read_bytes(file)
    try:
        return read_config_as(LearnConfig, file).digest
    except ManaforgeError:
        return ""


def count_rounds(path: Path) -> int:
    """Number of rounds in a learning folder, round 0 included; their files are not read.

    Raises:
        OSError: the folder cannot be read.
    """
    if (path / CHECKSUMS).exists():
        return len(read_history(path, LearningFolder.RECORDS).entries)
    return len(list((path / "rounds").glob("*.json")))


def read_learning(path: Path) -> LearningFolder:
    """Read a learning folder without locking it.

    Raises:
        LearningPathError: the path is no learning folder.
        ConfigError: its configuration is invalid.
    """
    if not (path / LEARNING).is_file() or not (path / "rounds").is_dir():
        raise LearningPathError(f"{path} is no folder of manaforge learn: {LEARNING} or rounds/ is missing")
    folder = LearningFolder(path, read_config_as(LearnConfig, path / LEARNING))
    folder.read_other_digests()
    folder.read_rounds()
    return folder


def _card_texts(cards: csr_matrix, ids: Sequence[str]) -> dict[str, list[str]]:
    """Columns `_CARDS` of counts of cards (`Samples.cards`)."""
    found: dict[str, list[str]] = {name: [] for name in _CARDS}
    for sample in range(cards.shape[0]):
        row = slice(cards.indptr[sample], cards.indptr[sample + 1])
        counts = sorted(zip(cards.indices[row].tolist(), cards.data[row].tolist(), strict=True))
        for zone, name in enumerate(_CARDS):
            own = {ids[at % len(ids)]: int(n) for at, n in counts if at // len(ids) == zone and n}
            found[name].append(json.dumps(own, separators=(",", ":")))
    return found


def _read_cards(table: pa.Table, ids: Sequence[str], start: int) -> Iterator[tuple[int, int, int]]:
    """Read counts of cards from the columns `_CARDS`: sample (the first is `start`), column and count.

    Raises:
        ValueError: a cell is no such text.
    """
    places = {card: place for place, card in enumerate(ids)}
    for zone, name in enumerate(_CARDS):
        for sample, text in enumerate(table.column(name).to_pylist() if name in table.schema.names else ()):
            counts = parse_json(text)
            if not isinstance(counts, dict):
                raise ValueError(f"{name} of a sample is no JSON object")
            for card, n in counts.items():
                if card not in places or type(n) is not int or not 0 < abs(n) <= MAX_CARD_COUNT:
                    raise ValueError(f"{name} of a sample has {str(n)[:20]} of card {card[:20]!r}")
                yield start + sample, zone * len(ids) + places[card], n


def _samples_in(file: Path, digest: str, ids: Sequence[str] = (), optional: bool = False) -> Samples:
    """Read a sample file, and verify its checksum; errors as of `LearningFolder.samples`.

    Args:
        file: the file.
        digest: SHA-256 of the file.
        ids: cards whose counts are read; () for none.
        optional: whether the file may lack counts of cards.
    """
    try:
        content = read_bytes(file)
        if checksum(content) != digest:
            raise ValueError("it is not the sample file that the fit used")
        rows, stop = min(count_rows(content), MAX_SAMPLES_PER_ROUND), 0
        samples = Samples(np.empty((rows, len(FEATURES))), np.empty(rows), np.empty(rows, np.int64))
        columns, counts = _SAMPLE | (_CARDS if ids else {}), list[tuple[int, int, int]]()
        for table in read_batches(content, columns, MAX_SAMPLES_PER_ROUND, _CARDS if optional else ()):
            start, stop = stop, stop + len(table)
            for column, name in enumerate(FEATURES):
                samples.features[start:stop, column] = table.column(name)
            samples.points[start:stop], samples.sequence[start:stop] = table["points"], table["sequence"]
            counts += _read_cards(table, ids, start) if ids else ()
        if not ids:
            return samples
        places, columns_of, numbers = np.array(counts, np.int64).reshape(-1, 3).T
        cards = csr_matrix((numbers.astype(float), (places, columns_of)), shape=(rows, 2 * len(ids)))
        return replace(samples, cards=cards)
    except (OSError, ValueError) as error:
        raise LearningError(f"cannot read {file}: {error}; start again in another --out") from None
