"""Order of cards by their printed content, which is the same in every card table; compiled."""

import numpy as np

from engine.bitfields import fast_hash
from engine.effect_codes import CardFilter, Op
from engine.effects.rows import CREATING_OPS
from engine.jit import njit_no_alloc
from ilp_agent.search.transposition import pack_word

_CREATES = np.zeros(max(Op) + 1, np.bool_)
_CREATES[[int(op) for op in CREATING_OPS]] = True
"""By `Op`: whether its amount is a card number."""


@njit_no_alloc
def sort_cards(numbers: np.ndarray, n: int, cards: np.ndarray, keys: np.ndarray) -> None:
    """Sort the first `n` card numbers by the printed content of the cards.

    Args:
        numbers: modified in place.
        n: number of cards to sort.
        cards: the card table.
        keys: uint64, shape (at least `n`,). Modified in place.
    """
    for place in range(n):
        card = numbers[place]
        key, before = card_content_key(cards[card]), place
        while before > 0 and keys[before - 1] > key:
            numbers[before], keys[before] = numbers[before - 1], keys[before - 1]
            before -= 1
        numbers[before], keys[before] = card, key


@njit_no_alloc
def card_content_key(card: np.void) -> np.uint64:
    """Hash of a card's printed content, independent of the table; created cards are left out."""
    key = fast_hash(np.uint64(1), pack_word(card["cost"], card["attack"], card["health"], card["keywords"]))
    key = fast_hash(key, pack_word(card["kind"], card["race"], card["hero_class"], card["rarity"]))
    key = fast_hash(key, pack_word(card["traits"], card["spell_damage"], card["overload"], card["needs"]))
    key = fast_hash(key, np.uint64(card["tags"] & ~CardFilter.POOLED))
    key = fast_hash(key, np.uint64(int(card["value"] * 1_000.0)))
    for row in range(card["n_effects"]):
        effect = card["effects"][row]
        key = fast_hash(key, pack_word(effect["trigger"], effect["op"], effect["pick"], effect["side"]))
        key = fast_hash(key, pack_word(effect["kind"], effect["filter"], effect["arg"], effect["times"]))
        key = fast_hash(
            key, pack_word(effect["keywords"], effect["until"], effect["condition"], effect["count"])
        )
        if not _CREATES[effect["op"]]:
            key = fast_hash(key, pack_word(effect["amount"], effect["amount2"], 0, 0))
    return key
