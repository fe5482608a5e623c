"""What a player does not see is drawn from what it sees, whatever numbers the cards have; compiled.

The same game has other card numbers in another table, as that of a batch of games is. So the own deck, whose
order nobody knows, is put in an order of what its cards say, and streams come from numbers on the board
alone.
"""

import numpy as np

from engine.codes import DECK_SIZE
from engine.effects.futures import word_of
from engine.effects.rows import CREATING
from engine.hashing import stir
from engine.jit import njit_borrowing
from engine.vocabulary import CardFilter, Op

_CREATES = np.zeros(max(Op) + 1, np.bool_)
_CREATES[[int(op) for op in CREATING]] = True
"""By `Op`: whether its amount is the number of a card."""


@njit_borrowing
def stream_of(state: np.void) -> np.uint64:
    """The stream of all that is drawn on a turn, from what its player sees."""
    key = np.uint64(state["turn"])
    for who in range(2):
        side = state["sides"][(state["active"] + who) % 2]
        for number in (side["n_hand"], side["n_deck"], side["n_board"], side["armour"], side["mana"]):
            key = stir(key, np.uint64(number))
        key = stir(key, np.uint64(np.int64(side["health"]) + DECK_SIZE))
        for slot in range(side["n_board"]):
            minion = side["board"][slot]
            key = stir(key, np.uint64(np.int64(minion["attack"]) << 16 | np.int64(minion["health"])))
    return key


@njit_borrowing
def order_deck(side: np.void, cards: np.ndarray, keys: np.ndarray) -> None:
    """Put a deck in an order of what its cards say.

    Args:
        side: a half of a state. Modified in place.
        cards: the card table.
        keys: uint64, shape (at least `DECK_SIZE`,). Modified in place.
    """
    order_cards(side["deck"], side["n_deck"], cards, keys)


@njit_borrowing
def order_cards(numbers: np.ndarray, n: int, cards: np.ndarray, keys: np.ndarray) -> None:
    """Put the first `n` of some card numbers in an order of what the cards say.

    Args:
        numbers: modified in place.
        n: how many.
        cards: the card table.
        keys: uint64, shape (at least `n`,). Modified in place.
    """
    for place in range(n):
        card = numbers[place]
        key, before = key_of_card(cards[card]), place
        while before > 0 and keys[before - 1] > key:
            numbers[before], keys[before] = numbers[before - 1], keys[before - 1]
            before -= 1
        numbers[before], keys[before] = card, key


@njit_borrowing
def key_of_card(card: np.void) -> np.uint64:
    """A hash of what a card is and does, the same whatever the table; cards that it creates are left out."""
    key = stir(np.uint64(1), word_of(card["cost"], card["attack"], card["health"], card["keywords"]))
    key = stir(key, word_of(card["kind"], card["race"], card["hero_class"], card["rarity"]))
    key = stir(key, word_of(card["traits"], card["spell_damage"], card["overload"], card["needs"]))
    key = stir(key, np.uint64(card["tags"] & ~CardFilter.POOLED))
    key = stir(key, np.uint64(int(card["value"] * 1_000.0)))
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        key = stir(key, word_of(effect["trigger"], effect["op"], effect["pick"], effect["side"]))
        key = stir(key, word_of(effect["kind"], effect["filter"], effect["arg"], effect["times"]))
        key = stir(key, word_of(effect["keywords"], effect["until"], effect["condition"], effect["count"]))
        if not _CREATES[effect["op"]]:
            key = stir(key, word_of(effect["amount"], effect["amount2"], 0, 0))
    return key
