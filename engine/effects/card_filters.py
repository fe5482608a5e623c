"""Card filters of effect rows, and the game features a card table needs; compiled."""

import numpy as np

from engine.codes import Keyword
from engine.effect_codes import (
    MINIONS,
    POWERS,
    SPELLS,
    WEAPONS,
    CardFilter,
    CardKind,
    GameFeature,
    Race,
)
from engine.jit import njit_no_alloc, njit_no_alloc_inline
from engine.state import LIST_ENTRIES

TAG_FILTERS = (
    CardFilter.BATTLECRY
    | CardFilter.DEATHRATTLE
    | CardFilter.OVERLOAD
    | CardFilter.SECRET
    | CardFilter.COMBO
    | CardFilter.LEGENDARY
    | CardFilter.SPELL_DAMAGE
    | CardFilter.POOLED
)
"""Filter bits stored in the field `tags` of a card record."""


@njit_no_alloc_inline
def needed_features(cards: np.ndarray) -> int:
    """Game features needed by the cards of a game: bits of `GameFeature` and of triggers."""
    return cards[0]["game_features"]  # type: ignore[no-any-return]


@njit_no_alloc_inline
def has_effects(cards: np.ndarray) -> bool:
    """Whether cards of a game have effects; otherwise all are minions with keywords only."""
    return bool(needed_features(cards) & GameFeature.EFFECTS)


@njit_no_alloc
def kind_bit(kind: int) -> int:
    """Bit of a `CardKind` in the kind fields of effect rows."""
    if kind == CardKind.MINION:
        return MINIONS
    if kind == CardKind.SPELL:
        return SPELLS
    return WEAPONS if kind == CardKind.WEAPON else POWERS


@njit_no_alloc
def is_of_race(race: int, wanted: int) -> bool:
    """Whether a minion's tribe counts as the wanted one; `Race.ALL` counts as every tribe."""
    if race == Race.ALL:
        return True
    return bool(race == wanted)


@njit_no_alloc
def card_matches(card: np.void, kinds: int, required: int, arg: int) -> bool:
    """Whether a card matches the card types and filter of an effect row.

    Args:
        card: of dtype `CARD`.
        kinds: bits of card types; 0 for any.
        required: bits of `CardFilter`.
        arg: value these bits compare with.
    """
    if kinds and not kind_bit(card["kind"]) & kinds:
        return False
    if required == 0:
        return True
    tags = required & TAG_FILTERS
    if (card["tags"] & tags) != tags:
        return False
    if required & CardFilter.RACE and not is_of_race(card["race"], arg):
        return False
    if required & CardFilter.KEYWORD and not card["keywords"] & arg:
        return False
    if required & CardFilter.CLASS and card["hero_class"] != arg:
        return False
    if required & CardFilter.GANG and not arg >> card["hero_class"] & 1:
        return False
    cost, attack = card["cost"], card["attack"]
    if required & CardFilter.COST and cost != arg:
        return False
    if required & CardFilter.COST_AT_MOST and cost > arg:
        return False
    if required & CardFilter.ATTACK_AT_MOST and attack > arg:
        return False
    if required & CardFilter.ATTACK_AT_LEAST and attack < arg:
        return False
    return not (required & CardFilter.ATTACK and attack != arg)


@njit_no_alloc
def card_list_of(effect: np.void, own: int, enemy: int) -> int:
    """Card list from which an effect row draws random cards, given the two players' classes.

    A row with the filter `OWN_CLASS` has one list per class, neutral cards included; with `ENEMY_CLASS` one
    per class, without neutral cards; with `GANG` three. The lists of a row are consecutive.
    """
    if effect["of_filter"] & CardFilter.OWN_CLASS:
        return int(effect["pool"] + own)
    if effect["of_filter"] & CardFilter.ENEMY_CLASS:
        return int(effect["pool"] + enemy)
    return int(effect["pool"])


@njit_no_alloc
def card_list_size(cards: np.ndarray, number: int) -> int:
    """Number of cards in a card list."""
    return int(cards[number]["list_n"])


@njit_no_alloc
def card_list_item(cards: np.ndarray, number: int, place: int) -> int:
    """Card number at an index of a card list."""
    at = cards[number]["list_first"] + place
    return int(cards[at // LIST_ENTRIES]["listed"][at % LIST_ENTRIES])


@njit_no_alloc
def mark_matching(cards: np.ndarray, kinds: int, required: int, arg: int, found: np.ndarray) -> None:
    """Mark in `found` the cards that match an effect row's filter, of any class: the pool of random cards.

    Args:
        cards: the card table.
        kinds: bits of card types.
        required: bits of `CardFilter`.
        arg: value these bits compare with.
        found: shape (cards,), booleans. Modified in place.
    """
    for number in range(len(cards)):
        found[number] = card_matches(cards[number], kinds, required & ~CLASS_FILTERS | CardFilter.POOLED, arg)


CLASS_FILTERS = CardFilter.OWN_CLASS | CardFilter.ENEMY_CLASS

assert Keyword.STEALTH < 2**15, "an arg holds a keyword"
