"""Which cards a row is about: their kind, and what its filter asks of them; compiled."""

import numpy as np

from engine.codes import Keyword
from engine.jit import njit
from engine.vocabulary import MINIONS, POWERS, SPELLS, WEAPONS, CardFilter, CardKind, HeroName, Race

TAGS = (
    CardFilter.BATTLECRY
    | CardFilter.DEATHRATTLE
    | CardFilter.OVERLOAD
    | CardFilter.SECRET
    | CardFilter.COMBO
    | CardFilter.LEGENDARY
    | CardFilter.SPELL_DAMAGE
    | CardFilter.ECHO
    | CardFilter.POOLED
)
"""What a card of the table says of itself in `tags`."""


@njit
def kind_bit(kind: int) -> int:
    """The bit of a `CardKind` among those of a row."""
    if kind == CardKind.MINION:
        return MINIONS
    if kind == CardKind.SPELL:
        return SPELLS
    return WEAPONS if kind == CardKind.WEAPON else POWERS


@njit
def is_of_race(race: int, wanted: int) -> bool:
    """Whether a tribe counts as another: one minion is of all."""
    return bool(race == wanted or race == Race.ALL)


@njit
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
    if asked & CardFilter.ANY_CLASS and card["hero_class"] == HeroName.NEUTRAL:
        return False
    cost, attack = card["cost"], card["attack"]
    if asked & CardFilter.COST and cost != arg:
        return False
    if asked & CardFilter.COST_AT_MOST and cost > arg:
        return False
    if asked & CardFilter.COST_AT_LEAST and cost < arg:
        return False
    if asked & CardFilter.ATTACK_AT_MOST and attack > arg:
        return False
    if asked & CardFilter.ATTACK_AT_LEAST and attack < arg:
        return False
    if asked & CardFilter.ATTACK and attack != arg:
        return False
    return not (asked & CardFilter.HEALTH and card["health"] != arg)


@njit
def n_pooled(cards: np.ndarray, kinds: int, asked: int, arg: int, classes: int) -> int:
    """How many cards of the game a random one is drawn from: those of a kind that pass a filter.

    Args:
        cards: the card table.
        kinds: bits of kinds.
        asked: bits of `CardFilter`.
        arg: what these compare with.
        classes: bits 1 << `HeroName` of the classes they may be of; 0 for any.
    """
    n = 0
    for number in range(len(cards)):
        if is_pooled(cards[number], kinds, asked, arg, classes):
            n += 1
    return n


@njit
def nth_pooled(cards: np.ndarray, kinds: int, asked: int, arg: int, classes: int, left: int) -> int:
    """The number of one of those that `n_pooled` counts, from 0; -1 where there are no so many."""
    for number in range(len(cards)):
        if is_pooled(cards[number], kinds, asked, arg, classes):
            if left == 0:
                return number
            left -= 1
    return -1


@njit
def mark_pooled(cards: np.ndarray, kinds: int, asked: int, arg: int, found: np.ndarray) -> None:
    """Mark the cards that `n_pooled` counts for players of any class. `found` is modified in place."""
    for number in range(len(cards)):
        found[number] = is_pooled(cards[number], kinds, asked, arg, 0)


@njit
def is_pooled(card: np.void, kinds: int, asked: int, arg: int, classes: int) -> bool:
    """Whether a card is one of those that `n_pooled` counts."""
    if classes and not classes >> card["hero_class"] & 1:
        return False
    return is_asked(card, kinds, asked & ~WHOSE_CLASS | CardFilter.POOLED, arg)


@njit
def classes_of(asked: int, own: int, enemy: int) -> int:
    """The classes of which a filter asks: of the player of class `own` and neutral, or of the opponent's; 0: any."""
    classes = 0
    if asked & CardFilter.OWN_CLASS:
        classes |= 1 << own | 1 << HeroName.NEUTRAL
    if asked & CardFilter.ENEMY_CLASS:
        classes |= 1 << enemy
    return classes


WHOSE_CLASS = CardFilter.OWN_CLASS | CardFilter.ENEMY_CLASS

assert Keyword.STEALTH < 2**15, "an arg holds a keyword"
