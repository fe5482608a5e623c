"""The history on disk: cut, flipped, full, of another schema. It is never silently wrong."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evo.pool import LocalPool
from evo.run import begin_session, champion_stands
from evo.store import RunError, RunFolder, open_run
from tests.evo.runs import TINY, bytes_of, run_new, run_on
from tests.faults import SAMPLE_OF_SCHEMA_1, marks

pytestmark = marks


def failing(n: int, real: Callable, error: int) -> Callable:
    """The n-th call fails, and all after it."""
    calls = [0]

    def call(*arguments: object, **more: object) -> object:
        calls[0] += 1
        if calls[0] >= n:
            raise OSError(error, os.strerror(error))
        return real(*arguments, **more)

    return call


@pytest.mark.parametrize("target", ["fsync", "replace"])
def test_a_disk_that_fails_at_any_write_leaves_the_history_intact(
    target: str, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 0
    while True:
        n += 1
        path = tmp_path / f"run-{n}"
        with monkeypatch.context() as patch:
            if target == "fsync":
                patch.setattr(os, "fsync", failing(n, os.fsync, errno.ENOSPC))
            else:
                patch.setattr(Path, "replace", failing(n, Path.replace, errno.EIO))
            try:
                run_new(path)
            except RunError as error:
                said = str(error)
                assert "cannot write" in said or "cannot make run folder" in said
                assert "manaforge resume" in said or not (path / "config.toml").exists()
            else:
                break
        if not (path / "config.toml").exists():
            continue  # it failed before there was a run
        if n % 3 == 0 or n < 6:
            assert run_on(path) == bytes_of(finished), n
    assert n > 10


def test_a_newest_file_cut_anywhere_or_with_any_bit_flipped_is_noticed(finished: Path) -> None:
    folder = RunFolder(finished, TINY)
    line = (finished / "checksums.txt").read_text().splitlines(keepends=True)[3]
    assert folder._problem(3, line) == ""
    for kind in ("generations", "pairings"):
        content = folder.file(kind, 3).read_bytes()
        changed: dict[str, bytes] = {f"cut at {n}": content[:n] for n in range(len(content))}
        for place in range(len(content)):
            flipped = bytearray(content)
            flipped[place] ^= 1 << (place % 8)
            changed[f"bit of byte {place}"] = bytes(flipped)
        target = finished / "damaged.parquet"
        for what, damaged in changed.items():
            target.write_bytes(damaged)
            patched = RunFolder(finished, TINY)
            patched.file = lambda k, g, kind=kind, target=target: target if k == kind else folder.file(k, g)
            assert f"{kind}/0003.parquet is damaged" in patched._problem(3, line), what
        target.unlink()
    for n in range(len(line)):
        assert "checksums.txt: line 4 is torn" in folder._problem(3, line[:n]) or n == 0


@pytest.mark.parametrize("case", range(20))
def test_what_is_damaged_is_named_set_aside_and_played_again(case: int, copy: Path, finished: Path) -> None:
    pick = np.random.default_rng(case)
    names = [
        "generations/0003.parquet",
        "pairings/0003.parquet",
        "checksums.txt",
        "champion.toml",
        "pairings/0001.parquet",
    ]
    name = names[case % 5]
    file = copy / name
    content = bytearray(file.read_bytes())
    place = int(pick.integers(len(content)))
    if case % 3 == 0:
        del content[place:]
    elif case % 3 == 1:
        content[place] ^= 1 << int(pick.integers(8))
    if case % 3 == 2:
        file.unlink()
    else:
        file.write_bytes(content)
    with open_run(copy) as folder:
        if name == "champion.toml" and file.exists():
            assert not champion_stands(folder)
        told = " ".join(folder.problems)
    if file.exists() or name not in ("champion.toml", "checksums.txt"):
        assert name.split(".")[0] in told, told
    assert run_on(copy) == bytes_of(finished)


def test_a_run_of_other_rules_or_schema_is_refused(copy: Path) -> None:

    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "schema": 9}))
    with pytest.raises(RunError, match="has schema 9; this version reads schema 1"):
        open_run(copy)
    (copy / "manifest.json").write_text(json.dumps({**manifest, "rules": 99}))
    pool = LocalPool(1)
    with open_run(copy) as folder, pytest.raises(RunError, match="begun under rules 99"):
        begin_session(folder, pool)
    (copy / "manifest.json").write_text(json.dumps({**manifest, "config_hash": "0"}))
    with open_run(copy) as folder, pytest.raises(RunError, match="is not what the run was begun with"):
        begin_session(folder, pool)
    pool.close()


@pytest.mark.parametrize("name", ["pairings", "generations", "log.jsonl", "checksums.txt", "lock", "aside"])
def test_a_received_folder_leads_nowhere_else(name: str, copy: Path, tmp_path: Path) -> None:
    """Symbolic links in a run folder would let its maker choose what is written."""
    victim = tmp_path / "victim"
    if (copy / name).is_dir() or not (copy / name).exists():
        victim.mkdir()
        (victim / "0099.parquet").write_text("mine")
        shutil.rmtree(copy / name, ignore_errors=True)
    else:
        victim.write_text("mine")
        (copy / name).unlink()
    (copy / name).symlink_to(victim)
    with pytest.raises(RunError, match=f"{name} is a symbolic link"):
        open_run(copy)
    assert victim.is_dir() or victim.read_text() == "mine"
    assert not victim.is_dir() or [one.name for one in victim.iterdir()] == ["0099.parquet"]


def test_the_sample_of_schema_1_is_read_and_goes_on(tmp_path: Path) -> None:
    """Kept for the first migration: whatever version comes, this folder must open, or be refused by its number."""
    copy = Path(shutil.copytree(SAMPLE_OF_SCHEMA_1, tmp_path / "copy"))
    assert json.loads((copy / "manifest.json").read_text())["schema"] == 1
    before = bytes_of(copy)
    with open_run(copy) as folder:
        assert folder.problems == []
        assert folder.committed == folder.config.generations + 1
    assert bytes_of(copy) == before


@pytest.mark.parametrize("schema", [0, 2, 99, "1", None])
def test_configurations_and_profiles_of_another_schema_are_refused_by_number(
    schema: object, tmp_path: Path
) -> None:
    from evo.config import ConfigError, read_config
    from ilp_agent import ProfileError, find_profile, read_profile

    shown = json.dumps(schema) if schema is not None else "[]"
    config = TINY.to_toml().replace("schema = 1", f"schema = {shown}")
    (tmp_path / "config.toml").write_text(config)
    with pytest.raises(ConfigError, match="schema"):
        read_config(tmp_path / "config.toml")
    profile = find_profile("keep-alive").to_toml().replace("schema = 2", f"schema = {shown}")
    (tmp_path / "profile.toml").write_text(profile)
    if schema == 2:
        assert read_profile(tmp_path / "profile.toml")
    else:
        with pytest.raises(ProfileError, match="schema must be 1 to 2, got"):
            read_profile(tmp_path / "profile.toml")
