"""Optimisers compared at equal games: the same points however they were played, intervals worked out by hand."""

import json
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.errors import UnknownNameError
from evo.config.run_config import ConfigError
from evo.evolution.fitness import play_pairings
from evo.evolution.run import max_games_of_generation
from evo.experiments.folder import ExperimentError, open_experiment
from evo.experiments.optimisers import (
    EQUAL_WEIGHTS_LOSS,
    OptimiserBench,
    bench_runs,
    bench_summary,
    find_contender,
    learning_curves,
    missing_runs,
    optimisers_figure,
    optimisers_page,
    paired_differences,
    play_missing,
    play_run,
    points_table,
    quadratic_of,
    rate_points,
    simulate_bench,
)
from evo.play.entrants import find_entrant
from evo.play.games import Roster, Schedule, roster_of
from evo.play.pool import LocalPool
from evo.seeds import Stream, study_seed
from evo.stats.ratings import elo
from evo.stats.run_statistics import mean_over_runs
from ilp_agent import Weights
from tests.evo.runs import manaforge

SMALL = ("mu=2", "games=2", "decks=thesis-paladin")


def bench_of(*texts: str, budgets: tuple[int, ...] = (40, 120), seeds: int = 2) -> OptimiserBench:
    contenders = tuple(find_contender(text, "", SMALL) for text in texts)
    against = {"ilp:aggro-face": find_entrant("ilp:aggro-face").player}
    return OptimiserBench(contenders, budgets, seeds, against, 4)


def test_contenders_have_as_many_individuals_unless_they_say_otherwise() -> None:
    sizes = {
        text: (found.config.mu, found.config.lambda_)
        for text in (
            "es",
            "eva",
            "cma",
            "spsa",
            "nevergrad:TBPSA",
            "es@mu=3",
            "cma@lambda=8",
            "es@mu=3,lambda=5",
        )
        if (found := find_contender(text, "", SMALL))
    }
    assert sizes["es"] == sizes["eva"] == (2, 2)
    assert sizes["cma"] == sizes["nevergrad:TBPSA"] == (2, 4)
    assert sizes["spsa"] == (2, 2)
    assert sizes["es@mu=3"] == (3, 3)
    assert sizes["cma@lambda=8"] == (2, 8)
    assert sizes["es@mu=3,lambda=5"] == (3, 5)
    assert find_contender("es@deals=own", "", SMALL).config.deals == "own"
    for text, message in (
        ("foo", "unknown strategy 'foo'"),
        ("es@deals", "settings after @ are KEY=VALUE, got 'deals'"),
        ("es@dels=own", "unknown key 'dels'"),
        ("cma@mu=9,lambda=10", "mu <= lambda / 2"),
        ("es@agent=eva", "agent cannot be set here: all optimisers share it, and --set sets it"),
        ("es@final.games=3", "final.games cannot be set here: the comparison sets it itself"),
    ):
        with pytest.raises((ConfigError, UnknownNameError), match=message):
            find_contender(text, "", SMALL)


@pytest.mark.parametrize("one", ["strategy=cma", "lambda=3", "generations=3", "validation.every=2"])
def test_what_the_comparison_sets_cannot_be_set_for_all(one: str) -> None:
    with pytest.raises(ConfigError, match=f"--set: {one.partition('=')[0]} cannot be set here"):
        find_contender("es", "", (one,))


def test_points_of_a_stranger_are_refused_and_played_again(tmp_path: Path) -> None:
    bench = bench_of("es", seeds=1)
    run = bench_runs(bench)[0]
    with open_experiment(tmp_path / "out", "bench-optimisers", {}) as folder, closing(LocalPool(1)) as pool:
        play_missing(bench, folder, pool.play, 1)
        file = folder.path / run.file
        good = json.loads(file.read_text())
        for key, value in (
            ("mark", float("inf")),
            ("games", -5),
            ("games", 1.5),
            ("weights", [1e300] * 8),
            ("weights", [float("nan")] * 8),
            ("weights", ["a"] * 8),
            ("weights", [0.5] * 7),
            ("contender", "cma"),
        ):
            point = good["points"][-1] | {key: value}
            folder.commit_file(
                run.file, json.dumps(good | {"points": [*good["points"][:-1], point]}).encode()
            )
            assert missing_runs(bench, folder) == [run], (key, value)
        folder.commit_file(run.file, json.dumps(good).encode())
        assert not missing_runs(bench, folder)


def test_a_run_plays_no_more_than_its_budget_and_no_generation_less() -> None:
    for text in ("es", "cma@games_growth=1.2", "spsa"):
        contender = find_contender(text, "", SMALL)
        config = contender.config_within(300, 7)
        counted = [max_games_of_generation(config, number) for number in range(config.generations + 2)]
        assert sum(counted[:-1]) <= 300 < sum(counted)
        assert config.seed == 7
    with pytest.raises(ConfigError, match="generation 0 alone has 12 games, more than the budget of 5"):
        find_contender("cma@lambda=4", "", ("mu=2", "games=2", "decks=thesis-paladin")).config_within(5, 1)


def test_schedules_end_with_the_budget_but_for_those_that_are_set() -> None:
    spsa = find_contender("spsa", "", SMALL)
    assert spsa.scheduled
    assert spsa.config_within(40, 1).model_dump()["spsa"]["pairs"] == 20, "a game twice is a pair"
    assert spsa.config_within(120, 1).model_dump()["spsa"]["pairs"] == 60
    own = find_contender("spsa@spsa.pairs=7", "", SMALL)
    assert not own.scheduled
    assert own.config_within(120, 1).model_dump()["spsa"]["pairs"] == 7
    assert not find_contender("es", "", SMALL).scheduled
    runs = bench_runs(bench_of("es", "spsa"))
    assert [(run.contender, run.budget) for run in runs] == [("es", 120)] * 2 + [
        ("spsa", 40),
        ("spsa", 120),
    ] * 2
    assert runs[0].config.seed == study_seed(1, 0)
    assert {40, 120} <= set(runs[0].marks)
    assert [run.marks for run in runs[2:4]] == [(40,), (120,)]


def test_a_schedule_that_the_configurations_file_sets_stays(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('schema = 1\nmu = 2\ngames = 2\ndecks = ["thesis-paladin"]\n[spsa]\npairs = 777\n')
    contender = find_contender("spsa", str(file))
    assert not contender.scheduled
    assert contender.config_within(20_000, 1).spsa.pairs == 777


def test_points_of_smaller_budgets_are_those_of_runs_of_their_own() -> None:
    with closing(LocalPool(1)) as pool:
        long, short = (
            play_run(bench_runs(bench_of("es", budgets=own))[0], pool.play) for own in ((40, 120), (40,))
        )
    assert short[-1] in long
    assert short[-1]["mark"] == 40
    assert all(point["games"] <= point["mark"] for point in long)


@pytest.mark.parametrize("text", ["es@opponents.nash=1.0", "es@opponents.hall=1.0"])
def test_all_games_that_are_played_count_towards_the_budget(text: str) -> None:
    played = 0
    with closing(LocalPool(2)) as pool:

        def counting(roster: Roster, games: Schedule) -> np.ndarray:
            nonlocal played
            played += len(games)
            return pool.play(roster, games)

        (run,) = bench_runs(bench_of(text, budgets=(600,), seeds=1))
        *_, last = play_run(run, counting)
    assert last["games"] == played <= 600


def test_the_same_points_with_any_workers_and_after_a_stop(tmp_path: Path) -> None:
    bench = bench_of("es", "cma")
    tables = []
    for workers in (1, 3):
        with (
            open_experiment(tmp_path / str(workers), "bench-optimisers", {}) as folder,
            closing(LocalPool(workers)) as pool,
        ):
            play_missing(bench, folder, pool.play, workers)
            files = sorted((folder.path / "points").iterdir())
            assert len(files) == 4
            if workers == 3:  # one is gone, another damaged
                files[0].unlink()
                files[1].write_text("{")
                assert len(missing_runs(bench, folder)) == 2
                play_missing(bench, folder, pool.play, 1)
            assert not missing_runs(bench, folder)
            tables.append(rate_points(bench, points_table(bench, folder), pool.play))
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    # Rated by plain pairings on the experiment's own deals.
    row = tables[0].iloc[-1]
    config = bench.contenders[0].config
    roster = roster_of(config, [json.loads(row["weights"])], [bench.against["ilp:aggro-face"]])
    with closing(LocalPool(1)) as pool:
        tally = play_pairings(roster, np.array([[0, 1]]), 4, config.seed, (Stream.EXPERIMENT, 0), pool.play)
    assert row["score"] == tally.scores(2)[0].sum() / 4
    assert row["elo"] == elo(row["score"])


def test_intervals_are_students_over_runs() -> None:
    """Of 1, 2, 3: mean 2, standard deviation 1, t = 4.3027 with two degrees of freedom."""
    mean = mean_over_runs([1.0, 2.0, 3.0])
    assert mean == pytest.approx((2.0, 2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), abs=1e-4)
    assert np.isnan(mean_over_runs([1.0]).low)
    stream = np.random.default_rng(1)
    held = [mean_over_runs(stream.normal(0, 1, 10)) for _ in range(2_000)]
    assert np.mean([one.low < 0 < one.high for one in held]) == pytest.approx(0.95, abs=0.015)
    points = pd.DataFrame(
        [
            {"contender": name, "run": run, "budget": 10, "mark": 10, "games": 9, "elo": value}
            for name, values in (("es", (1.0, 2.0, 3.0)), ("cma", (2.0, 4.0, 6.0)))
            for run, value in enumerate(values)
        ]
    )
    found = learning_curves(points).set_index("contender")
    assert list(found.index) == ["es", "cma"]
    assert found.loc["es", ["mean", "low", "high"]].tolist() == pytest.approx(list(mean))
    less = paired_differences(points).iloc[0]
    assert (less["contender"], less["mean"]) == ("cma", 2.0), "run by run: 1, 2, 3"
    assert less[["low", "high"]].tolist() == pytest.approx(list(mean[1:]))
    assert bench_summary(points) == (
        "At 10 games cma is best (+4.0 Elo). Not told apart from es: cma (+2.0, -0.5 to +4.5)."
    )
    assert bench_summary(points.assign(elo=points["elo"] - 9 * (points["contender"] == "es"))).endswith(
        "Better than es: cma (+11.0, +8.5 to +13.5)."
    )


def test_the_quadratic_has_its_optimum_where_it_says() -> None:
    hill = quadratic_of(Weights, 1, 0)
    assert hill.loss(hill.optimum) == pytest.approx(0)
    assert hill.loss(7 * hill.optimum) == pytest.approx(0), "of shares"
    assert hill.loss(np.full(8, 0.3)) == pytest.approx(EQUAL_WEIGHTS_LOSS)
    assert (hill.optimum == 0).sum() == 2
    assert hill.loss(np.random.default_rng(1).random((5, 8))).min() > 0
    assert quadratic_of(Weights, 1, 1).optimum.tolist() != hill.optimum.tolist()
    short = bench_of("es", "spsa", budgets=(400, 800))
    pd.testing.assert_frame_equal(simulate_bench(short), simulate_bench(short), check_exact=True)


@pytest.mark.heavy
def test_games_help_to_climb_the_quadratic() -> None:
    table = simulate_bench(bench_of("es", "spsa", budgets=(400, 20_000)))
    mean = table[table["budget"] > 0].groupby(["contender", "budget"])["loss"].mean()
    assert (mean.xs(20_000, level="budget") < mean.xs(400, level="budget")).all(), "games help"
    assert mean["spsa", 20_000] < EQUAL_WEIGHTS_LOSS / 4


def test_the_page_and_the_figure() -> None:
    stream = np.random.default_rng(2)
    bench = bench_of("es", "spsa")
    points = pd.DataFrame(
        [
            {"contender": run.contender, "run": run.number, "mark": mark, "games": mark - 2}
            | {"budget": mark * (mark in (40, 120)), "elo": stream.normal(), "loss": stream.random()}
            for run in bench_runs(bench)
            for mark in run.marks
        ]
    )
    page = optimisers_page(bench, points, points, "manaforge bench-optimisers CONFIG").decode()
    assert "Which finds better weights with the same games?" in page
    assert "ends with the budget" in page
    assert optimisers_figure(points, "Elo").startswith(b"\x89PNG")


def test_a_folder_of_another_experiment_is_refused(tmp_path: Path) -> None:
    held = open_experiment(tmp_path / "one", "ablate", {"seed": 1})
    with held, pytest.raises(ExperimentError, match="is in use by another process"):
        open_experiment(tmp_path / "one", "ablate", {"seed": 1})
    for kind, definition in (("exploit", {"seed": 1}), ("ablate", {"seed": 2})):
        with pytest.raises(ExperimentError, match="was begun with other options or another version"):
            open_experiment(tmp_path / "one", kind, definition)
    with open_experiment(tmp_path / "one", "ablate", {"seed": 1}):
        pass
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "file").write_text("")
    with pytest.raises(ExperimentError, match="is not empty and no ablate folder"):
        open_experiment(tmp_path / "two", "ablate", {})
    (tmp_path / "three").write_text("")
    with pytest.raises(ExperimentError, match="three is a file"):
        open_experiment(tmp_path / "three", "ablate", {})


def made_in(out: Path) -> dict[str, bytes]:
    """What came out; the lines of what was kept stand in the order in which it was played."""
    files = [file for file in out.glob("*.*") if file.is_file() and file.name != "checksums.txt"]
    return {file.name: file.read_bytes() for file in files}


@pytest.mark.heavy
def test_the_command_goes_on_where_it_stopped(tmp_path: Path) -> None:
    words = [
        "bench-optimisers",
        "quickstart",
        "--budget",
        "200",
        "--budget",
        "60",
        "--seeds",
        "2",
        "--games",
        "2",
    ]
    words += ["--optimiser", "es", "--optimiser", "spsa", "--against", "random", "--out", tmp_path / "out"]
    words += [part for one in SMALL for part in ("--set", one)]
    first = manaforge(*words)
    assert first.returncode == 0, first.stderr
    assert "means over runs, with 95% intervals by Student's t" in first.stdout
    made = made_in(tmp_path / "out")
    assert set(made) == {
        "experiment.json",
        "points.csv",
        "quadratic.csv",
        "optimisers.png",
        "optimisers.html",
    }
    next((tmp_path / "out" / "points").iterdir()).unlink()
    assert manaforge(*words).returncode == 0
    assert made_in(tmp_path / "out") == made
    other = manaforge(*words[: -len(SMALL) * 2], "--set", "mu=3", "--set", "games=2")
    assert other.returncode == 2
    assert "was begun with other options" in other.stderr
