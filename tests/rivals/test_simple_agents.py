"""Aggro and greedy-ilp: each rule on a position, with the arithmetic beside it."""

import numpy as np
import pytest

from engine import find_deck, find_ruleset, parse_action, parse_position, play
from engine.batches import deal_games, endings
from engine.course import Agent
from engine.decks import deck_records, table_of
from engine.events import EVENTS
from engine.state import STATE
from engine.streams import stream_key
from engine.view import PlayerView
from ilp_agent import WEIGHT_NAMES, Weights, find_profile
from rivals import AggroAgent, GreedyIlpAgent, aggro, greedy
from rivals.batch import TURNS
from tests.conftest import UNCOMPILED


def choice(agent: Agent, text: str) -> str:
    position = parse_position(text)
    return str(agent.act(PlayerView(position, position.active), np.random.default_rng(1)))


def turn(agent: Agent, text: str) -> list[str]:
    """All actions of a turn but its end."""
    position = parse_position(text)
    seat, actions = position.active, []
    while position.active == seat:
        action = agent.act(PlayerView(position, seat), np.random.default_rng(1))
        actions.append(str(action))
        position.play(action)
        if position.outcome:
            return actions
    return actions[:-1]


def test_aggro_attacks_the_hero_and_never_a_minion() -> None:
    text = "turn 5 | hero 20 mana 0 board [3/2 ready; 1/1 ready] | hero 20 board [1/1]"
    assert turn(AggroAgent(), text) == ["attack 0 -> hero", "attack 1 -> hero"]


def test_aggro_plays_the_dearest_first_and_then_what_is_left() -> None:
    """7 mana: the 5, not the 4 and the 3; then the 2."""
    text = "turn 7 | hero 20 mana 7 hand [4:4/4; 3:3/3; 5:1/1; 2:2/2] | hero 20"
    assert turn(AggroAgent(), text) == ["play 2", "play 2"]


def test_aggro_plays_the_first_of_equally_dear_cards() -> None:
    assert choice(AggroAgent(), "turn 3 | hero 20 mana 3 hand [3:1/1; 3:9/9] | hero 20") == "play 0"


def test_aggro_spends_the_coin_for_a_dearer_card_only() -> None:
    """With 3 mana: a 4 is worth The Coin, a second 3 is not; at 10 mana nothing costs 11."""
    assert choice(AggroAgent(), "turn 3 | hero 20 mana 3 hand [3:1/1; The Coin; 4:1/1] | hero 20") == "play 1"
    assert choice(AggroAgent(), "turn 3 | hero 20 mana 3 hand [3:1/1; The Coin; 3:1/1] | hero 20") == "play 0"
    assert (
        choice(AggroAgent(), "turn 3 | hero 20 mana 10 hand [11:1/1; The Coin; 9:1/1] | hero 20") == "play 2"
    )


def test_aggro_attacks_what_bars_the_way_and_rushes_at_nothing_else() -> None:
    """The guard dies at the first attack, the second minion attacks the hero; Rush cannot, and does nothing."""
    text = (
        "turn 5 | hero 20 mana 0 board [3/2 ready; 1/1 ready; 2/2R ready arrived] | hero 20 board [9/9; 1/3T]"
    )
    assert turn(AggroAgent(), text) == ["attack 0 -> 1", "attack 1 -> hero"]


def test_aggro_charges() -> None:
    assert turn(AggroAgent(), "turn 5 | hero 20 mana 3 hand [3:3/1C] | hero 20") == [
        "play 0",
        "attack 0 -> hero",
    ]


def greedy_agent(**given: float) -> GreedyIlpAgent:
    return GreedyIlpAgent(Weights(**{name: given.get(name, 0.0) for name in WEIGHT_NAMES}))


def score_of(text: str, action: str, **given: float) -> float:
    position, array = parse_position(text), greedy_agent(**given).weights.everything
    thought, after = np.zeros(1, EVENTS), np.zeros(2, STATE)
    code = parse_action(action).code
    return float(
        greedy.score_action(position.states[0], position.table.array, code, array, after, thought[0])
    )


def test_greedy_scores_an_attack_on_the_hero() -> None:
    """W3 A = 0.5 * 3 = 1.5; where it kills, W1 = 7 more."""
    text = "turn 5 | hero 20 board [3/2 ready] | hero {}"
    assert score_of(text.format(20), "attack 0 -> hero", face=0.5, lethal=7) == 1.5
    assert score_of(text.format(3), "attack 0 -> hero", face=0.5, lethal=7) == 8.5


def test_greedy_scores_an_attack_on_a_minion() -> None:
    """3/2 against 2/3 of two: W6 3 - W7 2 + W4 2 - W5 2 = 0.5*3 - 0.25*2 + 1*2 - 0.125*2 = 2.75.

    Against the last enemy W2 = 10 more; against a 2/4, which lives, W4 2 = 2 less and no W2.
    """
    given = {"damage": 0.5, "trade": 0.25, "threat": 1.0, "survive": 0.125, "clear": 10.0}
    text = "turn 5 | hero 20 board [3/2 ready] | hero 20 board [{}]"
    assert score_of(text.format("2/3; 9/9"), "attack 0 -> 0", **given) == 2.75
    assert score_of(text.format("2/3"), "attack 0 -> 0", **given) == 12.75
    assert score_of(text.format("2/4"), "attack 0 -> 0", **given) == 0.75


def test_greedy_scores_a_play_by_health_and_value() -> None:
    """W5 5 + W8 4 = 0.5 + 1 = 1.5 for a 4-mana 4/5, above W3 3 * 0.4 = 1.2 for the attack."""
    text = "turn 5 | hero 20 mana 4 board [3/2 ready] hand [4:4/5] | hero 20"
    agent = greedy_agent(survive=0.1, play=0.25, face=0.4)
    assert score_of(text, "play 0", survive=0.1, play=0.25, face=0.4) == 1.5
    assert turn(agent, text) == ["play 0", "attack 0 -> hero"]


def test_greedy_does_only_what_adds_something() -> None:
    """A trade that costs W7 2 - W6 3 * 0.5 > 0 is left; with all weights 0 nothing is done."""
    text = "turn 5 | hero 20 mana 4 board [3/2 ready] hand [4:4/5; The Coin] | hero 20 board [2/9]"
    assert turn(greedy_agent(damage=0.5, trade=1.0), text) == []
    assert turn(greedy_agent(), text) == []


def test_greedy_plays_the_coin_for_the_card_that_adds_most() -> None:
    """With 3 mana: the 4 adds 4 * W8, the 3 adds 3; at 10 mana The Coin buys nothing."""
    text = "turn 3 | hero 20 mana {} hand [3:1/1; The Coin; {}:1/1] | hero 20"
    assert turn(greedy_agent(play=1.0), text.format(3, 4)) == ["play 1", "play 1"]
    assert turn(greedy_agent(play=1.0), text.format(3, 5)) == ["play 0"]
    assert turn(greedy_agent(play=1.0), text.format(10, 11)) == ["play 0"]


def test_greedy_misses_what_two_attacks_together_win() -> None:
    """Two 2/1 against a 9/4: one attack alone loses W5 1 and kills nothing; the whole turn gains W4 9.

    That is what solving the turn buys.
    """
    from ilp_agent import IlpAgent

    text = "turn 5 | hero 20 mana 0 board [2/1 ready; 2/1 ready] | hero 20 board [9/4]"
    given = Weights(**{name: {"threat": 1.0, "survive": 1.0}.get(name, 0.0) for name in WEIGHT_NAMES})
    assert turn(GreedyIlpAgent(given), text) == []
    assert sorted(turn(IlpAgent(given), text)) == ["attack 0 -> 0", "attack 0 -> 0"]


@pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")
@pytest.mark.parametrize("name", ["aggro", "greedy-ilp"])
def test_agent_and_batch_play_the_same_games(name: str) -> None:
    n = 20
    decks = find_deck("thesis-warrior"), find_deck("hearthsim-basic")
    table, profile = table_of(decks), find_profile("value-trading")
    states, seats = np.zeros(n, STATE), np.tile([0, 1], (n, 1))
    keys = np.array([stream_key(5, game) for game in range(n)], np.uint64)
    deal_games(table.array, deck_records(decks, table), find_ruleset("hearthsim").array, seats, keys, states)
    weights = np.zeros((2, 0)) if name == "aggro" else np.tile(profile.weights.everything, (2, 1))
    batch = aggro.play_batch if name == "aggro" else greedy.play_batch
    batch(table.array, weights, seats, states, np.zeros((n, 2), np.uint64), keys, np.zeros(n, TURNS))
    outcomes, turns = endings(states)
    for game in range(n):
        agents = [AggroAgent() if name == "aggro" else GreedyIlpAgent(profile) for _ in range(2)]
        result = play(agents[0], agents[1], decks, 5, (game,), "hearthsim")
        assert not result.error
        assert (result.outcome, result.turns) == (outcomes[game], turns[game])
