"""Whether a run is finished and its champion undamaged, for all commands."""

import json
import tomllib
from pathlib import Path

import pytest
import tomli_w

from evo.evolution.session import extend_run
from evo.storage.champion import load_intact_champion, read_champion_file, read_final
from evo.storage.files import parquet_bytes
from evo.storage.run_folder import open_run, open_run_read_only
from evo.storage.schema import RUN_SCHEMA, SchemaError
from tests.evo.runs import TINY


def test_a_finished_run_has_a_whole_champion(finished: Path) -> None:
    folder = open_run_read_only(finished)
    profile = load_intact_champion(folder)
    assert profile is not None
    assert folder.problems == []
    said = read_champion_file(finished)
    assert said.finishes(TINY)
    assert said.provenance == profile.provenance
    assert said.agent == "ilp"
    final = read_final(folder)
    assert final["candidate"].iloc[0] == profile.provenance["candidate"]


def test_a_longer_run_is_not_finished_and_that_is_no_damage(copy: Path) -> None:
    with open_run(copy) as folder:
        extend_run(folder, 5)
        assert load_intact_champion(folder) is None
        assert folder.problems == []
        assert not read_champion_file(copy).finishes(folder.config)


@pytest.mark.parametrize("name", ["champion.toml", "final.parquet"])
def test_a_changed_file_is_damage(copy: Path, name: str) -> None:
    (copy / name).write_bytes((copy / name).read_bytes() + b"\n")
    folder = open_run_read_only(copy)
    assert load_intact_champion(folder) is None
    assert folder.problems == [f"{name} does not agree with manifest.json; the final is played again"]


def fit_checksum(run: Path, name: str, key: str) -> None:
    """Make the manifest agree with a changed file, as a forger would."""
    import hashlib

    manifest = json.loads((run / "manifest.json").read_text())
    manifest[key] = hashlib.sha256((run / name).read_bytes()).hexdigest()
    (run / "manifest.json").write_text(json.dumps(manifest))


def test_a_champion_with_fitting_checksum_must_still_be_complete(copy: Path) -> None:
    content = tomllib.loads((copy / "champion.toml").read_text())
    del content["provenance"]["candidate"]
    (copy / "champion.toml").write_text(tomli_w.dumps(content))
    fit_checksum(copy, "champion.toml", "champion_sha256")
    folder = open_run_read_only(copy)
    assert load_intact_champion(folder) is None
    assert "lacks parts of its provenance" in folder.problems[0]


def test_a_final_with_fitting_checksum_must_still_be_a_final(copy: Path) -> None:
    table = read_final(open_run_read_only(copy)).drop(columns="score")
    (copy / "final.parquet").write_bytes(parquet_bytes(table, RUN_SCHEMA))
    fit_checksum(copy, "final.parquet", "final_sha256")
    folder = open_run_read_only(copy)
    with pytest.raises(SchemaError, match="no column score"):
        read_final(folder)
    assert load_intact_champion(folder) is None
    assert "no column score" in folder.problems[0]


def test_no_champion_is_read_from_anything_else(tmp_path: Path) -> None:
    assert read_champion_file(tmp_path).content == {}
    (tmp_path / "champion.toml").write_text("provenance = 3\n")
    said = read_champion_file(tmp_path)
    assert said.provenance == {}
    assert not said.finishes(TINY)
