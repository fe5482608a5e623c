"""The compiled rules against the plain reference: counted trees, and random games step by step."""

from dataclasses import replace

import numpy as np
import pytest

from engine import Action, find_deck, find_ruleset, parse_position, perft, rulesets, shipped_decks
from engine.cards import Card
from engine.codes import KEYWORD_FIELDS
from engine.decks import Deck, build_card_table
from engine.match import deal
from engine.minion import MinionSpec
from engine.streams import below, stream_key
from tests.conftest import BOUNDSCHECK, UNCOMPILED, heavy
from tests.reference import plain as reference

# Depth, the number of action sequences of that length, and where they begin.
TREES = {
    "the deal, both sides draw": (
        6,
        2_138,
        "turn 1 first | hero 30 hand [1:1/1C; 1:2/1; The Coin] deck [1:1/2R; 2:2/2] | "
        "hero 30 mana 0/0 hand [1:1/1; The Coin; 1:1/3T] deck [1:2/1C]",
    ),
    "taunts, one of them in stealth": (
        5,
        11_677,
        "turn 6 first | hero 20 mana 6 board [3:3/2 ready; 4:4/4 ready; 2:2/2W ready 2] hand [2:2/2C; 3:3/3R] "
        "| hero 18 board [2:1/4T; 3:2/2TS; 4:3/3]",
    ),
    "divine shields and windfury on both sides": (
        5,
        9_591,
        "turn 8 second | hero 9 board [2:2/3WD; 4:4/2D; 0:0/3T] | "
        "hero 12+3 mana 5 board [3:3/3W ready 2; 5:2/5DL ready; 1:1/1P ready] hand [4:5/4WR] deck [9:9/9]",
    ),
    "lifesteal, poison, and heroes close to death": (
        5,
        8_284,
        "turn 9 first | hero 2 mana 4 board [4:4/4L ready; 3:1/5LP ready; 2:0/6P] hand [4:3/3CL; 1:1/1P] | "
        "hero 5+1 mana 0/8 board [5:5/5L; 2:2/2P] hand [2:2/2C] deck [1:1/1]",
    ),
    "full boards and full hands": (
        4,
        261_683,
        "turn 10 first | hero 30 mana 10 board [1/1 ready; 2/2 ready; 1/3; 1/1; 1/1; 1/1; 1/1D ready] "
        "hand [1/1; 1/2; 2/1C; 1/1; 1/1; 1/1; The Coin; 3/3; 1/1; 11:1/1] deck [1/1; 2/2] | "
        "hero 30 mana 0/10 board [2/1; 1/1S; 1/2; 3/1; 1/1; 1/1; 1/1] hand [10 ?] deck [1/1; 1/1]",
    ),
    "fatigue before the turn cap": (
        6,
        751,
        "turn 99 second cap 100 | hero 9 mana 0/10 fatigue 2 board [1:1/1] | "
        "hero 7 mana 2/10 fatigue 1 board [1:2/1 ready; 2:1/2S ready] hand [1:1/1RW]",
    ),
}

LARGEST = "full boards and full hands"


def wild_deck(name: str, salt: int, size: int = 30) -> Deck:
    """Minions with every combination of keywords, cheap enough to crowd the board."""
    key = stream_key(99, salt)
    sets = 1 << len(reference.KEYWORDS)
    cards = []
    for i in range(size):
        bits = below(key, i, sets) & below(key, i + 100, sets)
        flags = {keyword: bool(bits >> n & 1) for n, keyword in enumerate(reference.KEYWORDS)}
        attack, health, cost = below(key, i + 200, 6), 1 + below(key, i + 300, 5), below(key, i + 400, 5)
        cards.append(Card("", f"{name} {i}", MinionSpec(attack, health, cost, **flags)))
    return Deck(name, tuple(cards), size=size)


BODIES = [deck for deck in map(find_deck, shipped_decks()) if not deck.hero_class]
DECKS = [*BODIES, wild_deck("wild", 1), wild_deck("wilder", 2)]
SMALL = [*(wild_deck(f"{n} wild", n, n) for n in (1, 2, 4, 9)), replace(find_deck("random-minions"), size=5)]


def test_the_reference_knows_every_keyword() -> None:
    assert reference.KEYWORDS == KEYWORD_FIELDS


@pytest.mark.parametrize("name", [*(name for name in TREES if name != LARGEST), *heavy(LARGEST)])
def test_counted_trees_agree(name: str) -> None:
    depth, leaves, text = TREES[name]
    position = parse_position(text.replace("10 ?", "; ".join(["1/1"] * 10)))
    deepest = depth - 1 if UNCOMPILED or BOUNDSCHECK else depth
    game = reference.game_of(position)
    assert perft(position, depth) == leaves
    for level in range(1, deepest + 1):
        assert perft(position, level) == reference.perft(game, level), f"depth {level} of {position}"


@pytest.mark.parametrize("ruleset", rulesets())
def test_random_games_agree_step_by_step(ruleset: str, random_game_count: int) -> None:
    rules = find_ruleset(ruleset)
    for number in range(random_game_count):
        pick = np.random.default_rng([number, *ruleset.encode()])
        decks = tuple(DECKS[i] for i in pick.integers(len(DECKS), size=2))
        compare_game(decks, rules, number, pick)


@pytest.mark.parametrize("ruleset", rulesets())
@pytest.mark.parametrize("health", [1, 3, 30])
def test_games_of_small_decks_and_weak_heroes_agree(
    ruleset: str, health: int, random_game_count: int
) -> None:
    rules = replace(find_ruleset(ruleset), hero_health=health)
    for number in range(random_game_count // 4):
        pick = np.random.default_rng([number, health, *ruleset.encode()])
        decks = tuple(SMALL[i] for i in pick.integers(len(SMALL), size=2))
        compare_game(decks, rules, number, pick)


def compare_game(decks, rules, number, pick) -> None:
    position = deal(decks, seed=number, ruleset=rules)
    table = build_card_table(decks)
    plain_decks = [
        {
            "random": deck.random,
            "size": deck.size,
            "cards": [table.number[card.key] for card in deck.cards],
        }
        for deck in decks
    ]
    game = reference.Game.deal(reference.cards_of(table), plain_decks, rules, number)
    # A player who seldom ends the turn by chance makes fuller boards.
    eager = pick.random() < 0.7
    for step in range(2_000):
        assert facts_equal(position, game), f"step {step} of game {number}: {position}"
        actions = [str(action) for action in position.legal_actions()]
        assert set(actions) == game.legal(), f"{position}"
        assert len(set(actions)) == len(actions), f"{position}"
        if not actions:
            break
        choice = int(pick.integers(len(actions) - 1 if eager and len(actions) > 1 else len(actions)))
        position.play(position.legal_actions()[choice])
        game.act(actions[choice])
    expected = {"first": "FIRST_WINS", "second": "SECOND_WINS", "draw": "DRAW"}[game.result()]
    assert position.outcome.name == expected


def facts_equal(position, game) -> bool:
    return reference.facts_of(position) == game.facts()


def test_reference_and_engine_disagree_when_a_rule_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: a reference whose Lifesteal heals nothing is caught."""
    monkeypatch.setattr(reference.Side, "heal", lambda self, amount: None)
    position = parse_position("hero 10 board [3:2/2L ready] | hero 30")
    game = reference.game_of(position)
    position.play(Action.attack(0, 7))
    game.act("attack 0 -> hero")
    assert not facts_equal(position, game)


def test_derived_keys_are_distinct() -> None:
    assert len({int(stream_key(1, part)) for part in range(1000)}) == 1000
