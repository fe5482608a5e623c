"""Operations on minions, heroes and weapons; compiled."""

import numpy as np

from engine.codes import BOARD_SIZE, MAX_MANA, MAX_STAT, Keyword
from engine.effect_codes import MAX_GIFTS, NOT_STANDING, OF_OTHER, Op, Trait, Trigger, Until
from engine.effects.board import has_room, leave, print_card, take_card
from engine.effects.triggers import announce, queue_rows
from engine.jit import njit_borrowing
from engine.state import NO_ONE, NO_TARGET, ZERO_MINION, damage_hero

ACTING = sum(1 << trigger for trigger in Trigger if trigger not in NOT_STANDING)
"""Bits of the triggers of what acts while it stands."""


@njit_borrowing
def clamp(number: int, low: int) -> int:
    """A number from `low` to `MAX_STAT`, at which buffs stop."""
    return min(max(number, low), MAX_STAT)


@njit_borrowing
def heal_hero(side: np.void, amount: int) -> None:
    """Heal a hero, at most to full health. Modified in place."""
    side["health"] = max(side["health"], min(side["health"] + amount, side["max_health"]))


@njit_borrowing
def hurt_minion(victim: np.void, damage: int, keywords: int, traits: int) -> int:
    """Damage to a minion; what it took, 0 where a shield absorbed it. `victim` is modified in place.

    Args:
        victim: the minion.
        damage: 0 or less does nothing.
        keywords: of what strikes: Poisonous destroys.
        traits: of what strikes: freezing.
    """
    if damage <= 0 or victim["traits"] & Trait.IMMUNE:
        return 0
    if victim["keywords"] & Keyword.DIVINE_SHIELD:
        victim["keywords"] &= ~Keyword.DIVINE_SHIELD
        return 0
    victim["health"] = max(victim["health"] - damage, -MAX_STAT)
    if keywords & Keyword.POISONOUS:
        victim["health"] = min(victim["health"], 0)
    if traits & Trait.FREEZES:
        victim["traits"] |= Trait.FROZEN
    return damage


@njit_borrowing
def hurt_hero(side: np.void, damage: int, traits: int) -> int:
    """Damage to a hero, armour first; what it took. `side` is modified in place."""
    if damage <= 0 or side["traits"] & Trait.IMMUNE:
        return 0
    damage_hero(side, damage)
    if traits & Trait.FREEZES:
        side["traits"] |= Trait.FROZEN
    return damage


@njit_borrowing
def may_act(minion: np.void) -> bool:
    """Whether a minion may attack something on this turn of its player, for all that its arrival says."""
    return bool(minion["arrived"] == 0 or minion["keywords"] & (Keyword.CHARGE | Keyword.RUSH))


@njit_borrowing
def set_keywords(minion: np.void, keywords: int) -> None:
    """Give a minion other keywords; the attacks it has made this turn stay made. Modified in place."""
    before = 2 if minion["keywords"] & Keyword.WINDFURY else 1
    made = before - minion["attacks_left"] if may_act(minion) else 0
    minion["keywords"] = keywords
    after = 2 if keywords & Keyword.WINDFURY else 1
    minion["attacks_left"] = max(after - made, 0) if may_act(minion) else 0


@njit_borrowing
def silence(minion: np.void, cards: np.ndarray) -> None:
    """Take a minion's text, and all that was done to it, away; damage stays. Modified in place."""
    card = cards[minion["card"]]
    set_keywords(minion, 0)
    minion["traits"] = Trait.SILENCED | (minion["traits"] & Trait.DOOMED)
    minion["attack"] = card["attack"]
    minion["turn_attack"] = 0
    minion["spell_damage"] = 0
    minion["gifts"][:] = 0
    set_max_health(minion, card["health"] + minion["aura_health"])  # until auras are looked at again
    minion["attack"] += minion["aura_attack"]
    minion["aura_keywords"] = 0


@njit_borrowing
def set_max_health(minion: np.void, health: int) -> None:
    """Change a minion's full health: more of it is health gained, less of it caps what is left."""
    gained = health - minion["max_health"]
    minion["max_health"] = health
    if gained > 0:
        minion["health"] += gained
    else:
        minion["health"] = min(minion["health"], health)


@njit_borrowing
def buff(minion: np.void, effect: np.void, attack: int, health: int) -> None:
    """Add attack, health and a row's keywords to a minion. Modified in place."""
    before = minion["attack"]
    minion["attack"] = clamp(before + attack, 0)
    if effect["until"] == Until.THIS_TURN:
        minion["turn_attack"] += minion["attack"] - before
    if health != 0:
        more = clamp(minion["max_health"] + health, 1)
        set_max_health(minion, more)
    if effect["keywords"]:
        minion["aura_keywords"] &= ~effect["keywords"]
        if effect["keywords"] & Keyword.STEALTH:
            if effect["until"] != Until.NEXT_TURN:
                minion["traits"] &= ~Trait.HIDDEN
            elif not minion["keywords"] & Keyword.STEALTH:
                minion["traits"] |= Trait.HIDDEN
        set_keywords(minion, minion["keywords"] | effect["keywords"])


@njit_borrowing
def strengthen(minion: np.void, attack: int, health: int) -> None:
    """Add attack and health to a minion. Modified in place."""
    minion["attack"] = clamp(minion["attack"] + attack, 0)
    if health != 0:
        set_max_health(minion, clamp(minion["max_health"] + health, 1))


@njit_borrowing
def set_stats(minion: np.void, effect: np.void) -> None:
    """Set attack and health to numbers on which auras come; -1 leaves one as it is. Modified in place."""
    if effect["amount"] >= 0:
        set_attack(minion, effect["amount"])
    if effect["amount2"] >= 0:
        set_health(minion, effect["amount2"])


@njit_borrowing
def set_attack(minion: np.void, attack: int) -> None:
    """Give a minion an attack, on which auras come. Modified in place."""
    minion["attack"] = attack
    minion["turn_attack"] = 0
    minion["aura_attack"] = 0


@njit_borrowing
def set_health(minion: np.void, health: int) -> None:
    """Give a minion a health, on which auras come. Modified in place."""
    minion["health"] = health
    minion["max_health"] = health
    minion["aura_health"] = 0


def traits_of_rows(hears: int) -> int:
    """The traits of a minion whose rows have these triggers, bits 1 << `Trigger`."""
    deathrattle = Trait.DEATHRATTLE if hears >> Trigger.DEATHRATTLE & 1 else 0
    return deathrattle | (Trait.ACTS if hears & ACTING else 0)


standing_traits = njit_borrowing(traits_of_rows)


@njit_borrowing
def give(minion: np.void, cards: np.ndarray, number: int, of_other: bool) -> None:
    """Give a minion the rows of a card: its Deathrattle, or what it waits for. Modified in place.

    What it waits for belongs to who gave it.
    """
    hears = cards[number]["hears"]
    minion["traits"] |= standing_traits(hears)
    mark = OF_OTHER if of_other and hears & ACTING else 0
    for n in range(MAX_GIFTS):
        if minion["gifts"][n] == 0 or n == MAX_GIFTS - 1:
            minion["gifts"][n] = number + 1 + mark
            return


@njit_borrowing
def change_minion(minion: np.void, cards: np.ndarray, effect: np.void, amount: int, amount2: int) -> None:
    """Carry out a row on a minion that stays where it is; not damage, which depends on its source."""
    op = effect["op"]
    if op == Op.BUFF:
        buff(minion, effect, amount, amount2)
    elif op == Op.SET:
        set_stats(minion, effect)
    elif op == Op.DESTROY:
        minion["traits"] |= Trait.DOOMED
    elif op == Op.SILENCE:
        silence(minion, cards)
    elif op == Op.FREEZE:
        minion["traits"] |= Trait.FROZEN
    elif op == Op.MULTIPLY:
        lasting = clamp((minion["attack"] - minion["turn_attack"]) * effect["amount"], 0)
        minion["attack"] = clamp(minion["attack"] * effect["amount"], 0)
        minion["turn_attack"] = minion["attack"] - lasting
        if effect["amount2"] != 1:
            more = clamp(minion["health"] * effect["amount2"], 1) - minion["health"]
            minion["health"] += more
            minion["max_health"] = clamp(minion["max_health"] + more, 1)
    elif op == Op.SWAP:
        attack = minion["attack"]
        set_attack(minion, clamp(minion["health"], 0))
        set_health(minion, attack)
    elif op == Op.EQUALISE:
        set_attack(minion, clamp(minion["health"], 0))
    elif op == Op.TRAIT:
        minion["traits"] |= effect["amount"]
    elif op == Op.LOSE:
        set_keywords(minion, minion["keywords"] & ~effect["keywords"])
        minion["aura_keywords"] &= ~effect["keywords"]
    elif op == Op.SPELL_DAMAGE:
        minion["spell_damage"] = clamp(minion["spell_damage"] + amount, 0)


@njit_borrowing
def change_hero(side: np.void, effect: np.void, amount: int) -> None:
    """Carry out a row on a hero. `side` is modified in place."""
    op = effect["op"]
    if op == Op.BUFF:
        side["hero_attack"] = clamp(side["hero_attack"] + amount, 0)
    elif op == Op.FREEZE:
        side["traits"] |= Trait.FROZEN
    elif op == Op.SET:
        side["health"] = min(int(effect["amount2"]), int(side["max_health"]))
    elif op == Op.TRAIT:
        side["traits"] |= effect["amount"]


@njit_borrowing
def bounce(state: np.void, seat: int, place: int) -> None:
    """Return a minion to its owner's hand; where that is full, it is destroyed. Modified in place."""
    side = state["sides"][seat]
    if side["n_hand"] < len(side["hand"]):
        number = side["board"][place]["card"]
        leave(side, place, ZERO_MINION)
        take_card(side, number)
    else:
        side["board"][place]["traits"] |= Trait.DOOMED


@njit_borrowing
def transform(state: np.void, cards: np.ndarray, seat: int, place: int, number: int) -> None:
    """Put another card's minion in a minion's place. `state` is modified in place."""
    side = state["sides"][seat]
    state["births"] += 1
    print_card(side["board"][place], cards, number)
    side["board"][place]["born"] = state["births"]


@njit_borrowing
def take_control(state: np.void, cards: np.ndarray, seat: int, place: int) -> None:
    """Move the enemy minion at `place` to the board of `seat`; a full board destroys it."""
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if not has_room(own):
        enemy["board"][place]["traits"] |= Trait.DOOMED
        return
    own["board"][own["n_board"]] = enemy["board"][place]
    leave(enemy, place, ZERO_MINION)
    minion = own["board"][own["n_board"]]
    state["births"] += 1
    minion["born"] = state["births"]
    for n in range(MAX_GIFTS):
        gift = minion["gifts"][n] & ~OF_OTHER
        if gift and cards[gift - 1]["hears"] & ACTING:
            minion["gifts"][n] ^= OF_OTHER
    own["n_board"] += 1
    minion["arrived"] = 1
    minion["attacks_left"] = 0
    if may_act(minion):
        minion["attacks_left"] = 2 if minion["keywords"] & Keyword.WINDFURY else 1


@njit_borrowing
def change_crystals(side: np.void, amount: int) -> None:
    """Give a player empty mana crystals, or destroy some. `side` is modified in place."""
    before = side["crystals"]
    side["crystals"] = min(max(before + amount, 0), MAX_MANA)
    side["mana"] = min(side["mana"], side["crystals"]) if amount < 0 else side["mana"]


@njit_borrowing
def lose_weapon(side: np.void) -> None:
    """Take a player's weapon away. `side` is modified in place."""
    side["weapon"] = 0
    side["weapon_attack"] = 0
    side["weapon_aura"] = 0
    side["durability"] = 0


assert BOARD_SIZE < MAX_STAT


@njit_borrowing
def hero_limit(side: np.void, cards: np.ndarray) -> int:
    """How often a hero may attack in a turn: twice by a weapon with Windfury."""
    if side["durability"] > 0 and cards[side["weapon"]]["keywords"] & Keyword.WINDFURY:
        return 2
    return 1


@njit_borrowing
def has_weapon(side: np.void) -> bool:
    """Whether a player has a weapon."""
    return bool(side["weapon_attack"] or side["durability"] or side["weapon"])


@njit_borrowing
def equip(state: np.void, cards: np.ndarray, seat: int, number: int, events: np.void) -> None:
    """Give a player a weapon; the one before is destroyed. `state` and `events` are modified in place."""
    disarm(state, cards, seat, events)
    put_on(state, cards, seat, number, events)


@njit_borrowing
def put_on(state: np.void, cards: np.ndarray, seat: int, number: int, events: np.void) -> int:
    """Give a player a weapon; the card of the one before, which is gone, or -1. Modified in place."""
    side = state["sides"][seat]
    made = hero_limit(side, cards) - side["hero_attacks_left"]
    before = int(side["weapon"]) if has_weapon(side) else -1
    lose_weapon(side)
    side["weapon"] = number
    side["weapon_attack"] = cards[number]["attack"]
    side["durability"] = cards[number]["health"]
    events["before"][seat]["kept"] = 0
    if seat == state["active"]:
        side["hero_attacks_left"] = hero_limit(side, cards) - made
    announce(state, cards, events, Trigger.EQUIPPED, seat, NO_ONE, number, 1)
    return before


@njit_borrowing
def wear(state: np.void, cards: np.ndarray, seat: int, change: int, events: np.void) -> None:
    """Change the durability of a weapon, which leaves with the dead where none is left. Modified in place.

    Source: HearthSim/hs-bugs 106; a weapon that is destroyed leaves at once (25).
    """
    side = state["sides"][seat]
    if side["durability"] + change > 0:
        side["durability"] = clamp(side["durability"] + change, 0)
    elif has_weapon(side):
        events["broken"] |= 1 << seat
        events["worn"][seat] = side["weapon"]
        _put_away(state, cards, seat)


@njit_borrowing
def bury_weapons(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Queue the Deathrattles of the weapons that are used up, and what waits for that. Modified in place."""
    for seat in range(2):
        if events["broken"] >> seat & 1:
            leave_behind(state, cards, seat, int(events["worn"][seat]), events)
    events["broken"] = 0


@njit_borrowing
def disarm(state: np.void, cards: np.ndarray, seat: int, events: np.void) -> None:
    """Destroy a player's weapon, if there is one; its Deathrattle queues. Modified in place."""
    side = state["sides"][seat]
    number = side["weapon"]
    if has_weapon(side):
        _put_away(state, cards, seat)
        leave_behind(state, cards, seat, number, events)


@njit_borrowing
def _put_away(state: np.void, cards: np.ndarray, seat: int) -> None:
    """Take away a player's weapon; attacks that were made with it stay made. `state` is modified in place."""
    side = state["sides"][seat]
    made = hero_limit(side, cards) - side["hero_attacks_left"]
    lose_weapon(side)
    if seat == state["active"]:
        side["hero_attacks_left"] = 1 - made


@njit_borrowing
def leave_behind(state: np.void, cards: np.ndarray, seat: int, number: int, events: np.void) -> None:
    """Queue the Deathrattle of a weapon that is gone, and what waits for that."""
    queue_rows(cards, number, Trigger.DEATHRATTLE, seat, -1, -1, -1, NO_TARGET, events)
    announce(state, cards, events, Trigger.DISARMED, seat, NO_ONE, number, 1)
