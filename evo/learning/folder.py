"""The folder of a learned value: its configuration, and what every round came to.

    learning.toml         the configuration, complete
    rounds/0001.parquet   samples of a round
    rounds/0001.json      its value, loss, calibration and tests; written last, so that the round counts
    profile.toml, curve.csv, report.html    written at the end

A round is a function of configuration and the rounds before it, so that a folder that is continued comes to
the same bytes.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from engine import ManaforgeError
from engine.errors import WrongValueError
from engine.received import read_bytes
from evo.configfiles import read_config_as
from evo.learning.config import LearnConfig
from evo.learning.methods import Samples, Value
from evo.storage.files import first_link, json_bytes, parquet_bytes, replace_file, take_lock, why_unusable
from evo.storage.kinds import LEARNING
from ilp_agent.lookahead.features import FEATURES

SCHEMA = 1


class LearningError(ManaforgeError, ValueError):
    """A folder that cannot be used for learning; the message names it and the way out."""


class LearningFolder:
    """An open folder; `open_learning` makes one.

    Attributes:
        path: the folder.
        config: the configuration.
        rounds: contents of the committed rounds, from round 0 on, which is the profile to begin with.
    """

    def __init__(self, path: Path, config: LearnConfig) -> None:
        self.path, self.config = path, config
        self.rounds: list[dict[str, Any]] = []

    def read_rounds(self) -> None:
        """Read the committed rounds; the first that is missing or damaged ends them.

        Raises:
            LearningError: a round was written by another version.
        """
        self.rounds = []
        while (content := _read_json(self._round(len(self.rounds), "json"))) is not None:
            if content.get("schema") != SCHEMA or content.get("config_hash") != self.config.digest:
                raise LearningError(f"{self.path} holds rounds of another configuration; take another --out")
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
        file = self._round(number, "parquet")
        try:
            table = pd.read_parquet(file)
            features = table[list(FEATURES)].to_numpy(np.float64)
            return Samples(
                features, table["points"].to_numpy(np.float64), table["sequence"].to_numpy(np.int64)
            )
        except (OSError, KeyError, ValueError) as error:
            raise LearningError(f"cannot read {file}: {error}; begin again in another --out") from None

    def keep(self, number: int, samples: Samples) -> None:
        """Write the samples of a round, and commit nothing yet."""
        table = pd.DataFrame(samples.features.astype(np.float32), columns=list(FEATURES))
        table["points"], table["sequence"] = samples.points, samples.sequence
        self.write(f"rounds/{number:04d}.parquet", parquet_bytes(table, SCHEMA))

    def commit(self, content: Mapping[str, Any]) -> None:
        """Write what a round came to; from now on it counts."""
        whole = {"schema": SCHEMA, "config_hash": self.config.digest, **content}
        self.write(f"rounds/{len(self.rounds):04d}.json", json_bytes(whole))
        self.rounds.append(whole)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the folder all or nothing.

        Raises:
            LearningError: the disk is full or fails.
        """
        target = self.path / name
        try:
            replace_file(target, content, target.with_name(f".{target.name}.tmp"))
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
    try:
        (path / "rounds").mkdir(parents=True, exist_ok=True)
        link = first_link(path) or first_link(path / "rounds")
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
    folder.read_rounds()
    return folder


def _read_json(file: Path) -> dict[str, Any] | None:
    """The content of a round; None where it is missing or damaged."""
    try:
        content = json.loads(read_bytes(file))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
