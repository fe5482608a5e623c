"""Whole runs: the same bytes whoever plays and however often it was stopped; damage is named and mended."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evo.pool import LocalPool, RayPool
from evo.records import restore
from evo.run import begin_session, champion_stands, evolve, extend
from evo.store import RunError, RunFolder, create_run, open_run, peek_run
from ilp_agent import WEIGHT_NAMES, read_profile
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.evo.runs import TINY, Quiet, bytes_of, run_new, run_on

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished tiny run; copy it before changing it."""
    path = tmp_path_factory.mktemp("runs") / "finished"
    run_new(path)
    return path


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "copy"))


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_the_same_bytes_with_any_number_of_workers(workers: int, finished: Path, tmp_path: Path) -> None:
    pool = LocalPool(workers)
    pool._compiled.pace._speed[True] = 40.0 * workers  # parts of a few games, so that workers meet
    assert run_new(tmp_path / "run", pool=pool) == bytes_of(finished)
    pool.close()


def test_the_same_bytes_with_ray(finished: Path, tmp_path: Path) -> None:
    pool = RayPool(2)
    try:
        assert run_new(tmp_path / "run", pool=pool) == bytes_of(finished)
        gurobi = TINY.changed(backend="highs", generations=0, mu=2, final={"games": 0, "benchmark_games": 0})
        assert run_new(tmp_path / "a", gurobi, pool) == run_new(tmp_path / "b", gurobi)
    finally:
        pool.close()


def test_another_seed_differs(finished: Path, tmp_path: Path) -> None:
    other = run_new(tmp_path / "run", TINY.changed(seed=2))
    assert not set(other.values()) & set(bytes_of(finished).values())


def test_a_longer_run_begins_like_a_shorter_one(copy: Path, tmp_path: Path) -> None:
    with open_run(copy) as folder:
        extend(folder, 5)
    assert run_on(copy) == run_new(tmp_path / "run", TINY.changed(generations=5))
    assert peek_run(copy).config.generations == 5
    with open_run(copy) as folder, pytest.raises(RunError, match="already has 5 generations.*got 3"):
        extend(folder, 3)


def test_the_tables_say_what_happened(finished: Path) -> None:
    folder = peek_run(finished)
    assert folder.committed == 4
    first, last = folder.read("generations", 0), folder.read("generations", 3)
    assert first["individual"].tolist() == [0, 1, 2]
    assert first["parent_a"].isna().all()
    assert last["individual"].is_unique
    assert len(last) == 6
    assert last["survived"].sum() == 3
    assert sorted(last["rank"].dropna()) == [1, 2, 3]
    wins = last["wins_thesis-paladin_vs_thesis-paladin"]
    assert wins.equals(last["fitness"])
    assert last["fitness"].sum() == 6 * 5 // 2 * 2
    assert (last["games"] == 10).all()
    pairs = folder.read("pairings", 3)
    assert len(pairs) == 15
    assert (pairs["games"] == 2).all()
    score = pairs.groupby("individual")["wins"].sum() + pairs.groupby("individual")["draws"].sum() / 2
    assert score.loc[last["individual"][0]] <= last["fitness"][0]
    children = last[last["birth"] == 3]
    assert set(children["parent_a"]) <= set(last["individual"]) - set(children["individual"])


def test_the_champion_is_a_profile_with_its_record(finished: Path) -> None:
    profile = read_profile(finished / "champion.toml")
    assert profile.provenance["config_hash"] == TINY.digest
    assert profile.provenance["generation"] == 3
    assert profile.provenance["against_thesis_seven"]["games"] == 14
    final = pd.read_parquet(finished / "final.parquet")
    assert final["stage"].value_counts()["thesis"] == 7
    text = (finished / "champion.toml").read_text()
    assert str(finished.name) not in text
    assert "workers" not in text


def test_a_strategy_comes_back_from_its_history(finished: Path) -> None:
    folder = peek_run(finished)
    strategy = restore(folder, folder.config)
    assert strategy.generation == 4
    table = folder.read("generations", 3).sort_values("rank").head(3)
    assert [list(one) for one in strategy.parents] == table[
        [f"weight_{n}" for n in WEIGHT_NAMES]
    ].to_numpy().tolist()
    best = [int(folder.read("generations", g).query("rank == 1")["individual"].iloc[0]) for g in range(4)]
    assert [one.number for one in strategy.hall] == list(dict.fromkeys(reversed(best)))


# Stopped on the way


@pytest.mark.parametrize("parts", [0, 1, 2, 3, 4, 5])
def test_stopped_anywhere_and_resumed(parts: int, finished: Path, tmp_path: Path) -> None:
    pool = LocalPool(1)
    with create_run(tmp_path / "run", TINY, {}) as folder:
        stopped = False
        try:
            evolve(folder, pool, Quiet(parts))
        except KeyboardInterrupt:
            stopped = True
    assert stopped
    pool.close()
    assert run_on(tmp_path / "run") == bytes_of(finished)


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


# Damage


def test_a_newest_file_cut_anywhere_or_with_any_bit_flipped_is_noticed(finished: Path) -> None:
    folder = RunFolder(finished, TINY)
    line = (finished / "checksums.txt").read_text().splitlines(keepends=True)[3]
    assert folder._problem(3, line) == ""
    for kind in ("generations", "pairings"):
        content = folder.file(kind, 3).read_bytes()
        changed: dict[str, bytes] = {f"cut at {n}": content[:n] for n in range(0, len(content), 7)}
        for place in range(0, len(content), 11):
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


def test_files_beyond_the_history_and_leftovers_are_put_away(copy: Path, finished: Path) -> None:
    shutil.copy(copy / "pairings/0003.parquet", copy / "pairings/0004.parquet")
    (copy / "generations-0004.parquet.tmp").write_text("half")
    assert run_on(copy) == bytes_of(finished)
    assert not list(copy.glob("*.tmp"))
    assert len(list((copy / "aside").iterdir())) == 1


@pytest.mark.parametrize("name", ["champion.toml", "final.parquet"])
def test_a_damaged_final_is_named_and_played_again(name: str, copy: Path, finished: Path) -> None:
    (copy / name).write_bytes((copy / name).read_bytes()[:-3])
    with open_run(copy) as folder:
        assert not champion_stands(folder)
        assert folder.problems == [f"{name} is not what manifest.json says; the final is played again"]
    assert run_on(copy) == bytes_of(finished)
    assert (copy / "final.parquet").read_bytes() == (finished / "final.parquet").read_bytes()


def test_a_folder_left_before_it_was_a_run_may_be_used_again(tmp_path: Path, finished: Path) -> None:
    """Killed at any write of create_run: the same command begins anew."""
    for left in (["lock"], ["lock", "manifest.json"], ["lock", "run-config.toml.tmp"]):
        path = tmp_path / str(len(left)) / left[-1]
        (path / "generations").mkdir(parents=True)
        for name in left:
            (path / name).write_text("half")
        assert run_new(path) == bytes_of(finished)


def test_a_solver_that_fails_stops_the_run_and_is_no_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evo.games import GameError
    from ilp_agent import IlpAgent, SolverError

    def fail(*_: object) -> None:
        raise SolverError("backend 'highs' found no plan")

    monkeypatch.setattr(IlpAgent, "plan", fail)
    with pytest.raises(GameError, match="backend 'highs' found no plan"):
        run_new(tmp_path / "run", TINY.changed(backend="highs", generations=0))


# Who may use a folder


def test_two_processes_on_one_folder_and_folders_that_are_none(copy: Path, tmp_path: Path) -> None:
    with open_run(copy), pytest.raises(RunError, match="in use by another process"):
        open_run(copy)
    with pytest.raises(RunError, match="is not empty; to go on with it: manaforge resume"):
        create_run(copy, TINY, {})
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(RunError, match="is not empty; choose another --out"):
        create_run(tmp_path / "other", TINY, {})
    with pytest.raises(RunError, match="is a file"):
        create_run(tmp_path / "other" / "file", TINY, {})
    with pytest.raises(RunError, match="is no run folder"):
        open_run(tmp_path / "other")


def test_a_run_of_other_rules_or_schema_is_refused(copy: Path) -> None:
    import json

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
