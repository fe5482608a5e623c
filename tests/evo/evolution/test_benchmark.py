"""The benchmark and the baselines beside the champion."""

from pathlib import Path

import pytest

from evo.config.benchmarks import PANEL, SEVEN
from evo.config.run_config import NO_FILE, RunConfig, validate_config, validate_run_config
from evo.evolution.benchmark import BASELINES, baselines_summary, benchmark_players, play_baselines
from evo.evolution.session import open_or_create
from evo.play.games import play_schedule
from evo.storage.run_folder import RunError
from ilp_agent import find_profile
from tests.evo.runs import TINY


def play(roster, games):  # type: ignore[no-untyped-def]
    return play_schedule(roster, games)


def test_members_play_the_same_games_and_the_same_run_has_the_same_baselines() -> None:
    config = TINY.changed(final={"games": 0, "benchmark_games": 64})
    weights = tuple(map(float, find_profile("value-trading").weights.array))
    found = play_baselines(weights, config, play)
    assert found == play_baselines(weights, config, play)
    assert found["games"] == 7 * 8
    assert len(found["random"]) == BASELINES
    assert found["random"] == sorted(found["random"], reverse=True)
    study = play_baselines(tuple(0.0 for _ in weights), config, play)
    assert study["random"] == found["random"], "another champion changes no other score"
    assert study["champion"] < min(found["random"])


def test_no_baselines_without_benchmark_games_or_with_a_slow_solver() -> None:
    assert play_baselines((1.0,) * 8, TINY.changed(final={"games": 0, "benchmark_games": 0}), play) == {}
    assert play_baselines((1.0,) * 8, TINY.changed(backend="highs"), play) == {}


def test_other_agents_have_baselines_without_the_study_champion() -> None:
    config = TINY.changed(agent="greedy-ilp", final={"games": 0, "benchmark_games": 8})
    assert play_baselines((1.0,) * 8, config, play)["study"] is not None
    config = TINY.changed(agent="hearthsim", final={"games": 0, "benchmark_games": 8})
    assert play_baselines((1.0,) * 8, config, play)["study"] is None


def test_class_decks_play_the_panel_and_minions_the_seven_unless_chosen() -> None:
    assert RunConfig().found_benchmark is SEVEN
    classes = validate_run_config({"decks": ["basic-mage"]}, NO_FILE, begins=True)
    assert classes.found_benchmark is PANEL
    chosen = {"decks": ["basic-mage"], "benchmark": "seven"}
    seven = validate_run_config(chosen, NO_FILE, begins=True)
    assert seven.found_benchmark is SEVEN
    assert (
        validate_config(RunConfig, {"decks": ["basic-mage"]}, NO_FILE, stored=True).found_benchmark is SEVEN
    ), "folders of before the panel say nothing"
    assert len({classes.digest, seven.digest}) == 2


def test_a_run_begun_with_other_defaults_is_continued_by_the_same_configuration(tmp_path: Path) -> None:
    new = validate_run_config(
        {"decks": ["basic-mage"], "mu": 2, "lambda": 1, "generations": 0}, NO_FILE, begins=True
    )
    old = new.changed(benchmark="seven", ruleset="thesis")
    assert new.digest != old.digest
    open_or_create(tmp_path / "run", old).close()
    file = tmp_path / "run" / "config.toml"
    file.write_text(file.read_text().replace('benchmark = "seven"\n', ""))  # as written before the panel
    with open_or_create(tmp_path / "run", new) as folder:
        assert (folder.config.benchmark, folder.config.ruleset) == ("seven", "thesis")
    with pytest.raises(RunError, match="another configuration"):
        open_or_create(tmp_path / "run", new.changed(benchmark="panel"))
    assert (
        new.changed(final={"benchmark_games": 0}).digest
        == new.changed(final={"benchmark_games": 0}, benchmark="seven").digest
    ), "no game of the champion depends on it"


def test_the_players_of_a_benchmark_have_its_names_and_the_chosen_solver() -> None:
    assert [player.kind for player in benchmark_players(PANEL, "highs")] == [
        "lookahead",
        "hearthsim",
        "minimax-td",
    ]
    seven = benchmark_players(SEVEN, "highs")
    assert [player.backend for player in seven] == ["highs"] * 7
    assert [player.weights for player in seven] == [
        tuple(map(float, find_profile(name).weights.array)) for name in SEVEN.opponents
    ]


@pytest.mark.parametrize(
    "baselines",
    [
        {},
        {"champion": 1},
        {"champion": 0.5, "games": 3, "random": []},
        {"champion": 0.5, "games": 3, "random": ["x"]},
    ],
)
def test_strange_baselines_are_no_sentence(baselines: dict[str, object]) -> None:
    assert baselines_summary(baselines) == ""


def test_the_place_counts_who_scores_more() -> None:
    baselines = {"games": 8, "champion": 0.6, "study": 0.7, "random": [0.65, 0.2]}
    assert baselines_summary(baselines) == (
        "baselines against the seven, on the same 8 games each: place 3 of 4, this champion 60.0%, "
        "the shipped study champion 70.0%, random weights 20.0% to 65.0%"
    )
