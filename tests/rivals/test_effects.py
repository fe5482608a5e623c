"""The rivals with real cards: by hand, and HearthSim's search against trying every sequence."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from engine import Action, PlayerView, Position, find_deck
from engine.codes import COIN, UNKNOWN, ActionKind, Keyword
from engine.decks import table_of
from engine.effects.luck import Chance
from engine.match import deal_key
from engine.notation import parse_position
from engine.ruleset import find_ruleset
from engine.streams import generator, stream_key
from engine.vocabulary import ENEMY, CardKind, Op, Trigger
from ilp_agent import Weights
from ilp_agent.search.backend import searcher_of_thread
from rivals import (
    AggroAgent,
    EvaAgent,
    EvaWeights,
    GreedyIlpAgent,
    HearthSimAgent,
    HearthSimWeights,
    find_agent_profile,
)
from rivals.hearthsim import BUDGET, score_rows
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases

STREAM = generator(1)
STANDARD = find_agent_profile("hearthsim", "standard").weights
BASIC = [find_deck(f"basic-{name}") for name in ("mage", "hunter", "paladin", "warrior", "druid", "warlock")]


def turn_of(agent, text: str) -> list[str]:
    """The agent's actions to the end of its turn; what chance brings is the first outcome, always."""
    position, done = parse_position(text), []
    seat = position.active
    while position.active == seat and not position.outcome:
        action = agent.act(PlayerView(position, seat), STREAM)
        done.append(position.describe(action))
        position.play(action, Chance.given([0] * 20))
    return done


# HearthSim


@pytest.mark.parametrize(("weight", "used"), [(0.5, "1/1"), (1.0, "2/1"), (2.0, "3/2")])
def test_a_holy_smite_is_used_on_what_is_worth_more(weight: float, used: str) -> None:
    """The post "Direct damage spells": at 0.5 it is worth 1.9, at 1 2.9, and at 2 4.9; a minion a + h."""
    agent = HearthSimAgent(replace(STANDARD, direct_damage=weight, enemy_hero=0.0))
    bodies = ["1/1", "2/1", "2/2", "3/2"]
    for body in bodies:
        played = turn_of(agent, f"turn 5 | hero 20 mana 1/5 hand [Holy Smite*] | hero 20 board [{body}]")
        wanted = bodies.index(body) >= bodies.index(used)
        assert (played[0] == "play 0 -> 0 (Holy Smite)") == wanted, (weight, body, played)


def test_a_drawn_card_is_seen_before_the_turn_goes_on() -> None:
    """Arcane Intellect first: it may bring something for the mana that is left."""
    text = (
        "turn 9 | hero 20 mana 8/8 hand [Arcane Intellect*] deck [Chillwind Yeti*; Fireball*] | hero 20 "
        "board [4/3]"
    )
    played = turn_of(HearthSimAgent(STANDARD), text)
    assert played[0] == "play 0 (Arcane Intellect)"
    assert len(played) == 3
    assert "Fireball" in played[1] or "Chillwind Yeti" in played[1]


def test_chance_is_weighed_by_its_mean() -> None:
    """Arcane Missiles at two 1/1 and a hero of 20: three hits at random are worth more than 3 + 0.9 in hand."""
    text = "turn 3 | hero 20 mana 1/3 hand [Arcane Missiles*] | hero 20 board [{}]"
    agent = HearthSimAgent(STANDARD)
    assert turn_of(agent, text.format("2/1; 2/1; 2/1; 2/1"))[0] == "play 0 (Arcane Missiles)"
    assert turn_of(agent, text.format("0/30"))[0] == "end turn"


def test_weapons_and_charge_in_hand_count() -> None:
    equip = "turn 3 | hero 20 mana 3/3 hand [Fiery War Axe*] | hero 20"
    assert turn_of(HearthSimAgent(STANDARD), equip)[0] == "play 0 (Fiery War Axe)"
    without = replace(STANDARD, weapon=0.0, enemy_hero=0.0)
    assert turn_of(HearthSimAgent(without), equip) == ["end turn"]
    charge = "turn 3 | hero 20 mana 1/1 hand [Stonetusk Boar*] | hero 20"
    assert turn_of(HearthSimAgent(STANDARD), charge)[0] == "play 0 (Stonetusk Boar)"
    assert turn_of(HearthSimAgent(replace(STANDARD, charge=9.0)), charge) == ["end turn"]


def plain_score(position: Position, weights: HearthSimWeights) -> float:
    """S for the player to move, read from the formula."""
    own, enemy = position.state["sides"][position.active], position.state["sides"][1 - position.active]
    if own["health"] <= 0:
        return -math.inf
    if enemy["health"] <= 0:
        return math.inf
    total = weights.hero * (int(own["health"]) + int(own["armour"]))
    total -= weights.enemy_hero * (int(enemy["health"]) + int(enemy["armour"]))
    for minion in own["board"][: own["n_board"]]:
        attack, health = int(minion["attack"]), int(minion["health"])
        total += weights.attack * attack + weights.health * health
        total += (
            weights.divine_shield * (attack + health) if minion["keywords"] & Keyword.DIVINE_SHIELD else 0
        )
    for minion in enemy["board"][: enemy["n_board"]]:
        total -= weights.enemy_attack * int(minion["attack"]) + weights.enemy_health * int(minion["health"])
    total += weights.weapon * int(own["weapon_attack"]) * int(own["durability"])
    total -= weights.weapon * int(enemy["weapon_attack"]) * int(enemy["durability"])
    return total + sum(in_hand(position, int(number), weights) for number in own["hand"][: own["n_hand"]])


def in_hand(position: Position, number: int, weights: HearthSimWeights) -> float:
    """What a card in hand is worth."""
    if number == COIN:
        return 0.0
    card = position.table.cards[number]
    hits = [
        row.amount
        for row in card.effects
        if row.trigger == Trigger.PLAY and row.op == Op.DAMAGE and row.side & ENEMY and row.amount
    ]
    if card.kind == CardKind.SPELL and hits:
        return weights.direct_damage * hits[0] + weights.direct_damage_bonus
    charge = card.kind == CardKind.MINION and card.spec.charge
    return weights.hand * card.spec.cost + (weights.charge if charge else 0.0)


def score_after(
    position: Position, action: Action, weights: HearthSimWeights, drawn: float
) -> tuple[float, list[Position]]:
    """The score of an action, and where it leads; nowhere where chance decides it."""
    then, chance = position.copy(), Chance.blind()
    from engine import rules

    rules.play_checked(then.states, then.table.array, action.code, chance.array)
    if chance.waiting > 8:
        return math.nan, []
    if chance.waiting:
        scores = []
        for outcome in range(chance.waiting):
            then, given = position.copy(), Chance.given([outcome])
            rules.play_checked(then.states, then.table.array, action.code, given.array)
            if given.waiting:
                return math.nan, []
            scores.append(min(max(plain_score(then, weights), -1e9), 1e9))
        return sum(scores) / len(scores), []
    own = then.state["sides"][then.active]
    unknown = [place for place in range(own["n_hand"]) if own["hand"][place] == UNKNOWN]
    for place in unknown:
        own["hand"][place] = COIN
    score = plain_score(then, weights) + drawn * len(unknown)
    for place in unknown:
        own["hand"][place] = UNKNOWN
    return score, [then]


def brute_force(position: Position, weights: HearthSimWeights, limit: int) -> float | None:
    """The best score of all sequences; None beyond the limit, or where chance has many outcomes."""
    own = position.state["sides"][position.active]
    deck = [in_hand(position, int(number), weights) for number in own["deck"][: own["n_deck"]]]
    drawn = sum(deck) / len(deck) if deck else 0.0
    best, known, waiting = plain_score(position, weights), {position.state.tobytes()}, [position]
    while waiting:
        here = waiting.pop()
        for action in here.legal_actions():
            if action.kind == ActionKind.END_TURN:
                continue
            score, then = score_after(here, action, weights, drawn)
            if math.isnan(score):
                return None
            best = max(best, score)
            for later in then:
                if later.state.tobytes() not in known:
                    known.add(later.state.tobytes())
                    waiting.append(later)
        if len(known) > limit:
            return None
    return best


def positions(games: int, seed: int) -> list[Position]:
    """Positions of random games between Basic decks, each from the begin of a turn."""
    found, pick = [], np.random.default_rng(seed)
    for game in range(games):
        decks = tuple(BASIC[n] for n in pick.integers(len(BASIC), size=2))
        key = stream_key(seed, game)
        position = deal_key(decks, key, find_ruleset("hearthsim"))
        chance = Chance.drawn(key, position.states)
        while not position.outcome:
            actions = position.legal_actions()
            action = actions[int(pick.integers(len(actions)))]
            position.play(action, chance)
            if action.kind == ActionKind.END_TURN and pick.random() < 0.3:
                found.append(position.copy())
    return [position for position in found if not position.outcome]


@pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")
def test_the_search_is_brute_force() -> None:
    searcher, compared, with_effect = searcher_of_thread(), 0, 0
    pick = np.random.default_rng(5)
    for position in positions(cases(8, 40), 3):
        weights = HearthSimWeights.from_array([*pick.random(12)])
        best = brute_force(position, weights, 400)
        if best is None:
            continue
        found = searcher.search(position, score_rows(weights.everything[None])[0], BUDGET)
        assert found["value"] == pytest.approx(best, abs=1e-6), f"{position} {weights.everything.tolist()}"
        compared += 1
        with_effect += found["n"] > 0
    assert compared > cases(15, 100)
    assert with_effect > cases(12, 80)
    assert table_of(BASIC).cards


# The others


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (
            "turn 5 | hero 20 mana 4/5 hand [Fireball*] | hero 20 board [4/4]",
            "play 0 -> hero (Fireball)",
        ),
        (
            "turn 5 | hero 20 mana 5/5 hand [Fireball*; Wolfrider*] | hero 20",
            "play 0 -> hero (Fireball)",
        ),
        ("turn 5 | hero 20 mana 2/5 power [Fireblast*] | hero 20 board [4/1]", "power -> hero"),
        (
            "turn 5 | hero 20 mana 4/4 hand [Hellfire*] board [5/3; 5/3] | hero 20 board [1/1]",
            "play 0 (Hellfire)",
        ),
        (
            "turn 5 | hero 20 mana 2/2 hand [Shadow Word: Pain*] board [3/3 ready] | hero 20",
            "attack 0 -> hero",
        ),
        ("turn 5 | hero 20 mana 3/3 hand [The Coin; Fireball*] | hero 20", "play 0 (The Coin)"),
        (
            "turn 5 | hero 20 attacks 1 weapon [Fiery War Axe*] mana 0/3 | hero 20",
            "attack hero -> hero",
        ),
    ],
)
def test_aggro(text: str, first: str) -> None:
    assert turn_of(AggroAgent(), text)[0].startswith(first)


def one_weight(kind, name: str):
    return kind(**{other: float(other == name) for other in kind.names()})


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
    from engine.events import EVENTS
    from engine.state import STATE
    from rivals.greedy import score_action

    position = parse_position(text)
    scores = [
        score_action(
            position.states[0],
            position.table.array,
            action.code,
            one_weight(Weights, weight).everything,
            np.zeros(2, STATE),
            np.zeros(1, EVENTS)[0],
        )
        for action in position.legal_actions()[:-1]
    ]
    assert max(scores) == score


def test_greedy_does_not_kill_its_own_hero() -> None:
    text = "turn 5 | hero 3 mana 4/5 hand [Hellfire*] | hero 20 board [5/3; 5/3]"
    assert turn_of(GreedyIlpAgent(find_agent_profile("greedy-ilp", "true-balanced").weights), text) == [
        "end turn"
    ]


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
    assert turn_of(EvaAgent(one_weight(EvaWeights, weight)), text)[0].startswith(first)


def test_eva_values_a_deathrattle() -> None:
    weights = replace(one_weight(EvaWeights, "deathrattle"), minion_appeared=1.0)
    text = "turn 5 | hero 20 mana 2/5 hand [River Crocolisk*; Loot Hoarder*] | hero 20"
    assert turn_of(EvaAgent(weights), text)[0] == "play 1 (Loot Hoarder)"


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
            found = searcher_of_thread().search(here, score_rows(STANDARD.everything[None])[0], 200)
            plans.append((found["actions"][: found["n"]].tolist(), found["value"]))
        assert plans[0] == plans[1]
        for agent in agents:
            actions = [agent.act(PlayerView(here, here.active), STREAM) for here in (position, other)]
            assert all(before == after for before, after in pairwise(actions)), agent.name
