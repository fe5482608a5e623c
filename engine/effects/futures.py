"""When two positions of a turn have the same future: a key of all that the rest of the turn can depend on.

What has no influence is left out: the order of boards and hands, the order in which minions without a
Deathrattle came into play, what the opponent holds, the order of decks, and how many died or were burned.
"""

import numpy as np

from engine.hashing import stir, to_sum
from engine.jit import njit
from engine.vocabulary import Trait

_FIELD_BITS = np.uint64(16)
_FIELD = 0xFFFF


@njit
def future_key(state: np.void) -> np.uint64:
    """A hash, below 2**63, of everything on which the rest of the active player's turn can depend.

    Args:
        state: dtype `engine.state.STATE`, of a game with effects. Of the cards in decks only their number
            counts, since no player knows their order.
    """
    seat = state["active"]
    total = np.uint64(0)
    for who in range(2):
        side = state["sides"][who]
        own = np.uint64(1 if who == seat else 2)
        for place in range(side["n_board"]):
            total += minion_key(side["board"][place], own)
        total += side_key(side, own)
    side = state["sides"][seat]
    for place in range(side["n_hand"]):
        total += card_key(side["hand"][place])
    return total


@njit
def word_of(first: int, second: int, third: int, fourth: int) -> np.uint64:
    """Four numbers of 16 bits in a word."""
    word = np.uint64(int(first) & _FIELD)
    word = word << _FIELD_BITS | np.uint64(int(second) & _FIELD)
    word = word << _FIELD_BITS | np.uint64(int(third) & _FIELD)
    return word << _FIELD_BITS | np.uint64(int(fourth) & _FIELD)


@njit
def card_key(number: int) -> np.uint64:
    """A hash of a card in hand."""
    return to_sum(stir(np.uint64(3), np.uint64(int(number) & _FIELD)))


@njit
def minion_key(minion: np.void, own: np.uint64) -> np.uint64:
    """A hash of what a minion's future depends on; `own` tells the sides apart."""
    born = minion["born"] if minion["traits"] & Trait.DEATHRATTLE else 0
    key = stir(own, word_of(minion["card"], minion["attack"], minion["health"], minion["keywords"]))
    rest = minion["attacks_left"] + 4 * minion["arrived"]
    key = stir(key, word_of(rest, minion["max_health"], minion["traits"], minion["race"]))
    key = stir(key, word_of(minion["turn_attack"], minion["spell_damage"], born, minion["gifts"][0]))
    return to_sum(key ^ np.uint64(minion["gifts"][1]))


@njit
def side_key(side: np.void, own: np.uint64) -> np.uint64:
    """A hash of a side without its board and hand; `own` tells the sides apart."""
    key = stir(own, word_of(side["health"], side["armour"], side["mana"], side["crystals"]))
    key = stir(key, word_of(side["fatigue"], side["power"], side["power_used"], side["weapon"]))
    armed = side["hero_attack"], side["hero_attacks_left"]
    key = stir(key, word_of(side["weapon_attack"], side["durability"], armed[0], armed[1]))
    key = stir(key, word_of(side["traits"], side["overload"], side["locked"], side["n_hand"]))
    return to_sum(key ^ np.uint64(side["n_deck"]))
