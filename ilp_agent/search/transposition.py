"""Transposition keys and table of the turn search; compiled."""

import numpy as np

from engine.bitfields import additive_hash
from engine.codes import Keyword
from engine.effect_codes import TRIGGER_SHIFT, GameFeature, Trait, Trigger
from engine.effects.ops_character import reduce_minion_health
from engine.effects.transposition import (
    card_key,
    choices_key,
    counters_key,
    minion_key,
    needs_no_order,
    pack_word,
    side_key,
)
from engine.jit import njit_no_alloc


@njit_no_alloc
def initial_health(minion: np.void, cards: np.ndarray, start: np.void) -> int:
    """Initial health of an own minion: at the start of the search, or printed if the minion entered later."""
    if minion["entity_id"] <= start["last_entity_id"]:
        for place in range(start["n"]):
            if start["entity_id"][place] == minion["entity_id"]:
                return int(start["health"][place])
    return int(cards[minion["card"]]["health"])


@njit_no_alloc
def own_minion_key(minion: np.void, cards: np.ndarray, start: np.void) -> np.uint64:
    """`minion_key` of an own minion, with its initial health."""
    return additive_hash(minion_key(minion, np.uint64(1)) ^ np.uint64(initial_health(minion, cards, start)))


@njit_no_alloc
def position_key(state: np.void, cards: np.ndarray, start: np.void, strikers: int, ghosts: int) -> np.uint64:
    """Hash of everything that the value of the rest of a turn can depend on.

    It extends `engine.effects.transposition`.

    Args:
        state: dtype `engine.state.STATE`.
        cards: the card table.
        start: dtype `ilp_agent.search.work.START`.
        strikers: minions from hand that have attacked, with the slot rule of the integer program; else 0.
        ghosts: those of them that died.
    """
    seat = start["seat"]
    own, enemy = state["sides"][seat], state["sides"][1 - seat]
    total = side_key(own, np.uint64(1)) + side_key(enemy, np.uint64(2))
    for place in range(own["n_board"]):
        total += own_minion_key(own["board"][place], cards, start)
    for place in range(enemy["n_board"]):
        total += minion_key(enemy["board"][place], np.uint64(2))
    for place in range(own["n_hand"]):
        total += card_key(own["hand"][place])
    if not needs_no_order(cards):
        total += counters_key(state, cards)
    total += choices_key(state)
    if strikers or ghosts:
        total += additive_hash(pack_word(4, strikers, ghosts, 0))
    return total


@njit_no_alloc
def hand_modifier_word(held: np.void) -> np.uint64:
    """Modifiers of a card in hand, as one word."""
    return pack_word(held["cost"], held["attack"], held["health"], 0)


@njit_no_alloc
def has_earlier_copy(own: np.void, source: int) -> bool:
    """Whether an identical card with the same modifiers is further left in hand."""
    for place in range(source):
        same = own["hand"][place] == own["hand"][source]
        if same and hand_modifier_word(own["hand_modifiers"][place]) == hand_modifier_word(
            own["hand_modifiers"][source]
        ):
            return True
    return False


NO_KEY = np.uint64(0)


@njit_no_alloc
def key_after_attack(
    state: np.void,
    cards: np.ndarray,
    start: np.void,
    key: np.uint64,
    slot: int,
    target: int,
    pair: np.ndarray,
) -> np.uint64:
    """`position_key` after a minion's attack on an enemy minion, without simulating it.

    Most positions of a search are transpositions; this finds them in a third of the time.

    Args:
        state: the position before, dtype `engine.state.STATE`.
        cards: the card table.
        start: dtype `ilp_agent.search.work.START`.
        key: of the position before, without the slot rule of the integer program.
        slot: board position of the own minion.
        target: board position of the enemy minion.
        pair: dtype `MINION`, shape (2,). Modified in place: both minions after the attack.

    Returns:
        The key; `NO_KEY` if more may happen than damage and death.
    """
    seat = start["seat"]
    pair[0] = state["sides"][seat]["board"][slot]
    pair[1] = state["sides"][1 - seat]["board"][target]
    attacker, defender = pair[0], pair[1]
    if cards[0]["game_features"] & COMPLEX_ATTACK_FEATURES:
        return NO_KEY
    if (attacker["traits"] | defender["traits"]) & COMPLEX_ATTACK_TRAITS:
        return NO_KEY
    if (attacker["keywords"] | defender["keywords"]) & Keyword.LIFESTEAL:
        return NO_KEY
    key -= own_minion_key(attacker, cards, start) + minion_key(defender, np.uint64(2))
    attacker["attacks_left"] -= 1
    attacker["keywords"] &= ~Keyword.STEALTH
    damage, keywords = attacker["attack"], attacker["keywords"]
    back, back_keywords = defender["attack"], defender["keywords"]
    reduce_minion_health(defender, damage, keywords, 0)
    reduce_minion_health(attacker, back, back_keywords, 0)
    if attacker["health"] > 0:
        key += own_minion_key(attacker, cards, start)
    if defender["health"] > 0:
        key += minion_key(defender, np.uint64(2))
    return key


COMPLEX_ATTACK_FEATURES = (
    GameFeature.AURAS
    | GameFeature.BOARD_ORDER
    | GameFeature.DIED_THIS_TURN
    | GameFeature.HERO_DAMAGE
    | GameFeature.RULES
    | GameFeature.GRAVEYARD
    | sum(
        1 << (TRIGGER_SHIFT + trigger)
        for trigger in (
            Trigger.ATTACKS,
            Trigger.AFTER_ATTACK,
            Trigger.DAMAGED,
            Trigger.DIED,
            Trigger.AFTER_DEATH,
            Trigger.SHIELD_LOST,
        )
    )
)
"""Game features with which an attack may do more than damage, or its history matters."""

COMPLEX_ATTACK_TRAITS = Trait.DEATHRATTLE | Trait.FREEZES | Trait.IMMUNE | Trait.DOOMED
"""Traits with which an attack does more than damage, or less."""


NOT_FOUND = -1


@njit_no_alloc
def find_entry(key: np.uint64, work: np.void, memo: np.ndarray, slots: np.ndarray) -> int:
    """Index of a position in the transposition table; `NOT_FOUND` if absent."""
    mask = work["n_slots"] - 1
    slot = np.int64(key) & mask
    while True:
        place = np.int64(slots[slot])
        if place == NOT_FOUND or memo[place]["key"] == key:
            return int(place)
        slot = (slot + 1) & mask


@njit_no_alloc
def add_entry(key: np.uint64, work: np.void, memo: np.ndarray, slots: np.ndarray) -> int:
    """Add a position to the transposition table; return its index. The caller fills the entry."""
    place = work["n_memo"]
    work["n_memo"] += 1
    if 2 * work["n_memo"] > work["n_slots"]:
        work["n_slots"] *= 2
        slots[: work["n_slots"]] = NOT_FOUND
        for other in range(place):
            _enter(memo[other]["key"], other, work, slots)
    _enter(key, place, work, slots)
    return int(place)


@njit_no_alloc
def _enter(key: np.uint64, place: int, work: np.void, slots: np.ndarray) -> None:
    mask = work["n_slots"] - 1
    slot = np.int64(key) & mask
    while slots[slot] != NOT_FOUND:
        slot = (slot + 1) & mask
    slots[slot] = place
