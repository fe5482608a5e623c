"""Card filters of effect rows, and the features a card table asks for; compiled."""

import numpy as np

from engine.codes import Keyword
from engine.effect_codes import MINIONS, POWERS, SPELLS, WEAPONS, Ask, CardFilter, CardKind, Race
from engine.jit import njit_borrowing, njit_borrowing_inline
from engine.state import LISTED

TAGS = (
    CardFilter.BATTLECRY
    | CardFilter.DEATHRATTLE
    | CardFilter.OVERLOAD
    | CardFilter.SECRET
    | CardFilter.COMBO
    | CardFilter.LEGENDARY
    | CardFilter.SPELL_DAMAGE
    | CardFilter.POOLED
)
"""What a card of the table says of itself in `tags`."""


@njit_borrowing_inline
def asked_by(cards: np.ndarray) -> int:
    """Bits of `Ask` and of events, of all cards of a game."""
    return cards[0]["asks"]  # type: ignore[no-any-return]


@njit_borrowing_inline
def has_effects(cards: np.ndarray) -> bool:
    """Whether cards of a game do what their texts say; else all are bodies with keywords."""
    return bool(asked_by(cards) & Ask.EFFECTS)


@njit_borrowing
def kind_bit(kind: int) -> int:
    """The bit of a `CardKind` among those of a row."""
    if kind == CardKind.MINION:
        return MINIONS
    if kind == CardKind.SPELL:
        return SPELLS
    return WEAPONS if kind == CardKind.WEAPON else POWERS


@njit_borrowing
def is_of_race(race: int, wanted: int) -> bool:
    """Whether a tribe counts as another: one minion is of all."""
    if race == Race.ALL:
        return True
    return bool(race == wanted)


@njit_borrowing
def is_asked(card: np.void, kinds: int, asked: int, arg: int) -> bool:
    """Whether a card is of the kinds, and passes the filter, that a row names.

    Args:
        card: of dtype `CARD`.
        kinds: bits of kinds; 0 for any.
        asked: bits of `CardFilter`.
        arg: what these compare with.
    """
    if kinds and not kind_bit(card["kind"]) & kinds:
        return False
    if asked == 0:
        return True
    tags = asked & TAGS
    if (card["tags"] & tags) != tags:
        return False
    if asked & CardFilter.RACE and not is_of_race(card["race"], arg):
        return False
    if asked & CardFilter.KEYWORD and not card["keywords"] & arg:
        return False
    if asked & CardFilter.CLASS and card["hero_class"] != arg:
        return False
    if asked & CardFilter.GANG and not arg >> card["hero_class"] & 1:
        return False
    cost, attack = card["cost"], card["attack"]
    if asked & CardFilter.COST and cost != arg:
        return False
    if asked & CardFilter.COST_AT_MOST and cost > arg:
        return False
    if asked & CardFilter.ATTACK_AT_MOST and attack > arg:
        return False
    if asked & CardFilter.ATTACK_AT_LEAST and attack < arg:
        return False
    return not (asked & CardFilter.ATTACK and attack != arg)


@njit_borrowing
def list_of(effect: np.void, own: int, enemy: int) -> int:
    """The list from which a row draws random cards, for players of two classes: a number of a card.

    A row that asks for the own class has a list for each class, with the neutral cards; one that asks for the
    opponent's too, without them; one of a gang has three. They follow each other.
    """
    if effect["of_filter"] & CardFilter.OWN_CLASS:
        return int(effect["pool"] + own)
    if effect["of_filter"] & CardFilter.ENEMY_CLASS:
        return int(effect["pool"] + enemy)
    return int(effect["pool"])


@njit_borrowing
def n_listed(cards: np.ndarray, number: int) -> int:
    """How many cards a list has."""
    return int(cards[number]["list_n"])


@njit_borrowing
def listed(cards: np.ndarray, number: int, place: int) -> int:
    """The card at a place of a list."""
    at = cards[number]["list_first"] + place
    return int(cards[at // LISTED]["listed"][at % LISTED])


@njit_borrowing
def mark_pooled(cards: np.ndarray, kinds: int, asked: int, arg: int, found: np.ndarray) -> None:
    """Mark the cards that random ones are drawn from: those of a kind that pass a filter, of any class.

    Args:
        cards: the card table.
        kinds: bits of kinds.
        asked: bits of `CardFilter`.
        arg: what these compare with.
        found: shape (cards,), booleans. Modified in place.
    """
    for number in range(len(cards)):
        found[number] = is_asked(cards[number], kinds, asked & ~WHOSE_CLASS | CardFilter.POOLED, arg)


WHOSE_CLASS = CardFilter.OWN_CLASS | CardFilter.ENEMY_CLASS

assert Keyword.STEALTH < 2**15, "an arg holds a keyword"
