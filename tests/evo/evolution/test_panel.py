"""The panel beside the champion."""

import pytest

from evo.evolution.champion import PANEL_SIZE, panel_summary, play_panel
from evo.play.games import play_schedule
from ilp_agent import find_profile
from tests.evo.runs import TINY


def play(roster, games):  # type: ignore[no-untyped-def]
    return play_schedule(roster, games)


def test_members_play_the_same_games_and_the_same_run_has_the_same_panel() -> None:
    config = TINY.changed(final={"games": 0, "benchmark_games": 64})
    weights = tuple(map(float, find_profile("value-trading").weights.array))
    panel = play_panel(weights, config, play)
    assert panel == play_panel(weights, config, play)
    assert panel["games"] == 7 * 8
    assert len(panel["random"]) == PANEL_SIZE
    assert panel["random"] == sorted(panel["random"], reverse=True)
    study = play_panel(tuple(0.0 for _ in weights), config, play)
    assert study["random"] == panel["random"], "another champion changes no other score"
    assert study["champion"] < min(panel["random"])


def test_no_panel_without_the_seven_or_with_a_slow_solver() -> None:
    assert play_panel((1.0,) * 8, TINY.changed(final={"games": 0, "benchmark_games": 0}), play) == {}
    assert play_panel((1.0,) * 8, TINY.changed(backend="highs"), play) == {}


def test_other_agents_have_a_panel_without_the_study_champion() -> None:
    config = TINY.changed(agent="greedy-ilp", final={"games": 0, "benchmark_games": 8})
    assert play_panel((1.0,) * 8, config, play)["study"] is not None
    config = TINY.changed(agent="hearthsim", final={"games": 0, "benchmark_games": 8})
    assert play_panel((1.0,) * 8, config, play)["study"] is None


@pytest.mark.parametrize(
    "panel",
    [
        {},
        {"champion": 1},
        {"champion": 0.5, "games": 3, "random": []},
        {"champion": 0.5, "games": 3, "random": ["x"]},
    ],
)
def test_a_strange_panel_is_no_sentence(panel: dict[str, object]) -> None:
    assert panel_summary(panel) == ""


def test_the_place_counts_who_scores_more() -> None:
    panel = {"games": 8, "champion": 0.6, "study": 0.7, "random": [0.65, 0.2]}
    assert panel_summary(panel) == (
        "panel against the seven, on the same 8 games each: place 3 of 4, this champion 60.0%, "
        "the shipped study champion 70.0%, random weights 20.0% to 65.0%"
    )
