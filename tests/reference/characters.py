"""Minions and heroes of the reference game with real cards."""

from tests.reference import plain

MOST = 999


class Minion:
    """A minion on the board. Its traits are words of `engine.effect_codes.Trait`, but for `deathrattle`."""

    is_minion = True

    def __init__(self, cards, number, side, born):
        self.cards, self.side = cards, side
        self.become(number)
        self.settle(born)

    def become(self, number):
        """Take the shape of a card, as printed."""
        facts = self.cards[number]
        self.number, self.facts = number, facts
        self.own_attack, self.health, self.own_health = facts["attack"], facts["health"], facts["health"]
        self.more_attack = self.more_health = 0  # what auras add
        self.more_keywords = set()
        self.passing = 0  # the part of its attack that ends with the turn
        self.keywords, self.traits = set(facts["keywords"]), set(facts["traits"])
        self.race, self.spell_damage = facts["race"], facts["spell damage"]
        self.gifts = []  # cards whose rows it was given
        self.theirs = set()  # of these cards, ids of those that its player's opponent gave
        self.grave = None  # where it died

    def settle(self, born):
        """It has just come into play."""
        self.born, self.arrived, self.made = born, True, 0

    @property
    def attack(self):
        return self.own_attack + self.more_attack

    @attack.setter
    def attack(self, attack):
        self.own_attack = attack - self.more_attack

    @property
    def max_health(self):
        return self.own_health + self.more_health

    @max_health.setter
    def max_health(self, health):
        self.own_health = health - self.more_health

    def take_aura(self, attack, health, keywords):
        """Have what auras give, in place of what they gave before."""
        self.more_attack = min(MOST, max(0, self.own_attack + attack)) - self.own_attack
        before = self.max_health
        if health != self.more_health:
            self.more_health = min(MOST, max(1, self.own_health + health)) - self.own_health
        gain = self.max_health - before
        self.health = self.health + gain if gain > 0 else min(self.health, self.max_health)
        self.keywords -= self.more_keywords
        self.more_keywords = keywords - self.keywords
        self.keywords |= keywords

    def rows(self, trigger):
        """Its rows of a trigger with the card they are of: its own unless it is silenced, then those given."""
        own = [] if "silenced" in self.traits else [self.facts]
        return [
            (row, facts)
            for facts in own + [self.cards[gift] for gift in self.gifts]
            for row in facts["rows"]
            if row.trigger == trigger
        ]

    @property
    def attacks(self):
        """Attacks it may still make this turn."""
        if self.arrived and not self.keywords & {"charge", "rush"}:
            return 0
        return max(0, (2 if "windfury" in self.keywords else 1) - self.made)

    @property
    def dying(self):
        return self.health <= 0 or "doomed" in self.traits

    @property
    def damaged(self):
        return self.health < self.max_health

    @property
    def deathrattles(self):
        """Its Deathrattle rows: its own unless it is silenced, then those it was given."""
        return [row for row, _ in self.rows("deathrattle")]

    def is_of(self, race):
        return self.race in (race, "all")

    def hit(self, damage, keywords=frozenset(), freezes=False):
        """Take damage; whether any got through."""
        if damage <= 0 or "immune" in self.traits:
            return False
        if "divine_shield" in self.keywords:
            self.keywords.discard("divine_shield")
            return False
        self.health -= damage
        if "poisonous" in keywords:
            self.health = min(self.health, 0)
        if freezes:
            self.traits.add("frozen")
        return True

    def heal(self, amount):
        """Get health back; how much it was."""
        before = self.health
        self.health = max(before, min(self.max_health, before + amount))
        return self.health - before

    def restore(self):
        self.health = self.max_health

    def add(self, attack, health, this_turn):
        """A buff of attack and health, or a debuff of attack."""
        before = self.attack
        self.attack = min(MOST, max(0, self.attack + attack))
        if this_turn:
            self.passing += self.attack - before
        before = self.max_health
        self.max_health = min(MOST, before + health)
        self.health += self.max_health - before

    def set_attack(self, attack):
        """A new attack of its own; auras come on it."""
        self.own_attack, self.more_attack, self.passing = attack, 0, 0

    def set_health(self, health):
        self.health = self.own_health = health
        self.more_health = 0

    def silence(self):
        """Nothing but its printed numbers is left; damage it had stays, as far as it has more health now."""
        full = self.facts["health"] + self.more_health
        self.health = (
            self.health + full - self.max_health if full > self.max_health else min(self.health, full)
        )
        self.max_health = full
        self.own_attack, self.passing, self.spell_damage = self.facts["attack"], 0, 0
        self.keywords, self.more_keywords = set(), set()
        self.traits = {"silenced"} | self.traits & {"doomed"}
        self.gifts, self.theirs = [], set()

    def end_turn(self):
        """What lasts for a turn ends."""
        self.attack -= self.passing
        self.passing = 0
        self.traits -= {"immune", "spares_heroes_now"}


class Grave:
    """Where a minion died, while its Deathrattle is carried out."""

    is_minion = False


class Side(plain.Side):
    """A player: the hero, and all that is theirs."""

    is_minion = False

    def __init__(self):
        super().__init__()
        self.power, self.power_used = None, False
        self.weapon, self.weapon_attack, self.durability = None, 0, 0
        self.attack = 0  # of the hero, without the weapon
        self.made, self.attacks = 0, 1  # attacks it made this turn, and may still make
        self.traits = set()
        self.overload, self.locked = 0, 0
        self.keywords = frozenset()  # heroes have none
        self.places = []  # minions from left to right, and graves
        self.weapon_aura = 0
        self.played = self.spells = self.totems = self.perished = self.hurt_now = 0
        self.elementals = self.elementals_before = self.overloaded = self.powers = 0
        self.secrets, self.secrets_played = [], 0
        self.promises = []  # facts of cards whose rows change costs for a while

        self.jade, self.hero_class, self.graves = 0, "neutral", []

    def take_seat(self, deck):
        self.power, self.hero_class = deck["power"], deck["class"]

    def take(self, card):
        """A card comes into the hand; a full hand burns it."""
        if len(self.hand) < 10:
            self.hand.append(card)
        else:
            self.burned += 1

    @property
    def board(self):
        return [one for one in self.places if one.is_minion]

    @board.setter
    def board(self, minions):
        self.places = list(minions)

    def count_attacks(self):
        """Attacks the hero may still make this turn, by its weapon."""
        windfury = self.weapon is not None and "windfury" in self.weapon["keywords"]
        self.attacks = (2 if windfury else 1) - self.made

    @property
    def dying(self):
        return self.health <= 0

    @property
    def damaged(self):
        return self.health < self.max_health

    @property
    def room(self):
        return len(self.board) < 7

    def hurt(self, damage):
        """Damage of any kind, fatigue too."""
        if "immune" not in self.traits:
            super().hurt(damage)

    def hit(self, damage, keywords=frozenset(), freezes=False):
        if damage <= 0 or "immune" in self.traits:
            return False
        self.hurt(damage)
        if freezes:
            self.traits.add("frozen")
        return True

    def restore(self):
        self.heal(self.max_health)

    def add(self, attack, health, this_turn):
        self.attack = min(MOST, self.attack + attack)

    def end_turn(self):
        self.attack = 0
        self.traits -= {"immune"}


class Secret:
    """A Secret in play; without facts where it is hidden."""

    is_minion = False
    grave = None

    def __init__(self, facts, born):
        self.facts, self.born, self.revealed = facts, born, 0
        self.number = facts and facts["number"]


class Held(int):
    """A card in hand that something befell: more cost, attack and health."""

    def __new__(cls, card, cost=0, attack=0, health=0):
        held = super().__new__(cls, int(card))
        for name, more in (("cost", cost), ("attack", attack), ("health", health)):
            setattr(held, name, max(-127, min(127, getattr(card, name, 0) + more)))
        return held
