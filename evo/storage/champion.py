"""The champion of a run on disk: read, write and verify `champion.toml` and `final.parquet`."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from engine import ManaforgeError
from engine.safe_files import read_bytes, read_toml
from evo.config.benchmarks import BENCHMARKS
from evo.config.run_config import RunConfig
from evo.storage.files import json_bytes, parquet_bytes
from evo.storage.run_folder import ACCESS_ERRORS, RunError, RunFolder
from evo.storage.schema import RUN_SCHEMA, read_table
from ilp_agent import Profile, WeightVector
from rivals import DEFAULT_AGENT, read_agent_profile


@dataclass(frozen=True)
class ChampionFile:
    """Unchecked content of a run's `champion.toml`; only the provenance is known to be a table.

    Attributes:
        content: the file's content; {} if the file is missing or malformed.
        provenance: its provenance; {} if missing.
        unreadable: error of the operating system on reading it, such as "Permission denied"; "" if none.
    """

    content: Mapping[str, Any]
    provenance: Mapping[str, Any]
    unreadable: str = ""

    def finishes(self, config: RunConfig) -> bool:
        """Whether this champion is of the configured last generation, so that the run is finished."""
        return bool(self.content) and self.provenance.get("generation") == config.generations

    @property
    def agent(self) -> str:
        """Name of the agent whose weights these are, according to the file."""
        return str(self.provenance.get("agent") or self.content.get("agent", DEFAULT_AGENT))


def read_champion_file(run: Path) -> ChampionFile:
    """Read `champion.toml` of a run folder, even if missing or damaged; see `ChampionFile`."""
    try:
        content = read_toml(run / "champion.toml")
    except OSError as error:
        return ChampionFile({}, {}, str(error.strerror) if error.errno in ACCESS_ERRORS else "")
    except ValueError:
        return ChampionFile({}, {})
    provenance = content.get("provenance")
    return ChampionFile(content, provenance if isinstance(provenance, dict) else {})


def write_champion(
    folder: RunFolder, profile: Profile[WeightVector], final: pd.DataFrame, baselines: Mapping[str, Any]
) -> None:
    """Write `final.parquet` and `champion.toml`; add both checksums and the baselines to the manifest.

    Raises:
        RunError: the disk is full or fails.
    """
    text = profile.to_toml().encode()
    table = parquet_bytes(final, RUN_SCHEMA)
    folder.write("final.parquet", table)
    folder.write("champion.toml", text)
    manifest = folder.manifest()
    for (_, key), content in zip(_FILES, (text, table), strict=True):
        manifest[key] = hashlib.sha256(content).hexdigest()
    manifest["baselines"] = dict(baselines)
    manifest["finished"] = datetime.now(UTC).isoformat(timespec="seconds")
    folder.write("manifest.json", json_bytes(manifest))


def load_intact_champion(folder: RunFolder) -> Profile[WeightVector] | None:
    """Load a run's champion; None for a missing or damaged one, or one of another configuration or length.

    Damage is added to the folder's `problems`. A missing champion, or one of a shorter run, is not damage.

    Raises:
        RunError: the operating system denies reading its files.
    """
    if not (folder.path / "champion.toml").exists():
        return None
    manifest = folder.manifest()
    for name, key in _FILES:
        file = folder.path / name
        content = _bytes_of(file)
        if hashlib.sha256(content).hexdigest() != manifest.get(key):
            folder.problems.append(f"{name} does not agree with manifest.json; the final is played again")
            return None
    try:
        read_final(folder)
        profile = read_agent_profile(folder.path / "champion.toml", folder.config.vector)
    except ManaforgeError as error:
        folder.problems.append(f"final.parquet or champion.toml: {error}; the final is played again")
        return None
    if not _is_complete(profile.provenance):
        folder.problems.append("champion.toml lacks parts of its provenance; the final is played again")
        return None
    same = profile.provenance.get("config_hash") == folder.config.digest
    return profile if same and profile.provenance.get("generation") == folder.config.generations else None


def read_final(folder: RunFolder) -> pd.DataFrame:
    """Read `final.parquet` of a run; runs/README.md describes its columns.

    Raises:
        SchemaError: the file does not have the columns of a final.
        OSError: it cannot be read.
    """
    return read_table(read_bytes(folder.path / "final.parquet"), "final", folder.config).to_pandas()


def _bytes_of(file: Path) -> bytes:
    """Content of a file; empty if the file is missing or not a regular file.

    Raises:
        RunError: the operating system denies reading it.
    """
    try:
        return read_bytes(file)
    except OSError as error:
        if error.errno in ACCESS_ERRORS:
            raise RunError(f"{file} cannot be read: {error.strerror}") from None
        return b""


_FILES = (("champion.toml", "champion_sha256"), ("final.parquet", "final_sha256"))
"""Files of a finished run, and the manifest keys of their checksums."""


def _is_complete(provenance: Mapping[str, Any]) -> bool:
    """Whether a champion's provenance has all displayed entries, with valid types and ranges."""
    texts = [provenance.get(key) for key in ("candidate", "manaforge")]
    counts = [provenance.get(key) for key in ("birth", "generation", "seed", "rules")]
    keys = ("final", *(benchmark.record for benchmark in BENCHMARKS.values()))
    records = [provenance[key] for key in keys if key in provenance]
    return (
        all(isinstance(text, str) for text in texts)
        and all(_is_count(count) for count in counts)
        and all(isinstance(record, dict) and _is_record(record) for record in records)
    )


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_record(record: Mapping[str, Any]) -> bool:
    """Whether games, win_rate, low and high of a game record are numbers in range."""
    rates = [record.get(key) for key in ("win_rate", "low", "high")]
    numbers = all(isinstance(rate, int | float) and -1 <= rate <= 2 for rate in rates)
    return numbers and _is_count(record.get("games"))
