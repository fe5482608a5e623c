"""Whole runs: the same bytes in every pool and after any stops; damage is reported and repaired."""

import shutil
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from evo.analysis.tables import read_runs
from evo.evolution.records import restore_strategy
from evo.evolution.run import evolve
from evo.evolution.session import begin_session, extend_run, new_manifest
from evo.play.pool import LocalPool
from evo.play.ray import RayPool
from evo.storage.champion import load_intact_champion
from evo.storage.run_folder import RunError, create_run, open_run, open_run_read_only
from ilp_agent import WEIGHT_NAMES, read_profile
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.evo.runs import TINY, Quiet, bytes_of, run_new, run_on

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_the_same_bytes_with_any_number_of_workers(workers: int, finished: Path, tmp_path: Path) -> None:
    pool = LocalPool(workers)
    pool._compiled.sizer._speed[True] = 40.0 * workers  # chunks of a few games, so that several workers play
    assert run_new(tmp_path / "run", pool=pool) == bytes_of(finished)
    pool.close()


@pytest.mark.heavy
def test_the_same_bytes_with_ray(finished: Path, tmp_path: Path) -> None:
    pool = RayPool(2)
    try:
        assert run_new(tmp_path / "run", pool=pool) == bytes_of(finished)
        highs = TINY.changed(backend="highs", generations=0, mu=2, final={"games": 0, "benchmark_games": 0})
        assert run_new(tmp_path / "a", highs, pool) == run_new(tmp_path / "b", highs)
    finally:
        pool.close()


def test_another_seed_differs(finished: Path, tmp_path: Path) -> None:
    other = run_new(tmp_path / "run", TINY.changed(seed=2))
    assert not set(other.values()) & set(bytes_of(finished).values())


def test_a_longer_run_begins_like_a_shorter_one(copy: Path, tmp_path: Path) -> None:
    with open_run(copy) as folder:
        extend_run(folder, 5)
    assert run_on(copy) == run_new(tmp_path / "run", TINY.changed(generations=5))
    assert open_run_read_only(copy).config.generations == 5
    with open_run(copy) as folder, pytest.raises(RunError, match="already has 5 generations.*got 3"):
        extend_run(folder, 3)


def test_the_tables_say_what_happened(finished: Path) -> None:
    folder = open_run_read_only(finished)
    assert folder.committed == 4
    first, *_, last = folder.tables("generations")
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
    pairs = list(folder.tables("pairings"))[3]
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
    folder = open_run_read_only(finished)
    strategy = restore_strategy(folder)
    assert strategy.generation == 4
    table = list(folder.tables("generations"))[3].sort_values("rank").head(3)
    assert [list(one) for one in strategy.parents] == table[
        [f"weight_{n}" for n in WEIGHT_NAMES]
    ].to_numpy().tolist()
    best = [
        int(list(folder.tables("generations"))[g].query("rank == 1")["individual"].iloc[0]) for g in range(4)
    ]
    assert [one.number for one in strategy.hall] == list(dict.fromkeys(reversed(best)))


@pytest.mark.parametrize("racing", [0.0, 0.05])
def test_a_run_of_a_version_with_racing(racing: float, finished: Path, copy: Path) -> None:
    file = copy / "config.toml"
    file.write_text(f"racing = {racing}\n{file.read_text()}")
    assert len(read_runs([copy]).individuals) == 3 + 3 * 6
    if racing:
        assert open_run_read_only(copy).config.digest != TINY.digest
        with pytest.raises(RunError, match="run folder .*racing = 0.05: this key was removed.*manifest.json"):
            open_run(copy)
    else:
        (copy / "champion.toml").unlink()
        assert run_on(copy) == bytes_of(finished)


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


# Damage


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
        assert load_intact_champion(folder) is None
        assert folder.problems == [f"{name} does not agree with manifest.json; the final is played again"]
    assert run_on(copy) == bytes_of(finished)
    assert (copy / "final.parquet").read_bytes() == (finished / "final.parquet").read_bytes()


def test_a_folder_left_before_it_was_a_run_may_be_used_again(tmp_path: Path, finished: Path) -> None:
    """Killed at any write of create_run: the same command starts again."""
    for left in (["lock"], ["lock", "manifest.json"], ["lock", "run-config.toml.tmp"]):
        path = tmp_path / str(len(left)) / left[-1]
        (path / "generations").mkdir(parents=True)
        for name in left:
            (path / name).write_text("half")
        assert run_new(path) == bytes_of(finished)


def test_a_solver_that_fails_stops_the_run_and_is_no_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evo.play.results import GameError
    from ilp_agent import SolverError

    def fail(*_: object) -> None:
        raise SolverError("backend 'highs' found no plan")

    monkeypatch.setattr("ilp_agent.agent.solve", fail)
    with pytest.raises(GameError, match="backend 'highs' found no plan"):
        run_new(tmp_path / "run", TINY.changed(backend="highs", generations=0))


# Who may use a folder


def test_a_run_under_earlier_effects_is_named(tmp_path: Path) -> None:
    real = TINY.changed(decks=["basic-mage"])
    assert TINY.digest_for_effects(1) == TINY.digest, "bodies have no effects"
    earlier = new_manifest(real) | {"config_hash": real.digest_for_effects(1)}
    told = "was started under effects 1, and this version plays effects 2"
    folder, pool = create_run(tmp_path / "run", real, earlier), LocalPool(1)
    with folder, closing(pool), pytest.raises(RunError, match=told):
        begin_session(folder, pool)


def test_two_processes_on_one_folder_and_folders_that_are_none(copy: Path, tmp_path: Path) -> None:
    with open_run(copy), pytest.raises(RunError, match="in use by another process"):
        open_run(copy)
    with pytest.raises(RunError, match="is not empty; to continue it: manaforge resume"):
        create_run(copy, TINY, {})
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(RunError, match="is not empty; choose another --out"):
        create_run(tmp_path / "other", TINY, {})
    with pytest.raises(RunError, match="is a file"):
        create_run(tmp_path / "other" / "file", TINY, {})
    with pytest.raises(RunError, match="is not a run folder"):
        open_run(tmp_path / "other")
