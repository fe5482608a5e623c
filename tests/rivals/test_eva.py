"""EVA: each term of Eqs. 1 to 8 by hand, with the arithmetic beside it."""

from dataclasses import replace

import numpy as np
import pytest

from engine import Position, find_card, find_deck, find_ruleset, parse_action, parse_position, play
from engine.batches import begin_logs, deal_games, game_results
from engine.decks import build_card_table, deck_records
from engine.state import EVENTS, STATE
from engine.streams import stream_key
from engine.view import PlayerView
from ilp_agent import WeightError
from rivals import EvaAgent, EvaWeights, find_agent_profile
from rivals.batch import TURNS
from rivals.eva import play_batch, score_action
from tests.conftest import UNCOMPILED
from tests.rivals.turns import one_weight, turn


def weights(**given: float) -> EvaWeights:
    return EvaWeights(**{name: given.get(name, 0.0) for name in EvaWeights.names()})


def score(at: str | Position, action: str, **given: float) -> float:
    position, array = parse_position(at) if isinstance(at, str) else at, weights(**given).array
    code, after, effect_state = parse_action(action).code, np.zeros(1, STATE), np.zeros(1, EVENTS)
    return float(score_action(position.states[0], position.table.array, code, array, after, effect_state[0]))


def choice(text: str, **given: float) -> str:
    position = parse_position(text)
    agent = EvaAgent(weights(**given))
    return str(agent.act(PlayerView(position, position.active), np.random.default_rng(1)))


def test_twenty_one_weights_in_the_order_of_the_tables() -> None:
    assert len(EvaWeights.names()) == len(EvaWeights.MEANINGS) == 21
    with pytest.raises(WeightError, match="21 numbers"):
        EvaWeights.from_array([1.0] * 8)


def test_the_end_of_the_turn_scores_0() -> None:
    """What scores less is not played: a trade that loses a minion and harms nothing."""
    text = "turn 5 | hero 20 board [1/1 ready] | hero 20 board [9/9DT]"
    given = {"minion_killed": 1.0, "health": 1.0}
    assert score(text, "attack 0 -> 0", **given) == -1
    assert choice(text, **given) == "end turn"


def test_damage_to_the_hero_counts_w1_with_armour() -> None:
    """Eq. 3: 3 damage, 2 of it to armour: w1 (3) = 0.5 * 3 = 1.5."""
    assert score("turn 5 | hero 20 board [3/2 ready] | hero 20+2", "attack 0 -> hero", hero_health=0.5) == 1.5


def test_what_lifesteal_heals_counts_for_the_own_hero() -> None:
    """Eq. 1: enemy lost 3, own lost -3: w1 (3 - (-3)) = 0.5 * 6 = 3."""
    text = "turn 5 | hero 20 board [3/2L ready] | hero 20"
    assert score(text, "attack 0 -> hero", hero_health=0.5) == 3


def test_health_of_living_minions_counts_w3_times_value() -> None:
    """A 2/5 attacks a 1/4: values by w9 (health) alone, 5 and 4, before the action.

    Enemy: w3 * (4 - 2) * 4 = 0.5 * 8 = 4. Own: 0.5 * (5 - 4) * 5 = 2.5. Sum 4 - 2.5 = 1.5.
    """
    text = "turn 5 | hero 20 board [2/5 ready] | hero 20 board [1/4]"
    assert score(text, "attack 0 -> 0", minion_health=0.5, health=1.0) == 1.5


def test_attack_of_minions_never_falls() -> None:
    """w4 weighs attack that a living minion lost: none can, so it is inert."""
    text = "turn 5 | hero 20 board [2/5 ready] | hero 20 board [1/4]"
    assert score(text, "attack 0 -> 0", minion_attack=1.0, health=1.0) == 0


def test_killed_minions_count_w6_times_value() -> None:
    """A 3/2 trades with a 2/3, values by w10 (attack), 3 and 2: w6 2 - w6 3 = 0.5 (2 - 3) = -0.5.

    The printed Eq. 4 would weigh the killed by w5: with w5 alone nothing is scored.
    """
    text = "turn 5 | hero 20 board [3/2 ready] | hero 20 board [2/3]"
    assert score(text, "attack 0 -> 0", minion_killed=0.5, attack=1.0) == -0.5
    assert score(text, "attack 0 -> 0", minion_appeared=0.5, attack=1.0) == 0


def test_a_new_minion_counts_w5_times_value() -> None:
    """Own side: -(-w5 value) = 0.5 * (4 + 5) = 4.5 for a 4/5 with w9 = w10 = 1; w6 says nothing of it."""
    text = "turn 5 | hero 20 mana 4 hand [4:4/5] | hero 20"
    assert score(text, "play 0", minion_appeared=0.5, attack=1.0, health=1.0) == 4.5
    assert score(text, "play 0", minion_killed=0.5, attack=1.0, health=1.0) == 0


def test_used_mana_counts_against_w8() -> None:
    """Eq. 8: 4 mana: -0.25 * 4 = -1. The Coin gives one: -0.25 * (-1) = +0.25."""
    text = "turn 5 | hero 20 mana 4 hand [4:4/5; The Coin] | hero 20"
    assert score(text, "play 0", mana=0.25) == -1
    assert score(text, "play 1", mana=0.25) == 0.25


@pytest.mark.parametrize(
    ("letter", "name"),
    [
        ("C", "charge"),
        ("D", "divine_shield"),
        ("L", "lifesteal"),
        ("P", "poisonous"),
        ("S", "stealth"),
        ("T", "taunt"),
        ("W", "windfury"),
    ],
)
def test_keywords_count_in_a_minions_value(letter: str, name: str) -> None:
    """Eq. 6: with w5 = 1 and the keyword's weight 0.3, playing a minion with it is worth 0.3, without it 0."""
    text = "turn 5 | hero 20 mana 4 hand [4:1/1{}] | hero 20"
    assert score(text.format(letter), "play 0", minion_appeared=1.0, **{name: 0.3}) == 0.3
    assert score(text.format("R"), "play 0", minion_appeared=1.0, **{name: 0.3}) == 0


def test_mana_cost_counts_in_a_minions_value() -> None:
    """w21: a card of 4 mana at 0.5 is worth 2."""
    assert score("turn 5 | hero 20 mana 4 hand [4:1/1] | hero 20", "play 0", minion_appeared=1, cost=0.5) == 2


def test_rarity_counts_in_a_minions_value() -> None:
    """w20: Leeroy Jenkins is legendary (4), Argent Commander rare (2), a free card common (1)."""
    ranks = {"Leeroy Jenkins": 4, "Argent Commander": 2, "Chillwind Yeti": 1}
    cards = [find_card(name) for name in ranks]
    position = parse_position("turn 9 | hero 20 mana 10 hand [1:1/1; 2:1/1; 3:1/1] | hero 20")
    from engine.cards.table import CardTable

    position.table = CardTable(cards)
    position.state["sides"][0]["hand"][:3] = range(3)
    for place, rank in enumerate(ranks.values()):
        assert score(position, f"play {place}", minion_appeared=1.0, rarity=1.0) == rank


def test_what_the_rules_lack_is_inert() -> None:
    """w2, w7, w12 and w14 at 1, all others 0: nothing scores."""
    text = "turn 5 | hero 20 mana 4 board [3/2 ready] hand [4:4/5] | hero 20 board [2/3]"
    inert = dict.fromkeys(("hero_attack", "secret", "deathrattle", "inspire", "minion_attack"), 1.0)
    for action in ("attack 0 -> 0", "attack 0 -> hero", "play 0"):
        assert score(text, action, minion_appeared=1.0, minion_killed=1.0, **inert) == 0


def test_lethal_beats_all() -> None:
    """Killing the hero is infinite, whatever the weights make of it: here 3 damage count nothing."""
    text = "turn 5 | hero 20 mana 4 board [3/2 ready] hand [4:4/5] | hero 3 board [2/3]"
    assert score(text, "attack 0 -> hero", minion_appeared=1.0, attack=1.0) == np.inf
    assert choice(text, minion_appeared=1.0, attack=1.0) == "attack 0 -> hero"


def test_the_best_action_is_chosen_and_the_first_among_equals() -> None:
    """By w1 the 5/1 hits hardest; by nothing at all every action scores 0 and the first is played."""
    text = "turn 5 | hero 20 mana 2 board [3/2 ready; 5/1 ready] hand [2:1/1] | hero 20 board [2/3]"
    assert choice(text, hero_health=1.0) == "attack 1 -> hero"
    assert choice(text) == "play 0"


def test_the_turn_ends_when_everything_scores_below_0() -> None:
    """w8 = 1 makes the card cost 2; nothing else to do."""
    assert choice("turn 5 | hero 20 mana 2 hand [2:1/1] | hero 20", mana=1.0) == "end turn"


@pytest.mark.parametrize(
    ("weight", "text", "first"),
    [
        (
            "hero_attack",
            "turn 5 | hero 20 mana 2/5 hand [Acidic Swamp Ooze*] | hero 20 weapon [Fiery War Axe*]",
            "play 0",
        ),
        ("hero_health", "turn 5 | hero 20 mana 2/5 power [Fireblast*] | hero 20", "power -> hero"),
    ],
)
def test_weights_of_eva_that_only_real_cards_wake(weight: str, text: str, first: str) -> None:
    assert turn(EvaAgent(one_weight(EvaWeights, weight)), text)[0] == first


def test_eva_values_a_deathrattle() -> None:
    valued = replace(one_weight(EvaWeights, "deathrattle"), minion_appeared=1.0)
    text = "turn 5 | hero 20 mana 2/5 hand [River Crocolisk*; Loot Hoarder*] | hero 20"
    assert turn(EvaAgent(valued), text)[0] == "play 1"


def test_scale_free_form_keeps_every_decision() -> None:
    """Both scales at once: w9 to w21 by 3, w3 to w6 by 1/3, then w1 to w8 by 5; and it is its own form."""
    own = find_agent_profile("eva", "competition").weights.array
    other = own.copy()
    other[8:] *= 3
    other[2:6] /= 3
    other[:8] *= 5
    one, two = EvaWeights.scale_free(own), EvaWeights.scale_free(other)
    assert one == pytest.approx(two)
    assert one[:8].sum() == pytest.approx(1)
    assert one[8:].sum() == pytest.approx(1)
    assert EvaWeights.scale_free(one) == pytest.approx(one)
    assert np.isnan(EvaWeights.scale_free(np.zeros((2, 21)))).all()


@pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")
def test_agent_and_batch_play_the_same_games_whatever_the_scale() -> None:
    """A batch with the scale-free weights plays the games of agents with the weights as they are."""
    n = 20
    decks = find_deck("thesis-warrior"), find_deck("hearthsim-basic")
    table, profile = build_card_table(decks), find_agent_profile("eva", "competition")
    states, seats = np.zeros(n, STATE), np.tile([0, 1], (n, 1))
    keys = np.array([stream_key(5, game) for game in range(n)], np.uint64)
    deal_games(table.array, deck_records(decks, table), find_ruleset("hearthsim").array, seats, keys, states)
    rows, streams = np.tile(profile.weights.shares, (2, 1)), np.zeros((n, 2), np.uint64)
    play_batch(table.array, rows, seats, states, streams, begin_logs(keys), np.zeros(n, TURNS))
    outcomes, turns = game_results(states)
    assert isinstance(profile.weights, EvaWeights)
    for game in range(n):
        agents = EvaAgent(profile.weights), EvaAgent(profile.weights)
        result = play(*agents, decks, 5, (game,), "hearthsim")
        assert not result.error
        assert (result.outcome, result.turns) == (outcomes[game], turns[game])
