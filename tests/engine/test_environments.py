"""The game as an environment of PettingZoo: its own tests, and games equal to the engine's."""

import warnings
from typing import Any

import numpy as np
import pytest

from engine import Action, Card, Outcome, PlayerView, RandomAgent, find_deck, play
from engine.environments.spaces import (
    N_CARD_PLACES,
    OBSERVATION_SIZE,
    action_numbers,
    encode_cards,
    encode_view,
    observation_names,
)
from engine.errors import DeckError, IllegalActionError, UnknownNameError
from engine.match import deal
from engine.position import Position
from engine.streams import generator

pytest.importorskip("pettingzoo", reason="SKIPPED: pettingzoo is not installed (make setup-extras)")

from pettingzoo.test import api_test, parallel_api_test, seed_test

from engine.environments import manaforge_v0
from engine.environments.manaforge_v0 import ManaforgeEnv, env, parallel_env
from tests.conftest import UNCOMPILED

BODIES, REAL = ("thesis-paladin", "thesis-warrior"), ("basic-mage", "secret-hunter")
both = pytest.mark.parametrize("decks", [BODIES, REAL])

OF_EVERY_DICTIONARY = (
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Observation is not a NumPy array",
)
"""Warnings that `api_test` gives every environment whose observations are dictionaries."""


@both
def test_pettingzoos_own_tests_pass(decks: tuple[str, str]) -> None:
    with warnings.catch_warnings():
        for text in OF_EVERY_DICTIONARY:
            warnings.filterwarnings("ignore", text, UserWarning)
        api_test(env(decks=decks), num_cycles=300)
        seed_test(lambda: env(decks=decks), 50)
        parallel_api_test(parallel_env(decks=decks), num_cycles=100)


def played(found: Any, rng: np.random.Generator) -> tuple[list[Action], dict[str, float]]:
    """Play a game at random; its actions and the sums of its rewards."""
    actions, rewards = [], dict.fromkeys(found.possible_agents, 0.0)
    for agent in found.agent_iter():
        observation, reward, ended, cut, _ = found.last()
        rewards[agent] += reward
        if ended or cut:
            found.step(None)
            continue
        number = int(rng.choice(np.flatnonzero(observation["action_mask"])))
        actions.append(found.numbers.actions[number])
        found.step(number)
    return actions, rewards


def agrees(found: ManaforgeEnv, decks: tuple[str, str], seed: int) -> None:
    """A game at random, compared with the engine's own of the same actions."""
    found.reset(seed=seed)
    actions, rewards = played(found, generator(seed, 1))

    class Given(RandomAgent):
        def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
            chosen = next(left)
            assert chosen in view.legal_actions
            return chosen

    left = iter(actions)
    result = play(Given(), Given(), decks, seed, (0,), "standard")
    assert result.actions == tuple(actions)
    assert result.error == ""
    assert str(result.position) == str(found.position)
    won = {Outcome.FIRST_WINS: 1.0, Outcome.SECOND_WINS: -1.0, Outcome.DRAW: 0.0}[result.outcome]
    assert rewards == {"player_0": won, "player_1": -won}


@both
def test_random_games_are_the_engines(decks: tuple[str, str]) -> None:
    found = ManaforgeEnv(decks)
    for seed in range(5 if UNCOMPILED else 20):
        agrees(found, decks, seed)


@pytest.mark.long
def test_a_hundred_thousand_random_games_are_the_engines() -> None:
    for decks in (BODIES, REAL):
        found = ManaforgeEnv(decks)
        for seed in range(50_000):
            agrees(found, decks, seed)


@both
def test_masks_are_the_legal_actions_and_each_number_is_one_action(decks: tuple[str, str]) -> None:
    found = ManaforgeEnv(decks)
    assert len(set(found.numbers.actions)) == len(found.numbers)
    found.reset(seed=4)
    for agent in found.agent_iter():
        observation, _, ended, _, _ = found.last()
        if ended:
            found.step(None)
            continue
        legal = [found.numbers.actions[number] for number in np.flatnonzero(observation["action_mask"])]
        assert set(legal) == set(found.position.legal_actions())
        other = next(name for name in found.possible_agents if name != agent)
        assert not found.observe(other)["action_mask"].any()
        found.step(found.numbers.number(legal[-1]))


@both
def test_observations_tell_nothing_hidden(decks: tuple[str, str]) -> None:
    found, draws = ManaforgeEnv(decks), generator(3)
    found.reset(seed=1)
    for _ in range(25):
        seat = found.position.active
        other = found.position.copy()
        enemy = other.state["sides"][1 - seat]
        deck = find_deck(decks[1 - seat])
        numbers = [other.table.number[card.key] for card in deck.cards]
        for place in ("hand", "deck"):
            enemy[place][: enemy[f"n_{place}"]] = draws.choice(numbers, enemy[f"n_{place}"])
        for arrays in zip(_seen(found.position, seat), _seen(other, seat), strict=True):
            assert np.array_equal(*arrays)
        legal = np.flatnonzero(found.observe(found.agent_selection)["action_mask"])
        found.step(int(legal[-1]))


def _seen(position: Position, seat: int) -> tuple[np.ndarray, np.ndarray]:
    view = PlayerView(position, seat).position
    return encode_view(view, seat), encode_cards(view, seat)


def test_an_observation_by_hand() -> None:
    position = deal(BODIES, 5, ruleset="standard")
    numbers, cards = _seen(position, 0)
    own, enemy = position.state["sides"]
    assert numbers.shape == (OBSERVATION_SIZE,)
    assert cards.shape == (N_CARD_PLACES,)
    assert numbers[:8].tolist() == pytest.approx([1 / 30, 1, 1, 0, 0.1, 0.1, 0, own["n_hand"] / 10])
    held = [position.table.cards[number - 1].name for number in cards[: own["n_hand"]]]
    assert held == [card.name for card in PlayerView(position, 0).own.hand if not isinstance(card, str)]
    assert not cards[own["n_hand"] :].any()
    named = dict(zip(observation_names(), numbers.tolist(), strict=True))
    first = PlayerView(position, 0).own.hand[0]
    assert isinstance(first, Card)
    assert named["hand 0 cost"] == pytest.approx(first.spec.cost / 10)
    assert named["hand 0 taunt"] == first.spec.taunt
    assert named["enemy health"] == named["hand 2 there"] == 1
    assert named["own board 0 there"] == named["hand 9 there"] == 0
    assert enemy["n_hand"] == 5  # with The Coin
    assert _seen(position, 1)[0][1] == 0


def test_an_illegal_action_loses_and_others_are_refused() -> None:
    found = env(decks=BODIES)
    found.reset(seed=1)
    illegal = int(np.flatnonzero(found.observe("player_0")["action_mask"] == 0)[0])
    found.step(illegal)
    assert found.terminations == {"player_0": True, "player_1": True}
    assert found.rewards["player_0"] == -1
    raw = manaforge_v0.raw_env()
    raw.reset()
    for action in (illegal, -1, 10**6):
        with pytest.raises(IllegalActionError):
            raw.step(action)


def test_games_follow_a_seed_one_after_the_other() -> None:
    found = ManaforgeEnv(BODIES)
    texts = []
    for seed in (7, None, 7, None):
        found.reset(seed=seed)
        texts.append(str(found.position))
    assert texts[:2] == texts[2:]
    assert texts[0] != texts[1]


def test_render_is_text() -> None:
    found = ManaforgeEnv(BODIES, render_mode="ansi")
    found.reset(seed=1)
    shown = found.render()
    assert shown is not None
    assert "30" in shown


def test_what_makes_no_environment() -> None:
    with pytest.raises(UnknownNameError, match="no-such"):
        ManaforgeEnv(("no-such", "thesis-paladin"))
    with pytest.raises(DeckError, match="two decks"):
        ManaforgeEnv(("thesis-paladin",))  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="rules-of-none"):
        ManaforgeEnv(ruleset="rules-of-none")
    assert len(action_numbers(False)) == 67
