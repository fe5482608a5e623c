"""Effect operations on minions, heroes and weapons; compiled."""

import numpy as np

from engine.codes import BOARD_SIZE, MAX_MANA, MAX_STAT, Keyword
from engine.effect_codes import (
    GRANTED_BY_OPPONENT,
    INACTIVE_IN_PLAY_TRIGGERS,
    MAX_GRANTED_EFFECTS,
    Op,
    Trait,
    Trigger,
    Until,
)
from engine.effects.board import add_to_hand, has_room, remove_minion, reset_to_card
from engine.effects.triggers import fire_trigger, queue_rows
from engine.jit import njit_no_alloc
from engine.state import NO_CHARACTER, NO_TARGET, ZERO_MINION, damage_hero

IN_PLAY_TRIGGERS = sum(1 << trigger for trigger in Trigger if trigger not in INACTIVE_IN_PLAY_TRIGGERS)
"""Bits of the triggers whose rows are active while their card is in play."""


@njit_no_alloc
def clamp(number: int, low: int) -> int:
    """A number clamped to `low`, ..., `MAX_STAT`, the largest attack or health."""
    return min(max(number, low), MAX_STAT)


@njit_no_alloc
def restore_hero_health(side: np.void, amount: int) -> None:
    """Heal a hero, at most to full health, without firing triggers. `side` is modified in place."""
    side["health"] = max(side["health"], min(side["health"] + amount, side["max_health"]))


@njit_no_alloc
def reduce_minion_health(victim: np.void, damage: int, keywords: int, traits: int) -> int:
    """Damage a minion without firing triggers; return the damage dealt: 0 if Divine Shield absorbs it.

    Args:
        victim: the minion. Modified in place.
        damage: 0 or less has no effect.
        keywords: of the damage source; Poisonous destroys.
        traits: of the damage source; `Trait.FREEZES` freezes.
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


@njit_no_alloc
def reduce_hero_health(side: np.void, damage: int, traits: int) -> int:
    """Damage a hero, armour first, without firing triggers; return the damage dealt. Modified in place."""
    if damage <= 0 or side["traits"] & Trait.IMMUNE:
        return 0
    damage_hero(side, damage)
    if traits & Trait.FREEZES:
        side["traits"] |= Trait.FROZEN
    return damage


@njit_no_alloc
def is_ready(minion: np.void) -> bool:
    """Whether summoning sickness allows a minion to attack: not just summoned, or Charge or Rush."""
    return bool(minion["arrived"] == 0 or minion["keywords"] & (Keyword.CHARGE | Keyword.RUSH))


@njit_no_alloc
def set_keywords(minion: np.void, keywords: int) -> None:
    """Replace a minion's keywords; attacks made this turn still count. `minion` is modified in place."""
    before = 2 if minion["keywords"] & Keyword.WINDFURY else 1
    attacks_made = before - minion["attacks_left"] if is_ready(minion) else 0
    minion["keywords"] = keywords
    after = 2 if keywords & Keyword.WINDFURY else 1
    minion["attacks_left"] = max(after - attacks_made, 0) if is_ready(minion) else 0


@njit_no_alloc
def silence(minion: np.void, cards: np.ndarray) -> None:
    """Silence a minion: remove its text and enchantments; damage stays. `minion` is modified in place."""
    card = cards[minion["card"]]
    set_keywords(minion, 0)
    minion["traits"] = Trait.SILENCED | (minion["traits"] & Trait.DOOMED)
    minion["attack"] = card["attack"]
    minion["turn_attack"] = 0
    minion["spell_damage"] = 0
    minion["granted_effects"][:] = 0
    set_max_health(minion, card["health"] + minion["aura_health"])  # until auras are recomputed
    minion["attack"] += minion["aura_attack"]
    minion["aura_keywords"] = 0


@njit_no_alloc
def set_max_health(minion: np.void, health: int) -> None:
    """Set a minion's maximum health: a gain also heals, a loss caps current health. Modified in place."""
    gained = health - minion["max_health"]
    minion["max_health"] = health
    if gained > 0:
        minion["health"] += gained
    else:
        minion["health"] = min(minion["health"], health)


@njit_no_alloc
def buff(minion: np.void, effect: np.void, attack: int, health: int) -> None:
    """Buff a minion with attack, health and an effect row's keywords. `minion` is modified in place."""
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


@njit_no_alloc
def add_stats(minion: np.void, attack: int, health: int) -> None:
    """Buff a minion with attack and health. `minion` is modified in place."""
    minion["attack"] = clamp(minion["attack"] + attack, 0)
    if health != 0:
        set_max_health(minion, clamp(minion["max_health"] + health, 1))


@njit_no_alloc
def set_stats(minion: np.void, effect: np.void) -> None:
    """Set a minion's attack and health, before auras; -1 keeps a value. `minion` is modified in place."""
    if effect["amount"] >= 0:
        set_attack(minion, effect["amount"])
    if effect["amount2"] >= 0:
        set_health(minion, effect["amount2"])


@njit_no_alloc
def set_attack(minion: np.void, attack: int) -> None:
    """Set a minion's attack, before auras. `minion` is modified in place."""
    minion["attack"] = attack
    minion["turn_attack"] = 0
    minion["aura_attack"] = 0


@njit_no_alloc
def set_health(minion: np.void, health: int) -> None:
    """Set a minion's health and maximum health, before auras. `minion` is modified in place."""
    minion["health"] = health
    minion["max_health"] = health
    minion["aura_health"] = 0


def traits_of_triggers(triggers: int) -> int:
    """Traits of a minion by the triggers of its rows, bits 1 << `Trigger`."""
    deathrattle = Trait.DEATHRATTLE if triggers >> Trigger.DEATHRATTLE & 1 else 0
    return deathrattle | (Trait.ACTS if triggers & IN_PLAY_TRIGGERS else 0)


compiled_traits_of_triggers = njit_no_alloc(traits_of_triggers)


@njit_no_alloc
def grant_effects(minion: np.void, cards: np.ndarray, number: int, of_other: bool) -> None:
    """Grant a minion the effects of a card: a Deathrattle or triggered effects. Modified in place.

    Triggered effects belong to the player who granted them, Deathrattles to the minion's owner.
    """
    triggers = cards[number]["trigger_bits"]
    minion["traits"] |= compiled_traits_of_triggers(triggers)
    opponent_flag = GRANTED_BY_OPPONENT if of_other and triggers & IN_PLAY_TRIGGERS else 0
    for n in range(MAX_GRANTED_EFFECTS):
        if minion["granted_effects"][n] == 0 or n == MAX_GRANTED_EFFECTS - 1:
            minion["granted_effects"][n] = number + 1 + opponent_flag
            return


@njit_no_alloc
def change_minion(minion: np.void, cards: np.ndarray, effect: np.void, amount: int, amount2: int) -> None:
    """Apply an effect row to a minion that stays on its board; damage excluded. Modified in place."""
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
    elif op == Op.SET_ATTACK_TO_HEALTH:
        set_attack(minion, clamp(minion["health"], 0))
    elif op == Op.TRAIT:
        minion["traits"] |= effect["amount"]
    elif op == Op.LOSE_KEYWORDS:
        set_keywords(minion, minion["keywords"] & ~effect["keywords"])
        minion["aura_keywords"] &= ~effect["keywords"]
    elif op == Op.SPELL_DAMAGE:
        minion["spell_damage"] = clamp(minion["spell_damage"] + amount, 0)


@njit_no_alloc
def change_hero(side: np.void, effect: np.void, amount: int) -> None:
    """Apply an effect row to a hero. `side` is modified in place."""
    op = effect["op"]
    if op == Op.BUFF:
        side["hero_attack"] = clamp(side["hero_attack"] + amount, 0)
    elif op == Op.FREEZE:
        side["traits"] |= Trait.FROZEN
    elif op == Op.SET:
        side["health"] = min(int(effect["amount2"]), int(side["max_health"]))
    elif op == Op.TRAIT:
        side["traits"] |= effect["amount"]


@njit_no_alloc
def bounce(state: np.void, seat: int, place: int) -> None:
    """Return a minion to its owner's hand; a full hand destroys the minion. `state` is modified in place."""
    side = state["sides"][seat]
    if side["n_hand"] < len(side["hand"]):
        number = side["board"][place]["card"]
        remove_minion(side, place, ZERO_MINION)
        add_to_hand(side, number)
    else:
        side["board"][place]["traits"] |= Trait.DOOMED


@njit_no_alloc
def transform(state: np.void, cards: np.ndarray, seat: int, place: int, number: int) -> None:
    """Transform a minion into another card's minion. `state` is modified in place."""
    side = state["sides"][seat]
    state["last_entity_id"] += 1
    reset_to_card(side["board"][place], cards, number)
    side["board"][place]["entity_id"] = state["last_entity_id"]


@njit_no_alloc
def take_control(state: np.void, cards: np.ndarray, seat: int, place: int) -> None:
    """Move the enemy minion at `place` to the board of `seat`; a full board destroys the minion."""
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    if not has_room(own):
        enemy["board"][place]["traits"] |= Trait.DOOMED
        return
    own["board"][own["n_board"]] = enemy["board"][place]
    remove_minion(enemy, place, ZERO_MINION)
    minion = own["board"][own["n_board"]]
    state["last_entity_id"] += 1
    minion["entity_id"] = state["last_entity_id"]
    for n in range(MAX_GRANTED_EFFECTS):
        gift = minion["granted_effects"][n] & ~GRANTED_BY_OPPONENT
        if gift and cards[gift - 1]["trigger_bits"] & IN_PLAY_TRIGGERS:
            minion["granted_effects"][n] ^= GRANTED_BY_OPPONENT
    own["n_board"] += 1
    minion["arrived"] = 1
    minion["attacks_left"] = 0
    if is_ready(minion):
        minion["attacks_left"] = 2 if minion["keywords"] & Keyword.WINDFURY else 1


@njit_no_alloc
def change_crystals(side: np.void, amount: int) -> None:
    """Add empty mana crystals, or destroy crystals. `side` is modified in place."""
    before = side["crystals"]
    side["crystals"] = min(max(before + amount, 0), MAX_MANA)
    side["mana"] = min(side["mana"], side["crystals"]) if amount < 0 else side["mana"]


@njit_no_alloc
def clear_weapon(side: np.void) -> None:
    """Clear a player's weapon. `side` is modified in place."""
    side["weapon"] = 0
    side["weapon_attack"] = 0
    side["weapon_aura"] = 0
    side["durability"] = 0


assert BOARD_SIZE < MAX_STAT


@njit_no_alloc
def max_hero_attacks(side: np.void, cards: np.ndarray) -> int:
    """Number of attacks a hero has per turn: two with a Windfury weapon, otherwise one."""
    if side["durability"] > 0 and cards[side["weapon"]]["keywords"] & Keyword.WINDFURY:
        return 2
    return 1


@njit_no_alloc
def has_weapon(side: np.void) -> bool:
    """Whether a player has a weapon."""
    return bool(side["weapon_attack"] or side["durability"] or side["weapon"])


@njit_no_alloc
def equip(state: np.void, cards: np.ndarray, seat: int, number: int, events: np.void) -> None:
    """Equip a weapon and destroy the old one. `state` and `events` are modified in place."""
    destroy_weapon(state, cards, seat, events)
    replace_weapon(state, cards, seat, number, events)


@njit_no_alloc
def replace_weapon(state: np.void, cards: np.ndarray, seat: int, number: int, events: np.void) -> int:
    """Replace a player's weapon; return the old weapon's card number, or -1. Modified in place."""
    side = state["sides"][seat]
    attacks_made = max_hero_attacks(side, cards) - side["hero_attacks_left"]
    old_weapon = int(side["weapon"]) if has_weapon(side) else -1
    clear_weapon(side)
    side["weapon"] = number
    side["weapon_attack"] = cards[number]["attack"]
    side["durability"] = cards[number]["health"]
    events["before"][seat]["same_weapon"] = 0
    if seat == state["active"]:
        side["hero_attacks_left"] = max_hero_attacks(side, cards) - attacks_made
    fire_trigger(state, cards, events, Trigger.EQUIPPED, seat, NO_CHARACTER, number, 1)
    return old_weapon


@njit_no_alloc
def change_durability(state: np.void, cards: np.ndarray, seat: int, change: int, events: np.void) -> None:
    """Change a weapon's durability; a weapon at 0 breaks, and its triggers wait for the death phase.

    Source: HearthSim/hs-bugs 106; a destroyed weapon triggers at once (25).
    """
    side = state["sides"][seat]
    if side["durability"] + change > 0:
        side["durability"] = clamp(side["durability"] + change, 0)
    elif has_weapon(side):
        events["broken_weapon_bits"] |= 1 << seat
        events["broken_weapons"][seat] = side["weapon"]
        _unequip(state, cards, seat)


@njit_no_alloc
def trigger_broken_weapons(state: np.void, cards: np.ndarray, events: np.void) -> None:
    """Queue the Deathrattles and triggers of broken weapons. `state` and `events` are modified in place."""
    for seat in range(2):
        if events["broken_weapon_bits"] >> seat & 1:
            queue_weapon_triggers(state, cards, seat, int(events["broken_weapons"][seat]), events)
    events["broken_weapon_bits"] = 0


@njit_no_alloc
def destroy_weapon(state: np.void, cards: np.ndarray, seat: int, events: np.void) -> None:
    """Destroy a player's weapon, if any, and queue its Deathrattle. Modified in place."""
    side = state["sides"][seat]
    number = side["weapon"]
    if has_weapon(side):
        _unequip(state, cards, seat)
        queue_weapon_triggers(state, cards, seat, number, events)


@njit_no_alloc
def _unequip(state: np.void, cards: np.ndarray, seat: int) -> None:
    """Unequip a player's weapon; attacks made with it still count. `state` is modified in place."""
    side = state["sides"][seat]
    attacks_made = max_hero_attacks(side, cards) - side["hero_attacks_left"]
    clear_weapon(side)
    if seat == state["active"]:
        side["hero_attacks_left"] = 1 - attacks_made


@njit_no_alloc
def queue_weapon_triggers(state: np.void, cards: np.ndarray, seat: int, number: int, events: np.void) -> None:
    """Queue the Deathrattle and the triggers of a destroyed weapon. `events` is modified in place."""
    queue_rows(cards, number, Trigger.DEATHRATTLE, seat, -1, -1, -1, NO_TARGET, events)
    fire_trigger(state, cards, events, Trigger.WEAPON_DESTROYED, seat, NO_CHARACTER, number, 1)
