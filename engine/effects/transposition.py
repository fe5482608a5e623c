"""Transposition keys of positions within a turn; compiled.

The key ignores what cannot influence the rest of the turn: board and hand order, entity ids of minions
without a Deathrattle, the opponent's hand, deck order, and the numbers of dead minions and burned cards. If
cards of the game need more (`is_simple` is false), board order and all counters are part of the key.
"""

import numpy as np

from engine.bitfields import stir, to_sum
from engine.effect_codes import EVENT_SHIFT, Ask, Trait, Trigger
from engine.effects.card_filters import asked_by
from engine.jit import njit_borrowing

_FIELD_BITS = np.uint64(16)
_FIELD = 0xFFFF


@njit_borrowing
def word_of(first: int, second: int, third: int, fourth: int) -> np.uint64:
    """Pack four 16-bit numbers into a 64-bit word."""
    word = np.uint64(int(first) & _FIELD)
    word = word << _FIELD_BITS | np.uint64(int(second) & _FIELD)
    word = word << _FIELD_BITS | np.uint64(int(third) & _FIELD)
    return word << _FIELD_BITS | np.uint64(int(fourth) & _FIELD)


@njit_borrowing
def card_key(number: int) -> np.uint64:
    """Hash of a card in hand."""
    return to_sum(stir(np.uint64(3), np.uint64(int(number) & _FIELD)))


@njit_borrowing
def minion_key(minion: np.void, own: np.uint64) -> np.uint64:
    """Hash of a minion; `own` distinguishes the sides."""
    entity_id = minion["born"] if minion["traits"] & (Trait.DEATHRATTLE | Trait.ACTS) else 0
    key = stir(own, word_of(minion["card"], minion["attack"], minion["health"], minion["keywords"]))
    rest = minion["attacks_left"] + 4 * minion["arrived"]
    key = stir(key, word_of(rest, minion["max_health"], minion["traits"], minion["race"]))
    key = stir(key, word_of(minion["turn_attack"], minion["spell_damage"], entity_id, minion["gifts"][0]))
    if minion["aura_attack"] or minion["aura_health"] or minion["aura_keywords"]:
        key = stir(key, word_of(minion["aura_attack"], minion["aura_health"], minion["aura_keywords"], 9))
    return to_sum(key ^ np.uint64(minion["gifts"][1]))


@njit_borrowing
def is_simple(cards: np.ndarray) -> bool:
    """Whether the cards of a game need no board order and no counters: the key may ignore both."""
    return bool((asked_by(cards) & ~SIMPLE) == 0)


@njit_borrowing
def places_matter(cards: np.ndarray) -> bool:
    """Whether board order matters: a card of the game affects adjacent minions."""
    return bool(asked_by(cards) & Ask.BOARD_ORDER)


@njit_borrowing
def kept_key(state: np.void, cards: np.ndarray) -> np.uint64:
    """Hash of counters, Secrets, graveyards and hand modifiers, and of board order where it matters."""
    seat = state["active"]
    asks = asked_by(cards)
    total = np.uint64(0)
    for half in range(2):
        side = state["sides"][half]
        key = np.uint64(5 if half == seat else 6)
        if asks & Ask.BOARD_ORDER:
            for place in range(side["n_board"]):
                key = stir(key, minion_key(side["board"][place], np.uint64(place)))
        if asks & COUNTED:
            key = stir(key, word_of(side["weapon_aura"], side["played"], side["spells"], side["totems"]))
            key = stir(key, word_of(side["perished"], side["hurt"], 0, side["elementals"]))
            key = stir(
                key, word_of(side["elementals_before"], side["overloaded"], side["powers"], side["jade"])
            )
            key = stir(
                key,
                word_of(side["secrets_played"], side["promises"][0], side["promises"][1], side["n_graves"]),
            )
        for place in range(side["n_secrets"]):
            key = stir(key, word_of(side["secrets"][place], side["secret_born"][place], 0, 1))
        if asks & Ask.GRAVEYARD:
            for place in range(side["n_graves"]):
                key = stir(key, word_of(side["graves"][place], 0, 0, 2))
        total += to_sum(key)
    own = state["sides"][seat]
    for place in range(own["n_hand"]):
        modifiers = own["held"][place]
        if modifiers["cost"] or modifiers["attack"] or modifiers["health"]:
            word = word_of(own["hand"][place], modifiers["cost"], modifiers["attack"], modifiers["health"])
            total += to_sum(stir(np.uint64(7), word))
    return total


@njit_borrowing
def choices_key(state: np.void) -> np.uint64:
    """Hash of pending choices; 0 if there are none."""
    if state["n_options"] == 0 and state["n_choices"] == 0:
        return np.uint64(0)
    key = np.uint64(8)
    for place in range(state["n_options"]):
        key = stir(key, word_of(state["options"][place], 0, 0, 3))
    for place in range(state["n_choices"]):
        choice = state["choices"][place]
        key = stir(key, word_of(choice["card"], choice["row"], choice["memo"], 4))
    return to_sum(key)


COUNTED = (
    Ask.AURAS
    | Ask.COSTS
    | Ask.CARDS_PLAYED
    | Ask.SPELLS_CAST
    | Ask.TOTEMS_SUMMONED
    | Ask.DIED_THIS_TURN
    | Ask.HERO_DAMAGE
    | Ask.ELEMENTALS
    | Ask.OVERLOADED
    | Ask.POWERS_USED
    | Ask.SECRETS_PLAYED
    | Ask.JADE
    | Ask.GRAVEYARD
)
"""Bits of `asks` whose counters are part of the key."""

SIMPLE = (
    Ask.EFFECTS
    | Ask.TRIGGERS
    | sum(1 << (EVENT_SHIFT + trigger) for trigger in (Trigger.PLAY, Trigger.DEATHRATTLE, Trigger.TURN_END))
)
"""Bits of `asks` that need neither board order nor counters in the key."""


@njit_borrowing
def side_key(side: np.void, own: np.uint64) -> np.uint64:
    """Hash of a side without its board and hand; `own` distinguishes the sides."""
    key = stir(own, word_of(side["health"], side["armour"], side["mana"], side["crystals"]))
    key = stir(key, word_of(side["fatigue"], side["power"], side["power_used"], side["weapon"]))
    hero_fields = side["hero_attack"], side["hero_attacks_left"]
    key = stir(key, word_of(side["weapon_attack"], side["durability"], hero_fields[0], hero_fields[1]))
    key = stir(key, word_of(side["traits"], side["overload"], side["locked"], side["n_hand"]))
    return to_sum(key ^ np.uint64(side["n_deck"]))
