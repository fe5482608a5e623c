"""Interactions that people reported of the game and of other simulators, each judged by a published rule.

Sources: issues of HearthSim/hs-bugs by number, where nothing else is named; pages of the Hearthstone Wiki by
title; the advanced rulebook as issues of demilich1/metastone quote it.
"""

from fractions import Fraction

import pytest

from engine import parse_position
from engine.streams import stream_key
from tests.engine.test_effects_named import check_story
from tests.reference.record import game_of

HALF = Fraction(1, 2)

Story = tuple[str, list[str], dict[str, int | Fraction]]

# A minion that deals damage is no longer hidden (458; Wiki, Stealth).
STEALTH: dict[str, Story] = {
    "Knife Juggler throws": (
        "turn 9 | hero 20 mana 9/9 hand [Wisp*] board [Knife Juggler* now 2/2S] | hero 20",
        ["play 0"],
        {"board [Knife Juggler 2:2/2*; Wisp": 1, "| hero 19": 1},
    ),
    "Ragnaros fires": (
        "turn 9 | hero 20 board [Ragnaros the Firelord* now 8/8S] | hero 20 deck [Wisp*]",
        ["end turn"],
        {"board [Ragnaros the Firelord 8:8/8*]": 1, "| hero 12": 1},
    ),
    "Wild Pyromancer, whose damage a Divine Shield takes": (
        "turn 9 | hero 20 mana 9/9 hand [The Coin] board [Wild Pyromancer* now 3/2S; Argent Squire*] | hero 20",
        ["play 0"],
        {"board [Wild Pyromancer 2:3/2* now 3/1; Argent Squire 1:1/1D* now 1/1]": 1},
    ),
    "a minion to which an attack is redirected strikes back": (
        "turn 9 | hero 20 board [Wisp* ready; Knife Juggler* now 2/2S] | hero 25 secrets [Misdirection* born 1]",
        ["attack 0 -> hero"],
        {"Knife Juggler 2:2/2* now 2/1 born 2]": HALF, "now 2/2S]": HALF},
    ),
    "a minion without attack does not": (
        "turn 9 | hero 20 board [Wisp* ready; Shieldbearer* now 0/4S] | hero 25 secrets [Misdirection* born 1]",
        ["attack 0 -> hero"],
        {"Shieldbearer 1:0/4T* now 0/3S]": HALF},
    ),
    "an immune hero is not hit": (
        "turn 9 | hero 20 mana 9/9 hand [Wisp*] board [Knife Juggler* now 2/2S] | hero 20 is [immune]",
        ["play 0"],
        {"board [Knife Juggler 2:2/2* now 2/2S; Wisp": 1},
    ),
}

# Deaths come one after another, oldest minion first, each with its Deathrattles and all that waits for it (29, 964).
DEATHS: dict[str, Story] = {
    "Necrotic Geist between two deaths": (
        "turn 9 | hero 20 mana 10/10 hand [Arcane Explosion*]"
        " | hero 20 board [Necrotic Geist* now 5/9 max 9; Explosive Sheep* now 1/1; Wisp*]",
        ["play 0"],
        {"died 3 board [Necrotic Geist 6:5/3* now 5/6 max 9; Ghoul": 1},
    ),
    "Cult Master hears an older death before the Deathrattle of a younger minion": (
        "turn 9 | hero 20 mana 10/10 hand [Arcane Explosion*]"
        " | hero 20 board [Wisp*; Cult Master* now 4/2; Explosive Sheep* now 1/1] deck [War Golem*; Wisp*; Wisp*]",
        ["play 0"],
        {"died 3 board [] hand [War Golem 7:7/7*; Wisp 0:1/1*]": 1},
    ),
    "Mad Scientist: Duplicate was not in play as the minions left, since patch 9.2 (820)": (
        "turn 9 | hero 20 mana 10/10 hand [Flamestrike*] | hero 20 board [Mad Scientist*; Wisp*] deck [Duplicate*]",
        ["play 0"],
        {"secrets [Duplicate 3* born 3] board [] hand [] deck []": 1},
    ),
    "Mad Scientist: nor was Redemption (820)": (
        "turn 9 | hero 20 mana 10/10 hand [Flamestrike*] | hero 20 board [Mad Scientist*; Wisp*] deck [Redemption*]",
        ["play 0"],
        {"secrets [Redemption 1* born 3] board [] hand [] deck []": 1},
    ),
    "Redemption is the last of its own death, before the next (Wiki, Redemption)": (
        "turn 9 | hero 20 mana 10/10 hand [Flamestrike*]"
        " | hero 20 secrets [Redemption* born 9] board [Wisp* born 1; Explosive Sheep* born 2]",
        ["play 0"],
        {"died 3 board []": 1},
    ),
    "Redemption: an Explosive Sheep does not hit itself": (
        "turn 9 | hero 20 mana 10/10 hand [Flamestrike*]"
        " | hero 20 secrets [Redemption* born 9] board [Explosive Sheep* born 1]",
        ["play 0"],
        {"died 1 board [Explosive Sheep 2:1/1* born 10": 1},
    ),
    "Baron Rivendare doubles nothing where he dies too (metastone 38)": (
        "turn 9 | hero 20 mana 10/10 hand [Twisting Nether*] | hero 20 board [Baron Rivendare*; Abomination*]",
        ["play 0"],
        {"| hero 18 mana 2/10": 1, "| hero 18 mana 8/8": 1},
    ),
    "Avenge, older than the minion that dies, finds nobody (Wiki, Deathrattle)": (
        "turn 9 | hero 20 board [War Golem* ready] | hero 25 secrets [Avenge* born 1] board [Harvest Golem* now 2/3 born 4]",
        ["attack 0 -> 0"],
        {"secrets [Avenge 1*": 1, "Damaged Golem 1:2/1*": 1},
    ),
    "Avenge, younger, finds what the Deathrattle summoned": (
        "turn 9 | hero 20 board [War Golem* ready] | hero 25 secrets [Avenge* born 7] board [Harvest Golem* now 2/3 born 4]",
        ["attack 0 -> 0"],
        {"now 5/3": 1},
    ),
    "Duplicate: one copy where there is room for one (27)": (
        "turn 9 | hero 20 board [War Golem* ready]"
        " | hero 25 secrets [Duplicate* born 1] board [Wisp* born 4] hand [9 ?]",
        ["attack 0 -> 0"],
        {"burned 1": 1, "hand [9 ?; Wisp 0:1/1*]": 1},
    ),
    "Duplicate: hidden where there is none": (
        "turn 9 | hero 20 board [War Golem* ready]"
        " | hero 25 secrets [Duplicate* born 1] board [Wisp* born 4] hand [10 ?]",
        ["attack 0 -> 0"],
        {"secrets [Duplicate": 1},
    ),
}

# What restores to full health heals by all of it, so that this is its damage (Wiki, Tree of Life, Stoneskin Gargoyle).
FULL_HEALTH: dict[str, Story] = {
    "Tree of Life with Auchenai Soulpriest": (
        "turn 9 | hero 30+5 mana 10/10 hand [Tree of Life*] board [Auchenai Soulpriest*; 2/2D]"
        " | hero 30+3 board [Boulderfist Ogre*]",
        ["play 0"],
        {"| hero 5 mana 1/10 died 1": 1, "| hero 3 mana 8/8 died 1": 1},
    ),
    "Tree of Life with Auchenai Soulpriest and Spell Damage": (
        "turn 9 | hero 20 mana 10/10 hand [Tree of Life*] board [Auchenai Soulpriest*; Kobold Geomancer*]"
        " | hero 30+30 board [Shieldbearer* now 0/9 max 9]",
        ["play 0"],
        {"| hero 29 mana 8/8 died 1": 1},
    ),
    "Ancestral Healing with Auchenai Soulpriest": (
        "turn 9 | hero 20 mana 9/9 hand [Ancestral Healing*] board [Auchenai Soulpriest*] | hero 20 board [Boulderfist Ogre*]",
        ["play 0 -> 0"],
        {"| hero 20 mana 8/8 died 1 board []": 1},
    ),
    "Reno Jackson with Auchenai Soulpriest": (
        "turn 9 | hero 20 mana 9/9 hand [Reno Jackson*] board [Auchenai Soulpriest*] | hero 20",
        ["play 0"],
        {"| hero -10 mana 3/9": 1},
    ),
    "Stoneskin Gargoyle by what is missing": (
        "turn 9 | hero 20 | hero 20 board [Auchenai Soulpriest*; Stoneskin Gargoyle* now 1/3] deck [Wisp*]",
        ["end turn"],
        {"Stoneskin Gargoyle 3:1/4* now 1/2 ready": 1},
    ),
    "Forbidden Healing of 0 with Spell Damage (505)": (
        "turn 9 | hero 20 mana 0/9 hand [Forbidden Healing*] board [Auchenai Soulpriest*; Kobold Geomancer*] | hero 20",
        ["play 0 -> hero"],
        {"| hero 19": 1},
    ),
}

# A weapon that is used up dies with the minions of the attack (106); one that is replaced, at once (25).
WEAPONS: dict[str, Story] = {
    "Death's Bite: Acolyte of Pain has died when it strikes": (
        "turn 9 | hero 20 weapon [Death's Bite* now 4/1] attacks 1"
        " | hero 25 board [Acolyte of Pain*] deck [Wisp*; Wisp*; Wisp*]",
        ["attack hero -> 0"],
        {"died 1 board [] hand [Wisp 0:1/1*] deck [Wisp": 1},
    ),
    "Death's Bite, used up by Bloodsail Corsair": (
        "turn 9 | hero 20 mana 9/9 hand [Bloodsail Corsair*] | hero 25 weapon [Death's Bite* now 4/1] board [Wisp*]",
        ["play 0"],
        {"Bloodsail Corsair 1:1/2* now 1/1": 1, "| hero 25 mana 8/8 died 1 board []": 1},
    ),
    "Tirion Fordring's weapon comes after the last blow of the old one": (
        "turn 9 | hero 20 weapon [Fiery War Axe* now 9/1] attacks 1 | hero 25 board [Tirion Fordring* now 6/6T]",
        ["attack hero -> 0"],
        {"weapon [Ashbringer": 1, "| hero 14 mana 9/9": 1},
    ),
    "Death's Bite: Armorsmiths": (
        "turn 9 | hero 20 weapon [Death's Bite* now 4/1] attacks 1 board [Armorsmith* now 1/1] | hero 25 board [Armorsmith*]",
        ["attack hero -> 0"],
        {"| hero 19+1": 1, "| hero 25+1": 1},
    ),
    "Death's Bite: the Champion whom Deathlord brings saves a Wisp": (
        "turn 9 | hero 20 weapon [Death's Bite* now 4/1] attacks 1 board [Wisp*] deck [Stormwind Champion*]"
        " | hero 25 board [Deathlord* now 2/4]",
        ["attack hero -> 0"],
        {"board [Wisp 0:1/1* now 2/1 max 2 aura 1/1; Stormwind Champion 7:6/6* now 6/5": 1},
    ),
    "Death's Bite, replaced, strikes before a Battlecry's victim leaves (metastone 180)": (
        "turn 9 | hero 20 mana 9/9 hand [Perdition's Blade*] played 1 weapon [Death's Bite*] | hero 20 board [Haunted Creeper*]",
        ["play 0 -> 0"],
        {"board [Spectral Spider 1:1/1* born 2 arrived; Spectral Spider 1:1/1* born 3 arrived]": 1},
    ),
    "Sword of Justice serves who comes before it is replaced (metastone 180)": (
        "turn 9 | hero 20 mana 9/9 hand [Truesilver Champion*] weapon [Sword of Justice* now 1/2]"
        " board [Illidan Stormrage*] | hero 20",
        ["play 0"],
        {"weapon [Truesilver Champion 4:4/2*]": 1, "Flame of Azzinoth 1:2/1* now 3/2": 1},
    ),
    "Sword of Justice: the minion of a Battlecry takes the last charge (Wiki, Sword of Justice)": (
        "turn 9 | hero 20 mana 9/9 hand [Murloc Tidehunter*] weapon [Sword of Justice* now 1/1] | hero 20",
        ["play 0"],
        {"Murloc Tidehunter 2:2/1*": 1, "Murloc Scout 1:1/1* now 2/2": 1},
    ),
}

SECRETS: dict[str, Story] = {
    "Misdirection after Wandering Monster may lead back to the hero, not to the Monster (855)": (
        "turn 9 | hero 20 board [Wisp* ready] | hero 25 secrets [Wandering Monster* born 1; Misdirection* born 2]",
        ["attack 0 -> hero"],
        {"| hero 19 mana": HALF, "| hero 24 mana": HALF},
    ),
    "Misdirection finds a minion with Stealth (121)": (
        "turn 9 | hero 20 attacks 1 weapon [Fiery War Axe*] board [Shade of Naxxramas*] | hero 25 secrets [Misdirection* born 1]",
        ["attack hero -> hero"],
        {"| hero 18 mana 9/9 died 1": 1},
    ),
    "Explosive Trap after a redirection (105)": (
        "turn 9 | hero 20 board [Wisp* ready; War Golem*]"
        " | hero 25 secrets [Misdirection* born 1; Explosive Trap* born 2] board [Boulderfist Ogre* born 3]",
        ["attack 0 -> hero"],
        {"| hero 18 mana 9/9 died 1": 1, "War Golem 7:7/7* now 7/5": 1},
    ),
    "Grommash Hellscream strikes with what Explosive Trap made of him (1024)": (
        "turn 9 | hero 20 board [Grommash Hellscream* ready] | hero 25 secrets [Explosive Trap* born 1]",
        ["attack 0 -> hero"],
        {"| hero 18 mana": 1, "| hero 15 mana": 1},
    ),
    "Snake Trap stays where there is no room (27)": (
        "turn 9 | hero 20 board [Wisp* now 7/7 ready]"
        " | hero 25 secrets [Snake Trap* born 1] board [2/2; 2/2; 2/2; 2/2; 2/2; 2/2; 2/2]",
        ["attack 0 -> 0"],
        {"secrets [Snake Trap": 1},
    ),
    "Counterspell: nobody hears the spell, and nothing is overloaded (Wiki, Counterspell)": (
        "turn 9 | hero 20 mana 9/9 hand [Lightning Storm*] board [Unbound Elemental*; Lorewalker Cho*]"
        " | hero 20 secrets [Counterspell* born 9]",
        ["play 0"],
        {"Unbound Elemental 3:2/4*;": 1, "overload": 0, "| hero 20 mana 8/8 board [] hand [] deck []": 1},
    ),
}

# What comes of the records of another engine: the order of cost auras (273), Choose One (Wiki), a Secret's hero.
OTHERS: dict[str, Story] = {
    "the older aura comes first: Summoning Portal": (
        "turn 9 | hero 20 mana 9/9 hand [Bloodfen Raptor*] board [Summoning Portal*] | hero 20 board [Mana Wraith* born 5]",
        ["play 0"],
        {"mana 8/9": 0, "mana 7/9": 1},
    ),
    "the older aura comes first, whoever's it is: Mana Wraith": (
        "turn 9 | hero 20 mana 9/9 hand [Bloodfen Raptor*] board [Summoning Portal* born 5] | hero 20 board [Mana Wraith* born 1]",
        ["play 0"],
        {"mana 8/9": 1},
    ),
    "the older aura comes first, not the one to the left": (
        "turn 9 | hero 20 mana 9/9 hand [Bloodfen Raptor*] board [Summoning Portal* born 5; Mana Wraith* born 1] | hero 20",
        ["play 0"],
        {"mana 8/9": 1},
    ),
    "Bear Trap: an attack that Misdirection leads back is none on the own hero": (
        "turn 9 second | hero 20 secrets [Bear Trap* born 1; Misdirection* born 2]"
        " | hero 20 mana 5/5 board [Chillwind Yeti* born 3 ready]",
        ["attack 0 -> hero"],
        {"| hero 16 mana": 1, "secrets [Bear Trap 2* born 1]": 1},
    ),
    "Hobgoblin looks at a minion before auras come (metastone 293)": (
        "turn 9 | hero 20 mana 9/9 hand [Wisp*] board [Hobgoblin*; Raid Leader*] | hero 20",
        ["play 0"],
        {"Wisp 0:1/1* now 4/3": 1},
    ),
    "Dispatch Kodo counts auras (metastone 293)": (
        "turn 9 | hero 20 mana 9/9 hand [Dispatch Kodo*] board [Raid Leader*] | hero 20",
        ["play 0 -> hero"],
        {"| hero 17": 1},
    ),
    "Prophet Velen: more missiles, after Spell Damage (Wiki, Prophet Velen)": (
        "turn 9 | hero 20 mana 9/9 hand [Arcane Missiles*] board [Prophet Velen*; Kobold Geomancer*] | hero 20",
        ["play 0"],
        {"| hero 12": 1},
    ),
    "Shadow Madness: Warsong Commander makes herself stronger (Wiki, Shadow Madness)": (
        "turn 9 | hero 20 mana 9/9 hand [Shadow Madness*] board [Frothing Berserker*] | hero 20 board [Warsong Commander*]",
        ["play 0 -> 0"],
        {"Warsong Commander 3:2/3* now 3/3C": 1},
    ),
    "Shadow Madness: the end of the turn is the thief's alone (821)": (
        "turn 9 | hero 20 mana 10/10 hand [Shadow Madness*] deck [War Golem*; Wisp*; Wisp*]"
        " | hero 20 board [Mana Tide Totem*] deck [Wisp*; Wisp*]",
        ["play 0 -> 0", "end turn"],
        {"hand [War Golem 7:7/7*]": 1, "board [Mana Tide Totem": 1},
    ),
    "Silence takes Savage Roar (26)": (
        "turn 9 | hero 20 mana 9/9 hand [Savage Roar*; Silence*] board [War Golem* ready] | hero 20",
        ["play 0", "play 0 -> own 0"],
        {"War Golem 7:7/7* is silenced": 1},
    ),
    "Sylvanas Windrunner: a Baron Rivendare whom she takes doubles nothing (fireplace 266)": (
        "turn 9 | hero 20 mana 9/9 hand [Arcane Shot*] board [Sylvanas Windrunner* now 5/1]"
        " | hero 20 board [Baron Rivendare*; Baron Rivendare*]",
        ["play 0 -> own 0"],
        {"mana 8/8 board [Baron Rivendare 4:1/7*": 1},
    ),
}

STORIES = {
    f"{kind}: {name}": story
    for kind, stories in (
        ("stealth", STEALTH),
        ("deaths", DEATHS),
        ("full health", FULL_HEALTH),
        ("weapons", WEAPONS),
        ("secrets", SECRETS),
        ("others", OTHERS),
    )
    for name, story in stories.items()
}


def test_keeper_of_the_grove_does_not_silence_nobody() -> None:
    """Of the two that a card is played as, one that needs a target is not offered without one (Wiki, Choose One)."""
    alone = parse_position("turn 9 | hero 20 mana 9/9 hand [Keeper of the Grove*] | hero 20")
    plays = {str(action) for action in alone.legal_actions()} - {"end turn"}
    assert plays == {"play 0 as 1 -> hero", "play 0 as 1 -> own hero"}
    other = parse_position("turn 9 | hero 20 mana 9/9 hand [Keeper of the Grove*] | hero 20 board [Wisp*]")
    assert "play 0 as 2 -> 0" in {str(action) for action in other.legal_actions()}
    for position in (alone, other):
        assert {str(action) for action in position.legal_actions()} == game_of(
            position, stream_key(1)
        ).legal()


@pytest.mark.parametrize("name", STORIES)
def test_what_was_reported(name: str) -> None:
    check_story(*STORIES[name])
