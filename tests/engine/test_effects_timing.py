"""When things happen: what was there as an action began, who is dead already, what comes last.

Sources: Hearthstone's announcements of patches 9.2 and 7.0 (2016-12-06), as they were tested in the issues of
HearthSim/hs-bugs that are named here.
"""

from fractions import Fraction

import pytest

from engine import PlayerView, parse_position
from engine.cards.real import effect_rows
from engine.codes import COIN
from engine.effect_codes import Condition, Trigger
from engine.effects.triggers import ACTION_END_EVENTS
from tests.engine.test_effects_named import check_story

HALF = Fraction(1, 2)

# What waits for the end of an action must be there, and valid, when the action begins (patch 9.2; hs-bugs 826).
ENDS_OF_ACTIONS: dict[str, tuple[str, list[str], dict[str, int | Fraction]]] = {
    "Resurrect: Wild Pyromancer does not hear the spell that brought it": (
        "turn 9 | hero 20 mana 2/10 hand [Resurrect*] graves [NEW1_020] | hero 20 board [Wisp*]",
        ["play 0"],
        {"Wild Pyromancer 2:3/2* born 2 arrived]": 1, "board [Wisp 0:1/1* born 1]": 1},
    ),
    "Call to Arms: nor does one that was pulled from the deck": (
        "turn 9 | hero 20 mana 9/10 hand [Call to Arms*] deck [Wild Pyromancer*; Wisp*] | hero 20 board [Wisp*]",
        ["play 0"],
        {"Wild Pyromancer 2:3/2* born": 1, "board [Wisp 0:1/1* born 1]": 1},
    ),
    "Mind Control: Flamewaker has become another player's meanwhile": (
        "turn 9 | hero 20 mana 10/10 hand [Mind Control*] | hero 20 board [Flamewaker*]",
        ["play 0 -> 0"],
        {"Flamewaker 3:2/4* born 2 arrived]": 1, "| hero 20 mana 8/8": 1},
    ),
    "Deathlord: Flamewaker comes by a Deathrattle within the spell": (
        "turn 9 | hero 20 mana 10/10 hand [Arcane Shot*] deck [Flamewaker*] | hero 20 board [Deathlord* now 2/1]",
        ["play 0 -> 0"],
        {"Flamewaker 3:2/4* born 2 arrived]": 1, "| hero 20 mana 8/8": 1},
    ),
    "Flamewaker hears the spell that comes after it": (
        "turn 9 | hero 20 mana 10/10 hand [Resurrect*; Arcane Shot*] graves [BRM_002] | hero 20",
        ["play 0", "play 0 -> hero"],
        {"| hero 16": 1},
    ),
    "Mad Scientist: Mirror Entity does not copy the minion whose Battlecry brought it": (
        "turn 9 | hero 20 mana 10/10 hand [Elven Archer*] | hero 20 board [Mad Scientist* now 2/1] deck [Mirror Entity*]",
        ["play 0 -> 0"],
        {"secrets [Mirror Entity 3* born 3] board []": 1},
    ),
    "Mad Scientist: Mirror Entity copies the next one": (
        "turn 9 | hero 20 mana 10/10 hand [Elven Archer*; Wisp*] | hero 20 board [Mad Scientist* now 2/1] deck [Mirror Entity*]",
        ["play 0 -> 0", "play 0"],
        {"died 1 board [Wisp 0:1/1* born 5 arrived]": 1},
    ),
    "Mad Scientist: Snipe does not hit the minion whose Battlecry brought it": (
        "turn 9 | hero 20 mana 10/10 hand [Elven Archer*] | hero 20 board [Mad Scientist* now 2/1] deck [Snipe*]",
        ["play 0 -> 0"],
        {"board [Elven Archer 1:1/1*": 1, "secrets [Snipe 2* born 3]": 1},
    ),
    "Mind Control Tech: the Juggler that came over throws nothing at its old side": (
        "turn 9 | hero 20 mana 10/10 hand [Mind Control Tech*] | "
        "hero 20 board [Knife Juggler*; Knife Juggler*; Knife Juggler*; Knife Juggler*]",
        ["play 0"],
        {"Knife Juggler 2:2/2* born 6 arrived]": 1, "| hero 20 mana 8/8 board [Knife Juggler 2:2/2*": 1},
    ),
    "Call to Arms: a Juggler hears of a minion that comes after it within the spell": (
        "turn 9 | hero 20 mana 9/10 hand [Call to Arms*] deck [Knife Juggler*; Wisp*] | hero 20",
        ["play 0"],
        {"| hero 19": HALF},
    ),
    "Orgrimmar Aspirant: there was no weapon when the power was used (hs-bugs 867)": (
        "turn 9 | hero 20 mana 4/6 power [Dagger Mastery*] board [Orgrimmar Aspirant*] | hero 25",
        ["power"],
        {"weapon [Wicked Knife 1:1/2*]": 1},
    ),
    "Orgrimmar Aspirant: there was one": (
        "turn 9 | hero 20 mana 4/6 power [Dagger Mastery*] weapon [Fiery War Axe*] board [Orgrimmar Aspirant*] | hero 25",
        ["power"],
        {"weapon [Wicked Knife 1:1/2* now 2/2]": 1},
    ),
    "Cat Trick: the board had no room when the spell was cast": (
        "turn 9 | hero 20 mana 6/6 hand [Arcane Explosion*] | hero 25 secrets [Cat Trick*] "
        "board [Wisp*; Chillwind Yeti*; Chillwind Yeti*; Chillwind Yeti*; Chillwind Yeti*; Chillwind Yeti*; Chillwind Yeti*]",
        ["play 0"],
        {"secrets [Cat Trick": 1, "Cat in a Hat": 0},
    ),
    "Rat Trap: nor is there room for a rat": (
        "turn 9 | hero 20 mana 6/6 played 2 hand [Arcane Explosion*] | hero 25 secrets [Rat Trap*] "
        "board [Wisp*; Chillwind Yeti*; Chillwind Yeti*; Chillwind Yeti*; Chillwind Yeti*; Chillwind Yeti*; Chillwind Yeti*]",
        ["play 0"],
        {"secrets [Rat Trap": 1, "Doom Rat": 0},
    ),
    "a minion whose birth is written counts as one that was there": (
        "turn 9 | hero 20 mana 6/6 board [Wild Pyromancer* born 9] hand [Arcane Shot*] | hero 25 board [Wisp*]",
        ["play 0 -> hero"],
        {"Wild Pyromancer 2:3/2* now 3/1": 1, "died 1 board []": 1},
    ),
    "Sacred Trial: two minions, and a Battlecry that brings a fourth": (
        "turn 9 | hero 20 mana 8/8 hand [Murloc Tidehunter*] board [Wisp*; Wisp*] | hero 25 secrets [Sacred Trial*]",
        ["play 0"],
        {"secrets [Sacred Trial": 1, "Murloc Tidehunter 2:2/1*": 1},
    ),
}

# A hero without health when the dead are collected is dead: Deathrattles do not heal it.
DEAD_HEROES: dict[str, tuple[str, list[str], dict[str, int | Fraction]]] = {
    "the own hero, by a minion's blow": (
        "turn 9 | hero 2 weapon [Fiery War Axe*] attacks 1 | hero 20 board [Mistress of Mixtures*]",
        ["attack hero -> 0"],
        {"| hero 0 ": 1, "| hero 24 ": 1},
    ),
    "the enemy's hero, by a spell": (
        "turn 9 | hero 20 mana 10/10 hand [Consecration*] | hero 2 board [Mistress of Mixtures*]",
        ["play 0"],
        {"| hero 24 ": 1, "| hero 0 ": 1},
    ),
    "the opponent of the one whose Deathrattle it is": (
        "turn 9 | hero 2 weapon [Fiery War Axe*] attacks 1 | hero 20 board [Zombie Chow*]",
        ["attack hero -> 0"],
        {"| hero 0 ": 1},
    ),
    "both heroes": (
        "turn 9 | hero 3 mana 8/8 hand [Hellfire*] board [Mistress of Mixtures*] | hero 2",
        ["play 0"],
        {"| hero 0 ": 1, "| hero -1 ": 1},
    ),
    "within one round of Deathrattles a hero comes back": (
        "turn 9 | hero 2 mana 8/8 hand [Twisting Nether*] board [Abomination*] | hero 20 board [Mistress of Mixtures*]",
        ["play 0"],
        {"| hero 4 ": 1},
    ),
    "a Deathrattle of the next round does not bring it back": (
        "turn 9 | hero 2 mana 8/8 hand [Arcane Shot*] board [Abomination* now 4/1] | hero 20 board [Mistress of Mixtures*]",
        ["play 0 -> own 0"],
        {"| hero 0 ": 1, "| hero 22 ": 1},
    ),
}

# What a card's own text says about its cost comes last (patch 9.2): Summoning Portal stops at 1, the text does not.
COSTS: dict[str, tuple[str, list[str], dict[str, int | Fraction]]] = {
    "Volcanic Drake": (
        "turn 9 | hero 10 mana 0/10 hand [Volcanic Drake*] perished 3 board [Summoning Portal*] | hero 25 perished 2",
        ["play 0"],
        {"Volcanic Drake 6:6/4* arrived]": 1},
    ),
    "Volcanic Lumberer": (
        "turn 9 | hero 10 mana 0/10 hand [Volcanic Lumberer*] perished 7 board [Summoning Portal*] | hero 25",
        ["play 0"],
        {"Volcanic Lumberer 9:7/8T* arrived]": 1},
    ),
    "Sea Giant": (
        "turn 9 | hero 10 mana 0/10 hand [Sea Giant*] board [Summoning Portal*; Wisp*; Wisp*] | "
        "hero 25 board [Wisp*; Wisp*; Wisp*; Wisp*; Wisp*]",
        ["play 0"],
        {"Sea Giant 10:8/8* born": 1},
    ),
    "Dread Corsair": (
        "turn 9 | hero 10 mana 0/10 weapon [Fiery War Axe*] hand [Dread Corsair*] board [Summoning Portal*] | hero 25",
        ["play 0"],
        {"Dread Corsair 4:3/3T* arrived]": 1},
    ),
}

# Some minions do nothing once they have no health (hs-bugs 638); most, as The Boogeymonster, still do.
WITHOUT_HEALTH: dict[str, tuple[str, list[str], dict[str, int | Fraction]]] = {
    "Daring Reporter: Mortal Coil draws once it has hurt": (
        "turn 9 | hero 20 mana 10/10 hand [Mortal Coil*] deck [Wisp*] | hero 20 board [Daring Reporter* now 3/1]",
        ["play 0 -> 0"],
        {"died 1 board []": 1, "hand [Wisp": 1},
    ),
    "Daring Reporter: so does Shiv": (
        "turn 9 | hero 20 mana 10/10 hand [Shiv*] deck [Wisp*] | hero 20 board [Daring Reporter* now 3/1]",
        ["play 0 -> 0"],
        {"died 1 board []": 1, "hand [Wisp": 1},
    ),
    "Daring Reporter: Wrath draws first": (
        "turn 9 | hero 20 mana 10/10 hand [Wrath*] deck [Wisp*] | hero 20 board [Daring Reporter* now 3/1]",
        ["play 0 as 2 -> 0"],
        {"Daring Reporter 4:3/3* now 4/1 max 4]": 1},
    ),
    "Grim Patron: it must survive": (
        "turn 9 | hero 20 mana 10/10 hand [Arcane Shot*] board [Grim Patron* now 3/2] | hero 20",
        ["play 0 -> own 0"],
        {"died 1 board []": 1},
    ),
    "The Boogeymonster": (
        "turn 9 | hero 20 board [The Boogeymonster* now 6/1 ready] | hero 25 board [Murloc Raider*]",
        ["attack 0 -> 0"],
        {"The Boogeymonster 8:6/7* now 8/1 max 9]": 1},
    ),
}

# A weapon from hand does what it says before the one that it replaces leaves something behind.
WEAPONS: dict[str, tuple[str, list[str], dict[str, int | Fraction]]] = {
    "Jade Claws: the golem takes the last place": (
        "turn 9 | hero 20 mana 2/10 hand [Jade Claws*] weapon [Hammer of Twilight*] "
        "board [Wisp*; Wisp*; Wisp*; Wisp*; Wisp*; Wisp*] | hero 20",
        ["play 0"],
        {"Jade Golem 1:1/1*": 1, "Twilight Elemental": 0},
    ),
    "Jade Claws: the golem stands to the left of the elemental": (
        "turn 9 | hero 20 mana 2/10 hand [Jade Claws*] weapon [Hammer of Twilight*] board [Wisp*] | hero 20",
        ["play 0"],
        {"Jade Golem 1:1/1* arrived; Twilight Elemental 3:4/2* arrived]": 1},
    ),
    "Jade Claws: Death's Bite hits the golem": (
        "turn 9 | hero 20 mana 2/10 hand [Jade Claws*] weapon [Death's Bite*] board [Chillwind Yeti*] | hero 20",
        ["play 0"],
        {"died 1": 1, "board [Chillwind Yeti 4:4/5* now 4/4]": 1},
    ),
    "N'Zoth's First Mate: a weapon that is not from hand comes when its turn is": (
        "turn 9 | hero 20 mana 2/10 hand [N'Zoth's First Mate*] weapon [Death's Bite*] | hero 20 board [Wisp*]",
        ["play 0"],
        {"weapon [Rusty Hook 1:1/3*] board []": 1, "died 1 board []": 1},
    ),
}

# The Coin is a spell: what changes the costs of spells changes its own.
COIN_COSTS: dict[str, tuple[str, list[str], dict[str, int | Fraction]]] = {
    "Nerubian Unraveler": (
        "turn 9 | hero 20 mana 3/9 hand [The Coin] | hero 25 board [Nerubian Unraveler*]",
        ["play 0"],
        {"mana 2/9": 1},
    ),
    "Doomed Apprentice": (
        "turn 9 | hero 20 mana 3/9 hand [The Coin] | hero 25 board [Doomed Apprentice*]",
        ["play 0"],
        {"mana 3/9": 1},
    ),
    "Loatheb": (
        "turn 9 | hero 20 mana 5/9 hand [Loatheb*] | hero 25 mana 8/8 hand [The Coin]",
        ["play 0", "end turn", "play 0"],
        {"mana 5/9": 1},
    ),
    "Sorcerer's Apprentice: no less than nothing": (
        "turn 9 | hero 20 mana 3/9 hand [The Coin] board [Sorcerer's Apprentice*] | hero 25",
        ["play 0"],
        {"mana 4/9": 1},
    ),
    "Preparation: The Coin is the next spell": (
        "turn 9 | hero 20 mana 6/9 hand [Preparation*; The Coin; Fireball*] | hero 25",
        ["play 0", "play 0", "play 0 -> hero"],
        {"mana 3/9": 1, "| hero 19": 1},
    ),
    "Counterfeit Coin": (
        "turn 9 | hero 20 mana 3/9 hand [Counterfeit Coin*] | hero 25 board [Nerubian Unraveler*]",
        ["play 0"],
        {"mana 2/9": 1},
    ),
}

STORIES = {
    f"{kind}: {name}": story
    for kind, stories in (
        ("the end of an action", ENDS_OF_ACTIONS),
        ("a dead hero", DEAD_HEROES),
        ("costs", COSTS),
        ("costs of The Coin", COIN_COSTS),
        ("without health", WITHOUT_HEALTH),
        ("weapons", WEAPONS),
    )
    for name, story in stories.items()
}


@pytest.mark.parametrize("name", STORIES)
def test_what_happens_when(name: str) -> None:
    check_story(*STORIES[name])


def test_the_coin_is_not_played_where_it_costs_more_than_there_is() -> None:
    position = parse_position(
        "turn 9 | hero 20 mana 1/9 hand [The Coin] | hero 25 board [Nerubian Unraveler*]"
    )
    assert position.state["sides"][0]["hand"][0] == COIN
    assert [str(action) for action in position.legal_actions()] == ["end turn"]
    assert PlayerView(position, 0).own.costs == (2,)


def test_conditions_at_the_end_of_an_action_are_known() -> None:
    """Those about the event itself, and those that `resolve` asks of the begin of the action."""
    of_event = {Condition.ATTACKS_HERO, Condition.DEFENDER_DYING, Condition.ENEMY_PLAYED}
    of_begin = {Condition.ROOM, Condition.EMPTY_HANDED, Condition.ENEMY_MINIONS, Condition.HAS_WEAPON}
    found = {
        abs(effect.condition)
        for rows in effect_rows().values()
        for effect in rows
        if ACTION_END_EVENTS >> effect.trigger & 1 and effect.condition
    }
    assert found == of_event | of_begin
    summoned = [
        effect
        for rows in effect_rows().values()
        for effect in rows
        if effect.trigger == Trigger.AFTER_SUMMONED
    ]
    assert summoned
    assert not any(effect.condition for effect in summoned), "which of them end an action?"
