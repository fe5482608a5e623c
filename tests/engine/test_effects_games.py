"""Games with the nine Basic decks, their records and views, and every exact card played once."""

from pathlib import Path

import numpy as np
import pytest

from engine import Outcome, deal, find_deck, parse_action, parse_position
from engine.batches import deal_games, game_results, random_games
from engine.cards.real import edition, hero_classes
from engine.codes import BOARD_SIZE, HAND_SIZE, HERO_HEALTH, MAX_MANA, MAX_STAT, Purpose
from engine.decks import cached_card_table
from engine.effect_codes import EFFECTS_VERSION, CardKind
from engine.effects.chance import Chance
from engine.errors import ChanceError, DeckError
from engine.formatting import format_card
from engine.game_session import GameRecord, PassAgent, RandomAgent
from engine.match import deal_from_key, play
from engine.ruleset import find_ruleset
from engine.state import STATE
from engine.streams import below, derive, stream_key
from engine.view import PlayerView
from tests.conftest import UNCOMPILED, cases

DECKS = Path(__file__).parents[2] / "engine" / "data" / "decks"
CLASSES = sorted(hero_classes())


def basic(name: str):
    return find_deck(f"basic-{name}")


GAMES = 4 if UNCOMPILED else cases(7, 30)


@pytest.mark.parametrize("seed", range(GAMES))
def test_random_games_stay_in_bounds_and_round_trip(seed: int) -> None:
    pick = np.random.default_rng(seed)
    decks = tuple(basic(str(name)) for name in pick.choice(CLASSES, 2))
    position = deal(decks, seed, ruleset=str(pick.choice(["hearthsim", "standard"])))
    chance = Chance.drawn(stream_key(seed), position.states)
    while position.outcome == Outcome.ONGOING:
        actions = position.legal_actions()
        n = len(actions) - 1 if len(actions) > 1 and pick.random() < 0.7 else len(actions)
        position.play(actions[int(pick.integers(n))], chance)
        text = str(position)
        assert parse_position(text, position.table).state.tobytes() == position.state.tobytes()
        assert str(parse_position(text)) == text
        for side in position.state["sides"]:
            assert side["health"] <= side["max_health"] == HERO_HEALTH
            assert 0 <= side["armour"] <= MAX_STAT
            assert 0 <= side["mana"] <= MAX_MANA
            assert 0 <= side["crystals"] <= MAX_MANA
            assert 0 <= side["n_board"] <= BOARD_SIZE
            assert 0 <= side["n_hand"] <= HAND_SIZE
            assert 0 <= side["durability"] <= MAX_STAT
            assert 0 <= side["weapon_attack"] <= MAX_STAT
            for minion in side["board"][: side["n_board"]]:
                assert 0 <= minion["attack"] <= MAX_STAT
                assert 1 <= minion["health"] <= minion["max_health"] <= MAX_STAT


def test_a_recorded_game_replays() -> None:
    result = play(RandomAgent(), RandomAgent(), (basic("mage"), basic("shaman")), seed=3, ruleset="hearthsim")
    record = GameRecord.from_json(result.record.to_json())
    assert record.effects_version == EFFECTS_VERSION
    assert any("{" in text for text in record.actions)
    assert str(record.replay()) == str(result.position)


def test_a_view_hides_what_a_player_does_not_know() -> None:
    position = deal((basic("mage"), basic("priest")), 1)
    view = PlayerView(position, 0)
    changed = position.copy()
    side = changed.state["sides"][1]
    side["deck"][:5], side["hand"][0] = side["deck"][:5][::-1].copy(), side["deck"][9]
    assert str(PlayerView(changed, 0).position) == str(view.position)


def test_a_pass_agent_plays_a_class_deck() -> None:
    result = play(PassAgent(), RandomAgent(), (basic("rogue"), basic("hunter")), seed=1)
    assert result.reason in ("hero died", "fatigue")


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_has_a_deck_of_exact_cards(name: str) -> None:
    deck = basic(name)
    assert deck.hero_class == name
    assert deck.n_exact == 30
    assert {card.card_class.lower() for card in deck.cards} == {name, "neutral"}


def test_cards_of_another_class_and_inexact_ones_are_refused(tmp_path: Path) -> None:
    text = (DECKS / "basic-mage.toml").read_text()
    (tmp_path / "foreign.toml").write_text(text.replace('class = "mage"', 'class = "druid"'))
    with pytest.raises(DeckError, match="a druid does not play .*Fireball"):
        find_deck(tmp_path / "foreign.toml")
    other = text.replace('"CS2_182"\nname = "Chillwind Yeti"', '"EX1_076"\nname = "Pint-Sized Summoner"')
    (tmp_path / "inexact.toml").write_text(other)
    with pytest.raises(DeckError, match="not played exactly: Pint-Sized Summoner"):
        find_deck(tmp_path / "inexact.toml")
    (tmp_path / "bodies.toml").write_text(other.replace("schema = 1", "schema = 1\nbodies = true"))
    assert find_deck(tmp_path / "bodies.toml").n_exact == 28
    (tmp_path / "none.toml").write_text(text.replace('class = "mage"', 'class = "demonhunter"'))
    with pytest.raises(DeckError, match="demonhunter"):
        find_deck(tmp_path / "none.toml")


RICH = (
    "turn 9 first | hero 20 mana 10 attacks 1 power [Fireblast*] weapon [Fiery War Axe*] board [Chillwind Yeti* "
    "now 4/3 ready; Murloc Raider* ready; Bloodfen Raptor*; Harvest Golem* is deathrattle,frozen; Voidwalker*] "
    "hand [{card}; Fireball*; Chillwind Yeti*] deck [War Golem*; Murloc Raider*; Arcane Intellect*] | "
    "hero 25+2 mana 0/8 power [Armor Up!*] weapon [Arcanite Reaper*] board [Chillwind Yeti* now 4/2; "
    "Sen'jin Shieldmasta*; Loot Hoarder*; Bloodfen Raptor*; War Golem*] hand [3 ?] deck [4 ?]"
)


def check_bounds(position) -> None:
    for side in position.state["sides"]:
        assert side["health"] <= HERO_HEALTH
        for field, most in (("armour", MAX_STAT), ("mana", MAX_MANA), ("crystals", MAX_MANA)):
            assert 0 <= side[field] <= most, field
        assert 0 <= side["n_board"] <= BOARD_SIZE
        assert 0 <= side["n_hand"] <= HAND_SIZE
        for minion in side["board"][: side["n_board"]]:
            assert 0 <= minion["attack"] <= MAX_STAT
            assert 1 <= minion["health"] <= minion["max_health"] <= MAX_STAT


@pytest.mark.parametrize("kind", list(CardKind)[:3])
def test_every_exact_card_is_played_and_the_turn_ended(kind: CardKind) -> None:
    """On a board with something of everything: it plays with every target, and nothing leaves its bounds.

    By day every fourth card, uncompiled every twelfth.
    """
    for card in [card for card in edition().exact() if card.kind == kind][
        :: 12 if UNCOMPILED else cases(4, 1)
    ]:
        position = parse_position(RICH.format(card=format_card(card)))
        position.state["sides"][0]["hand"][0] = position.table.number[card.key]
        position.state["sides"][0]["mana"] = MAX_MANA
        played = [action for action in position.legal_actions() if str(action).startswith("play 0")]
        assert played or card.spec.cost > MAX_MANA or card.needs or not card.effects, card
        for action in played:
            after, chance = position.copy(), Chance.drawn(stream_key(7), position.states)
            after.play(action, chance)
            check_bounds(after)
            if action in (played[0], played[-1]):
                assert str(parse_position(str(after))) == str(after)
            while after.state["n_options"] and after.outcome == Outcome.ONGOING:
                after.play(parse_action("choose 0"), chance)
            if after.outcome == Outcome.ONGOING:
                after.play(parse_action("end turn"), chance)
                check_bounds(after)


def test_a_batch_plays_the_same_games_one_by_one() -> None:
    decks = basic("mage"), basic("shaman")
    table, records = cached_card_table(decks)
    n = 3 if UNCOMPILED else cases(8, 20)
    keys = np.array([stream_key(5, game) for game in range(n)], np.uint64)
    outcomes, rules = np.zeros(n, np.int64), find_ruleset("hearthsim")
    random_games(table.array, records[0], records[1], rules.array, keys, outcomes)
    states = np.zeros(n, STATE)
    deal_games(table.array, records, rules.array, np.tile([0, 1], (n, 1)), keys, states)
    for game, key in enumerate(keys):
        position = deal_from_key(decks, key, rules)
        assert states[game].tobytes() == position.state.tobytes()
        chance, stream = Chance.drawn(key, position.states), np.uint64(derive(key, Purpose.PLAYOUT))
        index = 0
        while position.outcome == Outcome.ONGOING:
            actions = position.legal_actions()
            position.play(actions[int(below(stream, index, len(actions)))], chance)
            index += 1
        assert outcomes[game] == position.outcome
    found, turns = game_results(states)
    assert (found == Outcome.ONGOING).all()
    assert (turns == 1).all()


def test_chance_that_cannot_be_is_refused() -> None:
    with pytest.raises(ChanceError, match="at most"):
        Chance.given((-1,))
    position = parse_position("hero 30 mana 1 hand [Arcane Missiles*] | hero 30 board [War Golem*]")
    with pytest.raises(ChanceError, match="has a chance event with 2 outcomes"):
        position.play(parse_action("play 0"))
    blind = Chance.blind()
    drawn = parse_position("hero 30 mana 3 hand [Arcane Intellect*] deck [War Golem*; 2 ?] | hero 30")
    drawn.play(parse_action("play 0"), blind)
    assert "hand [2 ?] deck [?]" in str(drawn)
    assert not blind.n_pending_outcomes
