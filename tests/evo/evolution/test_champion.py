"""The final: its candidates, its games, and the champion's profile."""

import numpy as np
import pytest

from evo.config.benchmarks import SEVEN
from evo.config.run_config import RunConfig
from evo.evolution.benchmark import benchmark_players
from evo.evolution.champion import (
    BENCHMARK_STAGE,
    FINAL_COLUMNS,
    SECOND_STAGE_SIZE,
    candidate_profile,
    play_final,
)
from evo.evolution.records import new_strategy
from evo.play.games import GAME, PlayFunction, Roster, Schedule, play_schedule
from evo.strategies import Strategy
from ilp_agent import find_profile

CONFIG = RunConfig().changed(
    mu=6,
    generations=2,
    games=2,
    decks=["thesis-paladin", "thesis-warrior"],
    final={"games": 2000, "benchmark_games": 16},
    **{"lambda": 6},
)


@pytest.fixture(scope="module")
def strategy() -> Strategy:
    found = new_strategy(CONFIG)
    for _ in range(3):
        found.tell(np.array([one[0] for one in found.ask()]))
    return found


def better_by(place: int) -> tuple[PlayFunction, list[tuple[Roster, Schedule]]]:
    """Games won by the larger weight at a place; also records what was played."""
    seen: list[tuple[Roster, Schedule]] = []

    def play(roster: Roster, games: Schedule) -> np.ndarray:
        seen.append((roster, games))
        value = np.array([player.weights[place] / sum(player.weights) for player in roster.players])
        first, second = value[games.players].T
        played = np.zeros(len(games), GAME)
        played["outcome"] = np.where(first > second, 1, np.where(first < second, 2, 3))
        played["turns"] = 9
        return played

    return play, seen


def test_the_best_candidate_wins_in_two_stages(strategy: Strategy) -> None:
    play, seen = better_by(3)
    champion = play_final(strategy, CONFIG, play)
    candidates = strategy.candidates()
    best = max(candidates, key=lambda one: one.weights[3] / sum(one.weights))
    assert champion.profile.provenance["candidate"] == best.name
    assert champion.profile.weights.array.tolist() == list(best.weights)
    table = champion.table
    assert list(table.columns) == list(FINAL_COLUMNS)
    assert len(candidates) > SECOND_STAGE_SIZE or len(seen) == 2
    ranked = table[table["stage"] != "thesis"]
    assert ranked["rank"].tolist() == list(range(1, len(candidates) + 1))
    assert ranked["candidate"].iloc[0] == best.name
    assert ranked["score"].iloc[0] == 1.0
    keys = [set(games.keys.tolist()) for _, games in seen]
    assert all(not one & other for place, one in enumerate(keys) for other in keys[:place]), "fresh deals"


def test_the_champion_plays_the_thesiss_seven(strategy: Strategy) -> None:
    play, seen = better_by(0)
    table = play_final(strategy, CONFIG, play).table
    roster, games = seen[-1]
    assert [player.weights for player in roster.players[1:]] == [
        one.weights for one in benchmark_players(SEVEN)
    ]
    rows = table[table["stage"] == "thesis"]
    assert rows["opponent"].tolist() == list(SEVEN.opponents)
    assert (rows["games"] == 16).all()
    assert len(games) == 16 * len(SEVEN.opponents)
    assert {0} == set(games.players.min(axis=1).tolist()), "everybody plays the champion alone"
    assert BENCHMARK_STAGE > 1


def test_the_thesiss_seven_are_its_profiles() -> None:
    for name, player in zip(SEVEN.opponents, benchmark_players(SEVEN, "highs"), strict=True):
        assert player.weights == tuple(find_profile(name).weights.array)
        assert (player.kind, player.backend) == ("ilp", "highs")


def test_without_games_the_last_generations_best_is_champion(strategy: Strategy) -> None:
    config = CONFIG.changed(final={"games": 0, "benchmark_games": 0})

    def play(roster: Roster, games: Schedule) -> np.ndarray:
        raise AssertionError("no games are to be played")

    champion = play_final(strategy, config, play)
    assert champion.profile.provenance["candidate"] == f"individual {strategy.parents[0].number}"
    assert champion.table.empty
    assert "final" not in champion.profile.provenance


def test_a_profile_says_how_it_came_about_and_not_where(strategy: Strategy) -> None:
    champion = play_final(strategy, CONFIG, play_schedule)
    said = champion.profile.provenance
    assert said["generation"] == CONFIG.generations
    assert said["config_hash"] == CONFIG.digest
    assert said["seed"] == CONFIG.seed
    assert {"final", "against_thesis_seven", "birth", "manaforge", "rules"} <= set(said)
    second = champion.table.iloc[1]["candidate"]
    other = next(one for one in strategy.candidates() if one.name == second)
    profile = candidate_profile(other, strategy.generation - 1, CONFIG, champion.table)
    assert profile.name.startswith("place-2-")
    assert profile.provenance["final"]["rank"] == 2
