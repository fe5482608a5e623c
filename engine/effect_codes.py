"""Enumerations and limits of card effects: triggers, operations, targets, conditions, counts, filters.

A card's text is a list of effect rows (dtype `EFFECT`): on `trigger`, apply `op` to what `pick` selects among
the characters that `side`, `kind` and `filter` allow. docs/effects.md has the format of rows and lists the
words.
"""

from enum import IntEnum

EFFECTS_VERSION = 2
"""Version of the effect rules; changes only if the same position and outcomes lead to another position."""

MAX_ROWS = 6
"""Maximum number of effect rows of a card."""

MAX_GRANTED_EFFECTS = 2
"""Maximum number of effects granted to a minion, such as Deathrattles; a further one replaces the last."""

GRANTED_BY_OPPONENT = 2**13
"""Flag of a granted effect: its rows, except Deathrattles, belong to the opponent of the minion's owner."""

MAX_JADE_GOLEM = 30
"""Attack and health of the largest Jade Golem."""

MAX_CHOICES = 4
"""Maximum number of pending choices (Discover and the like) of a player; a further one is lost."""

N_OFFERED_CARDS = 3
"""Number of cards offered by one choice, such as Discover."""

N_POTION_EFFECTS = (9, 10, 10)
"""Number of potion effects (Kazakus) at each of the three costs; a potion combines two of its cost."""

MAX_GRAVEYARD = 32
"""Capacity of a player's graveyard; it keeps the latest dead minions."""

MAX_PENDING_COSTS = 2
"""Maximum number of pending cost changes ("your next card costs less"); a further one is lost."""

MAX_SECRETS = 5
"""Maximum number of a player's Secrets in play."""

MAX_QUEUE = 128
"""Capacity of the effect queue; a further effect is lost."""

MAX_OUTCOMES = 256
"""Maximum number of recorded chance outcomes of one action."""


class CardKind(IntEnum):
    """Types of cards."""

    MINION = 0
    SPELL = 1
    WEAPON = 2
    POWER = 3


class HeroClassCode(IntEnum):
    """Hero classes."""

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
    """Gangs of Mean Streets of Gadgetzan: three classes each, as bits 1 << `HeroClassCode`."""

    KABAL = 1 << HeroClassCode.MAGE | 1 << HeroClassCode.PRIEST | 1 << HeroClassCode.WARLOCK
    LOTUS = 1 << HeroClassCode.DRUID | 1 << HeroClassCode.ROGUE | 1 << HeroClassCode.SHAMAN
    GOONS = 1 << HeroClassCode.HUNTER | 1 << HeroClassCode.PALADIN | 1 << HeroClassCode.WARRIOR


HIDDEN_SECRET = -10
"""Code of a hidden Secret, in place of its card number: this minus the Secret's `HeroClassCode`."""


class Race(IntEnum):
    """Minion tribes, numbered as in Hearthstone."""

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
    """Bits of a character's printed traits and current status, apart from keywords."""

    CANT_ATTACK = 1
    ELUSIVE = 2  # spells and hero powers cannot choose it
    FREEZES = 4  # freezes the characters it damages
    FROZEN = 8
    SILENCED = 16
    DOOMED = 32  # marked for destruction: removed in the next death phase
    IMMUNE = 64  # this turn
    SPARES_HEROES = 128  # cannot attack heroes
    SPARES_HEROES_NOW = 256  # cannot attack heroes this turn
    HIDDEN = 512  # its Stealth ends at the start of its owner's next turn
    DEATHRATTLE = 1024  # has a Deathrattle, printed or granted
    ACTS = 2048  # has an aura or a triggered effect that is active while in play
    STOLEN = 4096  # returns to the opponent at the end of the turn
    CLEAVES = 8192  # its attacks also damage the defender's neighbours
    HASTENED = 16384  # has Charge until it returns to the opponent


class Trigger(IntEnum):
    """Events and zones that activate an effect row."""

    PLAY = 1  # a spell is cast, a power used, a minion's Battlecry
    DEATHRATTLE = 2
    TURN_END = 3  # `on` says whose turn
    TURN_START = 4  # `on` says whose turn
    AURA = 5  # continuous, while in play
    COST = 6  # continuous, while in hand: the card's own cost
    PLAYED = 7  # a card is played, before its effects
    CAST = 8  # a spell is cast, before its effects
    AFTER_CAST = 9
    SUMMONED = 10  # a minion enters play, also from the hand
    AFTER_SUMMONED = 11  # the same, after a played minion's Battlecry
    AFTER_PLAYED = 12  # after the effects of a played card
    DIED = 13  # a minion
    DAMAGED = 14  # a character
    HEALED = 15  # a damaged character
    ATTACKS = 16  # a character
    AFTER_ATTACK = 17  # a character
    DRAWN = 18  # a card
    DISCARDED = 19  # a card
    POWER_USED = 20  # a hero power
    OVERLOADED = 21  # a card with Overload was played
    ARMOURED = 22  # a hero gains armour
    EQUIPPED = 23  # a weapon
    WEAPON_DESTROYED = 24  # a weapon is destroyed
    SECRET_REVEALED = 25  # a Secret
    TARGETED = 26  # a minion, by a spell
    SHIELD_LOST = 27  # a minion's
    IN_DECK = 28  # a card is played while this card is in the deck
    DISCARDED_ITSELF = 29  # this card is discarded from the hand
    AFTER_DEATH = 30  # after a minion's death and its Deathrattles


INACTIVE_IN_PLAY_TRIGGERS = (
    Trigger.PLAY,
    Trigger.DEATHRATTLE,
    Trigger.COST,
    Trigger.IN_DECK,
    Trigger.DISCARDED_ITSELF,
)
"""Triggers that need no minion in play; rows with any other trigger are active only in play."""


class Op(IntEnum):
    """Operations of effect rows."""

    DAMAGE = 1  # amount, or a random amount up to amount2 where that is larger
    HEAL = 2  # amount
    ARMOUR = 3  # amount, to a hero
    DRAW = 4  # amount cards, by the side's player
    BUFF = 5  # amount attack, amount2 health, keywords
    SET = 6  # sets attack to amount and health to amount2; -1 keeps the value
    SUMMON = 7  # times minions of card amount; `OWN_CARD`: the minion's own card
    DESTROY = 8
    SILENCE = 9
    FREEZE = 10
    TRANSFORM = 11  # into card amount
    BOUNCE = 12  # to its owner's hand, with a cost change of amount
    DISCARD = 13  # times random cards of the side's hand; 0: the whole hand
    EQUIP = 14  # weapon card amount
    MANA = 15  # amount mana, this turn
    CRYSTALS = 16  # gains amount empty crystals; destroys them where amount is negative
    WEAPON = 17  # amount attack and amount2 durability for the side's weapon
    DISARM = 18  # destroys the side's weapon
    ADD = 19  # times copies of card amount into the side's hand; `OWN_CARD`: the minion
    GRANT_EFFECTS = 20  # grants the effects of card amount, such as a Deathrattle
    CONTROL = 21  # the row's player takes control
    MULTIPLY = 22  # attack by amount, health by amount2
    SWAP = 23  # swaps attack and health
    SET_ATTACK_TO_HEALTH = 24  # sets attack to health
    RESTORE = 25  # to full health
    TRAIT = 26  # adds traits; amount: bits of Trait
    LOSE_KEYWORDS = 27  # keywords
    SPELL_DAMAGE = 28  # amount more Spell Damage
    UNLOCK_OVERLOAD = 29  # overloaded crystals of this turn and the next
    TRIGGER = 30  # its Deathrattle
    COST = 31  # cost change of amount for the cards matching `of`; not below amount2
    RULE = 32  # changes a rule while in play; amount: bits of Rule
    SHUFFLE = 33  # times copies of card amount into the side's deck; `OWN_CARD`: the minion's own card
    COPY = 34  # summons a copy; amount and amount2 set its attack and health, 0 keeps them
    COPY_TO_HAND = 35  # times copies of its card; cost change of amount, or a cost of amount2 if positive
    COPY_TO_DECK = 36  # times copies of its card
    BECOME_COPY = 37  # the row's minion becomes a copy of the target
    RECRUIT = 38  # summons times minions matching `of` from the side's deck
    SUMMON_FROM_HAND = 39  # the same from the side's hand
    SUMMON_COPY_FROM_DECK = (
        40  # summons for the row's player a copy of a card in the side's deck; stats as COPY
    )
    COPY_FROM_DECK = 41  # adds copies of times cards in the side's deck to the row's player's hand
    COPY_FROM_HAND = 42  # adds copies of times cards in the side's hand to the row's player's hand
    BUFF_HAND = 43  # buffs times cards in hand matching `of` by amount attack, amount2 health; 0: all
    CHANGE_HAND_COST = 44  # cost change of amount for times cards in hand matching `of`; 0: all
    MILL = 45  # removes the top amount cards of the side's deck
    DRAW_UNTIL = 46  # draws until the hand holds amount cards
    POWER = 47  # replaces the hero power by card amount
    REFRESH_POWER = 48  # the hero power can be used again
    JADE = 49  # summons the next Jade Golem of the pool
    RETURN_TO_DECK = 50  # shuffles the minion into its owner's deck; amount 1: the deck of the row's player
    CHOOSE_ONE = 51  # Choose One: the card is played as one of the two cards of the pool
    DISCOVER = 52  # choose one of three cards of the pool for the hand; cost change of amount2
    CHOOSE_POWER = 53  # the same for hero powers
    TRACK = 54  # choose one of the top three cards of the deck; the others are removed
    DISCOVER_FROM_DECK = 55  # choose one of three cards in the side's deck; a copy is added to the hand
    CREATE_POTION = 56  # choose the cost and the two effects of a potion (Kazakus) from the pool
    REDIRECT = 58  # redirects the attack to the target
    DECOY = 59  # summons card amount and redirects the attack or spell to it
    COUNTER = 60  # a Secret: counters the spell
    PREVENT = 61  # a Secret: prevents lethal damage to the hero
    DESTROY_SECRETS = 62  # destroys the side's Secrets
    PLAY_SECRETS_FROM_DECK = 63  # puts times Secrets of the side's deck into play
    TARGET_ONLY = 64  # no effect; makes the card require a target
    REVIVE = 65  # a Secret: resummons the minion that died, with amount health
    REFILL_MANA = 67  # refills mana to the crystals that are not overloaded
    TARGET_DEALS_DAMAGE = 66  # the card's target deals its attack as damage to the selected characters
    RESURRECT = 57  # summons times minions of the side's graveyard matching `of`; 0: as many as fit


class Pick(IntEnum):
    """Target selection of an effect row, among the characters its side, kind and filter allow."""

    NONE = 0  # no character: the row affects the side's player
    CHOSEN = 1  # the target of the action
    ALL = 2
    RANDOM = 3  # times different ones; negative: all but that many
    SPLIT = 4  # amount hits of 1, each on a random one
    SELF = 5  # the row's own minion, or the hero of a hero power
    SUBJECT = 6  # the subject of the triggering event
    NEXT_TO_SELF = 8
    NEXT_TO_TARGET = 9


POOL = -4
"""Code in place of a card number: a random card matching `of`."""

EVENT_CARD = -5
"""Code in place of a card number: the card of the triggering event."""

OWN_CARD = -3
"""Code in place of a card number: the card of the row's own minion, also if the row was granted to it."""

OWN, ENEMY = 1, 2
"""Bits of `side`: the card's player, the opponent."""

ONLY_ITSELF, ONLY_OTHERS = 4, 8
"""Further bits of an event's side: only the minion itself, or only other characters."""

MINIONS, HEROES = 1, 2
"""Bits of `kind`: types of characters."""

SPELLS, WEAPONS, POWERS = 4, 8, 16
"""Further bits of card types, beside `MINIONS`."""


class Filter(IntEnum):
    """Bits of requirements on a selected character; all set bits must be met."""

    NOT_SELF = 1
    NOT_TARGET = 2
    DAMAGED = 4
    UNDAMAGED = 8
    ATTACK_AT_MOST = 16  # arg
    ATTACK_AT_LEAST = 32  # arg
    RACE = 64  # arg, a `Race`
    TAUNT = 128
    FROZEN = 256
    NOT_ON_BOARD = 512  # of a summoned minion's pool: only cards not on the player's board
    NOT_RACE = 1024  # not arg, a `Race`
    KEYWORD = 2048  # arg, a `Keyword`
    DEATHRATTLE = 4096  # has a Deathrattle
    NOT_DEFENDER = 8192  # not the defender of the triggering attack


class Until(IntEnum):
    """Duration of a row's change."""

    ALWAYS = 0
    THIS_TURN = 1
    NEXT_TURN = 2  # until the start of the owner's next turn; only for Stealth


class Condition(IntEnum):
    """Conditions of effect rows, checked at resolution; a negative code negates the condition.

    "At least" and the like compare with `condition_arg`.
    """

    NONE = 0
    MANA_FULL = 1  # the player has all ten crystals
    HAS_TARGET = 2  # the card was played with a target
    HAS_WEAPON = 3  # the player has a weapon
    ENEMY_TURN = 4  # it is the opponent's turn
    COMBO = 5  # the player has played another card this turn
    DAMAGED = 6  # the row's own minion is damaged
    HEALTH_AT_MOST = 7  # of the player's hero
    ENEMY_HEALTH_AT_MOST = 8
    ENEMY_MINIONS = 9  # number of the opponent's minions, at least
    OWN_MINIONS = 10  # number of the player's other minions, at least
    RACE = 11  # the player has another minion of a `Race`
    HOLDS_RACE = 12  # the player's hand holds a minion of a `Race`
    EMPTY_HANDED = 13  # the player's hand is empty
    ENEMY_HAND = 14  # number of cards in the opponent's hand, at least
    TARGET_DYING = 15  # the target is dead or about to die
    TARGET_RACE = 16  # the target is of a `Race`
    TARGET_OWN = 17  # the target belongs to the player; with an arg, it is a minion of that `Race`
    TARGET_FROZEN = 18
    SPELL_DAMAGE = 19  # the player has Spell Damage
    SECRET = 20  # the player has a Secret in play
    ARMOUR = 21  # of the player's hero, at least
    WEAPON_ATTACK = 22  # of the player's weapon, at least
    OWN_KEYWORD = 23  # the player has another minion with a `Keyword`
    ENEMY_KEYWORD = 24  # the opponent has a minion with a `Keyword`
    ENEMY_FROZEN = 25  # a character of the opponent is frozen
    MINION_ATTACK = 26  # the player has a minion with at least this attack
    MINION_HEALTH = 27  # the player has another minion with at least this health
    ATTACK = 28  # of the row's own minion, at least
    ATTACKS_HERO = 29  # the defender of the attack is a hero
    DEFENDER_DYING = 30  # the defender of the attack is dead or about to die
    ALONE = 31  # no other minion is in play
    NO_DUPLICATES = 32  # the player's deck has no duplicates
    ONLY_ODD = 33  # all cards of the player's deck have odd costs
    ONLY_EVEN = 34
    NO_COST = 35  # no card of the player's deck has this cost
    MINIONS_DIED_THIS_TURN = 36  # number of minions that died this turn, at least
    HERO_DAMAGED_THIS_TURN = 37  # the player's hero took damage this turn
    ELEMENTAL_LAST_TURN = 38  # the player played an Elemental last turn
    DYING = 40  # the row's own minion is dying
    ROOM = 41  # the player's board has room
    ENEMY_PLAYED = 42  # number of cards the opponent played this turn, at least


class Count(IntEnum):
    """Multipliers of a row's amounts."""

    NONE = 0
    OTHER_MINIONS = 1  # of the player
    ENEMY_MINIONS = 2
    ALL_OTHER_MINIONS = 3  # of both
    HAND = 4  # cards in the player's hand
    ENEMY_HAND = 5
    WEAPON_ATTACK = 6  # of the player
    HERO_ATTACK = 7  # of the player, weapon included
    ARMOUR = 8  # of the player
    DAMAGE_TAKEN = 9  # missing health of the player's hero
    DIED = 10  # minions that died this turn
    PLAYED = 11  # other cards that the player played this turn
    EVENT = 12  # amount of the triggering event: damage, health, cards, crystals
    OTHER_RACE = 13  # other minions of the player of a `Race`
    ALL_OTHER_RACE = 14  # of both
    OTHER_HAND = 15  # other cards in the player's hand
    DAMAGED = 16  # damaged minions on both boards
    OWN_DAMAGED = 17  # damaged characters of the player
    OWN_ATTACK = 18  # attack of the row's own minion
    TARGET_ATTACK = 19
    TOTEMS = 20  # Totems the player summoned this game
    SPELLS = 21  # spells the player cast this game
    ENEMY_DURABILITY = 22  # of the opponent's weapon
    ENEMY_WEAPON_ATTACK = 23
    MANA = 24  # the player's mana
    OVERLOADED = 25  # crystals that the player overloaded this game
    POWERS = 26  # times that the player used the hero power this game
    SECRETS = 27  # Secrets the player played this game
    ELEMENTALS = 28  # Elementals the player played last turn
    ENEMY_DEATHRATTLES = 29  # enemy minions with a Deathrattle
    DURABILITY = 30  # of the player's weapon
    TARGET_HEALTH = 31
    NEIGHBOURS_ATTACK = 32  # total attack of the adjacent minions
    NEIGHBOURS_HEALTH = 33
    SHIELDS = 34  # minions with Divine Shield on both boards


class GameFeature(IntEnum):
    """Bits of game features, tracked only if a card of the game needs them."""

    TRIGGERS = 1  # a card has a triggered effect
    AURAS = 2
    COSTS = 4  # a card changes costs
    HAND_MODIFIERS = 8  # a card modifies cards in hand
    BOARD_ORDER = 16  # board order matters
    CARDS_PLAYED = 32
    SPELLS_CAST = 64
    TOTEMS_SUMMONED = 128
    DIED_THIS_TURN = 256
    HERO_DAMAGE = 512
    ELEMENTALS = 1024
    OVERLOADED = 2048
    POWERS_USED = 4096
    SECRETS_PLAYED = 8192
    RULES = 16384
    HERO_CLASSES = 65536
    JADE = 131072
    GRAVEYARD = 262144
    DECK_TRIGGERS = 524288
    SECRETS_IN_PLAY = 1048576
    EFFECTS = 2097152  # cards with effects; without this bit the rules of plain minions suffice


TRIGGER_SHIFT = 32
"""Shift of the trigger bits above those of `GameFeature`: triggers that a card of the game has."""


class Rule(IntEnum):
    """Bits of rule changes for a player while a minion is in play."""

    BATTLECRIES_TWICE = 1
    DEATHRATTLES_TWICE = 2
    HEALING_HARMS = 4
    SPELLS_DOUBLED = 8


class CardFilter(IntEnum):
    """Bits of requirements on a card; all set bits must be met, and at most one of them uses `arg`."""

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
    POOLED = 524288  # collectible and played exactly: the pool of random cards
    CLASS = 1048576  # arg, a `HeroClassCode`
    GANG = 4194304  # arg, a `Gang`: of one of its classes; a choice offers one card of each


class Need(IntEnum):
    """Bits of requirements to play a card, beside mana and a target."""

    ROOM = 1  # on the player's board
    ENEMY_MINION = 2
    TWO_ENEMY_MINIONS = 4
    WEAPON = 8  # the player's
    NEW_MINION = 16  # a card of its first row's pool is not on the player's board
    TWO_MINIONS = 32  # on both boards together
    DEAD = 64  # the graveyard has a minion that its first row can resurrect
    SECRET_ROOM = 128  # room for another Secret


class Aim(IntEnum):
    """Whether a card is played with a target."""

    NONE = 0
    NEEDED = 1  # cannot be played without a target
    IF_ANY = 2  # a Battlecry: can be played without a target if none is legal
