"""Codes of effect rows: every operation, condition, target and event by name.

A card's text is rows of `EFFECT`. A row reads: on `trigger`, do `op` to what `pick` selects among the
characters that `side`, `kind` and `filter` allow. docs/effects.md explains each word with cards that use it.
"""

from enum import IntEnum

EFFECTS_VERSION = 2
"""Changes only when the same position and the same chance would lead to another position."""

MAX_ROWS = 6
"""Most effect rows of a card."""

MAX_GIFTS = 2
"""Most Deathrattles that a minion can be given; a further one takes the place of the last."""

OF_OTHER = 2**13
"""Added to a gift whose rows, but for a Deathrattle, are those of the minion's opponent."""

MOST_JADE = 30
"""The largest Jade Golem."""

MAX_CHOICES = 4
"""Most choices of one player that can be open, one after another; a further one is lost."""

OFFERED = 3
"""Cards that are offered at a time."""

BREWED = (9, 10, 10)
"""Effects of potions of each cost, of which one that is brewed has two."""

GRAVES = 32
"""Most dead minions of a player that are remembered; of more, the last ones."""

MAX_PROMISES = 2
"""Most changes of costs that can wait for the next card; a further one is lost."""

MAX_SECRETS = 5
"""Most Secrets that a player has in play."""

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


class HeroName(IntEnum):
    """Classes of heroes and of their cards."""

    NEUTRAL = 0
    DRUID = 1
    HUNTER = 2
    MAGE = 3
    PALADIN = 4
    PRIEST = 5
    ROGUE = 6
    SHAMAN = 7
    WARLOCK = 8
    WARRIOR = 9


class Gang(IntEnum):
    """Three classes each, as bits 1 << `HeroName`."""

    KABAL = 1 << HeroName.MAGE | 1 << HeroName.PRIEST | 1 << HeroName.WARLOCK
    LOTUS = 1 << HeroName.DRUID | 1 << HeroName.ROGUE | 1 << HeroName.SHAMAN
    GOONS = 1 << HeroName.HUNTER | 1 << HeroName.PALADIN | 1 << HeroName.WARRIOR


HIDDEN_SECRET = -10
"""In place of the card of a Secret that a player cannot see: this less its `HeroName`."""


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
    ACTS = 2048  # it has rows that are neither played nor a Deathrattle: an aura, or what it waits for
    STOLEN = 4096  # it goes back to the other player at the end of the turn
    CLEAVES = 8192  # its attacks also hit the neighbours of what it attacks
    HASTENED = 16384  # it has Charge until it goes back


class Trigger(IntEnum):
    """When a row is carried out."""

    PLAY = 1  # a spell is cast, a power used, a minion's Battlecry
    DEATHRATTLE = 2
    TURN_END = 3  # the end of a turn; `on` says whose
    TURN_START = 4  # the same
    AURA = 5  # always, while it is in play
    COST = 6  # always, while it is in hand: of itself
    PLAYED = 7  # a card is played, before it does anything
    CAST = 8  # a spell is cast, before it does anything
    AFTER_CAST = 9
    SUMMONED = 10  # a minion comes into play, from hand too
    AFTER_SUMMONED = 11  # the same, once a minion from hand has done what it does
    AFTER_PLAYED = 12  # a card was played and has done what it does
    DIED = 13  # a minion
    DAMAGED = 14  # a character
    HEALED = 15  # a character that was hurt
    ATTACKS = 16  # a character
    AFTER_ATTACK = 17  # a character
    DRAWN = 18  # a card
    DISCARDED = 19  # a card
    POWER_USED = 20  # a hero power
    OVERLOADED = 21  # a card with Overload was played
    ARMOURED = 22  # a hero gains armour
    EQUIPPED = 23  # a weapon
    DISARMED = 24  # a weapon is destroyed
    REVEALED = 25  # a Secret
    TARGETED = 26  # a minion by a spell
    SHIELD_LOST = 27  # a minion's
    IN_DECK = 28  # after a card was played: of the card itself, in the deck
    DISCARDED_ITSELF = 29  # the card itself is, from the hand
    BURIED = 30  # a minion that died: the last of what its death brings


NOT_STANDING = (
    Trigger.PLAY,
    Trigger.DEATHRATTLE,
    Trigger.COST,
    Trigger.IN_DECK,
    Trigger.DISCARDED_ITSELF,
)
"""Triggers of rows that are not those of a minion that acts while it stands."""


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
    BOUNCE = 12  # back to its owner's hand, where it costs amount more
    DISCARD = 13  # times random cards of the side's hand; all of them where times is 0
    EQUIP = 14  # weapon card amount
    MANA = 15  # amount mana, this turn
    CRYSTALS = 16  # amount crystals, empty; below 0 they are destroyed
    WEAPON = 17  # amount attack and amount2 durability of the side's weapon
    DISARM = 18  # the side's weapon is destroyed
    ADD = 19  # times copies of card amount into the side's hand; `ITSELF`: the minion
    GIVE = 20  # the rows of card amount, such as a Deathrattle
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
    COST = 31  # amount more mana for the cards that `of` names; at least amount2
    RULE = 32  # amount: bits of Rule, while it is in play
    SHUFFLE = 33  # times copies of card amount into the side's deck; `ITSELF`: of the minion's own card
    COPY = 34  # a copy of it comes into play; amount and amount2 are its attack and health, 0 as it is
    COPY_TO_HAND = 35  # times copies of its card; amount mana more, amount2 its cost where above 0
    COPY_TO_DECK = 36  # times copies of its card
    BECOME = 37  # the row's minion becomes a copy of it
    RECRUIT = 38  # times cards of the side's deck that `of` names come into play
    CALL = 39  # the same of its hand
    MIRROR = 40  # a copy of a card of the side's deck comes into play for the row's player; as COPY
    GLEAN = 41  # copies of times cards of the side's deck into the row's player's hand
    READ = 42  # copies of times cards of the side's hand into the row's player's hand
    ENHANCE = 43  # amount attack, amount2 health to times cards of the hand that `of` names; 0: to all
    CHEAPEN = 44  # amount mana more for times cards of the hand that `of` names; 0: for all
    MILL = 45  # the top amount cards of the side's deck are gone
    FILL = 46  # cards are drawn until the hand holds amount
    POWER = 47  # the hero power becomes card amount
    REFRESH = 48  # the hero power can be used again
    JADE = 49  # the next Jade Golem of the pool comes into play
    REVERT = 50  # the minion goes back into its owner's deck; amount 1: into that of the row's player
    OPTIONS = 51  # the card is played as one of the two cards that the pool lists
    DISCOVER = 52  # the player chooses one of three cards of the pool for the hand; amount2 mana more
    CHOOSE_POWER = 53  # the same of hero powers
    TRACK = 54  # the player chooses one of the top three cards of the deck; the others are gone
    SEEK = 55  # the player chooses one of three cards of the side's deck; a copy comes into the hand
    BREW = 56  # the player chooses what a potion does, of the pool: its cost, then two effects
    REDIRECT = 58  # the attack goes to it
    DECOY = 59  # card amount is summoned; the attack or spell goes to it
    COUNTER = 60  # a Secret: the spell that is played does nothing
    PREVENT = 61  # a Secret: the damage that would kill the hero is not dealt
    BURN = 62  # Secrets of the side are destroyed
    HIDE = 63  # times Secrets of the side's deck come into play
    AIM = 64  # nothing; the card is aimed at it
    REVIVE = 65  # the minion of the event comes back with amount health
    REFILL = 67  # mana becomes what the crystals give that are not locked
    STRIKE = 66  # damage to it by the row's target, of that one's attack
    RAISE = 57  # times minions of the side that died, and that `of` names, come into play; 0: as many as can


class Pick(IntEnum):
    """What a row selects among the characters that its side, kind and filter allow."""

    NONE = 0  # no character: the side's player
    CHOSEN = 1  # the target of the action
    ALL = 2
    RANDOM = 3  # times of them, each at most once; below 0: all but so many
    SPLIT = 4  # amount times one of them, 1 each
    SELF = 5  # the minion or hero power's hero itself
    SUBJECT = 6  # whom the event is about that it waited for
    NEXT_TO_SELF = 8
    NEXT_TO_TARGET = 9


POOL = -4
"""In place of a card's number: a random card of the game that `of` names."""

EVENT_CARD = -5
"""In place of a card's number: the card of the event that was waited for."""

ITSELF = -3
"""In place of a card's number: the card of the minion whose row it is, also where the row was given to it."""

OWN, ENEMY = 1, 2
"""Bits of `side`: of the card's player."""

ITSELF_ALONE, OTHERS_ALONE = 4, 8
"""Further bits of the side of an event: it is about the minion itself, or never about it."""

MINIONS, HEROES = 1, 2
"""Bits of `kind`."""

SPELLS, WEAPONS, POWERS = 4, 8, 16
"""Further bits of the kind of a card; minions are `MINIONS`."""


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
    NOT_FOE = 8192  # not whom the attacker of the event attacks


class Until(IntEnum):
    """How long a row's change lasts."""

    ALWAYS = 0
    THIS_TURN = 1
    NEXT_TURN = 2  # until the next turn of the minion's player begins; Stealth alone


class Condition(IntEnum):
    """What must hold for a row to be carried out, when it would be; the opposite where it is below 0.

    "At least" and the like compare with `condition_arg`.
    """

    NONE = 0
    MANA_FULL = 1  # the player has all ten crystals
    AIMED = 2  # the card was aimed at a character
    ARMED = 3  # the player has a weapon
    ENEMY_TURN = 4  # it is the opponent's turn
    COMBO = 5  # the player has played another card this turn
    DAMAGED = 6  # the minion itself is
    HEALTH_AT_MOST = 7  # of the player's hero
    ENEMY_HEALTH_AT_MOST = 8
    ENEMY_MINIONS = 9  # the opponent has at least so many
    OWN_MINIONS = 10  # the player has at least so many others
    RACE = 11  # the player has another minion of a `Race`
    HOLDS_RACE = 12  # the player holds a minion of a `Race`
    EMPTY_HANDED = 13  # the player holds no card
    ENEMY_HAND = 14  # the opponent holds at least so many
    TARGET_DYING = 15  # the target is dead or about to die
    TARGET_RACE = 16  # the target is of a `Race`
    TARGET_OWN = 17  # the target is the player's; a minion of a `Race` where one is named
    TARGET_FROZEN = 18
    SPELL_DAMAGE = 19  # the player has some
    SECRET = 20  # the player has one
    ARMOUR = 21  # the player has at least so much
    WEAPON_ATTACK = 22  # of the player's weapon, at least
    OWN_KEYWORD = 23  # the player has another minion with a `Keyword`
    ENEMY_KEYWORD = 24  # the opponent has a minion with a `Keyword`
    ENEMY_FROZEN = 25  # a character of the opponent is frozen
    MINION_ATTACK = 26  # the player has a minion with at least so much attack
    MINION_HEALTH = 27  # the player has another minion with at least so much health
    ATTACK = 28  # the minion itself has at least so much
    AT_HERO = 29  # what is attacked is a hero
    FOE_DYING = 30  # what was attacked is dead or about to die
    ALONE = 31  # no other minion stands on either board
    UNIQUE = 32  # the player's deck holds no two cards alike
    ONLY_ODD = 33  # all cards of the player's deck have odd costs
    ONLY_EVEN = 34
    NO_COST = 35  # no card of the player's deck has this cost
    DIED = 36  # at least so many minions died this turn
    HURT = 37  # the player's hero took damage this turn
    ELEMENTAL = 38  # the player played an Elemental on the turn before
    DYING = 40  # the minion itself is
    ROOM = 41  # on the player's board
    ENEMY_PLAYED = 42  # the opponent has played at least so many cards this turn


class Count(IntEnum):
    """What the amounts of a row are multiplied by."""

    NONE = 0
    OTHER_MINIONS = 1  # of the player
    ENEMY_MINIONS = 2
    ALL_OTHER_MINIONS = 3  # of both
    HAND = 4  # cards the player holds
    ENEMY_HAND = 5
    WEAPON_ATTACK = 6  # of the player
    HERO_ATTACK = 7  # of the player, the weapon's too
    ARMOUR = 8  # of the player
    DAMAGE_TAKEN = 9  # health that the player's hero lacks
    DIED = 10  # minions that died this turn
    PLAYED = 11  # other cards that the player played this turn
    EVENT = 12  # amount of the event: damage, health, cards, crystals
    OTHER_RACE = 13  # other minions of the player of a `Race`
    ALL_OTHER_RACE = 14  # of both
    OTHER_HAND = 15  # other cards the player holds
    DAMAGED = 16  # damaged minions on both boards
    OWN_DAMAGED = 17  # damaged characters of the player
    OWN_ATTACK = 18  # attack of the minion itself
    TARGET_ATTACK = 19
    TOTEMS = 20  # that the player summoned this game
    SPELLS = 21  # that the player cast this game
    ENEMY_DURABILITY = 22  # of the opponent's weapon
    ENEMY_WEAPON_ATTACK = 23
    MANA = 24  # that the player has
    OVERLOADED = 25  # crystals that the player overloaded this game
    POWERS = 26  # times that the player used the hero power this game
    SECRETS = 27  # that the player played this game
    ELEMENTALS = 28  # that the player played on the turn before
    ENEMY_DEATHRATTLES = 29  # minions of the opponent that have one
    DURABILITY = 30  # of the player's weapon
    TARGET_HEALTH = 31
    NEIGHBOURS_ATTACK = 32  # of the minions next to it, together
    NEIGHBOURS_HEALTH = 33
    SHIELDS = 34  # minions with Divine Shield on both boards


class Ask(IntEnum):
    """Bits of what a game keeps only where one of its cards asks for it."""

    EVENTS = 1  # rows wait for something
    AURAS = 2
    COSTS = 4  # costs change
    HAND = 8  # cards in hand change
    NEIGHBOURS = 16  # who stands beside whom matters
    PLAYED = 32
    SPELLS = 64
    TOTEMS = 128
    PERISHED = 256
    HURT = 512
    ELEMENTALS = 1024
    OVERLOADED = 2048
    POWERS = 4096
    SECRETS = 8192
    RULES = 16384
    CLASSES = 65536
    JADE = 131072
    GRAVES = 262144
    DECKS = 524288
    SECRETS_HELD = 1048576
    EFFECTS = 2097152  # cards do what their texts say; the rules of bodies alone cover a game without


EVENT_SHIFT = 32
"""Above the bits of `Ask` stand those of triggers for which a card of the game waits: from this place on."""


class Rule(IntEnum):
    """Bits of what is different for a player while a minion stands."""

    BATTLECRIES_TWICE = 1
    DEATHRATTLES_TWICE = 2
    HEALING_HARMS = 4
    SPELLS_DOUBLED = 8


class CardFilter(IntEnum):
    """Bits of what a card must be; a row may ask for several, of which one has an `arg`."""

    RACE = 1  # arg
    COST = 2  # arg
    COST_AT_MOST = 4  # arg
    ATTACK_AT_MOST = 16  # arg
    ATTACK_AT_LEAST = 32  # arg
    KEYWORD = 64  # arg
    BATTLECRY = 128
    DEATHRATTLE = 256
    OVERLOAD = 512
    SECRET = 1024
    COMBO = 2048
    LEGENDARY = 4096
    OWN_CLASS = 8192
    ENEMY_CLASS = 16384
    SPELL_DAMAGE = 32768
    ATTACK = 65536  # arg
    POOLED = 524288  # decks may hold it, and it is played exactly: what random cards are drawn from
    CLASS = 1048576  # arg, a `HeroName`
    GANG = 4194304  # arg, a `Gang`: of one of its classes; offered are one of each


class Need(IntEnum):
    """Bits of what a card needs to be played, beside mana and a target."""

    ROOM = 1  # on the player's board
    ENEMY_MINION = 2
    TWO_ENEMY_MINIONS = 4
    WEAPON = 8  # the player's
    NEW_MINION = 16  # one of the pool that its first row summons is not on the player's board
    TWO_MINIONS = 32  # on both boards together
    DEAD = 64  # one of those that its first row brings back has died
    SECRET_ROOM = 128  # fewer Secrets than a player can have


class Aim(IntEnum):
    """Whether a card is aimed at a character when it is played."""

    NONE = 0
    NEEDED = 1  # without a target it cannot be played
    IF_ANY = 2  # a Battlecry: without a target it is played all the same
