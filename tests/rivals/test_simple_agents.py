"""Aggro and greedy-ilp: each rule on a position, with the arithmetic beside it."""

from itertools import pairwise

import numpy as np
import pytest

from engine import parse_action, parse_position
from engine.game_session import Agent
from engine.state import EVENTS, STATE
from engine.view import PlayerView
from ilp_agent import WEIGHT_NAMES, Weights
from ilp_agent.search.backend import thread_searcher
from rivals import AggroAgent, EvaAgent, GreedyIlpAgent, HearthSimAgent, find_agent_profile, greedy
from rivals.hearthsim import score_rows
from tests.conftest import UNCOMPILED
from tests.rivals.turns import STREAM, one_weight, positions, turn


def choice(agent: Agent, text: str) -> str:
    position = parse_position(text)
    return str(agent.act(PlayerView(position, position.active), np.random.default_rng(1)))


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


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (
            "turn 5 | hero 20 mana 4/5 hand [Fireball*] | hero 20 board [4/4]",
            "play 0 -> hero",
        ),
        (
            "turn 5 | hero 20 mana 5/5 hand [Fireball*; Wolfrider*] | hero 20",
            "play 0 -> hero",
        ),
        ("turn 5 | hero 20 mana 2/5 power [Fireblast*] | hero 20 board [4/1]", "power -> hero"),
        (
            "turn 5 | hero 20 mana 4/4 hand [Hellfire*] board [5/3; 5/3] | hero 20 board [1/1]",
            "play 0",
        ),
        (
            "turn 5 | hero 20 mana 2/2 hand [Shadow Word: Pain*] board [3/3 ready] | hero 20",
            "attack 0 -> hero",
        ),
        ("turn 5 | hero 20 mana 3/3 hand [The Coin; Fireball*] | hero 20", "play 0"),
        (
            "turn 5 | hero 20 attacks 1 weapon [Fiery War Axe*] mana 0/3 | hero 20",
            "attack hero -> hero",
        ),
    ],
)
def test_aggro(text: str, first: str) -> None:
    assert turn(AggroAgent(), text)[0] == first


def greedy_agent(**given: float) -> GreedyIlpAgent:
    return GreedyIlpAgent(Weights(**{name: given.get(name, 0.0) for name in WEIGHT_NAMES}))


def score_of(text: str, action: str, **given: float) -> float:
    position, array = parse_position(text), greedy_agent(**given).weights.full_array
    effect_state, after = np.zeros(1, EVENTS), np.zeros(2, STATE)
    code = parse_action(action).code
    return float(
        greedy.score_action(position.states[0], position.table.array, code, array, after, effect_state[0])
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


@pytest.mark.parametrize(
    ("weight", "text", "score"),
    [
        ("face", "turn 5 | hero 20 mana 4/5 hand [Fireball*] | hero 20+9", 6),
        ("damage", "turn 5 | hero 20 mana 4/5 hand [Fireball*] | hero 20 board [1/1D]", 6),
        (
            "damage",
            "turn 5 | hero 20 mana 7/7 hand [Flamestrike*] | hero 20 board [1/1; 2/9; 3/3]",
            12,
        ),
        ("face", "turn 5 | hero 20 mana 4/5 hand [Fireball*] board [Kobold Geomancer*] | hero 20", 7),
        (
            "threat",
            "turn 5 | hero 20 mana 7/7 hand [Flamestrike*] | hero 20 board [1/1; 2/9; 3/3]",
            4,
        ),
        ("clear", "turn 5 | hero 20 mana 7/7 hand [Flamestrike*] | hero 20 board [1/1; 3/3]", 1),
        ("lethal", "turn 5 | hero 20 mana 4/5 hand [Fireball*] | hero 6", 1),
        ("survive", "turn 5 | hero 20 mana 3/5 hand [Murloc Tidehunter*] | hero 6", 2),
    ],
)
def test_what_an_action_adds_to_the_objective(weight: str, text: str, score: float) -> None:
    """By hand: hits count as dealt, W4 the attack that dies, W5 health that comes in (a 2/1 and a 1/1)."""
    position = parse_position(text)
    scores = [
        greedy.score_action(
            position.states[0],
            position.table.array,
            action.code,
            one_weight(Weights, weight).full_array,
            np.zeros(2, STATE),
            np.zeros(1, EVENTS)[0],
        )
        for action in position.legal_actions()[:-1]
    ]
    assert max(scores) == score


def test_greedy_does_not_kill_its_own_hero() -> None:
    text = "turn 5 | hero 3 mana 4/5 hand [Hellfire*] | hero 20 board [5/3; 5/3]"
    assert turn(GreedyIlpAgent(find_agent_profile("greedy-ilp", "true-balanced").weights), text) == []


def test_what_is_hidden_changes_no_action() -> None:
    """Other cards in the opponent's hand, and another order of both decks, change nothing that is thought of."""
    agents = [
        AggroAgent(),
        *(
            kind(find_agent_profile(name, profile).weights)
            for kind, name, profile in (
                (EvaAgent, "eva", "competition"),
                (GreedyIlpAgent, "greedy-ilp", "true-balanced"),
                (HearthSimAgent, "hearthsim", "standard"),
            )
        ),
    ]
    pick = np.random.default_rng(8)
    for position in positions(4 if UNCOMPILED else 12, 11)[: 12 if UNCOMPILED else 60]:
        other = position.copy()
        own, enemy = other.state["sides"][other.active], other.state["sides"][1 - other.active]
        pick.shuffle(own["deck"][: own["n_deck"]])
        unseen = np.concatenate([enemy["hand"][: enemy["n_hand"]], enemy["deck"][: enemy["n_deck"]]])
        pick.shuffle(unseen)
        enemy["hand"][: enemy["n_hand"]] = unseen[: enemy["n_hand"]]
        enemy["deck"][: enemy["n_deck"]] = unseen[enemy["n_hand"] :]
        one, two = (PlayerView(here, here.active) for here in (position, other))
        assert one.position.state.tobytes() == two.position.state.tobytes()
        plans = []
        for here in (position, other):
            found = thread_searcher().search(here, score_rows(agents[-1].weights.full_array[None])[0], 200)
            plans.append((found["actions"][: found["n"]].tolist(), found["value"]))
        assert plans[0] == plans[1]
        for agent in agents:
            actions = [agent.act(PlayerView(here, here.active), STREAM) for here in (position, other)]
            assert all(before == after for before, after in pairwise(actions)), agent.name
