"""Transposition keys of positions within a turn, and the transposition table of the turn search; compiled.

The key ignores what cannot influence the rest of the turn: board and hand order, entity ids of minions
without a Deathrattle, the opponent's hand, deck order, and the numbers of dead minions and burned cards. If
cards of the game need more (`needs_no_order` is false), board order and all counters are part of the key.
"""

import numpy as np

from engine.bitfields import additive_hash, fast_hash
from engine.codes import Keyword
from engine.effect_codes import TRIGGER_SHIFT, GameFeature, Trait, Trigger
from engine.effects.card_filters import needed_features
from engine.effects.ops_character import reduce_minion_health
from engine.jit import njit_no_alloc

_FIELD_BITS = np.uint64(16)
_FIELD = 0xFFFF


@njit_no_alloc
def pack_word(first: int, second: int, third: int, fourth: int) -> np.uint64:
    """Pack four 16-bit numbers into a 64-bit word."""
    word = np.uint64(int(first) & _FIELD)
    word = word << _FIELD_BITS | np.uint64(int(second) & _FIELD)
    word = word << _FIELD_BITS | np.uint64(int(third) & _FIELD)
    return word << _FIELD_BITS | np.uint64(int(fourth) & _FIELD)


@njit_no_alloc
def card_key(number: int) -> np.uint64:
    """Hash of a card in hand."""
    return additive_hash(fast_hash(np.uint64(3), np.uint64(int(number) & _FIELD)))


@njit_no_alloc
def minion_key(minion: np.void, own: np.uint64) -> np.uint64:
    """Hash of a minion; `own` distinguishes the sides."""
    entity_id = minion["entity_id"] if minion["traits"] & (Trait.DEATHRATTLE | Trait.ACTS) else 0
    key = fast_hash(own, pack_word(minion["card"], minion["attack"], minion["health"], minion["keywords"]))
    rest = minion["attacks_left"] + 4 * minion["arrived"]
    key = fast_hash(key, pack_word(rest, minion["max_health"], minion["traits"], minion["race"]))
    key = fast_hash(
        key, pack_word(minion["turn_attack"], minion["spell_damage"], entity_id, minion["granted_effects"][0])
    )
    if minion["aura_attack"] or minion["aura_health"] or minion["aura_keywords"]:
        key = fast_hash(
            key, pack_word(minion["aura_attack"], minion["aura_health"], minion["aura_keywords"], 9)
        )
    return additive_hash(key ^ np.uint64(minion["granted_effects"][1]))


@njit_no_alloc
def needs_no_order(cards: np.ndarray) -> bool:
    """Whether the cards of a game need no board order and no counters: the key may ignore both."""
    return bool((needed_features(cards) & ~SIMPLE_FEATURES) == 0)


@njit_no_alloc
def board_order_matters(cards: np.ndarray) -> bool:
    """Whether board order matters: a card of the game affects adjacent minions."""
    return bool(needed_features(cards) & GameFeature.BOARD_ORDER)


@njit_no_alloc
def counters_key(state: np.void, cards: np.ndarray) -> np.uint64:
    """Hash of counters, Secrets, graveyards and hand modifiers, and of board order where it matters."""
    seat = state["active"]
    features = needed_features(cards)
    total = np.uint64(0)
    for half in range(2):
        side = state["sides"][half]
        key = np.uint64(5 if half == seat else 6)
        if features & GameFeature.BOARD_ORDER:
            for place in range(side["n_board"]):
                key = fast_hash(key, minion_key(side["board"][place], np.uint64(place)))
        if features & COUNTER_FEATURES:
            key = fast_hash(
                key, pack_word(side["weapon_aura"], side["played"], side["spells"], side["totems"])
            )
            key = fast_hash(
                key, pack_word(side["died_this_turn"], side["hero_damage_this_turn"], 0, side["elementals"])
            )
            key = fast_hash(
                key, pack_word(side["elementals_before"], side["overloaded"], side["powers"], side["jade"])
            )
            key = fast_hash(
                key,
                pack_word(
                    side["secrets_played"],
                    side["pending_costs"][0],
                    side["pending_costs"][1],
                    side["n_graveyard"],
                ),
            )
        for place in range(side["n_secrets"]):
            key = fast_hash(key, pack_word(side["secrets"][place], side["secret_entity_ids"][place], 0, 1))
        if features & GameFeature.GRAVEYARD:
            for place in range(side["n_graveyard"]):
                key = fast_hash(key, pack_word(side["graveyard"][place], 0, 0, 2))
        total += additive_hash(key)
    own = state["sides"][seat]
    for place in range(own["n_hand"]):
        modifiers = own["hand_modifiers"][place]
        if modifiers["cost"] or modifiers["attack"] or modifiers["health"]:
            word = pack_word(own["hand"][place], modifiers["cost"], modifiers["attack"], modifiers["health"])
            total += additive_hash(fast_hash(np.uint64(7), word))
    return total


@njit_no_alloc
def choices_key(state: np.void) -> np.uint64:
    """Hash of pending choices; 0 if there are none."""
    if state["n_options"] == 0 and state["n_choices"] == 0:
        return np.uint64(0)
    key = np.uint64(8)
    for place in range(state["n_options"]):
        key = fast_hash(key, pack_word(state["options"][place], 0, 0, 3))
    for place in range(state["n_choices"]):
        choice = state["choices"][place]
        key = fast_hash(key, pack_word(choice["card"], choice["row"], choice["chosen_before"], 4))
    return additive_hash(key)


COUNTER_FEATURES = (
    GameFeature.AURAS
    | GameFeature.COSTS
    | GameFeature.CARDS_PLAYED
    | GameFeature.SPELLS_CAST
    | GameFeature.TOTEMS_SUMMONED
    | GameFeature.DIED_THIS_TURN
    | GameFeature.HERO_DAMAGE
    | GameFeature.ELEMENTALS
    | GameFeature.OVERLOADED
    | GameFeature.POWERS_USED
    | GameFeature.SECRETS_PLAYED
    | GameFeature.JADE
    | GameFeature.GRAVEYARD
)
"""Bits of `features` whose counters are part of the key."""

SIMPLE_FEATURES = (
    GameFeature.EFFECTS
    | GameFeature.TRIGGERS
    | sum(1 << (TRIGGER_SHIFT + trigger) for trigger in (Trigger.PLAY, Trigger.DEATHRATTLE, Trigger.TURN_END))
)
"""Bits of `features` that need neither board order nor counters in the key."""


@njit_no_alloc
def side_key(side: np.void, own: np.uint64) -> np.uint64:
    """Hash of a side without its board and hand; `own` distinguishes the sides."""
    key = fast_hash(own, pack_word(side["health"], side["armour"], side["mana"], side["crystals"]))
    key = fast_hash(key, pack_word(side["fatigue"], side["power"], side["power_used"], side["weapon"]))
    hero_fields = side["hero_attack"], side["hero_attacks_left"]
    key = fast_hash(key, pack_word(side["weapon_attack"], side["durability"], hero_fields[0], hero_fields[1]))
    key = fast_hash(key, pack_word(side["traits"], side["overload"], side["locked"], side["n_hand"]))
    return additive_hash(key ^ np.uint64(side["n_deck"]))


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

    What it leaves out is said at the top of this module.

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
