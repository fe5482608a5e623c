"""Conditions of effect rows, and the counts that multiply their amounts; compiled."""

import numpy as np

from engine.codes import COIN, MAX_MANA, Keyword
from engine.effect_codes import MINIONS, CardFilter, Condition, Count, Trait
from engine.effects.board import board_index, has_room, is_dying
from engine.effects.card_filters import card_matches, is_of_race
from engine.jit import njit_no_alloc
from engine.state import ENEMY_HERO, NO_TARGET, OWN_HERO


@njit_no_alloc
def condition_holds(
    state: np.void, cards: np.ndarray, seat: int, condition: int, arg: int, queued: np.void
) -> bool:
    """Whether an effect row's condition holds; a negative code negates the condition.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        seat: the row's player.
        condition: a `Condition`; negative for its negation.
        arg: value it compares with.
        queued: the queued row, dtype `QUEUED_EFFECT`: its minion, target and event.
    """
    if condition < 0:
        return not _is_met(state, cards, seat, -condition, arg, queued)
    return condition == Condition.NONE or _is_met(state, cards, seat, condition, arg, queued)


@njit_no_alloc
def _is_met(state: np.void, cards: np.ndarray, seat: int, condition: int, arg: int, queued: np.void) -> bool:
    """Whether a positive condition holds."""
    side, enemy = state["sides"][seat], state["sides"][1 - seat]
    if condition in (
        Condition.DAMAGED,
        Condition.ATTACK,
        Condition.DYING,
        Condition.TARGET_DYING,
        Condition.TARGET_RACE,
        Condition.TARGET_OWN,
        Condition.TARGET_FROZEN,
        Condition.ATTACKS_HERO,
        Condition.DEFENDER_DYING,
    ):
        return _is_met_by_character(state, seat, condition, arg, queued)
    if condition == Condition.MANA_FULL:
        return bool(side["crystals"] >= MAX_MANA)
    if condition == Condition.HAS_TARGET:
        return bool(queued["target"] != NO_TARGET)
    if condition == Condition.HAS_WEAPON:
        return bool(side["durability"] > 0)
    if condition == Condition.ENEMY_TURN:
        return bool(state["active"] != seat)
    if condition == Condition.COMBO:
        return bool(side["played"] > 0)
    if condition == Condition.HEALTH_AT_MOST:
        return bool(side["health"] <= arg)
    if condition == Condition.ENEMY_HEALTH_AT_MOST:
        return bool(enemy["health"] <= arg)
    if condition == Condition.ENEMY_MINIONS:
        return bool(enemy["n_board"] >= arg)
    if condition == Condition.OWN_MINIONS:
        return bool(n_other_minions(side, queued["source"]) >= arg)
    if condition == Condition.ALONE:
        return bool(side["n_board"] + enemy["n_board"] <= 1)
    if condition == Condition.EMPTY_HANDED:
        return bool(side["n_hand"] == 0)
    if condition == Condition.ENEMY_HAND:
        return bool(enemy["n_hand"] >= arg)
    if condition == Condition.HOLDS_RACE:
        return n_in_hand(side, cards, MINIONS, CardFilter.RACE, arg) > 0
    if condition == Condition.SPELL_DAMAGE:
        return total_spell_damage(side) > 0
    if condition == Condition.ARMOUR:
        return bool(side["armour"] >= arg)
    if condition == Condition.WEAPON_ATTACK:
        return bool(side["durability"] > 0 and side["weapon_attack"] >= arg)
    if condition == Condition.MINIONS_DIED_THIS_TURN:
        return bool(side["died_this_turn"] + enemy["died_this_turn"] >= arg)
    if condition == Condition.HERO_DAMAGED_THIS_TURN:
        return bool(side["hero_damage_this_turn"] > 0)
    if condition == Condition.ROOM:
        return has_room(side)
    if condition == Condition.ENEMY_PLAYED:
        return bool(enemy["played"] >= arg)
    if condition == Condition.SECRET:
        return bool(side["n_secrets"] > 0)
    if condition == Condition.ELEMENTAL_LAST_TURN:
        return bool(side["elementals_before"] > 0)
    if condition in (Condition.NO_DUPLICATES, Condition.ONLY_ODD, Condition.ONLY_EVEN, Condition.NO_COST):
        return deck_meets(side, cards, condition, arg)
    if condition == Condition.ENEMY_FROZEN and enemy["traits"] & Trait.FROZEN:
        return True
    return _any_minion_meets(state, seat, condition, arg, queued["source"])


@njit_no_alloc
def _is_met_by_character(state: np.void, seat: int, condition: int, arg: int, queued: np.void) -> bool:
    """Whether a condition about the effect row's minion or target, or the attack's defender, holds."""
    side, enemy = state["sides"][seat], state["sides"][1 - seat]
    of_own_minion = condition in (Condition.DAMAGED, Condition.ATTACK, Condition.DYING)
    character = queued["target"]
    if of_own_minion:
        character = queued["source"]
    elif condition in (Condition.ATTACKS_HERO, Condition.DEFENDER_DYING):
        character = queued["defender"]
    if condition == Condition.ATTACKS_HERO:
        # In the opponent's turn, ENEMY_HERO means an attack redirected to the attacker's own hero.
        return bool(character == OWN_HERO or (character == ENEMY_HERO and seat == state["active"]))
    if character in (OWN_HERO, ENEMY_HERO):
        hero = side if character == OWN_HERO else enemy
        if condition == Condition.TARGET_FROZEN:
            return bool(hero["traits"] & Trait.FROZEN)
        if condition == Condition.TARGET_OWN:
            return bool(character == OWN_HERO and arg == 0)
        return bool(condition in (Condition.TARGET_DYING, Condition.DEFENDER_DYING) and hero["health"] <= 0)
    place = board_index(side, character)
    is_own = place >= 0
    if not is_own:
        place = board_index(enemy, character)
        if place < 0 and condition == Condition.ATTACK:
            return bool(queued["amount"] >= arg)  # the attack it had when it died
        if place < 0:
            return bool(condition in (Condition.TARGET_DYING, Condition.DEFENDER_DYING, Condition.DYING))
    minion = side["board"][place] if is_own else enemy["board"][place]
    if condition == Condition.DAMAGED:
        return bool(minion["health"] < minion["max_health"])
    if condition == Condition.ATTACK:
        return bool(minion["attack"] >= arg)
    if condition == Condition.TARGET_RACE:
        return is_of_race(minion["race"], arg)
    if condition == Condition.TARGET_OWN:
        return is_own and (arg == 0 or is_of_race(minion["race"], arg))
    if condition == Condition.TARGET_FROZEN:
        return bool(minion["traits"] & Trait.FROZEN)
    return is_dying(minion)


@njit_no_alloc
def _any_minion_meets(state: np.void, seat: int, condition: int, arg: int, entity_id: int) -> bool:
    """Whether some minion meets a condition; the effect row's own minion does not count."""
    enemies = condition in (Condition.ENEMY_KEYWORD, Condition.ENEMY_FROZEN)
    side = state["sides"][1 - seat if enemies else seat]
    for place in range(side["n_board"]):
        minion = side["board"][place]
        if minion["entity_id"] == entity_id and condition != Condition.MINION_ATTACK:
            continue
        if condition == Condition.RACE and is_of_race(minion["race"], arg):
            return True
        if condition in (Condition.OWN_KEYWORD, Condition.ENEMY_KEYWORD) and minion["keywords"] & arg:
            return True
        if condition == Condition.ENEMY_FROZEN and minion["traits"] & Trait.FROZEN:
            return True
        if condition == Condition.MINION_ATTACK and minion["attack"] >= arg:
            return True
        if condition == Condition.MINION_HEALTH and minion["health"] >= arg:
            return True
    return False


@njit_no_alloc
def n_other_minions(side: np.void, entity_id: int) -> int:
    """Number of minions on a board, without the one with this entity id."""
    return int(side["n_board"]) - (1 if board_index(side, entity_id) >= 0 else 0)


@njit_no_alloc
def n_of_race(side: np.void, race: int, entity_id: int) -> int:
    """Number of minions of a tribe on a board, without the one with this entity id."""
    n = 0
    for place in range(side["n_board"]):
        minion = side["board"][place]
        if minion["entity_id"] != entity_id and is_of_race(minion["race"], race):
            n += 1
    return n


@njit_no_alloc
def n_in_hand(side: np.void, cards: np.ndarray, kinds: int, required: int, arg: int) -> int:
    """Number of cards in a hand that match card types and a filter; hidden cards do not count."""
    n = 0
    for place in range(side["n_hand"]):
        number = side["hand"][place]
        if number >= 0 and card_matches(cards[number], kinds, required, arg):
            n += 1
    return n


@njit_no_alloc
def n_damaged(side: np.void) -> int:
    """Number of damaged minions on a board."""
    n = 0
    for place in range(side["n_board"]):
        minion = side["board"][place]
        if minion["health"] < minion["max_health"]:
            n += 1
    return n


@njit_no_alloc
def total_spell_damage(side: np.void) -> int:
    """Total Spell Damage of a player's minions."""
    total = 0
    for place in range(side["n_board"]):
        total += side["board"][place]["spell_damage"]
    return total


@njit_no_alloc
def deck_meets(side: np.void, cards: np.ndarray, condition: int, arg: int) -> bool:
    """Whether a deck meets a condition on all its cards; hidden cards are assumed to meet it."""
    for place in range(side["n_deck"]):
        number = side["deck"][place]
        if number < 0:
            continue
        cost = cards[number]["cost"]
        if condition == Condition.NO_DUPLICATES:
            for other in range(place):
                if side["deck"][other] == number:
                    return False
        elif condition == Condition.ONLY_ODD:
            if cost % 2 == 0:
                return False
        elif condition == Condition.ONLY_EVEN:
            if cost % 2 == 1:
                return False
        elif cost == arg:
            return False
    return True


@njit_no_alloc
def count_value(state: np.void, seat: int, count: int, arg: int, queued: np.void) -> int:
    """Value of a `Count`, the multiplier of an effect row's amounts; >= 0 except for attack.

    Arguments as `condition_holds`.
    """
    side, enemy = state["sides"][seat], state["sides"][1 - seat]
    entity_id = queued["source"]
    if count == Count.OTHER_MINIONS:
        return n_other_minions(side, entity_id)
    if count == Count.ENEMY_MINIONS:
        return int(enemy["n_board"])
    if count == Count.ALL_OTHER_MINIONS:
        return n_other_minions(side, entity_id) + int(enemy["n_board"])
    if count == Count.HAND:
        return int(side["n_hand"])
    if count == Count.OTHER_HAND:
        return max(int(side["n_hand"]) - 1, 0)
    if count == Count.ENEMY_HAND:
        return int(enemy["n_hand"])
    if count == Count.WEAPON_ATTACK:
        return int(side["weapon_attack"]) if side["durability"] > 0 else 0
    if count == Count.DURABILITY:
        return int(side["durability"])
    if count == Count.ENEMY_DURABILITY:
        return int(enemy["durability"])
    if count == Count.ENEMY_WEAPON_ATTACK:
        return int(enemy["weapon_attack"]) if enemy["durability"] > 0 else 0
    if count == Count.HERO_ATTACK:
        return int(side["hero_attack"] + side["weapon_attack"])
    if count == Count.ARMOUR:
        return int(side["armour"])
    if count == Count.DAMAGE_TAKEN:
        return max(int(side["max_health"] - side["health"]), 0)
    if count == Count.DIED:
        return int(side["died_this_turn"] + enemy["died_this_turn"])
    if count == Count.PLAYED:
        return int(side["played"])
    if count == Count.EVENT:
        return int(queued["amount"])
    if count == Count.OTHER_RACE:
        return n_of_race(side, arg, entity_id)
    if count == Count.ALL_OTHER_RACE:
        return n_of_race(side, arg, entity_id) + n_of_race(enemy, arg, entity_id)
    if count == Count.DAMAGED:
        return n_damaged(side) + n_damaged(enemy)
    if count == Count.OWN_DAMAGED:
        return n_damaged(side) + (1 if side["health"] < side["max_health"] else 0)
    if count == Count.TOTEMS:
        return int(side["totems"])
    if count == Count.SPELLS:
        return int(side["spells"])
    if count == Count.MANA:
        return int(side["mana"])
    if count == Count.OVERLOADED:
        return int(side["overloaded"])
    if count == Count.POWERS:
        return int(side["powers"])
    if count == Count.SECRETS:
        return int(side["secrets_played"])
    if count == Count.ELEMENTALS:
        return int(side["elementals_before"])
    if count == Count.ENEMY_DEATHRATTLES:
        n = 0
        for place in range(enemy["n_board"]):
            n += 1 if enemy["board"][place]["traits"] & Trait.DEATHRATTLE else 0
        return n
    if count == Count.SHIELDS:
        return n_shielded(side) + n_shielded(enemy)
    if count in (Count.NEIGHBOURS_ATTACK, Count.NEIGHBOURS_HEALTH):
        return _of_neighbours(side, entity_id, count == Count.NEIGHBOURS_HEALTH)
    character = entity_id if count == Count.OWN_ATTACK else queued["target"]
    for half in (side, enemy):
        place = board_index(half, character)
        if place >= 0:
            health = count == Count.TARGET_HEALTH
            return int(half["board"][place]["health"] if health else half["board"][place]["attack"])
    return 0


@njit_no_alloc
def n_shielded(side: np.void) -> int:
    """Number of minions with Divine Shield on a board."""
    n = 0
    for place in range(side["n_board"]):
        n += 1 if side["board"][place]["keywords"] & Keyword.DIVINE_SHIELD else 0
    return n


@njit_no_alloc
def _of_neighbours(side: np.void, entity_id: int, health: bool) -> int:
    """Total attack, or health, of the minions adjacent to one."""
    total = 0
    place = board_index(side, entity_id)
    for other in (place - 1, place + 1):
        if place >= 0 and 0 <= other < side["n_board"]:
            total += side["board"][other]["health"] if health else side["board"][other]["attack"]
    return total


@njit_no_alloc
def has_hidden_card(side: np.void) -> bool:
    """Whether a hand has a card that is hidden from the planning agent."""
    found = False
    for place in range(side["n_hand"]):
        found = found or side["hand"][place] < COIN
    return found
