"""The folder of a learned value: its configuration, and what every round came to.

    learning.toml         the configuration, complete
    rounds/0001.parquet   samples of a round
    rounds/0001.json      its value, loss, calibration and tests
    checksums.txt         a line for each round, which commits it (`evo.storage.history`)
    also/0001.parquet     samples of other learnings (`also`), copied when this one begins
    also.json             where they come from, and their checksums
    manifest.json         which BLAS the values are fitted with
    profile.toml, curve.csv, report.html    written at the end

A round is a function of configuration, the rounds before it and, in the last digits, the kernel of the BLAS,
so that a folder that is continued comes to the same bytes.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine import ManaforgeError
from engine.errors import WrongValueError
from engine.safe_files import MOST_DATA, parse_json, read_bytes, read_json
from evo.config.files import read_config_as
from evo.learning.config import LearnConfig
from evo.learning.methods import METHODS, Samples, Value, blas_kernel, newest
from evo.storage.files import (
    LEARNING,
    digest_of,
    first_link,
    json_bytes,
    parquet_bytes,
    why_not_writable,
    why_unusable,
)
from evo.storage.history import (
    CHECKSUMS,
    CheckedFolder,
    Entry,
    HistoryError,
    Records,
    checksum,
    read_history,
)
from evo.storage.schema import COUNT, NUMBER, SCORE, count_rows, read_batches
from ilp_agent.features import FEATURES
from rivals import other_versions

SCHEMA = 2
"""Of rounds."""

WITHOUT_CHECKSUMS = 1
"""The schema of rounds before there was a `checksums.txt`; they counted as soon as they were there."""

SAMPLES_SCHEMA = 1

MANIFEST = "manifest.json"
"""Which version wrote a learning, and which BLAS its fits were made with."""

ALSO = "also.json"
"""Lists the samples of other learnings."""

MOST_ROUND = 3_000_000
"""Samples of a round, 750 MB of them; a game has twenty by `logistic` and `td`."""

_SAMPLE = dict.fromkeys(FEATURES, NUMBER) | {"points": SCORE, "sequence": COUNT}
"""Columns of the samples of a round."""


class LearningError(ManaforgeError, ValueError):
    """A folder that cannot be used for learning; the message names it and the way out."""


Number = Annotated[float, Field(ge=-1e100, le=1e100, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=2**53)]
Positive = Annotated[Count, Field(gt=0)]


class _Content(BaseModel):
    """A part of what a round came to, so much of it as is read again."""

    model_config = ConfigDict(strict=True)


class _Test(_Content):
    opponent: str
    games: Count
    score: Annotated[Number, Field(ge=-1, le=2)]
    low: Annotated[Number, Field(ge=-1, le=2)]
    high: Annotated[Number, Field(ge=-1, le=2)]


class _Round(_Content):
    number_of_schema: Count = Field(alias="schema")
    config_hash: str
    round: Count
    tests: list[_Test]


Weights = Annotated[list[Number], Field(min_length=len(FEATURES), max_length=len(FEATURES))]


class _Learned(_Round):
    """Of a round that was fitted: all but round 0."""

    games: Positive
    samples: Positive
    told: Positive
    sha256: str
    loss: Number | None
    calibration: list[Annotated[tuple[Share, Share, Positive], Field(strict=False)]]
    weights: Weights
    intercept: Number
    scale: Weights


def _files_of(name: str) -> tuple[str, ...]:
    """Files of a round; of round 0, which is the profile to begin with, there are no samples."""
    content = f"rounds/{name}.json"
    return (content, f"rounds/{name}.parquet") if int(name) else (content,)


class LearningFolder(CheckedFolder):
    """An open folder; `open_learning` makes one.

    Attributes:
        path: the folder.
        config: the configuration.
        others: checksums of the samples of other learnings.
        rounds: contents of the committed rounds, from round 0 on, which is the profile to begin with.
        problems: damage found on opening, one sentence each.
    """

    ERROR = LearningError
    RECORDS = Records(_files_of)

    def __init__(self, path: Path, config: LearnConfig) -> None:
        super().__init__(path)
        self.config = config
        self.others: list[str] = []
        self.rounds: list[dict[str, Any]] = []

    @property
    def digest(self) -> str:
        """Of the configuration and of the samples of other learnings."""
        return digest_of([self.config.digest, self.others]) if self.others else self.config.digest

    @property
    def first_digest(self) -> str:
        """The same where all agents play by their first version."""
        first = self.config.first_digest
        return digest_of([first, self.others]) if self.others else first

    def read_others(self) -> None:
        """Read which samples of other learnings there are.

        Raises:
            LearningError: the list is missing or damaged.
        """
        if not self.config.also:
            return
        file = self.path / ALSO
        try:
            found = [entry["sha256"] for entry in read_json(file)["samples"]]
            if not found or not all(isinstance(text, str) for text in found):
                raise ValueError("it lists no samples")
        except (OSError, KeyError, ValueError, TypeError) as error:
            raise LearningError(f"cannot read {file}: {error}; begin again in another --out") from None
        self.others = found

    def find_others(self) -> list[tuple[str, int, bytes]]:
        """The samples of other learnings where they are: folder, round, and the file.

        Raises:
            LearningNameError: one cannot be read, has no round, or is of another sort of method.
        """
        found = []
        for text in self.config.also:
            try:
                other = read_learning(Path(text))
                if METHODS[other.config.method].PAIRED != METHODS[self.config.method].PAIRED:
                    raise LearningError(f"it was learned by {other.config.method}, not {self.config.method}")
                if len(other.rounds) < 2:
                    raise LearningError("it has no round yet; manaforge learn plays them")
                found += [(text, one, other.sample_bytes(one)) for one in range(1, len(other.rounds))]
            except ManaforgeError as error:
                raise LearningNameError(f"also: {text}: {error}") from None
        return found

    def keep_others(self, found: Sequence[tuple[str, int, bytes]]) -> None:
        """Copy samples of other learnings into the folder."""
        entries = []
        for place, (text, number, content) in enumerate(found, 1):
            self.write(f"also/{place:04d}.parquet", content)
            entries.append({"folder": text, "round": number, "sha256": checksum(content)})
        self.write(ALSO, json_bytes({"samples": entries}))

    def take(self, file: str) -> None:
        """Lock the folder, and see that a file can be written, before games are played for it.

        Raises:
            LearningError: another process uses it, or it cannot be written.
        """
        try:
            self.acquire()
            why = why_not_writable(self.path / file, self.path / f"{file}.tmp")
        except OSError as error:
            why = str(error.strerror or error)
        if why:
            raise LearningError(f"cannot write {self.path / file}: {why}")

    def check_blas(self) -> str:
        """Which BLAS is to fit the next round; "" where none is.

        Raises:
            LearningError: another one fitted those before, so that the next would come to other bytes.
            OSError: the note of it cannot be read.
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
                f"the rounds of {self.path} were fitted with {known}, and this process has {kernel}, which "
                "adds in another order: the next round would have other last digits. Continue on a "
                "processor like that one, or with its kernel where this processor can run it, "
                f"OPENBLAS_CORETYPE={known.split()[-1]}; or take another --out"
            )
        return kernel

    def read_rounds(self) -> None:
        """Read the committed rounds, while another process may play more of them.

        Raises:
            LearningError: a round is damaged, cannot be read, or was written by another version.
        """
        try:
            history = read_history(self.path, self.RECORDS)
            self.entries = {entry.name: entry for entry in history.entries}
            damage = "" if history.torn else history.problem
            if not (self.path / CHECKSUMS).exists():
                self.entries, damage = self._without_checksums()
            for name in self.entries:
                damage = damage or self.damage_of(name)
        except OSError as error:
            raise LearningError(why_unusable(error, self.path, "read")) from None
        if damage:
            again = "the manaforge learn that made it plays that round again"
            raise LearningError(f"{self.path}: {damage}; {again}")

    def has_own_rounds(self) -> bool:
        """Whether it holds rounds of this configuration, all of them whole."""
        try:
            self.read_rounds()
        except LearningError:
            return False
        return bool(self.rounds)

    def check_rounds(self) -> None:
        """Read the committed rounds, as the only process; what is damaged is set aside, and played again.

        Raises:
            LearningError: a round was written by another version, or played by one of an agent.
            OSError: one cannot be read.
        """
        if not (self.path / CHECKSUMS).exists():
            entries, damage = self._without_checksums()
            self.problems += [damage] if damage else []
            self.replace(CHECKSUMS, "".join(entry.line for entry in entries.values()).encode())
        self.check_records("rounds")
        if any(content["config_hash"] != self.digest for content in self.rounds):
            other = other_versions(dict.fromkeys((one.kind for one in self.config.opponents), 1))
            raise LearningError(f"{self.path} was played with {other}; take another --out")

    def damage_of(self, name: str) -> str:
        """See `CheckedFolder`; a whole round is added to `rounds`."""
        try:
            content = parse_json(self.read_record(name)[0].decode())
        except HistoryError as error:
            return str(error)
        except ValueError as error:
            return f"rounds/{name}.json: {error}"
        try:
            model = _Learned if int(name) else _Round
            content = model.model_validate(content).model_dump(by_alias=True, exclude_unset=True)
            if content["round"] != int(name):
                raise ValueError(f"it is of round {content['round']}")
        except ValueError as error:
            why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
            return f"rounds/{name}.json is no round of manaforge learn: {why}"
        known = self.digest, self.first_digest
        if content["schema"] not in (SCHEMA, WITHOUT_CHECKSUMS) or content["config_hash"] not in known:
            raise LearningError(
                f"{self.path} holds rounds of other rules or another configuration, or a deck, the "
                "profile or an opponent was changed since; take another --out"
            )
        self.rounds[int(name) :] = [content]
        return ""

    def _without_checksums(self) -> tuple[dict[str, Entry], str]:
        """The rounds of a folder from before there was a `checksums.txt`, and what is wrong with the next.

        Raises:
            OSError: one cannot be read.
        """
        found: dict[str, Entry] = {}
        for number in count():
            name = f"{number:04d}"
            try:
                contents = [read_bytes(self.path / file) for file in _files_of(name)]
                content = parse_json(contents[0].decode())
                if content.get("schema") != WITHOUT_CHECKSUMS:
                    raise ValueError(f"it is of schema {content.get('schema')!r}, and {CHECKSUMS} is missing")
                if number and checksum(contents[1]) != content.get("sha256"):
                    raise ValueError("its samples are not those that it was learned from")
            except FileNotFoundError:
                break
            except ValueError as error:
                return found, f"rounds/{name}.json: {error}"
            found[name] = Entry(name, tuple(map(checksum, contents)))
        return found, ""

    def value(self, number: int) -> Value | None:
        """The value of a round; None of round 0."""
        content = self.rounds[number]
        if "weights" not in content:
            return None
        return Value(np.array(content["weights"]), content["intercept"], np.array(content["scale"]))

    def samples(self, number: int) -> Samples:
        """The samples of a committed round.

        Raises:
            LearningError: they cannot be read.
        """
        return _samples_in(self._round(number, "parquet"), self.rounds[number]["sha256"])

    def sample_bytes(self, number: int) -> bytes:
        """The file of the samples of a committed round; errors as of `samples`."""
        self.samples(number)
        return read_bytes(self._round(number, "parquet"))

    def samples_to_fit(self, new: Samples | None = None) -> list[Samples]:
        """Samples of other learnings (`also`), of the newest committed rounds, and of the round after them.

        Args:
            new: of the round after; None: the last committed round is the newest.

        Raises:
            LearningError: they cannot be read.
        """
        also = self.path / "also"
        found = [
            _samples_in(also / f"{place:04d}.parquet", checksum)
            for place, checksum in enumerate(self.others, 1)
        ]
        sizes = [content["samples"] for content in self.rounds[1:]]
        sizes += [len(new.points)] if new else []
        kept = newest(sizes) if METHODS[self.config.method].ALL_ROUNDS else 1
        first = 1 + len(sizes) - kept
        own = [self.samples(number) for number in range(first, len(self.rounds))]
        return [*found, *own, *([new] if new else [])]

    def commit(self, content: Mapping[str, Any], samples: Samples | None = None) -> None:
        """Write what a round came to, and its samples; from now on it counts.

        Raises:
            LearningError: the disk is full or fails, or there are more samples than can be read again.
        """
        name, files = f"{len(self.rounds):04d}", {}
        whole = {"schema": SCHEMA, "config_hash": self.digest, **content}
        if samples is not None:
            table = pd.DataFrame(samples.features.astype(np.float32), columns=list(FEATURES))
            table["points"], table["sequence"] = samples.points, samples.sequence
            packed = parquet_bytes(table, SAMPLES_SCHEMA)
            if len(table) > MOST_ROUND or len(packed) > MOST_DATA:
                raise LearningError(
                    f"a round of {self.path} has {len(table):,} samples, more than can be read again, which "
                    f"are at most {MOST_ROUND:,}, of {MOST_DATA / 2**20:.0f} MB; take fewer games a round, "
                    "and more rounds"
                )
            files[f"rounds/{name}.parquet"] = packed
            whole["sha256"] = checksum(packed)
        files[f"rounds/{name}.json"] = json_bytes(whole)
        with self._writing():
            self.commit_record(name, files)
        self.rounds.append(whole)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the folder all or nothing.

        Raises:
            LearningError: the disk is full or fails.
        """
        with self._writing():
            self.replace(name, content)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LearningError(why_unusable(error, self.path, "write to")) from None

    def _round(self, number: int, kind: str) -> Path:
        return self.path / "rounds" / f"{number:04d}.{kind}"


class LearningNameError(LearningError, WrongValueError):
    """What was typed is no folder of a learned value."""


@contextlib.contextmanager
def open_learning(path: Path, config: LearnConfig) -> Iterator[LearningFolder]:
    """Lock a folder for learning, new or to be continued.

    Raises:
        LearningError: it cannot be used, is in use, or holds something else.
    """
    known = path / LEARNING
    if path.exists() and not path.is_dir():
        raise LearningError(f"{path} is a file; choose another --out")
    if path.is_dir() and any(path.iterdir()) and not (path / "rounds").is_dir():
        raise LearningError(f"{path} holds something else; choose another --out")
    folder = LearningFolder(path, config)
    others = [] if (path / ALSO).exists() else folder.find_others()
    with folder:
        try:
            parts = [path / name for name in ("rounds", *(["also"] if config.also else []))]
            for part in parts:
                part.mkdir(parents=True, exist_ok=True)
            link = next(filter(None, map(first_link, parts)), None)
            if link is not None:
                raise LearningError(f"{link} is a symbolic link; choose another --out")
            folder.acquire()
            if others:
                folder.keep_others(others)
            folder.read_others()
            begun_with = _digest_in(known) if known.exists() else config.digest
            if begun_with not in ("", config.digest) and not folder.has_own_rounds():
                raise LearningError(
                    f"{path} was begun with another configuration, {known}; take another --out"
                )
            kernel = folder.check_blas()
            folder.check_rounds()
        except OSError as error:
            raise LearningError(f"{why_unusable(error, path, 'use folder')}; choose another --out") from None
        if begun_with != config.digest:
            folder.problems.append(f"{LEARNING} is damaged; it is written again")
        if kernel:
            note = {"manaforge": version("manaforge"), "blas": kernel}
            folder.write(MANIFEST, json_bytes(note))
        folder.write(LEARNING, config.to_toml().encode())
        yield folder


def _digest_in(known: Path) -> str:
    """The digest of a configuration; "" for one that cannot be used.

    Raises:
        OSError: it cannot be read.
    """
    read_bytes(known)
    try:
        return read_config_as(LearnConfig, known).digest
    except ManaforgeError:
        return ""


def count_rounds(path: Path) -> int:
    """How many rounds a folder says it has, round 0 among them; none of them is read.

    Raises:
        OSError: that cannot be read.
    """
    if (path / CHECKSUMS).exists():
        return len(read_history(path, LearningFolder.RECORDS).entries)
    return len(list((path / "rounds").glob("*.json")))


def read_learning(path: Path) -> LearningFolder:
    """A folder for reading.

    Raises:
        LearningNameError: it is no folder of a learned value.
        ConfigError: its configuration cannot be used.
    """
    if not (path / LEARNING).is_file() or not (path / "rounds").is_dir():
        raise LearningNameError(f"{path} is no folder of manaforge learn: it has no {LEARNING} and rounds/")
    folder = LearningFolder(path, read_config_as(LearnConfig, path / LEARNING))
    folder.read_others()
    folder.read_rounds()
    return folder


def _samples_in(file: Path, digest: str) -> Samples:
    """The samples in a file with this checksum; errors as of `LearningFolder.samples`."""
    try:
        content = read_bytes(file)
        if checksum(content) != digest:
            raise ValueError("it is not the file that was learned from")
        rows, stop = min(count_rows(content), MOST_ROUND), 0
        found = Samples(np.empty((rows, len(FEATURES))), np.empty(rows), np.empty(rows, np.int64))
        for table in read_batches(content, _SAMPLE, MOST_ROUND):
            start, stop = stop, stop + len(table)
            for place, name in enumerate(FEATURES):
                found.features[start:stop, place] = table.column(name)
            found.points[start:stop], found.sequence[start:stop] = table["points"], table["sequence"]
        return found
    except (OSError, ValueError) as error:
        raise LearningError(f"cannot read {file}: {error}; begin again in another --out") from None
