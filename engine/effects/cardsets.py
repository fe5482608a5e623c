"""Which cards a row is about: their kind, and what its filter asks of them; compiled."""

import numpy as np

from engine.codes import Keyword
from engine.jit import njit
from engine.vocabulary import MINIONS, POWERS, SPELLS, WEAPONS, CardFilter, CardKind, Race

TAGS = (
    CardFilter.BATTLECRY
    | CardFilter.DEATHRATTLE
    | CardFilter.OVERLOAD
    | CardFilter.SECRET
    | CardFilter.COMBO
    | CardFilter.LEGENDARY
    | CardFilter.SPELL_DAMAGE
    | CardFilter.ECHO
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


assert Keyword.STEALTH < 2**15, "an arg holds a keyword"
