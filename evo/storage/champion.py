"""The champion of a run on disk: whether it exists, whether it finishes the run, whether it is undamaged."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from engine import ManaforgeError
from engine.safe_files import read_bytes, read_toml
from evo.config.run_config import RunConfig
from evo.storage.files import json_bytes, parquet_bytes
from evo.storage.run_folder import UNREADABLE, RunError, RunFolder
from evo.storage.schema import RUN_SCHEMA, read_table
from ilp_agent import Profile, WeightVector
from rivals import DEFAULT_AGENT, read_agent_profile


@dataclass(frozen=True)
class ChampionFile:
    """`champion.toml` of a folder as read, unchecked except that its provenance is a table.

    Attributes:
        content: the file's content; {} if the file is missing or unreadable.
        provenance: its provenance; {} without one.
        unreadable: why the system does not let it be read; "" if it does.
    """

    content: Mapping[str, Any]
    provenance: Mapping[str, Any]
    unreadable: str = ""

    def finishes(self, config: RunConfig) -> bool:
        """Whether this champion is of the last generation of a run of this configuration."""
        return bool(self.content) and self.provenance.get("generation") == config.generations

    @property
    def agent(self) -> str:
        """The agent whose weights it has, according to the file."""
        return str(self.provenance.get("agent") or self.content.get("agent", DEFAULT_AGENT))


def read_champion_file(run: Path) -> ChampionFile:
    """`champion.toml` of a run folder, even if missing or damaged; see `ChampionFile`."""
    try:
        content = read_toml(run / "champion.toml")
    except OSError as error:
        return ChampionFile({}, {}, str(error.strerror) if error.errno in UNREADABLE else "")
    except ValueError:
        return ChampionFile({}, {})
    provenance = content.get("provenance")
    return ChampionFile(content, provenance if isinstance(provenance, dict) else {})


def write_champion(
    folder: RunFolder, profile: Profile[WeightVector], final: pd.DataFrame, panel: Mapping[str, Any]
) -> None:
    """Write `final.parquet` and `champion.toml`, and their checksums and the panel to the manifest.

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
    manifest["panel"] = dict(panel)
    manifest["finished"] = datetime.now(UTC).isoformat(timespec="seconds")
    folder.write("manifest.json", json_bytes(manifest))


def whole_champion(folder: RunFolder) -> Profile[WeightVector] | None:
    """The champion if it belongs to this history and configuration and is undamaged; else None.

    Damage is added to the folder's `problems`. No champion yet, or one of a shorter run, is not damage.

    Raises:
        RunError: the system does not let its files be read.
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
    """`final.parquet` of a run; runs/README.md describes its columns.

    Raises:
        SchemaError: it is not such a table.
        OSError: it cannot be read.
    """
    return read_table(read_bytes(folder.path / "final.parquet"), "final", folder.config).to_pandas()


def _bytes_of(file: Path) -> bytes:
    """The content of a file; empty for one that is missing or none that can be read.

    Raises:
        RunError: the system does not let it be read.
    """
    try:
        return read_bytes(file)
    except OSError as error:
        if error.errno in UNREADABLE:
            raise RunError(f"{file} cannot be read: {error.strerror}") from None
        return b""


_FILES = (("champion.toml", "champion_sha256"), ("final.parquet", "final_sha256"))
"""Files of a finished run, and the manifest's keys of their checksums."""


def _is_complete(provenance: Mapping[str, Any]) -> bool:
    """Whether a champion's provenance holds all that is displayed, each of its type and range."""
    texts = [provenance.get(key) for key in ("candidate", "manaforge")]
    counts = [provenance.get(key) for key in ("birth", "generation", "seed", "rules")]
    records = [provenance[key] for key in ("final", "against_thesis_seven") if key in provenance]
    return (
        all(isinstance(text, str) for text in texts)
        and all(_is_count(count) for count in counts)
        and all(isinstance(record, dict) and _is_record(record) for record in records)
    )


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_record(record: Mapping[str, Any]) -> bool:
    """Whether games, win_rate, low and high are numbers that a record can have."""
    rates = [record.get(key) for key in ("win_rate", "low", "high")]
    numbers = all(isinstance(rate, int | float) and -1 <= rate <= 2 for rate in rates)
    return numbers and _is_count(record.get("games"))
