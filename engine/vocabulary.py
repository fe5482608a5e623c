"""The vocabulary of effects: every code of an effect row by name. Kernels and Python read the same members.

A card's text is rows of `EFFECT`. A row reads: on `trigger`, do `op` to what `pick` selects among the
characters that `side`, `kind` and `filter` allow. docs/effects.md explains each word with cards that use it.
"""

from enum import IntEnum

EFFECTS_VERSION = 1
"""Changes only when the same position and the same chance would lead to another position."""

MAX_ROWS = 6
"""Most effect rows of a card."""

MAX_GIFTS = 2
"""Most Deathrattles that a minion can be given; a further one takes the place of the last."""

MAX_QUEUE = 128
"""Most effects that can wait to be carried out; a further one is lost."""

MAX_OUTCOMES = 256
"""Most chance events of one action whose outcomes are kept."""


class CardKind(IntEnum):
    """What a card is."""

    MINION = 0
    SPELL = 1
    WEAPON = 2
    POWER = 3


class Race(IntEnum):
    """Tribes of minions, by Hearthstone's numbers."""

    NONE = 0
    MURLOC = 14
    DEMON = 15
    MECH = 17
    ELEMENTAL = 18
    BEAST = 20
    TOTEM = 21
    PIRATE = 23
    DRAGON = 24
    ALL = 26


class Trait(IntEnum):
    """Bits of what a character is beside its keywords: what its card says, and what befell it."""

    CANT_ATTACK = 1
    ELUSIVE = 2  # spells and hero powers cannot choose it
    FREEZES = 4  # freezes what it damages
    FROZEN = 8
    SILENCED = 16
    DOOMED = 32  # destroyed: it leaves with the next deaths
    IMMUNE = 64  # this turn
    SPARES_HEROES = 128  # cannot attack heroes
    SPARES_HEROES_NOW = 256  # the same, this turn
    HIDDEN = 512  # its Stealth ends when its player's next turn begins
    DEATHRATTLE = 1024  # it has one, of its own or given to it


PRINTED_TRAITS = Trait.CANT_ATTACK | Trait.ELUSIVE | Trait.FREEZES | Trait.SPARES_HEROES
"""Traits that cards have; the others come in play."""


class Trigger(IntEnum):
    """When a row is carried out."""

    PLAY = 1  # a spell is cast, a power used, a minion's Battlecry
    DEATHRATTLE = 2
    TURN_END = 3  # of a minion's player


class Op(IntEnum):
    """What a row does."""

    DAMAGE = 1  # amount, to amount2 where that is larger
    HEAL = 2  # amount
    ARMOUR = 3  # amount, to a hero
    DRAW = 4  # amount cards, by the side's player
    BUFF = 5  # amount attack, amount2 health, keywords
    SET = 6  # attack becomes amount, health amount2; -1 leaves it
    SUMMON = 7  # times minions of card amount; `ITSELF`: of the minion's own card
    DESTROY = 8
    SILENCE = 9
    FREEZE = 10
    TRANSFORM = 11  # into card amount
    BOUNCE = 12  # back to its owner's hand
    DISCARD = 13  # times random cards of the side's hand; all of them where times is 0
    EQUIP = 14  # weapon card amount
    MANA = 15  # amount mana, this turn
    CRYSTALS = 16  # amount crystals, empty; below 0 they are destroyed
    WEAPON = 17  # amount attack and amount2 durability of the side's weapon
    DISARM = 18  # the side's weapon is destroyed
    ADD = 19  # times copies of card amount into the side's hand; `ITSELF`: the minion
    GIVE = 20  # the Deathrattle of card amount
    CONTROL = 21  # to the player of the card
    MULTIPLY = 22  # attack times amount, health times amount2
    SWAP = 23  # attack and health are exchanged
    EQUALISE = 24  # attack becomes health
    RESTORE = 25  # to full health
    TRAIT = 26  # amount: bits of Trait
    LOSE = 27  # keywords
    SPELL_DAMAGE = 28  # amount more Spell Damage
    UNLOCK = 29  # overloaded crystals, of this turn and the next
    TRIGGER = 30  # its Deathrattle


class Pick(IntEnum):
    """What a row selects among the characters that its side, kind and filter allow."""

    NONE = 0  # no character: the side's player
    CHOSEN = 1  # the target of the action
    ALL = 2
    RANDOM = 3  # times of them, each at most once; below 0: all but so many
    SPLIT = 4  # amount times one of them, 1 each
    SELF = 5  # the minion or hero power's hero itself


ITSELF = -3
"""In place of a card's number: the card of the minion whose row it is, also where the row was given to it."""

OWN, ENEMY = 1, 2
"""Bits of `side`: of the card's player."""

MINIONS, HEROES = 1, 2
"""Bits of `kind`."""


class Filter(IntEnum):
    """Bits of what a character must be; a row may ask for several."""

    NOT_SELF = 1
    NOT_TARGET = 2
    DAMAGED = 4
    UNDAMAGED = 8
    ATTACK_AT_MOST = 16  # arg
    ATTACK_AT_LEAST = 32  # arg
    RACE = 64  # arg, a `Race`
    TAUNT = 128
    FROZEN = 256
    NEW = 512  # of a summoned minion's pool: none of it is on the player's board
    NOT_RACE = 1024  # not arg, a `Race`
    KEYWORD = 2048  # arg, a `Keyword`
    DEATHRATTLE = 4096  # it has one


class Until(IntEnum):
    """How long a row's change lasts."""

    ALWAYS = 0
    THIS_TURN = 1
    NEXT_TURN = 2  # until the next turn of the minion's player begins; Stealth alone


class Condition(IntEnum):
    """What must hold for a row to be carried out, when it would be."""

    NONE = 0
    MANA_FULL = 1  # the player has all ten crystals
    MANA_NOT_FULL = 2
    AIMED = 3  # the card was aimed at a character
    UNARMED = 4  # the player has no weapon
    ENEMY_TURN = 5  # it is the opponent's turn


class Need(IntEnum):
    """Bits of what a card needs to be played, beside mana and a target."""

    ROOM = 1  # on the player's board
    ENEMY_MINION = 2
    TWO_ENEMY_MINIONS = 4
    WEAPON = 8  # the player's
    NEW_MINION = 16  # one of the pool that its first row summons is not on the player's board
    TWO_MINIONS = 32  # on both boards together


class Aim(IntEnum):
    """Whether a card is aimed at a character when it is played."""

    NONE = 0
    NEEDED = 1  # without a target it cannot be played
    IF_ANY = 2  # a Battlecry: without a target it is played all the same
