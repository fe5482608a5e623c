"""The folder of a learned value: its configuration, and what every round came to.

    learning.toml         the configuration, complete
    rounds/0001.parquet   samples of a round
    rounds/0001.json      its value, loss, calibration and tests; written last, so that the round counts
    also/0001.parquet     samples of other learnings (`also`), copied when this one begins
    also.json             where they come from, and their checksums
    profile.toml, curve.csv, report.html    written at the end

A round is a function of configuration and the rounds before it, so that a folder that is continued comes to
the same bytes.
"""

import contextlib
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from engine import ManaforgeError
from engine.errors import WrongValueError
from engine.received import read_bytes, read_json
from evo.configfiles import read_config_as
from evo.learning.config import LearnConfig
from evo.learning.methods import METHODS, Samples, Value, newest
from evo.storage.files import (
    digest_of,
    first_link,
    json_bytes,
    parquet_bytes,
    replace_file,
    take_lock,
    temporary_of,
    why_unusable,
)
from evo.storage.kinds import LEARNING
from ilp_agent.lookahead.features import FEATURES

SCHEMA = 1

ALSO = "also.json"
"""Lists the samples of other learnings."""


class LearningError(ManaforgeError, ValueError):
    """A folder that cannot be used for learning; the message names it and the way out."""


class LearningFolder:
    """An open folder; `open_learning` makes one.

    Attributes:
        path: the folder.
        config: the configuration.
        others: checksums of the samples of other learnings.
        rounds: contents of the committed rounds, from round 0 on, which is the profile to begin with.
    """

    def __init__(self, path: Path, config: LearnConfig) -> None:
        self.path, self.config = path, config
        self.others: list[str] = []
        self.rounds: list[dict[str, Any]] = []

    @property
    def digest(self) -> str:
        """Of the configuration and of the samples of other learnings."""
        return digest_of([self.config.digest, self.others]) if self.others else self.config.digest

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
            entries.append({"folder": text, "round": number, "sha256": _sha256(content)})
        self.write(ALSO, json_bytes({"samples": entries}))

    def read_rounds(self) -> None:
        """Read the committed rounds; the first that is missing or damaged ends them.

        Raises:
            LearningError: a round was written by another version.
        """
        self.rounds = []
        while (content := self._read_round(len(self.rounds))) is not None:
            if content["schema"] != SCHEMA or content["config_hash"] != self.digest:
                raise LearningError(
                    f"{self.path} holds rounds of other rules or another configuration, or a deck, the "
                    "profile or an opponent was changed since; take another --out"
                )
            self.rounds.append(content)

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

    def keep(self, number: int, samples: Samples) -> str:
        """Write the samples of a round, and commit nothing yet; returns their checksum, for the round."""
        table = pd.DataFrame(samples.features.astype(np.float32), columns=list(FEATURES))
        table["points"], table["sequence"] = samples.points, samples.sequence
        content = parquet_bytes(table, SCHEMA)
        self.write(f"rounds/{number:04d}.parquet", content)
        return _sha256(content)

    def commit(self, content: Mapping[str, Any]) -> None:
        """Write what a round came to; from now on it counts."""
        whole = {"schema": SCHEMA, "config_hash": self.digest, **content}
        self.write(f"rounds/{len(self.rounds):04d}.json", json_bytes(whole))
        self.rounds.append(whole)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the folder all or nothing.

        Raises:
            LearningError: the disk is full or fails.
        """
        target = self.path / name
        try:
            replace_file(target, content, temporary_of(target))
        except OSError as error:
            raise LearningError(why_unusable(error, self.path, "write to")) from None

    def _read_round(self, number: int) -> dict[str, Any] | None:
        """The content of a round; None where it is missing or damaged."""
        try:
            content = read_json(self._round(number, "json"))
        except (OSError, ValueError):
            return None
        return content if _is_whole(content, number) else None

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
    try:
        parts = [path / name for name in ("rounds", *(["also"] if config.also else []))]
        for part in parts:
            part.mkdir(parents=True, exist_ok=True)
        link = next(filter(None, map(first_link, (path, *parts))), None)
        if link is not None:
            raise LearningError(f"{link} is a symbolic link; choose another --out")
        lock = take_lock(path)
    except OSError as error:
        raise LearningError(f"{why_unusable(error, path, 'use folder')}; choose another --out") from None
    if lock is None:
        raise LearningError(f"{path} is in use by another process")
    with lock:
        if known.exists() and read_config_as(LearnConfig, known).digest != config.digest:
            raise LearningError(f"{path} was begun with another configuration, {known}; take another --out")
        if others:
            folder.keep_others(others)
        folder.read_others()
        folder.read_rounds()
        folder.write(LEARNING, config.to_toml().encode())
        yield folder


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


def _samples_in(file: Path, checksum: str) -> Samples:
    """The samples in a file with this checksum; errors as of `LearningFolder.samples`."""
    try:
        content = read_bytes(file)
        if _sha256(content) != checksum:
            raise ValueError("it is not the file that was learned from")
        table = pq.ParquetFile(io.BytesIO(content)).read().to_pandas()
        return Samples(
            table[list(FEATURES)].to_numpy(np.float64),
            table["points"].to_numpy(np.float64),
            table["sequence"].to_numpy(np.int64),
        )
    except (OSError, KeyError, ValueError, TypeError, pa.ArrowException) as error:
        raise LearningError(f"cannot read {file}: {error}; begin again in another --out") from None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_whole(content: Any, number: int) -> bool:
    """Whether a round's content is what a learning writes: so much of it as is read again."""
    try:
        tests = [
            [float(test[name]) for name in ("games", "score", "low", "high")] for test in content["tests"]
        ]
        texts = [*(test["opponent"] for test in content["tests"]), content["config_hash"]]
        whole = content["round"] == number and isinstance(content["schema"], int)
        whole &= all(isinstance(text, str) for text in texts) and bool(np.isfinite(np.array(tests)).all())
        if number:
            numbers = [*content["weights"], *content["scale"], content["intercept"]]
            whole &= len(content["weights"]) == len(content["scale"]) == len(FEATURES)
            whole &= bool(np.isfinite(np.array(numbers, float)).all())
            whole &= all(int(content[name]) > 0 for name in ("samples", "told", "games"))
            whole &= isinstance(content["sha256"], str)
            groups = np.array(content["calibration"], float)
            whole &= len(groups) == 0 or (groups.ndim == 2 and groups.shape[1] == 3)
            whole &= content["loss"] is None or bool(np.isfinite(float(content["loss"])))
    except (KeyError, TypeError, ValueError, OverflowError):
        return False
    return bool(whole)
