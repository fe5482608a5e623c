"""Transposition keys: when two positions of a turn have the same future; compiled.

What has no influence is left out: the order of boards and hands, the order in which minions without a
Deathrattle came into play, what the opponent holds, the order of decks, and how many died or were burned.
Where cards of the game ask for more (`is_simple`), the order of boards counts, and so does all that is kept.
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
    """Four numbers of 16 bits in a word."""
    word = np.uint64(int(first) & _FIELD)
    word = word << _FIELD_BITS | np.uint64(int(second) & _FIELD)
    word = word << _FIELD_BITS | np.uint64(int(third) & _FIELD)
    return word << _FIELD_BITS | np.uint64(int(fourth) & _FIELD)


@njit_borrowing
def card_key(number: int) -> np.uint64:
    """A hash of a card in hand."""
    return to_sum(stir(np.uint64(3), np.uint64(int(number) & _FIELD)))


@njit_borrowing
def minion_key(minion: np.void, own: np.uint64) -> np.uint64:
    """A hash of what a minion's future depends on; `own` tells the sides apart."""
    born = minion["born"] if minion["traits"] & (Trait.DEATHRATTLE | Trait.ACTS) else 0
    key = stir(own, word_of(minion["card"], minion["attack"], minion["health"], minion["keywords"]))
    rest = minion["attacks_left"] + 4 * minion["arrived"]
    key = stir(key, word_of(rest, minion["max_health"], minion["traits"], minion["race"]))
    key = stir(key, word_of(minion["turn_attack"], minion["spell_damage"], born, minion["gifts"][0]))
    if minion["aura_attack"] or minion["aura_health"] or minion["aura_keywords"]:
        key = stir(key, word_of(minion["aura_attack"], minion["aura_health"], minion["aura_keywords"], 9))
    return to_sum(key ^ np.uint64(minion["gifts"][1]))


@njit_borrowing
def is_simple(cards: np.ndarray) -> bool:
    """Whether no card of a game asks for more than minions that act at the end of a turn."""
    return bool((asked_by(cards) & ~SIMPLE) == 0)


@njit_borrowing
def places_matter(cards: np.ndarray) -> bool:
    """Whether a card of a game does something with neighbours, so that places on boards count."""
    return bool(asked_by(cards) & Ask.NEIGHBOURS)


@njit_borrowing
def kept_key(state: np.void, cards: np.ndarray) -> np.uint64:
    """A hash of what only some games with effects keep, and of the places on boards where they count."""
    seat = state["active"]
    asks = asked_by(cards)
    total = np.uint64(0)
    for who in range(2):
        side = state["sides"][who]
        key = np.uint64(5 if who == seat else 6)
        if asks & Ask.NEIGHBOURS:
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
        if asks & Ask.GRAVES:
            for place in range(side["n_graves"]):
                key = stir(key, word_of(side["graves"][place], 0, 0, 2))
        total += to_sum(key)
    own = state["sides"][seat]
    for place in range(own["n_hand"]):
        held = own["held"][place]
        if held["cost"] or held["attack"] or held["health"]:
            word = word_of(own["hand"][place], held["cost"], held["attack"], held["health"])
            total += to_sum(stir(np.uint64(7), word))
    return total


@njit_borrowing
def choices_key(state: np.void) -> np.uint64:
    """A hash of what a player has to choose, 0 where that is nothing."""
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
    | Ask.PLAYED
    | Ask.SPELLS
    | Ask.TOTEMS
    | Ask.PERISHED
    | Ask.HURT
    | Ask.ELEMENTALS
    | Ask.OVERLOADED
    | Ask.POWERS
    | Ask.SECRETS
    | Ask.JADE
    | Ask.GRAVES
)
"""Bits of `asks` for which something is counted on the sides."""

SIMPLE = (
    Ask.EFFECTS
    | Ask.EVENTS
    | sum(1 << (EVENT_SHIFT + trigger) for trigger in (Trigger.PLAY, Trigger.DEATHRATTLE, Trigger.TURN_END))
)
"""Bits of `asks` of which the order of boards and what is kept are independent."""


@njit_borrowing
def side_key(side: np.void, own: np.uint64) -> np.uint64:
    """A hash of a side without its board and hand; `own` tells the sides apart."""
    key = stir(own, word_of(side["health"], side["armour"], side["mana"], side["crystals"]))
    key = stir(key, word_of(side["fatigue"], side["power"], side["power_used"], side["weapon"]))
    armed = side["hero_attack"], side["hero_attacks_left"]
    key = stir(key, word_of(side["weapon_attack"], side["durability"], armed[0], armed[1]))
    key = stir(key, word_of(side["traits"], side["overload"], side["locked"], side["n_hand"]))
    return to_sum(key ^ np.uint64(side["n_deck"]))
