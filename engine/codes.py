"""Game constants and enumerations, shared by kernels and Python."""

from enum import IntEnum

RULES_VERSION = 1
"""Version of the game rules; it changes only if the same seed would give a different game."""

BOARD_SIZE = 7
HAND_SIZE = 10
DECK_SIZE = 30
MAX_MANA = 10
HERO_HEALTH = 30
MAX_NOTED_ACTIONS = 128
"""Actions of one call of an agent that a game's log keeps."""

MAX_STAT = 999
"""Largest attack, health, cost or armour of a card or hero, so that sums stay far inside int16."""

COIN = -1
"""Card number of The Coin in a hand."""
UNKNOWN = -2
"""Card number of a card hidden from the observer."""
UNSEEN = -3
"""Card number, in a search, of a card created by an effect and hidden from the searching player."""

HERO = 7
"""Target code of the enemy hero; enemy minions are 0 to 6."""
assert HERO == BOARD_SIZE

OWN_TARGETS = BOARD_SIZE + 1
"""Offset of friendly characters among target codes."""
N_TARGETS = 2 * OWN_TARGETS
"""Number of target codes: enemy minions 0 to 6, the enemy hero 7, own minions 8 to 14, the own hero 15."""

MAX_OPTIONS = 2
"""Options of a Choose One card."""

MAX_ACTIONS = (
    (BOARD_SIZE + 1) * (BOARD_SIZE + 1) + (HAND_SIZE * MAX_OPTIONS * (BOARD_SIZE + 1) + 1) * N_TARGETS + 1
)
"""Upper bound on the legal actions of a position: attacks; plays by hand position, option and target; hero
power by target; end of turn."""

MAX_DEPTH = 12
"""Largest depth of perft counts."""


class Keyword(IntEnum):
    """Bits of a minion's keywords, each with its letter in the notation.

    A new keyword needs a line here, a field of `engine.minion.MinionSpec`, and its rule in
    `engine.effects` (docs/extending.md lists the files).
    """

    letter: str

    def __new__(cls, bit: int, letter: str) -> "Keyword":
        """Create a member whose value is its bit."""
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
"""Field names of the keywords, in bit order: charge, rush, taunt, ..."""

KEYWORD_LETTERS = "".join(keyword.letter for keyword in Keyword)
"""Notation letters of the keywords, in bit order."""

assert [int(keyword) for keyword in Keyword] == [1 << place for place in range(len(Keyword))]
assert len(set(KEYWORD_LETTERS)) == len(Keyword), "one letter for each keyword"


class Death(IntEnum):
    """Bits for minions that died in an attack, as `engine.rules.apply` returns them."""

    ATTACKER = 1
    DEFENDER = 2


class ActionKind(IntEnum):
    """Kind of an action."""

    END_TURN = 0
    PLAY = 1
    ATTACK = 2
    POWER = 3
    CHOOSE = 4


class Outcome(IntEnum):
    """Result of a game, or ONGOING. FIRST is the player with the first turn."""

    ONGOING = 0
    FIRST_WINS = 1
    SECOND_WINS = 2
    DRAW = 3


class MulliganCode(IntEnum):
    """Mulligan choice for an opening card."""

    BY_RULE = 0
    KEEP = 1
    REPLACE = 2


class Purpose(IntEnum):
    """Purpose of a random stream, a part of its address (see `engine.streams`)."""

    SHUFFLE = 1
    MULLIGAN = 2
    DECK = 3
    AGENT = 4
    PLAYOUT = 5
    CHANCE = 6
    DECK_VARIANT = 7
