"""Games with real cards against the plain reference: every action, state, outcome of chance and result."""

import os

import pytest

from engine.match import deal_key
from engine.ruleset import find_ruleset
from engine.streams import generator, stream_key
from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.reference import effects
from tests.reference.characters import Minion
from tests.reference.compare import (
    EVA,
    KINDS,
    DisagreementError,
    basic_decks,
    exact_cards,
    play_both,
    problem,
    some_deck,
    start_game,
)
from tests.reference.game import RealGame

GAMES = int(os.environ.get("MANAFORGE_GAMES", "20" if UNCOMPILED or BOUNDSCHECK else "60"))
"""Games of each kind of decks in the fast suite; `python -m tests.reference 10000` plays more."""

HEAVY_GAMES = 400


@pytest.mark.parametrize("kind", KINDS)
def test_random_games_agree_byte_by_byte(kind: str) -> None:
    actions = [play_both(number, kind) for number in range(GAMES)]
    assert sum(actions) > 30 * GAMES


def play_many(kind: str, games: int) -> None:
    for number in range(games):
        play_both(number, kind)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", KINDS)
def test_many_random_games_agree_byte_by_byte(kind: str) -> None:
    for number in range(GAMES, GAMES + HEAVY_GAMES):
        play_both(number, kind)


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
    assert len(exact_cards("")) == 600
    for hero_class, names in EVA.items():
        assert set(names) <= {card.id for card in exact_cards(hero_class)}


def test_the_same_deal_begins_both() -> None:
    rules = find_ruleset("standard")
    decks = tuple(basic_decks()[:2])
    position, game = deal_key(decks, stream_key(3), rules), start_game(decks, rules, 3)
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
        (Minion, "silence", keeps_spell_damage, "mixed"),
        (Minion, "deathrattles", property(forgets_gifts), "mixed"),
        (RealGame, "disarm", lambda game, side: None, "basic"),
    ],
)
def test_a_broken_rule_is_caught(monkeypatch: pytest.MonkeyPatch, owner, name, broken, kind) -> None:
    monkeypatch.setattr(owner, name, broken)
    with pytest.raises(DisagreementError, match="in .* which led to"):
        play_many(kind, 100)
