"""The minimax player: its features by hand, its search against a plain reading, one step of learning."""

import csv
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.minimax_backward import main as backward
from engine import Action, Outcome, PlayerView, Position, find_deck
from engine.effects.chance import Chance
from engine.match import deal
from engine.notation import parse_position
from engine.streams import generator
from evo.play.checking import same_view_positions
from rivals import AGENTS, MinimaxAgent, MinimaxWeights, find_agent_profile
from rivals.kinds import OptionError
from rivals.minimax import thread_memory
from rivals.minimax_learning import Learning, learn, main, td_step
from rivals.minimax_search import (
    FEATURES,
    LOST,
    MAX_POSITIONS,
    N_FEATURES,
    WON,
    choose_chain,
    find_chains,
    pick_best,
    position_value,
    read_features,
)
from rivals.registry import read_agent_profile
from tests.conftest import BOUNDSCHECK, UNCOMPILED

SEED = find_agent_profile("minimax-td", "seed").weights
STREAM = generator(1)
compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")


def features_of(text: str) -> dict[str, float]:
    position, found = parse_position(text), np.zeros(N_FEATURES)
    read_features(position.state, position.active, found)
    return dict(zip(FEATURES, found.tolist(), strict=True))


def value(position: Position, seat: int, weights: np.ndarray = SEED.array) -> float:
    return float(position_value(position.state, seat, weights, np.zeros(N_FEATURES)))


def row_of(weights: np.ndarray = SEED.array, depth: int = 2, chains: int = 3) -> np.ndarray:
    return np.array([*weights, depth, chains])


# Features


def test_the_sixteen_features_by_hand() -> None:
    text = (
        "turn 5 | hero 20+3 mana 1/5 board [3/2; 2/4] hand [1:1/1; 2:2/2; 3:3/3] | hero 17+2 mana 2/4 board [6/5] "
        "hand [1:1/1]"
    )
    assert features_of(text) == {
        "health": 20,
        "armour": 3,
        "mana": 1,
        "attack": 5,
        "minions": 2,
        "enemy_health": 17,
        "enemy_armour": 2,
        "enemy_mana": 2,
        "enemy_attack": 6,
        "enemy_minions": 1,
        "mana_lead": 2,  # 4 used of 5, 2 of 4
        "attack_lead": -1,
        "minions_lead": 1,
        "hand_lead": 2,
        "health_lead": 3,
        "bias": 1,
    }
    assert len(FEATURES) == 16
    assert MinimaxWeights.names() == FEATURES


def test_a_game_that_is_over_is_worth_more_than_any_weights() -> None:
    position = parse_position("turn 5 | hero 20 | hero 20")
    weights = np.full(N_FEATURES, 1e4)
    for dead, worth in ((1 - position.active, WON), (position.active, LOST)):
        over = position.copy()
        over.state["sides"][dead]["health"] = 0
        assert value(over, position.active, weights) == worth
    position.state["sides"]["health"] = 0
    assert value(position, 0, weights) == value(position, 1, weights) == 0


# The search


def ends_of(position: Position) -> Iterator[Position]:
    """Every position in which the active player can end its turn, by trying all sequences."""
    yield position
    for action in position.legal_actions():
        if action != Action.end_turn():
            after = position.copy()
            after.play(action)
            yield from ends_of(after)


def reading(position: Position, depth: int, chains: int) -> float:
    """The value of a turn as the paper has it: the best of the best ends, after the worst answer to each."""
    seat = position.active
    seen = PlayerView(position, seat).position.copy()
    ends = {end.state.tobytes(): end for end in ends_of(seen)}
    best = sorted((value(end, seat) for end in ends.values()), reverse=True)
    if depth == 1 or best[0] == WON:
        return best[0]
    judged = []
    for end in sorted(ends.values(), key=lambda end: -value(end, seat))[:chains]:
        then = end.copy()
        then.play(Action.end_turn())
        judged.append(min(value(answer, seat) for answer in ends_of(then)))
    return max(judged)


POSITIONS = [
    "turn 5 | hero 20 mana 3/3 board [3/2 ready; 2/4T] hand [1:1/1; 3:4/4] | hero 12 board [2/3; 5/1]",
    "turn 5 | hero 6 mana 2/5 board [3/2 ready; 1/1 ready] hand [2:2/2] | hero 9 board [4/2; 3/3T]",
    "turn 5 | hero 4 mana 0/5 board [3/2D ready; 5/1 ready] | hero 7 board [2/2; 2/6]",
    "turn 5 | hero 3 mana 0/5 board [4/4 ready; 4/3 ready] | hero 8 board [9/9]",
]


@pytest.mark.parametrize("text", POSITIONS)
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("chains", [1, 64])
def test_it_is_worth_what_a_plain_reading_finds(text: str, depth: int, chains: int) -> None:
    """With 1 chain and with all of them: between, chains of equal value may be others."""
    position, memory = parse_position(text), thread_memory()
    choose_chain(position.state, position.table.array, row_of(depth=depth, chains=chains), memory)
    assert memory.found[0]["value"] == pytest.approx(reading(position, depth, chains))
    assert not memory.found[0]["unproven"]


@pytest.mark.parametrize("text", POSITIONS)
def test_chains_come_from_the_best_down_and_no_position_twice(text: str) -> None:
    position, memory = parse_position(text), thread_memory()
    seat = position.active
    find_chains(position.state, position.table.array, SEED.array, seat, memory.own)
    n = int(memory.own.n_nodes[0])
    picked = [pick_best(1.0, memory.own) for _ in range(n)]
    values = memory.own.nodes["value"][picked]
    assert sorted(picked) == list(range(n))
    assert pick_best(1.0, memory.own) == -1
    assert (np.diff(values) <= 0).all()
    if values[0] < WON:
        wanted = {round(value(end, seat), 9) for end in ends_of(position)}
        assert set(values.round(9).tolist()) == wanted


def turn_of(agent: MinimaxAgent, position: Position) -> list[str]:
    done, seat = [], position.active
    while position.active == seat and position.outcome == Outcome.ONGOING:
        action = agent.act(PlayerView(position, seat), STREAM)
        done.append(position.describe(action))
        position.play(action, Chance.given([0] * 20))
    return done


def test_the_opponents_answer_decides_at_depth_2() -> None:
    """Attack counts for the own side alone. The 5/1 would die of an answer if the 1/1 could make one."""
    only = MinimaxWeights(**{name: float(name == "attack") for name in FEATURES})
    text = "turn 5 | hero 20 mana 0/5 board [5/1 ready; 1/3 ready] | hero 20 board [1/1]"
    assert turn_of(MinimaxAgent(only, depth=1), parse_position(text))[0] == "end turn"
    played = turn_of(MinimaxAgent(only, depth=2, chains=9), parse_position(text))
    assert played[0].startswith("attack 1 -> 0")


def test_a_lethal_turn_is_played() -> None:
    position = parse_position(POSITIONS[3])
    seat = position.active
    turn_of(MinimaxAgent(SEED), position)
    assert position.outcome == (Outcome.FIRST_WINS, Outcome.SECOND_WINS)[seat]


def test_a_turn_with_more_positions_than_memory_is_counted() -> None:
    minions = "; ".join(f"{attack}/9 ready" for attack in range(1, 8))
    enemies = "; ".join(f"1/{health}" for health in range(20, 27))
    agent = MinimaxAgent(SEED, depth=1)
    turn_of(agent, parse_position(f"turn 9 | hero 20 board [{minions}] | hero 30 board [{enemies}]"))
    assert thread_memory().own.n_nodes[0] == MAX_POSITIONS
    assert agent.unproven == 1


@pytest.mark.parametrize("pair", [("thesis-paladin", "thesis-warrior"), ("secret-hunter", "reno-mage")])
def test_what_is_hidden_changes_no_action(pair: tuple[str, str]) -> None:
    for one, other in same_view_positions([pair], 6):
        actions = [
            MinimaxAgent(SEED).act(PlayerView(position, position.active), STREAM) for position in (one, other)
        ]
        assert actions[0] == actions[1]


# Weights and learning


def test_the_bias_is_inert_and_armour_with_bodies_alone() -> None:
    bodies = MinimaxWeights.inert(find_deck("thesis-paladin").cards)
    assert bodies == {"bias", "armour", "enemy_armour", "enemy_mana"}
    assert MinimaxWeights.inert(find_deck("basic-mage").cards) == {"bias"}
    assert set(MinimaxWeights.NEGATIVE) == set(FEATURES)


def test_a_step_of_learning_by_hand() -> None:
    """V(s) = 0.5 * 2 - 1 * 1 = 0, target 0 + 0.9 * 10 = 9: w moves by 0.1 * 9 * phi."""
    weights, features = np.array([0.5, -1.0]), np.array([2.0, 1.0])
    moved = td_step(weights, features, 0.9 * 10.0, 0.1)
    assert moved == pytest.approx([0.5 + 0.1 * 9 * 2, -1.0 + 0.1 * 9 * 1])


@compiled
def test_learning_repeats_and_depends_on_its_seed() -> None:
    """A learning rate near 0 leaves the weights at 0, one of 1 lets them grow without bounds."""
    small = {"games": 20, "every": 10, "tests": 10}
    one, again, other = (list(learn(Learning(**small, seed=seed))) for seed in (1, 1, 2))
    assert [found.games for found in one] == [10, 20]
    assert np.array_equal(one[-1].weights, again[-1].weights)
    assert not np.array_equal(one[-1].weights, other[-1].weights)
    assert not list(learn(Learning(**small, eta=1.0))), "weights grow without bounds"
    assert not list(learn(Learning(**small, eta=1e-300)))[-1].weights.round(9).any()


@compiled
def test_features_that_are_left_out_weigh_nothing() -> None:
    small, some = {"games": 20, "every": 20, "tests": 10}, ("attack_lead", "bias")
    (found,) = learn(Learning(**small, features=some))
    assert {name for name, weight in zip(FEATURES, found.weights, strict=True) if weight} == set(some)
    with pytest.raises(OptionError, match="unknown feature luck; known: health, "):
        next(learn(Learning(features=("luck",))))


def test_a_feature_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--features", "luck"])
    assert "error: unknown feature luck; known: health, " in capsys.readouterr().err


@compiled
@pytest.mark.heavy
def test_a_backward_search(tmp_path: Path) -> None:
    """Each row has one feature less than the row before."""
    out = tmp_path / "search.csv"
    backward(f"--games 2 --tests 2 --fresh 2 --workers 1 --out {out}".split())
    names = [
        set(row["names"].split()) for row in csv.DictReader(out.read_text(encoding="utf-8").splitlines())
    ]
    assert [len(some) for some in names] == list(range(N_FEATURES, 0, -1))
    assert all(fewer < more for more, fewer in itertools.pairwise(names))


def test_an_opponent_that_plays_in_python_is_refused() -> None:
    for name in ("random", "ilp"):
        with pytest.raises(OptionError, match=f"{name} cannot be an opponent"):
            next(learn(Learning(opponent=name)))


@compiled
def test_the_best_weights_become_a_profile(tmp_path: Path) -> None:
    said: list[str] = []
    path = tmp_path / "mine.toml"
    main(
        ["--games", "20", "--every", "10", "--tests", "10", "--epsilon", "0.25", "--out", str(path)],
        said.append,
    )
    assert said[0].startswith("    10 games")
    profile = read_agent_profile(path)
    assert profile.name == "mine"
    assert profile.provenance["learning"]["epsilon"] == 0.25
    assert isinstance(profile.weights, MinimaxWeights)


@compiled
def test_the_shipped_profile_says_how_it_was_learned() -> None:
    learned = find_agent_profile("minimax-td", "seed").provenance
    settings = dict(learned["learning"])
    assert set(settings) == set(Learning.__dataclass_fields__) - {"features"}, "all, when there was no choice"
    assert learned["score"] > 0.8
    kind = AGENTS["minimax-td"]
    assert kind.definition(options=(1, 5)) == {"depth": 1, "chains": 5}


def test_it_plays_a_dealt_hand() -> None:
    assert turn_of(MinimaxAgent(SEED), deal(("basic-mage", "thesis-paladin"), 4))[-1] == "end turn"
