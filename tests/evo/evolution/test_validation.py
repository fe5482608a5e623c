"""Validation: absolute progress beside a history that it does not change."""

from contextlib import closing
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from evo.analysis.tables import read_runs, read_validation
from evo.analysis.watching import view_run
from evo.cli.progress import Display
from evo.evolution.champion import THESIS_SEVEN
from evo.evolution.run import begin_session, evolve, games_to_play, new_manifest
from evo.evolution.validation import games_of_validation, missing_validations
from evo.play.local import LocalPool
from evo.storage.opening import create_run, open_run
from evo.storage.schema import VALIDATION
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


def test_a_table_holds_the_best_against_all_and_each_of_the_seven(validated: Path) -> None:
    runs = read_runs([validated])
    table = read_validation(runs)
    best = runs.individuals[runs.individuals["rank"] == 1].set_index("generation")["individual"]
    assert set(table.columns) == {"run", *VALIDATION}
    for generation, own in table.groupby("generation"):
        assert set(own["individual"]) == {best[generation]}
        assert list(own["opponent"].dropna()) == list(THESIS_SEVEN)
        whole, parts = own[own["opponent"].isna()].iloc[0], own[own["opponent"].notna()]
        assert whole["games"] == parts["games"].sum() == games_of_validation(VALIDATED) == 7 * 4
        assert whole["wins"] == parts["wins"].sum()
        points = (parts["wins"] + parts["draws"] / 2).sum()
        assert whole["score"] == pytest.approx(points / whole["games"])
        assert whole["low"] <= whole["score"] <= whole["high"]


def test_deals_are_fresh_each_time(tmp_path: Path) -> None:
    from evo.evolution.validation import _play_best

    individuals = pd.DataFrame({"individual": [0], "rank": [1]} | {f"weight_{i}": [0.5] for i in range(8)})
    with closing(LocalPool(1)) as pool:

        def play(roster, games):
            return pool.play(roster, games, lambda _: None)

        first, again, later = (_play_best(VALIDATED, number, individuals, play) for number in (0, 0, 2))
    pd.testing.assert_frame_equal(first, again)
    assert first["mean_turns"].tolist() != later["mean_turns"].tolist()


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
    more = games_to_play(VALIDATED, 0) - games_to_play(TINY, 0)
    assert more == 2 * games_of_validation(VALIDATED)
    assert games_to_play(VALIDATED, 1) - games_to_play(TINY, 1) == games_of_validation(VALIDATED)


@pytest.mark.parametrize("strategy", ["es", "cma"])
def test_evolve_and_watch_show_the_same_figures_under_the_same_names(strategy: str, tmp_path: Path) -> None:
    config = VALIDATED.changed(strategy=strategy, **{"lambda": 6})
    said, drawn = StringIO(), StringIO()
    with create_run(tmp_path / "run", config, new_manifest(config)) as folder, closing(LocalPool(1)) as pool:
        begin_session(folder, pool)
        evolve(folder, pool, Display(Console(file=said, width=200, soft_wrap=True)))
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
    assert "┃ generation 3 " in drawn.getvalue()
