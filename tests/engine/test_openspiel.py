"""The game for OpenSpiel: its own tests, games equal to the engine's, best responses equal to an exhaustive search."""

import copy
import pickle
from collections import defaultdict
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import Action, Outcome, find_deck, find_ruleset
from engine.effects.chance import Chance
from engine.errors import DeckError, RulesetError, UnknownNameError
from engine.match import deal
from engine.position import Position
from engine.view import PlayerView

pytest.importorskip("pyspiel", reason="SKIPPED: open_spiel is not installed (make setup-extras)")

import pyspiel
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability

from engine.environments.openspiel import ManaforgeState
from tests.conftest import UNCOMPILED

TINY = {"first": "tests/data/decks/tiny.toml", "second": "tests/data/decks/tiny.toml", "ruleset": "tiny"}
GAMES = [
    TINY,
    {"first": "thesis-paladin", "second": "random-minions", "ruleset": "hearthsim"},
    {"first": "basic-mage", "second": "secret-hunter", "ruleset": "hearthsim"},
    {"first": "jade-shaman", "second": "miracle-rogue", "ruleset": "thesis"},
]


def game(params: dict[str, str]) -> Any:
    return pyspiel.load_game("python_manaforge", params)


@pytest.mark.parametrize("params", GAMES)
def test_openspiels_own_tests_pass(params: dict[str, str]) -> None:
    pyspiel.random_sim_test(game(params), num_sims=1 if UNCOMPILED else 3, serialize=True, verbose=False)


def random_step(state: Any, rng: np.random.Generator) -> int:
    """Take one of the actions that are legal, or one of the outcomes, and return it."""
    if state.is_chance_node():
        outcomes, odds = zip(*state.chance_outcomes(), strict=True)
        assert sum(odds) == pytest.approx(1)
        chosen = int(rng.choice(outcomes, p=odds))
    else:
        chosen = int(rng.choice(state.legal_actions()))
    state.apply_action(chosen)
    return chosen


@pytest.mark.parametrize("params", GAMES)
def test_games_are_the_engines_and_copies_are_independent(params: dict[str, str]) -> None:
    """Every action is played on a position beside it, with the outcomes that fell out."""
    played = game(params)
    for seed in range(2 if UNCOMPILED else 5):
        state, rng = played.new_initial_state(), np.random.default_rng(seed)
        while state.position is None:
            random_step(state, rng)
        beside: Position = state.position.copy()
        while not state.is_terminal():
            before, kept = str(state), state.clone()
            legal = sorted(map(str, beside.legal_actions()))
            assert sorted(str(played.numbers.actions[n]) for n in state.legal_actions()) == legal
            action = played.numbers.actions[random_step(state, rng)]
            outcomes = []
            while state.is_chance_node():
                outcomes.append(random_step(state, rng))
            beside.play(action, Chance.given(outcomes))
            assert beside.state.tobytes() == state.position.state.tobytes()
            assert str(kept) == before
        won = {Outcome.FIRST_WINS: 1.0, Outcome.SECOND_WINS: -1.0}.get(beside.outcome, 0.0)
        assert state.returns() == [won, -won]


@pytest.mark.parametrize("params", GAMES)
def test_what_a_player_is_told_is_what_its_view_tells(params: dict[str, str]) -> None:
    state, rng = game(params).new_initial_state(), np.random.default_rng(1)
    seen: dict[int, list[str]] = {0: [], 1: []}
    while not state.is_terminal():
        random_step(state, rng)
        if state.position is None or state.is_chance_node():
            continue
        for seat in (0, 1):
            view = str(PlayerView(state.position, seat).position)
            seen[seat].append(view)
            assert state.observation_string(seat) == f"player {seat}\n{view}"
            assert state.information_state_string(seat) == "\n".join([f"player {seat}", *seen[seat]])
            assert len(state.observation_tensor(seat)) == state.get_game().observation_tensor_size()


def test_the_order_of_the_decks_is_that_of_the_draws() -> None:
    state = game(TINY).new_initial_state()
    drawn: list[str] = []
    while state.is_chance_node():
        outcome = state.chance_outcomes()[0][0]
        drawn.append(state.action_to_string(state.current_player(), outcome))
        state.apply_action(outcome)
    side = state.position.state["sides"][0]
    hand = [state.position.card_name(int(card)) for card in side["hand"][: side["n_hand"]]]
    assert [f"player 0: {name}" for name in hand] == drawn[: len(hand)]


def test_later_draws_come_in_the_order_of_the_chance_nodes() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        state = game(TINY).new_initial_state()
        order: list[list[str]] = [[], []]
        while state.is_chance_node():
            outcomes, odds = zip(*state.chance_outcomes(), strict=True)
            outcome = int(rng.choice(outcomes, p=odds))
            told = state.action_to_string(state.current_player(), outcome)
            seat, _, name = told.removeprefix("player ").partition(": ")
            order[int(seat)].append(name)
            state.apply_action(outcome)
        for seat, drawn in enumerate(order):  # then come the cards that are certain
            side = state.position.state["sides"][seat]
            hand, left = side["hand"][: side["n_hand"]], side["deck"][: side["n_deck"]]
            names = [state.position.card_name(int(card)) for card in (*hand, *left[::-1])]
            assert names[: len(drawn)] == drawn
            assert len(names) == 4


def test_states_are_copied_and_written() -> None:
    state, rng = game(GAMES[2]).new_initial_state(), np.random.default_rng(3)
    for _ in range(120):
        random_step(state, rng)
    again = pickle.loads(pickle.dumps(state))
    assert str(again) == str(copy.deepcopy(state)) == str(state)
    assert again.history() == state.history()
    assert isinstance(again, ManaforgeState)


@pytest.mark.parametrize(
    ("params", "error", "told"),
    [
        ({"ruleset": "standard"}, RulesetError, "has a mulligan"),
        ({"ruleset": "none"}, UnknownNameError, "unknown ruleset"),
        ({"first": "none"}, UnknownNameError, "unknown deck"),
        ({"first": "tests/data/none.toml"}, DeckError, "none.toml"),
    ],
)
def test_what_is_no_game_is_refused(params: dict[str, str], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        game(params)


Group = list[tuple[Position, float]]
"""Positions that a player cannot tell apart, each with its probability but for the player's own choices."""


def deals() -> list[Position]:
    """All orders of two tiny decks as first positions, all equally likely."""
    deck, rules = find_deck(TINY["first"]), find_ruleset("tiny")
    first = deal((deck, deck), 0, ruleset=rules)
    orders = sorted(set(permutations(first.table.number[card.key] for card in deck.cards)))
    found = []
    for one in orders:
        for other in orders:
            position = first.copy()
            for side, order in zip(position.state["sides"], (one, other), strict=True):
                n = side["n_hand"]
                side["hand"][:n], side["deck"][: 4 - n] = order[:n], order[: n - 1 : -1]
            found.append(position)
    return found


def grouped(nodes: Iterable[tuple[Position, float]], player: int) -> list[Group]:
    """Positions by what the player sees."""
    groups: dict[str, Group] = defaultdict(list)
    for position, chance in nodes:
        groups[str(PlayerView(position, player).position)].append((position, chance))
    return list(groups.values())


def after(position: Position, action: Action) -> Position:
    position = position.copy()
    position.play(action)
    return position


def best(group: Group, player: int) -> float:
    """The most that a player can win from positions it cannot tell apart, the other one playing at random."""
    position = group[0][0]
    if position.outcome != Outcome.ONGOING:
        won = {Outcome.FIRST_WINS: 1.0, Outcome.SECOND_WINS: -1.0}.get(position.outcome, 0.0)
        return sum(chance for _, chance in group) * (won if player == 0 else -won)
    if position.active == player:
        return max(
            sum(best(part, player) for part in grouped(((after(p, a), c) for p, c in group), player))
            for a in position.legal_actions()
        )
    nodes = []
    for position, chance in group:
        legal = position.legal_actions()
        nodes += [(after(position, action), chance / len(legal)) for action in legal]
    return sum(best(part, player) for part in grouped(nodes, player))


@pytest.mark.nightly
@pytest.mark.heavy
def test_best_responses_on_a_tiny_deck_are_those_of_an_exhaustive_search() -> None:
    found = game(TINY)
    uniform = policies.UniformRandomPolicy(found)
    positions = deals()
    assert len(positions) == 36
    own = []
    for player in (0, 1):
        nodes = [(position, 1 / len(positions)) for position in positions]
        own.append(sum(best(group, player) for group in grouped(nodes, player)))
    result = exploitability.nash_conv(found, uniform, return_only_nash_conv=False)
    chance = expected_game_score.policy_value(found.new_initial_state(), [uniform, uniform])
    assert result.player_improvements + chance == pytest.approx(own)


@pytest.mark.nightly
@pytest.mark.heavy
def test_cfr_finds_a_policy_that_is_less_exploitable(tmp_path: Path) -> None:
    """With three cards, of which the Taunt costs three mana, so that there are few games."""
    smaller = Path(TINY["first"]).read_text().replace("size = 4", "size = 3")
    (tmp_path / "smaller.toml").write_text(smaller.removesuffix("count = 2\n") + "cost = 3\n")
    found = game(dict.fromkeys(("first", "second"), str(tmp_path / "smaller.toml")) | {"ruleset": "tiny"})
    solver = cfr.CFRSolver(found)
    before = exploitability.nash_conv(found, solver.average_policy())
    for _ in range(2):
        solver.evaluate_and_update_policy()
    assert exploitability.nash_conv(found, solver.average_policy()) < before
