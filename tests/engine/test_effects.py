"""Real cards in play: what each rule of effects must do, and chance."""

from fractions import Fraction

import pytest

from engine import parse_action, parse_position
from engine.effects.chance import Chance
from engine.errors import ChanceError
from engine.streams import stream_key

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
            waiting += [
                ((*given, one), share / chance.n_pending_outcomes) for one in range(chance.n_pending_outcomes)
            ]
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


def test_a_granted_effect_triggers_in_the_next_action_of_the_same_events() -> None:
    """No minion comes into play between: which triggers listen is found anew for each action."""
    position, chance = (
        parse_position(
            "turn 5 first | hero 20 mana 5/5 board [Chillwind Yeti* ready; Wisp* ready] hand [Blessing of Wisdom*] "
            "deck [Wisp*; Wisp*] | hero 20"
        ),
        Chance.given(()),
    )
    for action in ("attack 1 -> hero", "play 0 -> own 0", "attack 0 -> hero"):
        position.play(parse_action(action), chance)
    assert "hand [Wisp 0:1/1*] deck [Wisp 0:1/1*]" in str(position)


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
