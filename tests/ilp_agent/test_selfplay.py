"""Whole games: every plan comes true, and agent and compiled batch play the same games."""

import numpy as np
import pytest

from engine import Outcome, find_ruleset, play, rulesets
from engine.batches import begin_logs, deal_games, game_results
from engine.decks import build_card_table, deck_records
from engine.state import STATE
from engine.streams import stream_key
from ilp_agent import FORMULATIONS, IlpAgent, Profile, Weights, find_profile, shipped_profiles
from ilp_agent.selfplay import SOLVER_STATISTICS, exact_memory, play_exact_games
from ilp_agent.turn import TURN
from ilp_agent.weights import N_WEIGHTS
from tests.backends import backends
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.engine.test_differential import DECKS
from tests.ilp_agent.verify import AGAIN, ILLEGAL, TURNS, UNPROVEN, UNTRUE, check_games

pytestmark = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

ROSTER = build_card_table(DECKS)
RECORDS = deck_records(DECKS, ROSTER)
PROFILES = [find_profile(name) for name in shipped_profiles()]
PROFILES += [
    Profile(f"random {n}", Weights.from_array(np.random.default_rng(n).random(N_WEIGHTS))) for n in range(20)
] + [Profile("zero", Weights(*[0.0] * N_WEIGHTS))]
WEIGHTS = np.array([profile.weights.full_array for profile in PROFILES])


def batch(games: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Agents, decks and deals of a batch."""
    pick = np.random.default_rng(seed)
    agents = pick.integers(len(PROFILES), size=(games, 2))
    decks = pick.integers(len(DECKS), size=(games, 2))
    return agents, decks, np.array([stream_key(seed, game) for game in range(games)], np.uint64)


def played(
    ruleset: str, weights: np.ndarray, agents: np.ndarray, decks: np.ndarray, keys: np.ndarray
) -> list[tuple[object, ...]]:
    """Outcome, rounds, heroes' health, and what the turns took, of each game of a batch."""
    states, use = np.zeros(len(keys), STATE), np.zeros(len(keys), SOLVER_STATISTICS)
    deal_games(ROSTER.array, RECORDS, find_ruleset(ruleset).array, decks, keys, states)
    play_exact_games(ROSTER.array, weights, agents, states, begin_logs(keys), exact_memory(), use)
    outcomes, turns = game_results(states)
    health = states["sides"]["health"].tolist()
    return list(zip(outcomes.tolist(), turns.tolist(), health, use.tolist(), strict=True))


def checked(games: int, ruleset: str, keep: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Counts of `check_games`, and its first turns."""
    counts, problems = np.zeros(5, np.int64), np.zeros(keep, TURN)
    agents, decks, keys = batch(games, 11)
    arguments = (ROSTER.array, RECORDS, find_ruleset(ruleset).array, WEIGHTS, agents, decks, keys)
    check_games(*arguments, counts, problems)
    return counts, problems


@pytest.mark.heavy
@pytest.mark.nightly
def test_every_plan_of_100_000_turns_is_legal_and_comes_true(capsys: pytest.CaptureFixture[str]) -> None:
    total = np.zeros(5, np.int64)
    for ruleset in rulesets():
        total += checked(1_700, ruleset)[0]
    with capsys.disabled():
        print(
            f"\n{total[TURNS]:,d} turns: {total[AGAIN]} solved again, {total[UNPROVEN]} unproven",
            end=" ",
        )
    assert total[TURNS] >= 100_000
    assert total[ILLEGAL] == total[UNTRUE] == 0
    assert total[AGAIN] > 0, "the wild decks hold Lifesteal, so some enemy must have healed its hero"


@pytest.mark.parametrize("ruleset", ["thesis", "standard"])
def test_agent_and_batch_play_the_same_games(ruleset: str) -> None:
    games = 60
    agents, decks, keys = batch(games, 3)
    for game, (end, turns, health, use) in enumerate(played(ruleset, WEIGHTS, agents, decks, keys)):
        both = [IlpAgent(PROFILES[agent]) for agent in agents[game]]
        pair = DECKS[decks[game, 0]], DECKS[decks[game, 1]]
        match = play(both[0], both[1], pair, 3, (game,), ruleset)
        assert not match.error
        found = [int(side["health"]) for side in match.position.state["sides"]]
        assert (match.outcome, match.turns, found) == (Outcome(end), turns, health)
        counts = dict(zip(SOLVER_STATISTICS.names, use, strict=True))
        assert both[0].solves + both[1].solves == counts["exact"]
        assert both[0].again + both[1].again == counts["again"]


def test_a_batch_is_its_games_one_by_one() -> None:
    agents, decks, keys = batch(40, 5)
    together = played("hearthsim", WEIGHTS, agents, decks, keys)
    parts = [slice(game, game + 1) for game in reversed(range(40))]
    alone = [played("hearthsim", WEIGHTS, agents[one], decks[one], keys[one])[0] for one in parts]
    assert together == alone[::-1]


def test_scaling_all_weights_changes_no_game() -> None:
    """By a power of two, so that every sum is scaled exactly."""
    games = batch(100, 6)
    assert played("thesis", WEIGHTS, *games) == played("thesis", WEIGHTS * 8, *games)


@pytest.mark.parametrize("backend", backends("thesis"))
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_game_with_another_backend_ends_without_a_fault(backend: str, formulation: str) -> None:
    agents = [IlpAgent(find_profile(name), backend, formulation) for name in ("aggro-face", "value-trading")]
    result = play(agents[0], agents[1], ("thesis-paladin", "thesis-warrior"), 1)
    assert not result.error
    assert result.outcome != Outcome.ONGOING
