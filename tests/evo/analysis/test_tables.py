"""Runs as tables: compared with their files, growing, damaged, with any scale of the weights."""

import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evo.analysis.tables import (
    RunWarning,
    ancestors,
    best_individuals,
    find_runs,
    last_population,
    lifespans,
    long_sigmas,
    long_weights,
    newcomers,
    read_pairings,
    read_runs,
    wins_by_decks,
)
from evo.storage.run_folder import RunError
from ilp_agent import WEIGHT_NAMES

RUN = Path(__file__).parents[2] / "data" / "run"
WEIGHTS = [f"weight_{name}" for name in WEIGHT_NAMES]
SHARES = [f"share_{name}" for name in WEIGHT_NAMES]
DECKS = ["thesis-paladin", "thesis-warrior"]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RUN, tmp_path / "copy"))


def test_individuals_are_those_of_the_files() -> None:
    runs = read_runs([RUN])
    files = pd.concat([pd.read_parquet(file) for file in sorted((RUN / "generations").iterdir())])
    assert runs.problems == ()
    assert list(runs.folders) == ["run"]
    assert len(runs.individuals) == len(files) == 8 + 14 * 16
    for column in files.columns:
        assert runs.individuals[column].tolist() == files[column].tolist() or column in (
            "parent_a",
            "parent_b",
            "rank",
        )
    weights = files[WEIGHTS].to_numpy()
    assert runs.individuals[SHARES].to_numpy() == pytest.approx(weights / weights.sum(axis=1, keepdims=True))
    assert (runs.individuals["age"] == files["generation"].to_numpy() - files["birth"].to_numpy()).all()
    pairings, problems = read_pairings(runs)
    assert problems == ()
    assert pairings["games"].sum() * 2 == runs.individuals["games"].sum()


def test_long_tables() -> None:
    individuals = read_runs([RUN]).individuals
    long = long_weights(individuals)
    assert len(long) == 8 * len(individuals)
    assert long.groupby(["run", "generation", "individual"], observed=True)[
        "share"
    ].sum().to_numpy() == pytest.approx(1)
    assert long["value"].iloc[:8].tolist() == individuals[WEIGHTS].iloc[0].tolist()
    assert long_sigmas(individuals)["sigma"].gt(0).all()


def test_lives_and_newcomers_by_a_plain_count() -> None:
    individuals = read_runs([RUN]).individuals
    spans = lifespans(individuals).set_index("individual")
    fresh = {}
    for number, rows in individuals.groupby("individual"):
        assert spans.loc[number, "lifespan"] == rows["survived"].sum()
        assert spans.loc[number, "birth"] == rows["generation"].min() == rows["birth"].iloc[0]
    for generation, rows in individuals[individuals["survived"]].groupby("generation"):
        fresh[generation] = int((rows["birth"] == generation).sum())
    new = newcomers(individuals).set_index("generation")["newcomers"]
    assert new.to_dict() == {generation: fresh[generation] for generation in range(1, 15)}
    assert spans["alive"].sum() == len(last_population(individuals)) == 8


def test_scores_by_decks_and_the_best() -> None:
    individuals = read_runs([RUN]).individuals
    population = last_population(individuals)
    table = wins_by_decks(population, DECKS)
    wins = population[[f"wins_{a}_vs_{b}" for a in DECKS for b in DECKS]].to_numpy().sum(axis=0)
    assert table.to_numpy().reshape(-1) == pytest.approx(wins / (population["games"].sum() / 4))
    best = best_individuals(individuals)
    assert best["generation"].tolist() == list(range(15))
    assert (
        best["fitness"]
        == individuals[individuals["survived"]].groupby("generation")["fitness"].max().to_numpy()
    ).all()


def test_ancestors_reach_back_to_the_first_generation() -> None:
    individuals = read_runs([RUN]).individuals
    one = int(best_individuals(individuals).iloc[-1]["individual"])
    family = ancestors(individuals, "run", one)
    assert family["individual"].iloc[-1] == one
    assert family["birth"].min() == 0
    known = set(family["individual"])
    for column in ("parent_a", "parent_b"):
        assert set(family[column].dropna().astype(int)) <= known
    assert (family["last"] >= family["birth"]).all()


@pytest.mark.parametrize("damage", ["flip", "cut", "gone"])
def test_damage_is_named_and_left_out(damage: str, copy: Path) -> None:
    file = copy / "generations" / "0003.parquet"
    content = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(
            content[:500] if damage == "cut" else content[:90] + bytes([content[90] ^ 1]) + content[91:]
        )
    with pytest.warns(RunWarning, match=r"generations/0003.parquet"):
        runs = read_runs([copy])
    assert len(runs.problems) == 1
    assert set(runs.individuals["generation"]) == set(range(15)) - {3}
    assert len(newcomers(runs.individuals)) == 13


def test_a_growing_run_is_read_as_far_as_it_is_committed(copy: Path) -> None:
    lines = (copy / "checksums.txt").read_text().splitlines(keepends=True)
    for text, generations in (
        ("".join(lines[:5]), 5),
        ("".join(lines[:5]) + lines[5][:40], 5),
        (lines[0], 1),
    ):
        (copy / "checksums.txt").write_text(text)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            runs = read_runs([copy])
        assert runs.individuals["generation"].max() == generations - 1
    (copy / "checksums.txt").write_text("".join([lines[0], "garbled\n", *lines[2:5], lines[5][:40]]))
    with pytest.warns(RunWarning, match="line 2 is torn or out of place"):
        read_runs([copy])
    (copy / "checksums.txt").write_text("".join(lines[1:]))
    with (
        pytest.warns(RunWarning, match="line 1 is torn or out of place"),
        pytest.raises(RunError),
    ):
        read_runs([copy])
    (copy / "checksums.txt").unlink()
    with (
        pytest.warns(RunWarning, match=r"checksums.txt is missing"),
        pytest.raises(RunError, match="no generation can be read yet"),
    ):
        read_runs([copy])


def test_many_runs_have_names_of_their_own(copy: Path, tmp_path: Path) -> None:
    study = tmp_path / "study"
    for number in ("00", "01"):
        shutil.copytree(copy, study / number)
    assert list(find_runs([study])) == ["00", "01"]
    assert list(find_runs([study / "00", copy])) == ["00", "copy"]
    other = tmp_path / "other" / "00"
    shutil.copytree(copy, other)
    assert list(find_runs([study / "00", other])) == ["study/00", "other/00"]
    assert len(read_runs([study, copy]).individuals) == 3 * 232
    for paths, message in (
        ([tmp_path / "none"], "is not a run folder: there is no such folder"),
        ([copy, copy], "a run is given twice"),
    ):
        with pytest.raises(RunError, match=message):
            find_runs(paths)
    (study / "00" / "config.toml").write_text("nonsense = 1")
    with pytest.warns(RunWarning, match="cannot be read"):
        assert list(read_runs([study]).folders) == ["01"]


def test_all_zero_weights_are_missing_in_shares(copy: Path) -> None:
    import hashlib

    file = copy / "generations" / "0014.parquet"
    table = pd.read_parquet(file)
    table.loc[0, WEIGHTS] = 0.0
    table.to_parquet(file)
    lines = (copy / "checksums.txt").read_text().splitlines()
    parts = lines[14].split()
    lines[14] = " ".join([parts[0], hashlib.sha256(file.read_bytes()).hexdigest(), parts[2]])
    (copy / "checksums.txt").write_text("\n".join(lines) + "\n")
    individuals = read_runs([copy]).individuals
    assert individuals[SHARES].isna().all(axis=1).sum() == 1
    assert np.isfinite(individuals[WEIGHTS].to_numpy()).all()
