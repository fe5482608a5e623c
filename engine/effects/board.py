"""Add, remove and find minions on the board and cards in hand; compiled."""

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE, Keyword
from engine.effect_codes import GameFeature, Trait
from engine.effects.card_filters import needed_features
from engine.jit import njit_no_alloc, njit_no_alloc_inline


@njit_no_alloc
def add_minion(state: np.void, cards: np.ndarray, seat: int, number: int, place: int) -> int:
    """Insert a minion at `place` of a board, shifting later ones; return its entity id. Modified in place.

    Args:
        state: dtype `STATE`.
        cards: the card table.
        seat: the board's player; the board must have room.
        number: card number.
        place: board index, 0 to the number of minions.

    Returns:
        The minion's entity id, counting from 1 in the order of play.
    """
    side = state["sides"][seat]
    for slot in range(side["n_board"], place, -1):
        side["board"][slot] = side["board"][slot - 1]
    side["n_board"] += 1
    state["last_entity_id"] += 1
    reset_to_card(side["board"][place], cards, number)
    side["board"][place]["entity_id"] = state["last_entity_id"]
    return int(state["last_entity_id"])


@njit_no_alloc
def reset_to_card(minion: np.void, cards: np.ndarray, number: int) -> None:
    """Set a minion to its card's printed values, just summoned; keeps its entity id. Modified in place."""
    card = cards[number]
    minion["card"] = number
    minion["attack"] = card["attack"]
    minion["health"] = card["health"]
    minion["keywords"] = card["keywords"]
    minion["arrived"] = 1
    minion["max_health"] = card["health"]
    minion["traits"] = card["traits"]
    minion["race"] = card["race"]
    minion["turn_attack"] = 0
    minion["spell_damage"] = card["spell_damage"]
    minion["aura_attack"] = 0
    minion["aura_health"] = 0
    minion["aura_keywords"] = 0
    minion["granted_effects"][:] = 0
    if card["keywords"] & (Keyword.CHARGE | Keyword.RUSH):
        minion["attacks_left"] = 2 if card["keywords"] & Keyword.WINDFURY else 1
    else:
        minion["attacks_left"] = 0


@njit_no_alloc
def remove_minion(side: np.void, place: int, zero: np.ndarray) -> None:
    """Remove a minion from its board; minions to its right move left. `side` is modified in place."""
    side["n_board"] -= 1
    for following in range(place, side["n_board"]):
        side["board"][following] = side["board"][following + 1]
    side["board"][side["n_board"]] = zero[0]


@njit_no_alloc
def board_index(side: np.void, entity_id: int) -> int:
    """Board index of the minion with an entity id; -1 if it is not on this board."""
    for place in range(side["n_board"]):
        if side["board"][place]["entity_id"] == entity_id:
            return place
    return -1


@njit_no_alloc_inline
def board_index_near(side: np.void, entity_id: int, before: int) -> int:
    """Board index of a minion as in `board_index`, with its probable index `before` checked first."""
    if before < side["n_board"] and side["board"][before]["entity_id"] == entity_id:
        return before
    return board_index(side, entity_id)


@njit_no_alloc
def is_dying(minion: np.void) -> bool:
    """Whether a minion has no health left or is marked for destruction."""
    return bool(minion["health"] <= 0 or minion["traits"] & Trait.DOOMED)


@njit_no_alloc
def add_to_hand(side: np.void, number: int) -> None:
    """Add a card to a hand; a full hand burns it. `side` is modified in place."""
    if side["n_hand"] == HAND_SIZE:
        side["burned"] += 1
    else:
        side["hand"][side["n_hand"]] = number
        side["n_hand"] += 1


@njit_no_alloc_inline
def remove_from_hand(side: np.void, place: int) -> int:
    """Remove a card from a hand; return its card number. `side` is modified in place."""
    number = side["hand"][place]
    side["n_hand"] -= 1
    for following in range(place, side["n_hand"]):
        side["hand"][following] = side["hand"][following + 1]
    side["hand"][side["n_hand"]] = 0
    return int(number)


@njit_no_alloc
def remove_modified_from_hand(side: np.void, place: int, cards: np.ndarray) -> int:
    """Remove a card from a hand with its modifiers; return its card number. `side` is modified in place."""
    if needed_features(cards) & GameFeature.HAND_MODIFIERS:
        last = side["n_hand"] - 1
        for following in range(place, last):
            side["hand_modifiers"][following] = side["hand_modifiers"][following + 1]
        side["hand_modifiers"][last]["cost"] = 0
        side["hand_modifiers"][last]["attack"] = 0
        side["hand_modifiers"][last]["health"] = 0
    return int(remove_from_hand(side, place))


@njit_no_alloc
def has_room(side: np.void) -> bool:
    """Whether a board has room for another minion."""
    return bool(side["n_board"] < BOARD_SIZE)


@njit_no_alloc
def any_minion_needs(cards: np.ndarray, side: np.void, asked: int) -> bool:
    """Whether a minion on a board needs any of these game features, bits of `GameFeature`."""
    found = False
    for place in range(side["n_board"]):
        found = found or cards[side["board"][place]["card"]]["card_features"] & asked != 0
    return found
