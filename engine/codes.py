"""Every code and limit of the game by name. Kernels and Python read the same members."""

from enum import IntEnum

RULES_VERSION = 1
"""Changes only when the same seed would play another game."""

BOARD_SIZE = 7
HAND_SIZE = 10
DECK_SIZE = 30
MAX_MANA = 10
HERO_HEALTH = 30
MAX_STAT = 999
"""Largest attack, health, cost or armour a card or hero may have: sums stay far inside int16."""

COIN = -1
"""The Coin, where a hand holds a card number."""
UNKNOWN = -2
"""A card the observer cannot see."""
UNSEEN = -3
"""A card that an effect made, which a player who thinks ahead does not see."""

HERO = 7
"""The enemy hero as a target; enemy minions are 0 to 6."""
assert HERO == BOARD_SIZE

OWN_SIDE = BOARD_SIZE + 1
"""Where one's own characters begin among the targets of cards."""
CHARACTERS = 2 * OWN_SIDE
"""Targets of cards: enemy minions 0 to 6, the enemy hero 7, own minions 8 to 14, the own hero 15."""

MAX_OPTIONS = 2
"""Ways to play a card that lets its player choose one."""

MAX_ACTIONS = (
    (BOARD_SIZE + 1) * (BOARD_SIZE + 1) + (HAND_SIZE * MAX_OPTIONS * (BOARD_SIZE + 1) + 1) * CHARACTERS + 1
)
"""Most actions any position can offer: attacks; plays by what is chosen, place and target; the power by
target; the end of the turn."""

MAX_DEPTH = 12
"""Length of the longest sequences of actions that move trees are counted to."""


class Keyword(IntEnum):
    """Bits of a minion's keywords, each with the letter that positions write for it.

    A new keyword is a line here, a field of `engine.minion.MinionSpec`, and its rule in `engine.rules`.
    """

    letter: str

    def __new__(cls, bit: int, letter: str) -> "Keyword":
        """A member that is its bit."""
        member = int.__new__(cls, bit)
        member._value_ = bit
        member.letter = letter
        return member

    CHARGE = 1, "C"
    RUSH = 2, "R"
    TAUNT = 4, "T"
    WINDFURY = 8, "W"
    DIVINE_SHIELD = 16, "D"
    LIFESTEAL = 32, "L"
    POISONOUS = 64, "P"
    STEALTH = 128, "S"


KEYWORD_FIELDS = tuple(keyword.name.lower() for keyword in Keyword)
"""The keywords as field names: charge, rush, taunt, ... in the order of their bits."""

KEYWORD_LETTERS = "".join(keyword.letter for keyword in Keyword)
"""The keywords as letters of positions, in the order of their bits."""

assert [int(keyword) for keyword in Keyword] == [1 << place for place in range(len(Keyword))]
assert len(set(KEYWORD_LETTERS)) == len(Keyword), "one letter for each keyword"


class Death(IntEnum):
    """Bits of what `engine.rules.apply` returns: who died by the action."""

    ATTACKER = 1
    DEFENDER = 2


class ActionKind(IntEnum):
    """What an action does."""

    END_TURN = 0
    PLAY = 1
    ATTACK = 2
    POWER = 3
    CHOOSE = 4


class Outcome(IntEnum):
    """How a game stands. FIRST is the player who took the first turn."""

    ONGOING = 0
    FIRST_WINS = 1
    SECOND_WINS = 2
    DRAW = 3


class Opening(IntEnum):
    """What a player does with an opening card where the ruleset has a mulligan."""

    BY_RULE = 0
    KEEP = 1
    REPLACE = 2


class Purpose(IntEnum):
    """What a random stream is for; part of its address (see `engine.streams`)."""

    SHUFFLE = 1
    MULLIGAN = 2
    DECK = 3
    AGENT = 4
    PLAYOUT = 5
    CHANCE = 6
    VARIED = 7
