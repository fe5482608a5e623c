"""What the rows of effects.csv do in the reference game."""

from dataclasses import dataclass
from typing import Any

from tests.reference import choices
from tests.reference.characters import MOST, Held, Secret
from tests.reference.circumstances import count, holds
from tests.reference.plain import COIN

NOT_STANDING = ("play", "deathrattle", "cost", "in_deck", "discarded_itself")
"""Triggers of rows that are not those of a minion that acts while it stands."""


@dataclass
class Waiting:
    """A row to be carried out.

    Attributes:
        row: the row.
        side: whose it is.
        source: the minion it comes from; None for none.
        aim: at whom it is aimed, or whom the event is about that it waited for.
        facts: the card it stands on.
        foe: whom that one attacks.
        amount: of the event.
        about: the card of the event.
        event: its number, among those of which anything was told.
        playing: the card that is still in the hand while its targets are looked for.
    """

    row: Any
    side: Any
    source: Any
    aim: Any
    facts: Any
    foe: Any = None
    amount: int = 0
    times: int = 1
    about: Any = None
    event: int = 0
    playing: Any = None

    def __post_init__(self):
        self.born = self.aim.born if self.aim is not None and self.aim.is_minion else 0

    @property
    def target(self):
        """At whom it is aimed, unless that minion has become another or gone over since."""
        same = self.aim is None or not self.aim.is_minion or self.aim.born == self.born
        return self.aim if same else None


def fits(row, one, side):
    """Whether a character is among those that a row picks from, seen from a player."""
    owner = one.side if one.is_minion else one
    if ("own" if owner is side else "enemy") not in row.side:
        return False
    if ("minions" if one.is_minion else "heroes") not in row.kind:
        return False
    tests = {
        "damaged": lambda: one.damaged,
        "undamaged": lambda: not one.damaged,
        "attack_at_most": lambda: one.attack <= int(row.arg),
        "attack_at_least": lambda: one.attack >= int(row.arg),
        "race": lambda: one.is_minion and one.is_of(row.arg),
        "not_race": lambda: not (one.is_minion and one.is_of(row.arg)),
        "taunt": lambda: "taunt" in one.keywords,
        "frozen": lambda: "frozen" in one.traits,
        "keyword": lambda: row.arg in one.keywords,
        "deathrattle": lambda: one.is_minion and one.deathrattles,
    }
    return all(tests[word]() for word in row.filter - {"not_self", "not_target", "not_defender"})


def candidates(game, what):
    """The characters of a row: enemies of its player first, minions from left to right, then the hero."""
    row = what.row
    found = []
    own = what.side
    enemy = game.sides[1 - game.sides.index(own)]
    for one in [*enemy.board, enemy, *own.board, own]:
        if "not_self" in row.filter and one is what.source:
            continue
        if "not_target" in row.filter and one is what.aim:
            continue
        if "not_defender" in row.filter and one is what.foe:
            continue
        if fits(row, one, own):
            found.append(one)
    return found


def picked(game, what):
    """The characters that a row selects; those of `split` are drawn hit by hit."""
    row = what.row
    if row.pick == "chosen":
        return [] if what.target is None else [what.target]
    if row.pick == "subject":
        return (
            []
            if what.aim is None or (what.aim.is_minion and what.aim not in what.aim.side.board)
            else [what.aim]
        )
    if row.pick in ("next_to_self", "next_to_target"):
        return (
            [one for one, born in game.beside if one.born == born and one in one.side.board]
            if row.pick == "next_to_target"
            else neighbours(what.source)
        )
    if row.pick == "self" and what.source is None:
        return [what.side]
    if row.pick == "self":
        return [what.source] if what.source in what.source.side.board else []
    found = candidates(game, what)
    if row.pick == "all":
        # The enemy hero, the own hero, then minions in the order in which they came into play.
        heroes = [one for one in found if not one.is_minion]
        return heroes + sorted((one for one in found if one.is_minion), key=lambda one: one.born)
    living = [one for one in found if not one.dying]
    if row.times < 0:
        for _ in range(min(-row.times, len(living))):
            living.pop(game.chance(len(living)))
        return living
    if row.times < len(living):
        for place in range(row.times):
            other = place + game.chance(len(living) - place)
            living[place], living[other] = living[other], living[place]
    return living[: row.times]


def neighbours(one):
    """The minions beside one, the left one first."""
    board = one.side.board if one is not None and one.is_minion else []
    if one not in board:
        return []
    place = board.index(one)
    return [board[other] for other in (place - 1, place + 1) if 0 <= other < len(board)]


def players(game, what):
    """The players of a row that picks no character: its own first."""
    own = what.side
    enemy = game.sides[1 - game.sides.index(own)]
    return [side for side, word in ((own, "own"), (enemy, "enemy")) if word in what.row.side]


def bonus(what):
    """Spell Damage of the player, for spells."""
    if what.facts["kind"] != "spell" or (what.source is not None and what.source.is_minion):
        return 0
    if what.row.count == "event":
        return 0
    times = what.row.times if what.row.pick == "chosen" else 1
    return times * sum(minion.spell_damage for minion in what.side.board)


def doubled(game, what):
    """How much more damage and healing of spells and powers counts."""
    by_hand = what.source is None or not what.source.is_minion
    if by_hand and what.facts["kind"] in ("spell", "power"):
        return 2 ** game.rules(what.side, "spells_doubled")
    return 1


def carry_out(game, what):
    """Do what a row says. The game is modified in place."""
    row = what.row
    if isinstance(what.source, Secret):
        if not what.source.revealed:
            if what.source not in what.side.secrets or not holds(game, what):
                return
            if row.op == "redirect":
                what.foe = game.foe  # a decoy, by now
            if not has_object(game, what):
                return
            game.reveal(what.source, what.side, what.event)
        elif what.source.revealed != what.event:
            return
    elif not holds(game, what):
        return
    what.times = count(game, what)
    if row.pick == "split":
        split(game, what, (row.amount * what.times + bonus(what)) * doubled(game, what))
    elif row.pick:
        for one in picked(game, what):
            CHARACTERS[row.op](game, what, one)
    else:
        for side in players(game, what):
            PLAYERS[row.op](game, what, side)


def has_object(game, what):
    """Whether a Secret can do anything: its objects are there, and room for what it adds."""
    row, one = what.row, what.aim
    needed = row.pick == "subject" or row.op in ("redirect", "decoy")
    if needed and one is not None and one.is_minion and (one not in one.side.board or one.dying):
        return False
    if row.op in ("summon", "copy", "revive", "decoy") and not what.side.room:
        return False
    if row.op in ("add", "copy_to_hand") and len(what.side.hand) >= 10:
        return False
    if row.op in ("buff_hand", "change_hand_cost") and not fit(game, row, what.side.hand):
        return False
    return row.pick != "random" or any(not one.dying for one in candidates(game, what))


def split(game, what, hits):
    """One damage after another, each to a random one; what waits for a hit happens before the next."""
    for n in range(hits):
        living = [one for one in candidates(game, what) if not one.dying]
        if not living:
            return
        damage(game, what, living[game.chance(len(living))], 1)
        if game.news:
            game.rest.append(lambda left=hits - n - 1: split(game, what, left))
            return


def damage(game, what, victim, amount):
    """Damage by the source of a row: its keywords count."""
    minion = what.source is not None and what.source.is_minion
    keywords = what.source.keywords if minion else what.facts["keywords"]
    through = game.hit(victim, amount, keywords, False)
    if minion and what.source in what.side.board:
        game.show(what.source, victim, amount, through)
    if through and "lifesteal" in keywords:
        game.drain(what.side, amount)


# What happens to characters.


def damage_row(game, what, one):
    row = what.row
    amount = row.amount * what.times
    if row.amount2 > row.amount:
        amount += game.chance(row.amount2 - row.amount + 1)
    damage(game, what, one, (amount + bonus(what)) * doubled(game, what))


def strike(game, what, one):
    """The chosen minion deals its damage."""
    by = what.target
    if by is not None and by in by.side.board:
        keywords = set(by.keywords)
        through = game.hit(one, by.attack, keywords, "freezes" in by.traits)
        game.show(by, one, by.attack, through)
        if through and "lifesteal" in by.keywords:
            game.drain(by.side, by.attack)


def heal_row(game, what, one):
    amount = what.row.amount * what.times
    harms = game.rules(what.side, "healing_harms")
    if what.row.op == "restore":
        # By all its health; a minion that restores itself, by what is missing.
        amount = one.max_health if harms and what.row.pick != "self" else max(0, one.max_health - one.health)
    if harms:
        amount += bonus(what)
    if what.row.op == "heal":
        amount *= doubled(game, what)
    if harms:
        damage(game, what, one, amount)
    else:
        game.heal(one, amount)


def buff(game, what, one):
    row = what.row
    one.add(row.amount * what.times, row.amount2 * what.times, row.until == "this_turn")
    if one.is_minion:
        one.more_keywords = one.more_keywords - row.keywords
        if row.until == "next_turn" and "stealth" not in one.keywords:
            one.traits.add("hidden")
        one.keywords |= row.keywords


def set_numbers(game, what, one):
    row = what.row
    if not one.is_minion:
        if one not in game.fallen:
            one.health = min(row.amount2, one.max_health)
        return
    if row.amount != -1:
        one.set_attack(row.amount)
    if row.amount2 != -1:
        one.set_health(row.amount2)


def transform(game, what, one):
    pool = what.row.card or game.pool(what)
    if not pool:
        return
    one.become(pool[game.chance(len(pool))])
    one.settle(game.next_birth())


def bounce(game, what, one):
    side = one.side
    if one not in side.board:
        return
    if len(side.hand) >= 10:
        one.traits.add("doomed")
        return
    side.places.remove(one)
    change = what.row.amount if what.row.op == "bounce" else 0
    side.hand.append(Held(one.number, change) if change else one.number)


def control(game, what, one):
    side = what.side
    if not side.room:
        one.traits.add("doomed")
        return
    one.side.places.remove(one)
    side.places.append(one)
    one.side = side
    given = {id(one.cards[gift]) for gift in one.gifts if acting(one.cards[gift])}
    one.theirs = given - one.theirs
    one.settle(game.next_birth())
    if what.row is not None and what.row.until == "this_turn":
        one.traits.add("stolen")
        if "charge" not in one.keywords:
            one.traits.add("hastened")
            one.keywords.add("charge")


def silence(game, what, one):
    """A minion that was taken for a turn goes back at once."""
    stolen = "stolen" in one.traits
    one.silence()
    if stolen:
        game.give_back(one)


def multiply(game, what, one):
    row = what.row
    lasting = min(MOST, (one.attack - one.passing) * row.amount)
    one.attack = min(MOST, one.attack * row.amount)
    one.passing = one.attack - lasting
    gain = min(MOST, one.health * row.amount2) - one.health
    one.health += gain
    one.max_health = min(MOST, one.max_health + gain)


def swap(game, what, one):
    attack, health = one.attack, one.health
    one.set_attack(health)
    one.set_health(attack)


def give(game, what, one):
    card = what.row.card[0]
    if len(one.gifts) == 2:
        one.gifts.pop()
    one.gifts.append(card)
    if acting(one.cards[card]):
        (one.theirs.discard if one.side is what.side else one.theirs.add)(id(one.cards[card]))


def acting(card):
    """Whether a card has rows that wait for something, or that are always so."""
    return any(row.trigger not in NOT_STANDING for row in card["rows"])


def trigger(game, what, one):
    for _ in range(2 if game.rules(one.side, "deathrattles_twice") else 1):
        for row, facts in one.rows("deathrattle"):
            game.waiting.append(Waiting(row, one.side, one, None, facts, None, one.attack))


def lose(game, what, one):
    shielded = "divine_shield" in one.keywords & what.row.keywords
    one.keywords -= what.row.keywords
    one.more_keywords = one.more_keywords - what.row.keywords
    if shielded:
        game.announce("shield_lost", one.side, one, one.facts)


def gain_spell_damage(game, what, one):
    one.spell_damage = min(MOST, one.spell_damage + what.row.amount)


def copy_onto(copy, one, attack=0, health=0):
    """Make a minion a copy of another as it is, without what auras give."""
    copy.become(one.number)
    copy.own_attack, copy.passing = one.own_attack, one.passing
    copy.own_health = one.own_health
    copy.health = one.own_health - max(0, one.max_health - one.health)
    copy.keywords = one.keywords - one.more_keywords
    copy.traits = one.traits - {"doomed", "stolen", "hastened"}
    copy.race, copy.spell_damage = one.race, one.spell_damage
    copy.gifts, copy.theirs = list(one.gifts), set(one.theirs)
    copy.made = 0
    if attack:
        copy.set_attack(attack)
    if health:
        copy.set_health(health)


def copy(game, what, one):
    """A copy comes into play for the row's player, beside the row's minion."""
    side = what.side
    if not side.room:
        return
    minion = game.arrive(side, one.number, place_beside(what, side, 0))
    copy_onto(minion, one, what.row.amount, what.row.amount2)
    game.announce("summoned", side, minion, minion.facts)
    game.announce("after_summoned", side, minion, minion.facts)


def become(game, what, one):
    if what.source in what.side.board:
        copy_onto(what.source, one)
        what.source.settle(game.next_birth())


def copy_to_hand(game, what, one):
    for _ in range(what.row.times):
        change = what.row.amount2 - one.facts["cost"] if what.row.amount2 else what.row.amount
        what.side.take(Held(one.number, change) if change else one.number)


def copy_to_deck(game, what, one):
    for _ in range(what.row.times):
        shuffle_in(game, what.side, one.number)


def revert(game, what, one):
    shuffle_in(game, what.side if what.row.amount else one.side, one.number)
    one.side.places.remove(one)


def shuffle_in(game, side, card):
    """A card comes to a random place of a deck of less than thirty cards."""
    if len(side.deck) < 30:
        side.deck.insert(len(side.deck) - game.chance(len(side.deck) + 1), card)


CHARACTERS = {
    "copy": copy,
    "become_copy": become,
    "copy_to_hand": copy_to_hand,
    "copy_to_deck": copy_to_deck,
    "return_to_deck": revert,
    "damage": damage_row,
    "target_deals_damage": strike,
    "heal": heal_row,
    "redirect": lambda game, what, one: setattr(game, "foe", one),
    "target_only": lambda game, what, one: None,
    "buff": buff,
    "set": set_numbers,
    "destroy": lambda game, what, one: one.traits.add("doomed"),
    "silence": silence,
    "freeze": lambda game, what, one: one.traits.add("frozen"),
    "transform": transform,
    "bounce": bounce,
    "control": control,
    "multiply": multiply,
    "swap": swap,
    "set_attack_to_health": lambda game, what, one: one.set_attack(one.health),
    "restore": heal_row,
    "trait": lambda game, what, one: one.traits.update(what.row.traits),
    "lose_keywords": lose,
    "spell_damage": gain_spell_damage,
    "grant_effects": give,
    "trigger": trigger,
}

# What happens to players.


def armour(game, what, side):
    gain = what.row.amount * what.times
    side.armour = min(MOST, side.armour + gain)
    if gain > 0:
        game.announce("armoured", side, side, None, gain)


def draw(game, what, side):
    row = what.row
    for _ in range(row.amount * what.times):
        held = len(side.hand)
        if row.of.kinds or row.of.tests:
            place = named(game, row, side.deck)
            if place is None:
                return
            card = side.deck.pop(place)
            side.take(card)
            if len(side.hand) > held:
                game.announce("drawn", side, None, game.cards[card] if card != COIN else None)
        else:
            game.draw(side)
        if row.amount2 and len(side.hand) > held and side.hand[-1] != COIN:
            side.hand[-1] = Held(side.hand[-1], row.amount2)


def fit(game, row, cards):
    """The places of the cards that a row names, in the order in which the engine counts them."""
    return [n for n, card in enumerate(cards) if card != COIN and row.of.passes(game.cards[card])]


def named(game, row, deck):
    """The place of a random card of a deck that a row names; the engine counts from the bottom."""
    places = fit(game, row, deck)[::-1]
    return places[game.chance(len(places))] if places else None


def recruit(game, what, side):
    for turn in range(what.row.times * what.times):
        place = named(game, what.row, side.deck) if side.room else None
        if place is None:
            return
        come(game, what, side, side.deck.pop(place), turn)


def come(game, what, side, card, turn):
    minion = game.arrive(side, card, place_beside(what, side, turn))
    game.announce("summoned", side, minion, minion.facts)
    game.announce("after_summoned", side, minion, minion.facts)
    return minion


def call(game, what, side):
    for turn in range(what.row.times * what.times):
        places = fit(game, what.row, side.hand)
        if not places or not side.room:
            return
        card = side.hand.pop(places[game.chance(len(places))])
        minion = come(game, what, side, card, turn)
        strengthen(minion, card)


def strengthen(minion, card):
    """What befell a card in hand goes with its minion."""
    minion.add(getattr(card, "attack", 0), getattr(card, "health", 0), False)


def mirror(game, what, side):
    own = what.side
    for turn in range(what.row.times * what.times):
        place = named(game, what.row, side.deck)
        if place is None:
            return
        if own.room:
            minion = come(game, what, own, side.deck[place], turn)
            if what.row.amount:
                minion.set_attack(what.row.amount)
                minion.set_health(what.row.amount2)


def learn(game, what, cards):
    """Copies of random cards, each at most once."""
    places = fit(game, what.row, cards)
    for _ in range(what.row.times * what.times):
        if places:
            card = cards[places.pop(game.chance(len(places)))]
            what.side.take(card if what.row.op == "copy_from_hand" else int(card))


def glean(game, what, side):
    learn(game, what, side.deck[::-1])


def enhance(game, what, side):
    row = what.row
    places = fit(game, row, side.hand)
    times = len(places) if row.times == 0 else min(row.times, len(places))
    for _ in range(times):
        place = places.pop(0 if row.times == 0 else game.chance(len(places)))
        numbers = (row.amount * what.times, row.amount2 * what.times)
        change = (numbers[0], 0, 0) if row.op == "change_hand_cost" else (0, *numbers)
        side.hand[place] = Held(side.hand[place], *change)


def mill(game, what, side):
    del side.deck[: what.row.amount * what.times]


def fill(game, what, side):
    for _ in range(what.row.amount * what.times - len(side.hand)):
        game.draw(side)


def equip(game, what, side):
    card = card_of(game, what)
    if card is not None:
        game.equip(side, card)


def power(game, what, side):
    side.power, side.power_used = card_of(game, what), False


def jade(game, what, side):
    for turn in range(what.row.times * what.times):
        card = what.row.card[min(side.jade, 29)]
        side.jade = min(30, side.jade + 1)
        if side.room:
            come(game, what, side, card, turn)


def shuffle(game, what, side):
    for _ in range(what.row.times * what.times):
        card = card_of(game, what)
        if card is None:
            return
        shuffle_in(game, side, card)


def refresh(game, what, side):
    side.power_used = False


def card_of(game, what):
    """The card that a row creates."""
    pool = what.row.card
    if pool == ("self",):
        return what.source.number if what.source is not None else what.facts["number"]
    if pool == ("event",):
        return COIN if what.about is None else what.about["number"]
    pool = pool or game.pool(what)
    return pool[game.chance(len(pool))] if pool else None


def summon(game, what, side):
    row = what.row
    for turn in range(row.times * what.times):
        if "not_on_board" in row.filter:
            pool = game.new_of(row.card, side)
            if not pool:
                return
            card = pool[game.chance(len(pool))]
        else:
            card = card_of(game, what)
            if card is None:
                return
        if side.room:
            minion = game.arrive(side, card, place_beside(what, side, turn))
            game.announce("summoned", side, minion, minion.facts)
            game.announce("after_summoned", side, minion, minion.facts)


def revive(game, what, side):
    """The dead minion of the event comes back, with little health left."""
    if side.room:
        minion = game.arrive(side, what.about["number"], place_beside(what, side, 0))
        minion.health = min(what.row.amount, minion.max_health)
        game.announce("summoned", side, minion, minion.facts)
        game.announce("after_summoned", side, minion, minion.facts)


def place_beside(what, side, turn):
    """Where a summoned minion stands; `turn` counts those of one row."""
    source = what.source
    if source is not None and source.is_minion and side is what.side:
        if source.grave in side.places:
            return side.places.index(source.grave)
        if source in side.places:
            left = what.row.trigger == "play" and turn % 2 == 1
            return side.places.index(source) + (0 if left else 1)
    return len(side.places)


def discard(game, what, side):
    times = what.row.times * what.times
    if times == 0:
        times = len(side.hand)
    for _ in range(times):
        if side.hand:
            place = 0 if what.row.times == 0 else game.chance(len(side.hand))
            card = side.hand.pop(place)
            facts = game.cards[card] if card != COIN else None
            game.announce("discarded", side, None, facts)
            for row in facts["rows"] if facts else ():
                if row.trigger == "discarded_itself":
                    game.news.append(Waiting(row, side, None, None, facts, about=facts))


def mana(game, what, side):
    side.mana = min(10, side.mana + what.row.amount * what.times)


def refill(game, what, side):
    side.mana = max(0, side.crystals - side.locked)


def crystals(game, what, side):
    side.crystals = max(0, min(10, side.crystals + what.row.amount * what.times))
    side.mana = min(side.mana, side.crystals)


def weapon(game, what, side):
    if side.weapon is not None:
        side.weapon_attack = min(MOST, max(0, side.weapon_attack + what.row.amount * what.times))
        side.durability = min(MOST, max(0, side.durability + what.row.amount2 * what.times))
        if side.durability == 0:
            game.wear_out(side)


def add_card(game, what, side):
    if what.row.card == ("self",) and what.source in side.board:
        bounce(game, what, what.source)
        return
    for _ in range(what.row.times * what.times):
        card = card_of(game, what)
        if card is None:
            return
        side.take(card)


def unlock(game, what, side):
    side.mana = min(10, side.mana + side.locked)
    side.locked, side.overload = 0, 0


def promise(game, what, side):
    if len(side.promises) < 2:
        side.promises.append(what.facts)


def raise_dead(game, what, side):
    """Minions that died this game come into play, each at most once."""
    row = what.row
    graves = [card for card in side.graves if row.of.passes(game.cards[card])]
    all_come = row.times == 0 and len(graves) <= 7 - len(side.board)
    for turn in range(len(graves) if row.times == 0 else row.times * what.times):
        if not graves or not side.room:
            return
        card = graves.pop(0 if all_come else game.chance(len(graves)))
        come(game, what, side, card, turn)


def decoy(game, what, side):
    card = card_of(game, what)
    if card is not None and side.room:
        game.decoy = come(game, what, side, card, 0)
        if game.foe is not None:
            game.foe = game.decoy


def hide(game, what, side):
    for _ in range(what.row.times or len(side.deck)):
        places = [
            n
            for n, card in enumerate(side.deck)
            if card != COIN and game.cards[card]["secret"] and game.may_hide(side, card)
        ][::-1]
        if not places:
            return
        game.hide(side, side.deck.pop(places[game.chance(len(places)) if what.row.times else 0]))


PLAYERS = {
    "decoy": decoy,
    "play_secrets_from_deck": hide,
    "destroy_secrets": lambda game, what, side: side.secrets.clear(),
    "resurrect": raise_dead,
    **dict.fromkeys(choices.KINDS, lambda game, what, side: choices.ask(game, what)),
    "recruit": recruit,
    "summon_from_hand": call,
    "summon_copy_from_deck": mirror,
    "copy_from_deck": glean,
    "copy_from_hand": lambda game, what, side: learn(game, what, side.hand),
    "buff_hand": enhance,
    "change_hand_cost": enhance,
    "mill": mill,
    "draw_until": fill,
    "power": power,
    "jade": jade,
    "shuffle": shuffle,
    "refresh_power": refresh,
    "cost": promise,
    "armour": armour,
    "draw": draw,
    "summon": summon,
    "discard": discard,
    "refill_mana": refill,
    "revive": revive,
    "equip": equip,
    "mana": mana,
    "crystals": crystals,
    "weapon": weapon,
    "disarm": lambda game, what, side: game.disarm(side),
    "add": add_card,
    "unlock_overload": unlock,
}
