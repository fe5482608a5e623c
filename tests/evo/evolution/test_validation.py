"""Validation: absolute progress beside a history that it does not change."""

import shutil
from contextlib import closing
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from evo.analysis.tables import read_runs, read_validation
from evo.analysis.watching import view_run
from evo.config.benchmarks import SEVEN
from evo.evolution.records import new_strategy
from evo.evolution.run import evolve, remaining_games
from evo.evolution.session import begin_session, new_manifest
from evo.evolution.validation import (
    count_validation_games,
    missing_validations,
    play_validation,
    scores_by_deal,
)
from evo.play.entrants import find_entrant
from evo.play.games import play_schedule, roster_of
from evo.play.matchups import make_schedule, make_setups
from evo.play.pool import LocalPool
from evo.seeds import Stream
from evo.sessions.progress import RunDisplay
from evo.stats.ratings import points_of
from evo.storage.files import parquet_bytes
from evo.storage.run_folder import create_run, open_run
from evo.storage.schema import RUN_SCHEMA, VALIDATION_COLUMNS
from tests.evo.runs import TINY, Quiet, run_new, run_on

VALIDATED = TINY.changed(validation={"every": 2, "games": 4})


def tables(run: Path) -> dict[str, bytes]:
    """The files of `validation/` with their bytes."""
    return {file.name: file.read_bytes() for file in sorted((run / "validation").iterdir())}


@pytest.fixture(scope="module")
def validated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with validation."""
    path = tmp_path_factory.mktemp("validated") / "run"
    run_new(path, VALIDATED)
    return path


def test_the_history_and_the_champion_are_those_of_a_run_without(validated: Path, tmp_path: Path) -> None:
    assert VALIDATED.digest == TINY.digest
    assert run_new(tmp_path / "run") == run_on(validated)
    assert not (tmp_path / "run" / "validation").exists()
    assert list(tables(validated)) == ["0000.parquet", "0002.parquet"]


def test_a_table_holds_best_and_centre_against_all_and_each_of_the_seven(validated: Path) -> None:
    runs = read_runs([validated])
    table = read_validation(runs)
    best = runs.individuals[runs.individuals["rank"] == 1].set_index("generation")["individual"]
    assert set(table.columns) == {"run", *VALIDATION_COLUMNS}
    assert list(dict.fromkeys(table["who"])) == ["best", "centre"]
    for (generation, _), own in table.groupby(["generation", "who"]):
        assert set(own["individual"]) == {best[generation]}
        assert list(own["opponent"].dropna()) == list(SEVEN.opponents)
        whole, parts = own[own["opponent"].isna()].iloc[0], own[own["opponent"].notna()]
        assert (
            2 * whole["games"] == 2 * parts["games"].sum() == count_validation_games(VALIDATED) == 2 * 7 * 4
        )
        assert whole["wins"] == parts["wins"].sum()
        points = (parts["wins"] + parts["draws"] / 2).sum()
        assert whole["score"] == pytest.approx(points / whole["games"])
        assert whole["low"] <= whole["score"] <= whole["high"]
        assert set(whole["pairs"]) == set()
        for row in parts.itertuples():  # half points of two games a deal
            assert len(row.pairs) == row.games / 2
            assert sum(map(int, row.pairs)) == 2 * row.wins + row.draws


def test_its_games_are_those_of_the_tournament_on_the_same_deals(validated: Path) -> None:
    """One deal of one opponent after another, by the engine's own play."""
    runs = read_runs([validated])
    own = read_validation(runs)
    row = own[(own["generation"] == 2) & (own["who"] == "centre") & (own["opponent"] == "aggro-face")].iloc[0]
    with open_run(validated) as folder:
        strategy = new_strategy(folder.config)
        for number, table in enumerate(folder.tables("generations")):
            strategy.restore([table] if number <= 2 else [])
        centre = strategy.centre()
    setups = make_setups(1, 4, VALIDATED.seed, Stream.VALIDATION, 0)
    roster = roster_of(VALIDATED, [centre.weights], [find_entrant("ilp:aggro-face").player])
    games = play_schedule(roster, make_schedule(np.array([[0, 1]]), setups))
    first = np.stack([~setups.b_starts, setups.b_starts], axis=1).reshape(-1)
    halves = (2 * points_of(games["outcome"], first)).astype(int).reshape(-1, 2).sum(axis=1)
    assert row["pairs"] == "".join(map(str, halves))


def test_deals_are_the_same_each_time(tmp_path: Path) -> None:
    individuals = pd.DataFrame({"individual": [0], "rank": [1]} | {f"weight_{i}": [0.5] for i in range(8)})
    with closing(LocalPool(1)) as pool:

        def play(roster, games):
            return pool.play(roster, games, lambda _: None)

        first, later = (play_validation(VALIDATED, number, individuals, None, play) for number in (0, 2))
    pd.testing.assert_frame_equal(first.drop(columns="generation"), later.drop(columns="generation"))
    assert set(first["who"]) == {"best"}, "no centre"


def test_tables_of_before_the_centre_was_validated_are_read(validated: Path, tmp_path: Path) -> None:
    shutil.copytree(validated, tmp_path / "run")
    file = tmp_path / "run" / "validation" / "0002.parquet"
    table = pd.read_parquet(file)
    old = table[table["who"] == "best"].drop(columns=["who", "pairs"])
    file.write_bytes(parquet_bytes(old, RUN_SCHEMA))
    with open_run(tmp_path / "run") as folder:
        assert missing_validations(folder) == []
        read = folder.validation(2)
        assert set(read["who"]) == {"best"}
        assert len(scores_by_deal(read)) == 0
        assert len(scores_by_deal(folder.validation(0))) == 2, "two deals"
    assert run_on(tmp_path / "run") == run_on(validated)


@pytest.mark.parametrize("chunks", [0, 1, 2, 3])
def test_stopped_and_damaged_validations_are_played_again(
    validated: Path, tmp_path: Path, chunks: int
) -> None:
    path = tmp_path / "run"
    with create_run(path, VALIDATED, new_manifest(VALIDATED)) as folder, closing(LocalPool(1)) as pool:
        begin_session(folder, pool)
        with pytest.raises(KeyboardInterrupt):
            evolve(folder, pool, Quiet(stop_after=chunks))
    assert run_on(path) == run_on(validated)
    assert tables(path) == tables(validated)
    (path / "validation" / "0000.parquet").unlink()
    (path / "validation" / "0002.parquet").write_bytes(b"none")
    with open_run(path) as folder:
        assert missing_validations(folder) == [0, 2]
    run_on(path)
    assert tables(path) == tables(validated)


def test_its_games_are_counted(validated: Path) -> None:
    more = remaining_games(VALIDATED, 0) - remaining_games(TINY, 0)
    assert more == 2 * count_validation_games(VALIDATED)
    assert remaining_games(VALIDATED, 1) - remaining_games(TINY, 1) == count_validation_games(VALIDATED)


@pytest.mark.parametrize("strategy", ["es", "cma"])
def test_evolve_and_watch_show_the_same_figures_under_the_same_names(strategy: str, tmp_path: Path) -> None:
    config = VALIDATED.changed(strategy=strategy, **{"lambda": 6})
    said, drawn = StringIO(), StringIO()
    with create_run(tmp_path / "run", config, new_manifest(config)) as folder, closing(LocalPool(1)) as pool:
        begin_session(folder, pool)
        evolve(folder, pool, RunDisplay(Console(file=said, width=200, soft_wrap=True)))
    Console(file=drawn, width=200).print(view_run(read_runs([tmp_path / "run"]), "run").whole)
    rows = {}
    for line in drawn.getvalue().splitlines():
        cells = [cell.strip() for cell in line.split("│")]
        if len(cells) == 6:
            rows[cells[1]] = cells[4]
    lines = {
        line.split("/")[0]: line for line in said.getvalue().splitlines() if line.startswith("generation")
    }
    for name in ("best", "spread", "step"):
        assert f"{name} {rows[name]}," in lines["generation 3"]
    assert f"{rows['new']} new" in lines["generation 3"]
    assert " new" not in lines["generation 0"], "in the first all are"
    against, generation = rows["best against the seven"].split()
    assert generation == "(2)", "not of the last generation, which is not validated"
    assert f"best against the seven {against}," in lines["generation 2"]
    assert f"centre {rows['centre against the seven'].split()[0]}," in lines["generation 2"]
    assert "┃ generation 3 " in drawn.getvalue()
