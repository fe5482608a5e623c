"""Cards that players know by name, over several actions: how probable is each thing that may be seen at the end."""

from collections import defaultdict
from fractions import Fraction

import pytest

from engine import Position, parse_action, parse_position
from engine.perft_counter import chance_successors

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)

STORIES: dict[str, tuple[str, list[str], dict[str, int | Fraction]]] = {
    "Brann Bronzebeard: a Battlecry that draws": (
        "turn 9 | hero 30 mana 9/9 board [Brann Bronzebeard*] hand [Novice Engineer*] deck [Wisp*; War Golem*; Shieldbearer*]"
        " | hero 30",
        ["play 0"],
        {"hand [Wisp 0:1/1*; War Golem 7:7/7*] deck [Shieldbearer 1:0/4T*]": 1},
    ),
    "Brann Bronzebeard: a Battlecry with a target hits it twice": (
        "turn 9 | hero 30 mana 9/9 board [Brann Bronzebeard*] hand [Elven Archer*] | hero 30",
        ["play 0 -> hero"],
        {"| hero 28": 1},
    ),
    "Brann Bronzebeard: a target that the first time destroys takes the second time as well": (
        "turn 9 | hero 30 mana 9/9 board [Brann Bronzebeard*] hand [Elven Archer*] | hero 30 board [Wisp*; Wisp*]",
        ["play 0 -> 0"],
        {"| hero 30 mana 8/8 died 1 board [Wisp 0:1/1*]": 1},
    ),
    "Brann Bronzebeard: two of them are no more than one": (
        "turn 9 | hero 30 mana 9/9 board [Brann Bronzebeard*; Brann Bronzebeard*] hand [Elven Archer*] | hero 30",
        ["play 0 -> hero"],
        {"| hero 28": 1},
    ),
    "Brann Bronzebeard: silenced it does nothing, and the opponent's does nothing": (
        "turn 9 | hero 30 mana 9/9 board [Brann Bronzebeard* is silenced] hand [Elven Archer*]"
        " | hero 30 board [Brann Bronzebeard*]",
        ["play 0 -> hero"],
        {"| hero 29": 1},
    ),
    "Brann Bronzebeard: a battlecry of Jade makes two Golems, each larger": (
        "turn 9 | hero 30 mana 9/9 board [Brann Bronzebeard*] hand [Jade Spirit*] | hero 30",
        ["play 0"],
        {"Jade Golem": 1, "jade 2": 1, ":1/1* ": 1, ":2/2* ": 1},
    ),
    "Sylvanas Windrunner: takes one of the enemy's minions": (
        "turn 9 | hero 30 mana 9/9 hand [Fireball*] board [Sylvanas Windrunner*] | hero 30 board [Wisp*; War Golem*]",
        ["play 0 -> own 0"],
        {
            "board [Wisp 0:1/1* born 4 arrived] hand [] deck [] | hero 30 mana 8/8 board [War Golem": HALF,
            "board [War Golem 7:7/7* born 4 arrived] hand [] deck [] | hero 30 mana 8/8 board [Wisp": HALF,
        },
    ),
    "Sylvanas Windrunner: what died with her cannot be taken": (
        "turn 9 | hero 30 mana 9/9 board [Sylvanas Windrunner* ready] | hero 30 board [Booty Bay Bodyguard*; Wisp*]",
        ["attack 0 -> 0"],
        {"board [Wisp 0:1/1*": 1, "died 1 board []": 1},
    ),
    "Sylvanas Windrunner: nobody is left": (
        "turn 9 | hero 30 mana 9/9 board [Sylvanas Windrunner* ready] | hero 30 board [Booty Bay Bodyguard*]",
        ["attack 0 -> 0"],
        {"died 1 board [] hand [] deck [] | hero 30 mana 8/8 died 1 board []": 1},
    ),
    "Sylvanas Windrunner: silenced she takes nothing": (
        "turn 9 | hero 30 mana 9/9 hand [Fireball*] board [Sylvanas Windrunner* is silenced] | hero 30 board [Wisp*]",
        ["play 0 -> own 0"],
        {"died 1 board [] hand []": 1},
    ),
    "Doomsayer: before its owner draws, every minion dies, and it itself": (
        "turn 5 second | hero 30 board [Wisp*; Doomsayer*] deck [War Golem*] | hero 30 board [War Golem*; Shieldbearer*]",
        ["end turn"],
        {
            "died 2 attacks 1 board [] hand [War Golem 7:7/7*] deck []": 1,
            "died 2 board [] hand [] deck []": 1,
        },
    ),
    "Doomsayer: the turn of the other player is not its own": (
        "turn 5 first | hero 30 mana 5/5 hand [Doomsayer*] board [Wisp*] | hero 30 board [Wisp*]",
        ["play 0", "end turn"],
        {"board [Wisp 0:1/1*; Doomsayer 2:0/7*": 1},
    ),
    "Doomsayer: silenced in time": (
        "turn 5 second | hero 30 board [Doomsayer*] | hero 30 mana 5/5 hand [Ironbeak Owl*]",
        ["play 0 -> 0", "end turn"],
        {"board [Doomsayer 2:0/7* is silenced ready]": 1},
    ),
    "Patches the Pirate: out of the deck after the first Pirate": (
        "turn 5 | hero 30 mana 5/5 hand [Southsea Deckhand*] deck [Wisp*; Patches the Pirate*] | hero 30",
        ["play 0"],
        {"Patches the Pirate 1:1/1* arrived] hand [] deck [Wisp 0:1/1*]": 1},
    ),
    "Patches the Pirate: no room": (
        "turn 5 | hero 30 mana 5/5 board [Wisp*; Wisp*; Wisp*; Wisp*; Wisp*; Wisp*] hand [Southsea Deckhand*]"
        " deck [Patches the Pirate*] | hero 30",
        ["play 0"],
        {"deck [Patches the Pirate": 1},
    ),
    "Patches the Pirate: from the hand it is a Pirate as any other": (
        "turn 5 | hero 30 mana 5/5 hand [Patches the Pirate*; Southsea Deckhand*] deck [Wisp*] | hero 30",
        ["play 0", "play 0"],
        {"board [Patches the Pirate 1:1/1* arrived; Southsea Deckhand 1:2/1*": 1, "deck [Wisp 0:1/1*]": 1},
    ),
    "Patches the Pirate: a Pirate that was not played does not call it": (
        "turn 5 | hero 30 mana 6/6 hand [Barnes*] deck [Southsea Deckhand*; Patches the Pirate*] | hero 30",
        ["play 0"],
        {"deck [Southsea Deckhand 1:2/1*; Patches the Pirate 1:1/1*]": 1},
    ),
    "N'Zoth's First Mate: a Rusty Hook, and Patches": (
        "turn 1 | hero 30 mana 1/1 weapon [Arcanite Reaper* now 5/1] hand [N'Zoth's First Mate*] deck [Patches the Pirate*] | hero 30",
        ["play 0"],
        {"weapon [Rusty Hook 1:1/3*]": 1, "board [N'Zoth's First Mate 1:1/1* arrived; Patches the Pirate": 1},
    ),
    "N'Zoth's First Mate: the hero strikes at once": (
        "turn 1 | hero 30 mana 1/1 attacks 1 hand [N'Zoth's First Mate*] | hero 30",
        ["play 0", "attack hero -> hero"],
        {"weapon [Rusty Hook 1:1/3* now 1/2]": 1, "| hero 29": 1},
    ),
    "Secrets: after Potion of Polymorph the others meet the Sheep": (
        "turn 5 | hero 30 mana 9/9 hand [War Golem*]"
        " | hero 30 secrets [Potion of Polymorph* born 1; Mirror Entity* born 2; Frozen Clone* born 3]",
        ["play 0"],
        {
            "board [Sheep 1:1/1*CFM_621_m5 born 5 arrived] hand [] deck [] |": 1,
            "board [Sheep 1:1/1*CFM_621_m5 born 6 arrived]": 1,
            "hand [Sheep 1:1/1*CFM_621_m5; Sheep 1:1/1*CFM_621_m5]": 1,
            "secrets": 0,
        },
    ),
    "Secrets: before Potion of Polymorph Mirror Entity copies the minion itself": (
        "turn 5 | hero 30 mana 9/9 hand [War Golem*]"
        " | hero 30 secrets [Mirror Entity* born 1; Potion of Polymorph* born 2]",
        ["play 0"],
        {"board [Sheep 1:1/1*": 1, "board [War Golem 7:7/7*": 1, "secrets": 0},
    ),
    "Shadow Madness: what goes back keeps a Charge that it was given": (
        "turn 9 | hero 30 mana 4/9 hand [Shadow Madness*] | hero 30 board [Wisp* now 1/1C]",
        ["play 0 -> 0", "end turn"],
        {"board [Wisp 0:1/1* now 1/1C": 1, "stolen": 0, "hastened": 0},
    ),
    "Shadow Madness: what goes back loses the Charge with which it came": (
        "turn 9 | hero 30 mana 4/9 hand [Shadow Madness*] | hero 30 board [Wisp*]",
        ["play 0 -> 0", "end turn"],
        {"board [Wisp 0:1/1* born": 1, "stolen": 0, "hastened": 0},
    ),
    "Secrets: Ice Block works on the opponent's turn alone, fatigue by a card of his too": (
        "turn 9 | hero 30 mana 3/9 hand [Coldlight Oracle*] deck [Wisp*; Wisp*] | hero 1 secrets [Ice Block*]",
        ["play 0"],
        {"| hero 1 ": 1, "secrets": 0},
    ),
    "Tentacle of N'Zoth: with Poisonous its Deathrattle kills, Divine Shields aside": (
        "turn 9 | hero 30 board [War Golem* ready; Wisp*] | hero 30 board [Tentacle of N'Zoth* now 1/1P; 7/7; 7/7D]",
        ["attack 0 -> 0"],
        {"mana 9/9 died 2 board []": 1, "| hero 30 mana 8/8 died 2 board [0:7/7D now 7/7 born 5]": 1},
    ),
    "Secrets: Ice Barrier turns an attack into armour, Ice Block keeps its secret": (
        "turn 9 | hero 30 mana 9/9 board [War Golem* ready] | hero 10 secrets [Ice Block*; Ice Barrier* born 1]",
        ["attack 0 -> hero"],
        {"hero 10+1": 1, "secrets [Ice Block 3*": 1},
    ),
    "Secrets: an attack that would kill meets both, in the order of the events": (
        "turn 9 | hero 30 mana 9/9 board [War Golem* ready] | hero 1 secrets [Ice Block*; Ice Barrier* born 1]",
        ["attack 0 -> hero"],
        {"hero 1+1": 1, "secrets [Ice Block 3*": 1},
    ),
    "Secrets: the blow that kills through the armour": (
        "turn 9 | hero 30 mana 9/9 board [War Golem* now 12/7 ready] hand [Fireball*]"
        " | hero 1 secrets [Ice Barrier*; Ice Block* born 1]",
        ["attack 0 -> hero", "play 0 -> hero"],
        {"| hero 1+8 ": 1, "secrets": 0},
    ),
    "Secrets: Ice Block works on the opponent's turn alone, fatigue included": (
        "turn 9 second | hero 1 fatigue 4 secrets [Ice Block*] | hero 30",
        ["end turn"],
        {"hero -4": 1},
    ),
    "Flametongue Totem: a gap closes, and the next minion stands beside it": (
        "turn 5 | hero 30 mana 5/5 hand [Fireball*] board [Wisp*; Flametongue Totem*; Shieldbearer*; River Crocolisk*]"
        " | hero 30",
        ["play 0 -> own 2"],
        {"now 3/1": 1, "River Crocolisk 2:2/3* now 4/3": 1},
    ),
    "Flametongue Totem: a minion put between takes its neighbour's bonus": (
        "turn 5 | hero 30 mana 5/5 hand [River Crocolisk*] board [Flametongue Totem*; Wisp*] | hero 30",
        ["play 0 at 1"],
        {"River Crocolisk 2:2/3* now 4/3": 1, "Wisp 0:1/1* born 2": 1, "Wisp 0:1/1* now": 0},
    ),
    "Flametongue Totem: it dies, and both lose what it gave": (
        "turn 5 | hero 30 mana 5/5 hand [Fireball*] board [Wisp*; Flametongue Totem*; Shieldbearer*] | hero 30",
        ["play 0 -> own 1"],
        {"board [Wisp 0:1/1*; Shieldbearer 1:0/4T*": 1, "now": 0},
    ),
    "Mind Control Tech: three minions are too few": (
        "turn 5 | hero 30 mana 5/5 hand [Mind Control Tech*] | hero 30 board [Wisp*; Wisp*; War Golem*]",
        ["play 0"],
        {"board [Mind Control Tech 3:3/3* born 4 arrived] hand": 1},
    ),
    "Mind Control Tech: one of four, each alike": (
        "turn 5 | hero 30 mana 5/5 hand [Mind Control Tech*] | hero 30 board [Wisp*; Wisp*; War Golem*; Shieldbearer*]",
        ["play 0"],
        {
            "arrived; War Golem": Fraction(1, 4),
            "arrived; Shieldbearer": Fraction(1, 4),
            "arrived; Wisp": HALF,
        },
    ),
    "Mind Control Tech: with Brann two of five, but one of four": (
        "turn 9 | hero 30 mana 9/9 board [Brann Bronzebeard*] hand [Mind Control Tech*]"
        " | hero 30 board [War Golem*; War Golem*; War Golem*; War Golem*]",
        ["play 0"],
        {"died": 0, "| hero 30 mana 8/8 board [War Golem 7:7/7* born 2; ": Fraction(3, 4)},
    ),
    "Dirty Rat: a minion comes out without its Battlecry": (
        "turn 5 | hero 30 mana 5/5 hand [Dirty Rat*] | hero 30 hand [Novice Engineer*; Fireball*] deck [War Golem*]",
        ["play 0"],
        {"board [Novice Engineer 2:1/1* arrived] hand [Fireball 4*] deck [War Golem 7:7/7*]": 1},
    ),
    "Dirty Rat: which one is chance; spells stay": (
        "turn 5 | hero 30 mana 5/5 hand [Dirty Rat*] | hero 30 hand [Wisp*; Fireball*; War Golem*; Shieldbearer*]",
        ["play 0"],
        {"board [Wisp": THIRD, "board [War Golem": THIRD, "board [Shieldbearer": THIRD},
    ),
    "Barnes: a 1/1 copy of Ragnaros throws its fire this turn; the card stays in the deck": (
        "turn 5 | hero 30 mana 5/5 hand [Barnes*] deck [Ragnaros the Firelord*] | hero 30 board [War Golem*]",
        ["play 0", "end turn"],
        {
            "Ragnaros the Firelord 8:8/8* now 1/1": 1,
            "deck [Ragnaros the Firelord": 1,
            "| hero 21": HALF,
            "died 1": HALF,
        },
    ),
    "Overload: crystals are locked on the next turn, and free after it": (
        "turn 5 first | hero 30 mana 5/5 hand [Lightning Bolt*; Feral Spirit*] | hero 30",
        ["play 0 -> hero", "play 0", "end turn", "end turn"],
        {"mana 3/6": 1, "locked 3": 1, "| hero 26": 1},
    ),
    "Overload: two turns later all crystals are there again": (
        "turn 5 first | hero 30 mana 5/5 hand [Lightning Bolt*] | hero 30",
        ["play 0 -> hero", "end turn", "end turn", "end turn", "end turn"],
        {"mana 7/7": 1, "locked": 0},
    ),
    "Overload: Lava Shock opens what is locked and what would be": (
        "turn 5 first | hero 30 mana 5/6 locked 1 hand [Lightning Bolt*; Lava Shock*] | hero 30",
        ["play 0 -> hero", "play 0 -> hero", "end turn", "end turn"],
        {"mana 7/7": 1},
    ),
    "Ice Block: on the opponent's turn it also prevents what an empty deck does": (
        "turn 23 second | hero 3 fatigue 2 secrets [Ice Block*] board [Bloodmage Thalnos*]"
        " | hero 4 mana 8/10 hand [Cone of Cold*]",
        ["play 0 -> 0"],
        {"| hero 3 mana 10/10 fatigue 3 died 1 is [immune]": 1},
    ),
    "Ice Block: on the own turn it prevents nothing": (
        "turn 23 first | hero 3 fatigue 2 mana 8/10 secrets [Ice Block*] hand [Arcane Intellect*] | hero 4",
        ["play 0"],
        {"| hero -4 mana 5/10 fatigue 4": 1},
    ),
    "Full health: healing goes up to it": (
        "turn 9 | hero 1/3 mana 9/9 hand [Holy Light*] | hero 20",
        ["play 0 -> own hero"],
        {"| hero 3/3 mana 7/9": 1},
    ),
    "Full health: Reno Jackson restores it": (
        "turn 9 | hero 1/9+4 mana 9/9 hand [Reno Jackson*] | hero 20",
        ["play 0"],
        {"| hero 9/9+4 mana 3/9": 1},
    ),
    "Full health: Alexstrasza sets no more": (
        "turn 9 | hero 20 mana 9/9 hand [Alexstrasza*] | hero 3/9",
        ["play 0 -> hero"],
        {"| hero 9/9 mana": 1},
    ),
    "Full health: Lifesteal goes up to it, among bodies too": (
        "turn 9 | hero 2/3 board [4/2L ready] | hero 20/25",
        ["attack 0 -> hero"],
        {"| hero 3/3 mana 9/9": 1, "| hero 16/25 mana": 1},
    ),
    "Full health: Lightwell sees that nothing is to heal in an unhurt hero": (
        "turn 9 | hero 3/3 board [Lightwell*; War Golem* now 7/4] deck [Wisp*] | hero 20",
        ["end turn", "end turn"],
        {"| hero 3/3": 1, "War Golem 7:7/7* ready": 1},
    ),
    "Full health: Shadow Strike may be aimed at an unhurt hero": (
        "turn 9 | hero 20 mana 3/9 hand [Shadow Strike*] | hero 15/15",
        ["play 0 -> hero"],
        {"| hero 10/15": 1},
    ),
    "Full health: Battle Rage does not count an unhurt hero": (
        "turn 9 | hero 12/12 mana 9/9 hand [Battle Rage*] board [War Golem* now 7/4] deck [Wisp*; Boulderfist Ogre*] | hero 20",
        ["play 0"],
        {"hand [Wisp 0:1/1*] deck [Boulderfist": 1},
    ),
    "Full health: Molten Giant counts what is missing": (
        "turn 9 | hero 1/26 mana 0/9 hand [Molten Giant*] | hero 20",
        ["play 0"],
        {"board [Molten Giant": 1},
    ),
}


def seen_at_the_end(start: Position, actions: list[str]) -> dict[str, Fraction]:
    """Every position to which the actions may lead, as text, with its probability."""
    found = {start: Fraction(1)}
    for action in actions:
        after: dict[Position, Fraction] = {}
        for position, share in found.items():
            for part, reached in chance_successors(position, parse_action(action)):
                after[reached] = after.get(reached, Fraction(0)) + share * part
        found = after
    texts: dict[str, Fraction] = defaultdict(Fraction)
    for position, share in found.items():
        texts[str(position)] += share
    return texts


def check_story(start: str, actions: list[str], wanted: dict[str, int | Fraction]) -> None:
    """Fail unless the texts at the end have these words with these probabilities."""
    found = seen_at_the_end(parse_position(start), actions)
    assert sum(found.values()) == 1
    for words, probability in wanted.items():
        assert sum(share for text, share in found.items() if words in text) == probability, (words, *found)


@pytest.mark.parametrize("name", STORIES)
def test_what_may_be_seen(name: str) -> None:
    check_story(*STORIES[name])
