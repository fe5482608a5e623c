"""Games with real cards against the plain reference: every action, state, outcome of chance and result."""

import os

import pytest

from engine import Outcome, Position, parse_action, parse_position
from engine.codes import ActionKind
from engine.effects.chance import Chance
from engine.formatting import format_card
from engine.match import deal_from_key
from engine.ruleset import find_ruleset
from engine.streams import generator, stream_key
from tests.conftest import BOUNDSCHECK, UNCOMPILED, cases
from tests.engine.test_effects import CASES
from tests.engine.test_effects_games import RICH
from tests.engine.test_effects_named import STORIES as NAMED
from tests.engine.test_effects_reported import STORIES as REPORTED
from tests.engine.test_effects_timing import STORIES as TIMED
from tests.reference import effects
from tests.reference.characters import Minion
from tests.reference.compare import (
    EVA,
    KINDS,
    LIVELY,
    DisagreementError,
    basic_decks,
    exact_cards,
    play_both,
    problem,
    some_deck,
    start_game,
)
from tests.reference.game import RealGame
from tests.reference.record import game_of

GAMES = int(os.environ.get("MANAFORGE_GAMES", 8 if UNCOMPILED else 20 if BOUNDSCHECK else cases(10, 60)))
"""Games of each kind of decks in the fast suite; `python -m tests.reference 10000` plays more."""

HEAVY_GAMES = int(os.environ.get("MANAFORGE_HEAVY_GAMES", "400"))
"""And in the heavy one; `.ci/run` plays fewer."""


@pytest.mark.parametrize("kind", KINDS)
def test_random_games_agree_byte_by_byte(kind: str) -> None:
    actions = [play_both(number, kind) for number in range(GAMES)]
    assert sum(actions) > 30 * GAMES


def play_many(kind: str, games: int) -> None:
    for number in range(games):
        play_both(number, kind)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", [*KINDS, LIVELY])
def test_many_random_games_agree_byte_by_byte(kind: str) -> None:
    for number in range(GAMES, GAMES + HEAVY_GAMES):
        play_both(number, kind)


def compare_actions(position: Position, place: int | None = None) -> int:
    """Every action of a position, or those that play a card, then the end of the turn; how many there are."""
    n = 0
    for action in position.legal_actions():
        if place is not None and not (action.kind == ActionKind.PLAY and action.source == place):
            continue
        after, game = position.copy(), game_of(position, stream_key(7))
        assert problem(after, game) == ""
        assert {str(one) for one in after.legal_actions()} == game.legal()
        chance = Chance.drawn(stream_key(7), position.states)
        for text in (str(action), "end turn"):
            if after.outcome == Outcome.ONGOING and (text != "end turn" or not after.state["n_options"]):
                after.play(parse_action(text), chance)
                game.act(text)
                assert problem(after, game) == "", f"{text} after {action} in {position}"
                assert tuple(game.outcomes) == chance.outcomes
        n += 1
    return n


@pytest.mark.parametrize("name", CASES)
def test_the_cases_of_the_engine_agree(name: str) -> None:
    position = parse_position(CASES[name][0].replace("9 ?", "; ".join(["1/1"] * 9)))
    assert compare_actions(position) >= 2


STORIES = {name: story for name, story in (NAMED | TIMED | REPORTED).items() if "*" in story[0]}
"""Those with real cards."""


@pytest.mark.parametrize("name", STORIES)
def test_the_stories_of_cards_agree(name: str) -> None:
    """With several draws of chance, as far as the story goes with each."""
    text, actions, _ = STORIES[name]
    compared = 0
    for seed in range(4):
        position = parse_position(text)
        chance, game = Chance.drawn(stream_key(seed), position.states), game_of(position, stream_key(seed))
        for action in map(parse_action, actions):
            if action not in position.legal_actions():
                break
            position.play(action, chance)
            game.act(str(action))
            assert problem(position, game) == "", f"{action} in {text}"
            compared += 1
    assert compared >= len(actions)


@pytest.mark.heavy
def test_every_exact_card_agrees_on_a_crowded_board() -> None:
    """With every target, on a board with something of everything, and at the end of the turn.

    By day every fourth card.
    """
    hidden = RICH.replace("[3 ?]", "[1/1; 2/2; 3/3]").replace("[4 ?]", "[1/1; 2/2; 3/3; 4/4]")
    n = 0
    for card in exact_cards("")[:: cases(4, 1)]:
        position = parse_position(hidden.format(card=format_card(card)))
        position.state["sides"][0]["hand"][0] = position.table.number[card.key]
        n += compare_actions(position, 0)
    assert n > cases(400, 1_500)


def test_decks_are_of_exact_cards() -> None:
    for kind in KINDS:
        for number in range(20):
            deck = some_deck(kind, generator(1, number))
            if kind == "bodies":
                assert not deck.hero_class
                continue
            assert deck.n_exact == len(deck.cards) == 30
            own = {deck.hero_class.upper(), "NEUTRAL"}
            assert kind == "mixed" or {card.card_class for card in deck.cards} <= own
    assert len(exact_cards("")) >= 600
    assert {some_deck("eva", generator(1, number)).name for number in range(20)} == set(EVA)


def test_the_same_deal_begins_both() -> None:
    rules = find_ruleset("standard")
    decks = tuple(basic_decks()[:2])
    position, game = deal_from_key(decks, stream_key(3), rules), start_game(decks, rules, 3)
    assert problem(position, game) == ""
    game.sides[1].armour = 2
    assert problem(position, game) == "sides.1.armour: 2, 0 (reference, engine)"


def no_bonus(what) -> int:
    return 0


def keeps_spell_damage(minion) -> None:
    kept = minion.spell_damage
    silence(minion)
    minion.spell_damage = kept


def forgets_gifts(minion):
    return [row for row in minion.facts["rows"] if row.trigger == "deathrattle"]


silence = Minion.silence


@pytest.mark.parametrize(
    ("owner", "name", "broken", "kind"),
    [
        (effects, "bonus", no_bonus, "basic"),
        (Minion, "deathrattles", property(forgets_gifts), "mixed"),
        (RealGame, "disarm", lambda game, side: None, "basic"),
    ],
)
def test_a_broken_rule_is_caught(monkeypatch: pytest.MonkeyPatch, owner, name, broken, kind) -> None:
    monkeypatch.setattr(owner, name, broken)
    with pytest.raises(DisagreementError, match="in .* which led to"):
        play_many(kind, 400 if kind == "mixed" else 100)


def test_a_broken_silence_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """In random decks silence meets Spell Damage too rarely."""
    text = "turn 9 | hero 30 mana 9/9 hand [Silence*; 1/1] board [Kobold Geomancer*] | hero 30"
    assert compare_actions(parse_position(text)) >= 2
    monkeypatch.setattr(Minion, "silence", keeps_spell_damage)
    with pytest.raises(AssertionError):
        compare_actions(parse_position(text))
