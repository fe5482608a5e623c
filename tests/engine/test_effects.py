"""Real cards in play: what each rule of effects must do, chance, and games with the nine Basic decks."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from engine import Outcome, deal, find_deck, parse_action, parse_position
from engine.agents import PassAgent, RandomAgent
from engine.batches import deal_games, endings
from engine.cards.real import edition, hero_classes
from engine.codes import BOARD_SIZE, HAND_SIZE, HERO_HEALTH, MAX_MANA, MAX_STAT, Purpose
from engine.decks import tables_of
from engine.effects.luck import Chance
from engine.errors import ChanceError, DeckError
from engine.formatting import format_card
from engine.match import GameRecord, deal_key, play
from engine.playout import random_games
from engine.ruleset import find_ruleset
from engine.state import STATE
from engine.streams import below, derive, stream_key
from engine.view import PlayerView
from engine.vocabulary import EFFECTS_VERSION, CardKind
from tests.conftest import UNCOMPILED

DECKS = Path(__file__).parents[2] / "engine" / "data" / "decks"
CLASSES = sorted(hero_classes())


def basic(name: str):
    return find_deck(f"basic-{name}")


# Position, action, and what the position after it must say.
CASES = {
    "a spell hits what it is aimed at": (
        "turn 5 first | hero 30 mana 4 hand [Fireball*] | hero 30 board [Chillwind Yeti*]",
        "play 0 -> 0",
        ["mana 0/4", "hero 30 mana 4/4 died 1 board []"],
    ),
    "spell damage adds to spells": (
        "turn 5 first | hero 30 mana 4 board [Kobold Geomancer*] hand [Fireball*] | hero 30",
        "play 0 -> hero",
        ["hero 23"],
    ),
    "spell damage adds to every target of a sweep": (
        "turn 7 first | hero 30 mana 7 board [Kobold Geomancer*] hand [Flamestrike*] | "
        "hero 30 board [Chillwind Yeti*; War Golem*]",
        "play 0",
        ["died 1 board [War Golem 7:7/7* now 7/2"],
    ),
    "spell damage does not add to Battlecries": (
        "turn 5 first | hero 30 mana 1 board [Kobold Geomancer*] hand [Elven Archer*] | hero 30",
        "play 0 -> hero",
        ["hero 29"],
    ),
    "a shield absorbs a sweep": (
        "turn 7 first | hero 30 mana 7 hand [Flamestrike*] | hero 30 board [Scarlet Crusader*; Chillwind Yeti*]",
        "play 0",
        ["board [Scarlet Crusader 3:3/1D* now 3/1; Chillwind Yeti 4:4/5* now 4/1]"],
    ),
    "overload is owed": (
        "turn 5 first | hero 30 mana 1/5 hand [Lightning Bolt*] | hero 30",
        "play 0 -> hero",
        ["overload 1", "hero 27"],
    ),
    "a weapon replaces the one before": (
        "turn 5 first | hero 30 mana 5 weapon [Fiery War Axe* now 3/1] attacks 1 hand [Arcanite Reaper*] | hero 30",
        "play 0",
        ["weapon [Arcanite Reaper 5:5/2*]", "attacks 1"],
    ),
    "a hero's attack wears the weapon and is answered": (
        "turn 5 first | hero 30 mana 0/5 attacks 1 weapon [Fiery War Axe*] | hero 30 board [Chillwind Yeti*]",
        "attack hero -> 0",
        ["hero 26", "weapon [Fiery War Axe 3:3/2* now 3/1]", "Chillwind Yeti 4:4/5* now 4/2"],
    ),
    "the last durability ends the weapon": (
        "turn 5 first | hero 30 mana 0/5 attacks 1 weapon [Fiery War Axe* now 3/1] | hero 30",
        "attack hero -> hero",
        ["hero 30 mana 0/5 board []", "hero 27"],
    ),
    "Water Elemental freezes the hero it hits": (
        "turn 5 first | hero 30 board [Water Elemental* ready] | hero 30",
        "attack 0 -> hero",
        ["hero 27 mana 4/4 is [frozen]"],
    ),
    "a Deathrattle's minion stands where the dead one stood": (
        "turn 5 first | hero 30 mana 4 hand [Fireball*] | "
        "hero 30 board [Murloc Raider*; Harvest Golem*; Chillwind Yeti*]",
        "play 0 -> 1",
        ["board [Murloc Raider 1:2/1*; Damaged Golem 1:2/1* born 4 arrived; Chillwind Yeti"],
    ),
    "two die at once: both leave before a Deathrattle strikes": (
        "turn 7 first | hero 30 mana 7 hand [Flamestrike*] | hero 30 board [Abomination*; Harvest Golem*]",
        "play 0",
        # Abomination is older: its 2 damage comes before the golem's Damaged Golem does.
        ["hero 28 mana 0/7", "hero 28 mana 6/6 died 2 board [Damaged Golem"],
    ),
    "the older Deathrattle comes first": (
        "turn 7 first | hero 30 mana 7 hand [Flamestrike*] | hero 30 board [Harvest Golem*; Abomination*]",
        "play 0",
        # Harvest Golem is older: its Damaged Golem stands when Abomination's 2 damage comes, and dies.
        ["hero 28 mana 6/6 died 3 board []"],
    ),
    "silence takes the Deathrattle": (
        "turn 5 first | hero 30 mana 3 hand [Ironbeak Owl*] | hero 30 board [Harvest Golem*]",
        "play 0 -> 0",
        ["Harvest Golem 3:2/3* born 1 is silenced"],
    ),
    "a silenced minion keeps its damage": (
        "turn 5 first | hero 30 mana 0 hand [Silence*] | hero 30 board [Chillwind Yeti* now 9/6T max 9]",
        "play 0 -> 0",
        ["Chillwind Yeti 4:4/5* is silenced"],
    ),
    "a full board takes no more tokens": (
        "turn 5 first | hero 30 mana 3 board [1:1/1; 1:1/1; 1:1/1; 1:1/1; 1:1/1; 1:1/1] hand [Razorfen Hunter*] | "
        "hero 30 board []",
        "play 0",
        ["Razorfen Hunter 3:2/3* arrived] hand []"],
    ),
    "a full hand burns what is drawn": (
        "turn 5 first | hero 30 mana 3 hand [Arcane Intellect*; 9 ?] deck [War Golem*; Chillwind Yeti*] | hero 30",
        "play 0",
        ["burned 1", "; War Golem 7:7/7*] deck []"],
    ),
    "draws from an empty deck hurt more and more": (
        "turn 5 first | hero 30 mana 3 hand [Arcane Intellect*] | hero 30",
        "play 0",
        ["hero 27", "fatigue 2"],
    ),
    "a minion is bounced as printed": (
        "turn 5 first | hero 30 mana 2 hand [Sap*] | hero 30 board [Chillwind Yeti* now 9/2 max 9]",
        "play 0 -> 0",
        ["died 0", "hand [Chillwind Yeti 4:4/5*]"],
    ),
    "healing stops at full health": (
        "turn 5 first | hero 29 mana 3 hand [Healing Touch*] | hero 30",
        "play 0 -> own hero",
        ["hero 30 mana 0/3"],
    ),
    "armour is spent before health": (
        "turn 5 first | hero 30 mana 4 hand [Fireball*] | hero 30+5",
        "play 0 -> hero",
        ["hero 29 mana 4/4"],
    ),
    "attack for this turn is told apart": (
        "turn 5 first | hero 30 mana 1 board [Chillwind Yeti*] hand [Abusive Sergeant*] | hero 30",
        "play 0 -> own 0",
        ["Chillwind Yeti 4:4/5* now 6/5 until 2"],
    ),
    "a doubled attack has its part of this turn doubled": (
        "turn 5 first | hero 30 mana 5 board [Chillwind Yeti* now 6/5 until 2] hand [Blessed Champion*] | hero 30",
        "play 0 -> own 0",
        ["Chillwind Yeti 4:4/5* now 12/5 until 4"],
    ),
    "attack is never below 0, and what was taken comes back": (
        "turn 5 first | hero 30 mana 1 hand [Pint-Size Potion*] | hero 30 board [Murloc Raider*; War Golem*]",
        "play 0",
        ["Murloc Raider 1:2/1* now 0/1 until -2; War Golem 7:7/7* now 4/7 until -3"],
    ),
    "the Deathrattle of a living minion summons to its right": (
        "turn 5 first | hero 30 mana 1 board [Harvest Golem*; Murloc Raider*] hand [Play Dead*] | hero 30",
        "play 0 -> own 0",
        ["board [Harvest Golem 3:2/3*; Damaged Golem 1:2/1* born 3 arrived; Murloc Raider"],
    ),
    "the Deathrattle of a living minion may return it": (
        "turn 9 first | hero 30 mana 1 board [Anub'arak*; Murloc Raider*] hand [Play Dead*] | hero 30",
        "play 0 -> own 0",
        ["board [Murloc Raider 1:2/1* born 2; Nerubian 4:4/4*", "hand [Anub'arak 9:8/4*]"],
    ),
    "every second minion of a Battlecry stands to the left": (
        "turn 9 first | hero 30 mana 9 board [Murloc Raider*] hand [Onyxia*] | hero 30 board []",
        "play 0",
        [
            "born 4 arrived; Whelp 1:1/1*ds1_whelptoken born 6 arrived; Onyxia 9:8/8* born 2 arrived; "
            "Whelp 1:1/1*ds1_whelptoken born 7 arrived; Whelp 1:1/1*ds1_whelptoken born 5 arrived"
        ],
    ),
    "spell damage does not add to hero powers": (
        "turn 5 first | hero 30 mana 2 power [Fireblast*] board [Kobold Geomancer*] | hero 30",
        "power -> hero",
        ["hero 29"],
    ),
    "a hero with one durability left attacks once with Windfury": (
        "turn 5 first | hero 30 mana 0/5 attack 3 attacks 2 weapon [Doomhammer* now 2/1] | hero 30",
        "attack hero -> hero",
        ["hero 30 mana 0/5 attack 3 board []", "hero 25"],
    ),
    "an immune hero takes no fatigue": (
        "turn 5 first | hero 30 mana 3 is [immune] hand [Arcane Intellect*] | hero 30",
        "play 0",
        ["hero 30 mana 0/3 fatigue 2"],
    ),
    "both heroes may die at once": (
        "turn 5 first | hero 3 mana 4 hand [Hellfire*] | hero 3",
        "play 0",
        ["hero 0 mana 0/4", "hero 0 mana 4/4"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_by_name(name: str) -> None:
    start, action, wanted = CASES[name]
    position = parse_position(start)
    position.play(parse_action(action))
    for text in wanted:
        if text == "died 0":
            assert "died" not in str(position)
        else:
            assert text in str(position), str(position)


def test_what_lasts_for_the_turn_ends_with_it() -> None:
    position = parse_position(
        "turn 5 first | hero 30 mana 1 board [Chillwind Yeti*] hand [Abusive Sergeant*] deck [1:1/1] | "
        "hero 30 is [frozen] attacks 1 deck [1:1/1; 1:1/1]"
    )
    position.play(parse_action("play 0 -> own 0"))
    position.play(parse_action("end turn"))
    assert "Chillwind Yeti 4:4/5*;" in str(position)
    assert "is [frozen]" in str(position)  # it thaws at the end of its own turn
    position.play(parse_action("end turn"))
    assert "frozen" not in str(position)


def test_two_attacks_count_for_another_weapon_with_windfury() -> None:
    position = parse_position(
        "turn 9 first | hero 30 mana 5 attacks 1 weapon [Doomhammer* now 2/1] hand [Doomhammer*] | hero 30"
    )
    position.play(parse_action("attack hero -> hero"))
    assert "attacks -1" in str(position)
    assert str(parse_position(str(position))) == str(position)
    position.play(parse_action("play 0"))
    assert "weapon [Doomhammer 5:2/8W*]" in str(position)
    assert [str(action) for action in position.legal_actions()] == ["end turn"]


def test_stealth_until_the_next_turn_ends_with_the_turn_of_who_has_the_minion() -> None:
    position = parse_position(
        "turn 5 first | hero 30 mana 4 board [Sylvanas Windrunner* now 5/5] hand [Fireball*] deck [2 ?] | "
        "hero 30 board [Chillwind Yeti* now 4/5S is hidden] deck [2 ?]"
    )
    position.play(parse_action("play 0 -> own 0"))
    taken = "Chillwind Yeti 4:4/5* now 4/5S"
    assert taken in str(position).split("|")[1]
    position.play(parse_action("end turn"))
    assert taken in str(position)
    position.play(parse_action("end turn"))
    assert taken not in str(position)


def test_stealth_of_its_own_outlasts_stealth_until_the_next_turn() -> None:
    position = parse_position(
        "turn 5 first | hero 30 mana 1 board [Worgen Infiltrator*; Chillwind Yeti*] hand [Conceal*] deck [2 ?] | "
        "hero 30 deck [2 ?]"
    )
    for action in ("play 0", "end turn"):
        position.play(parse_action(action))
    assert "Chillwind Yeti 4:4/5* now 4/5S" in str(position)
    position.play(parse_action("end turn"))
    assert "Chillwind Yeti 4:4/5* ready" in str(position)
    assert "Worgen Infiltrator 1:2/1S* ready" in str(position)


def test_overload_locks_crystals_on_the_next_turn_alone() -> None:
    position = parse_position(
        "turn 5 first | hero 30 mana 1/5 hand [Lightning Bolt*] deck [1:1/1; 1:1/1] | hero 30 deck [1:1/1; 1:1/1]"
    )
    for action in ("play 0 -> hero", "end turn", "end turn"):
        position.play(parse_action(action))
    assert "mana 5/6 attacks 1 locked 1" in str(position)
    for action in ("end turn", "end turn"):
        position.play(parse_action(action))
    assert "mana 7/7" in str(position)


def test_totems_that_are_written_are_those_that_are_summoned() -> None:
    text = "turn 5 first | hero 30 power [Totemic Call*] board [Searing Totem*; Stoneclaw Totem*; Healing Totem*] | hero 30"
    position = parse_position(text)
    position.play(parse_action("power"))
    assert "Wrath of Air Totem 1:0/2* arrived]" in str(position)
    again = parse_position(str(position).replace(" used", ""))
    again.state["sides"][0]["mana"] = 10
    assert [str(action) for action in again.legal_actions()] == ["end turn"]


def outcomes_of(position, action):
    """Every position an action can lead to, with its probability."""
    waiting = [((), Fraction(1))]
    while waiting:
        given, share = waiting.pop()
        after, chance = position.copy(), Chance.given(given)
        try:
            after.play(action, chance)
        except ChanceError:
            assert str(after) == str(position)
            waiting += [((*given, one), share / chance.waiting) for one in range(chance.waiting)]
            continue
        yield str(after), share


@pytest.mark.parametrize(
    ("start", "n"),
    [
        # Three missiles among a hero and two minions of 1 health: who dies is hit no more.
        (
            "hero 30 mana 1 hand [Arcane Missiles*] | hero 30 board [Murloc Raider*; Murloc Raider* now 1/1]",
            4,
        ),
        (
            "hero 30 mana 4 hand [Multi-Shot*] | hero 30 board [War Golem*; Chillwind Yeti*; Boulderfist Ogre*]",
            3,
        ),
        ("hero 30 mana 3/3 hand [Lightning Storm*] | hero 30 board [War Golem*; Chillwind Yeti*]", 4),
        ("hero 30 mana 1 hand [Soulfire*; War Golem*; Chillwind Yeti*] | hero 2 board []", 2),
    ],
)
def test_the_probabilities_of_an_action_add_up_to_one(start: str, n: int) -> None:
    position = parse_position(f"turn 5 first | {start}")
    action = next(action for action in position.legal_actions() if action.source == 0)
    found: dict[str, Fraction] = {}
    for after, share in outcomes_of(position, action):
        found[after] = found.get(after, Fraction(0)) + share
    assert sum(found.values()) == 1
    assert len(found) == n, found


def test_a_random_hit_spares_who_is_about_to_die() -> None:
    position = parse_position(
        "turn 5 first | hero 30 mana 1 hand [Arcane Missiles*] | hero 1 board [Murloc Raider*]"
    )
    for after, _ in outcomes_of(position, position.legal_actions()[0]):
        assert "hero 0" in after  # the hero takes one at most, and the minion one
        assert "hero -" not in after


def test_a_deathrattles_minion_stands_where_the_dead_one_stood_though_one_to_its_left_was_taken() -> None:
    position = parse_position(
        "turn 9 first | hero 30 board [Sylvanas Windrunner* now 5/1 ready] | "
        "hero 30 board [Kobold Geomancer*; Harvest Golem*; Chillwind Yeti*]"
    )
    position.play(parse_action("attack 0 -> 1"), Chance.given((0,)))
    own, enemy = str(position).split(" | ")[1:]
    assert "board [Kobold Geomancer 2:2/2* born 5 arrived]" in own
    assert "board [Damaged Golem 1:2/1* born 6 arrived; Chillwind Yeti 4:4/5* born 4]" in enemy


def test_chance_belongs_to_the_turn_and_not_to_the_state() -> None:
    start = (
        "turn 5 first | hero 30 mana 1 hand [Arcane Missiles*] | hero 30 board [War Golem*; Chillwind Yeti*]"
    )
    ends = set()
    for game in range(20):
        position = parse_position(start)
        before = position.state.tobytes()
        chance = Chance.drawn(stream_key(1, game), position.states)
        assert position.state.tobytes() == before
        position.play(parse_action("play 0"), chance)
        again = parse_position(start)
        again.play(parse_action("play 0"), Chance.given(chance.outcomes))
        assert str(again) == str(position)
        ends.add(str(position))
    assert len(ends) > 3


GAMES = 4 if UNCOMPILED else 30


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
            assert side["health"] <= HERO_HEALTH
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
    other = text.replace('"CS2_182"\nname = "Chillwind Yeti"', '"CS2_122"\nname = "Raid Leader"')
    (tmp_path / "inexact.toml").write_text(other)
    with pytest.raises(DeckError, match="not played exactly: Raid Leader"):
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
    """On a board with something of everything: it plays with every target, and nothing leaves its bounds."""
    for card in edition().exact():
        if card.kind != kind:
            continue
        position = parse_position(RICH.format(card=format_card(card)))
        position.state["sides"][0]["hand"][0] = position.table.number[card.key]
        position.state["sides"][0]["mana"] = MAX_MANA
        played = [action for action in position.legal_actions() if str(action).startswith("play 0")]
        assert played or card.spec.cost > MAX_MANA or card.needs or not card.effects, card
        for action in played:
            after, chance = position.copy(), Chance.drawn(stream_key(7), position.states)
            after.play(action, chance)
            check_bounds(after)
            assert str(parse_position(str(after))) == str(after)
            if after.outcome == Outcome.ONGOING:
                after.play(parse_action("end turn"), chance)
                check_bounds(after)


def test_a_batch_plays_the_same_games_one_by_one() -> None:
    decks = basic("mage"), basic("shaman")
    table, records = tables_of(decks)
    n = 3 if UNCOMPILED else 20
    keys = np.array([stream_key(5, game) for game in range(n)], np.uint64)
    outcomes, rules = np.zeros(n, np.int64), find_ruleset("hearthsim")
    random_games(table.array, records[0], records[1], rules.array, keys, outcomes)
    states = np.zeros(n, STATE)
    deal_games(table.array, records, rules.array, np.tile([0, 1], (n, 1)), keys, states)
    for game, key in enumerate(keys):
        position = deal_key(decks, key, rules)
        assert states[game].tobytes() == position.state.tobytes()
        chance, stream = Chance.drawn(key, position.states), np.uint64(derive(key, Purpose.PLAYOUT))
        index = 0
        while position.outcome == Outcome.ONGOING:
            actions = position.legal_actions()
            position.play(actions[int(below(stream, index, len(actions)))], chance)
            index += 1
        assert outcomes[game] == position.outcome
    found, turns = endings(states)
    assert (found == Outcome.ONGOING).all()
    assert (turns == 1).all()


def test_chance_that_cannot_be_is_refused() -> None:
    with pytest.raises(ChanceError, match="at most"):
        Chance.given((-1,))
    position = parse_position("hero 30 mana 1 hand [Arcane Missiles*] | hero 30 board [War Golem*]")
    with pytest.raises(ChanceError, match="draws one of 2 at random"):
        position.play(parse_action("play 0"))
    blind = Chance.blind()
    drawn = parse_position("hero 30 mana 3 hand [Arcane Intellect*] deck [War Golem*; 2 ?] | hero 30")
    drawn.play(parse_action("play 0"), blind)
    assert "hand [2 ?] deck [?]" in str(drawn)
    assert not blind.waiting
