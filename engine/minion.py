"""Minion specifications: validated attack, health, cost and keywords."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from itertools import product
from operator import attrgetter

import numpy as np

from engine.codes import KEYWORD_FIELDS, MAX_STAT, Keyword
from engine.errors import CardError, unknown_name


@dataclass(frozen=True, slots=True)
class MinionSpec:
    """A minion's numbers and keywords, on the board or in hand.

    Attributes:
        attack: damage it deals, 0 to 999; 0 cannot attack.
        health: damage that kills it, 1 to 999.
        cost: mana to play it, 0 to 999.
        value: an agent's value of playing it (S of the turn ILP); None means its cost.
        charge: may attack anything on the turn it is played.
        rush: may attack minions on the turn it is played.
        taunt: enemies must attack it before anything without Taunt.
        windfury: may attack twice each turn.
        divine_shield: absorbs the first damage it would take.
        lifesteal: damage it deals heals its hero.
        poisonous: destroys any minion it damages.
        stealth: cannot be attacked until it attacks.
        attacks_left: attacks it still has this turn, 0 to 2; None means all of them: 1, with Windfury 2.
            Ignored for a minion in hand.

    Raises:
        CardError: a number is of the wrong type or out of range; the message names the field.
    """

    attack: int
    health: int
    cost: int = 0
    value: float | None = None
    charge: bool = False
    rush: bool = False
    taunt: bool = False
    windfury: bool = False
    divine_shield: bool = False
    lifesteal: bool = False
    poisonous: bool = False
    stealth: bool = False
    attacks_left: int | None = None

    def __post_init__(self) -> None:
        limits = {"attack": (0, MAX_STAT), "health": (1, MAX_STAT), "cost": (0, MAX_STAT)}
        if self.attacks_left is not None:
            limits["attacks_left"] = (0, 2 if self.windfury else 1)
        for name, (low, high) in limits.items():
            self._store(name, _integer(name, getattr(self, name), low, high))
        if self.value is not None:
            self._store("value", _value(self.value))
        for name in KEYWORD_FIELDS:
            if not isinstance(getattr(self, name), bool | np.bool):
                raise CardError(f"{name} must be True or False, got {getattr(self, name)!r}")
            self._store(name, bool(getattr(self, name)))

    def _store(self, name: str, value: float) -> None:
        """Set a field of a frozen instance: numpy's numbers become Python's."""
        object.__setattr__(self, name, value)

    @property
    def keywords(self) -> int:
        """The keywords as the bits of `Keyword`."""
        return _BITS[_flags(self)]

    @property
    def worth(self) -> float:
        """The value, or the cost if no value is given."""
        return float(self.cost if self.value is None else self.value)


_flags = attrgetter(*KEYWORD_FIELDS)
_BITS = {
    flags: sum(bit for bit, flag in zip(Keyword, flags, strict=True) if flag)
    for flags in product((False, True), repeat=len(KEYWORD_FIELDS))
}
"""Precomputed bits of every keyword set, since a card table needs those of thousands of cards."""


def keyword_flags(names: Iterable[str]) -> dict[str, bool]:
    """Keyword arguments of `MinionSpec` from names such as "divine shield" or "divine_shield".

    Raises:
        UnknownNameError: a name is not a supported keyword.
    """
    flags = dict.fromkeys(KEYWORD_FIELDS, False)
    for name in names:
        field = name.strip().lower().replace(" ", "_")
        if field not in flags:
            raise unknown_name("keyword", name, KEYWORD_FIELDS)
        flags[field] = True
    return flags


def keyword_flags_of(keywords: int) -> dict[str, bool]:
    """Keyword arguments of `MinionSpec` from the bits of `Keyword`."""
    return {name: bool(keywords & keyword) for name, keyword in zip(KEYWORD_FIELDS, Keyword, strict=True)}


def keyword_names(keywords: int) -> list[str]:
    """Names of the keywords in a bit set, as card texts write them: "Divine Shield"."""
    return [bit.name.replace("_", " ").title() for bit in Keyword if keywords & bit]


def _integer(name: str, number: object, low: int, high: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise CardError(f"{name} must be an integer from {low} to {high}, got {number!r}")
    if not low <= number <= high:
        raise CardError(f"{name} must be from {low} to {high}, got {number}")
    return int(number)


def _value(number: object) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
        raise CardError(f"value must be a finite number from 0 to {MAX_STAT}, got {number!r}")
    if not 0 <= number <= MAX_STAT:
        raise CardError(f"value must be a finite number from 0 to {MAX_STAT}, got {number}")
    return float(number)


assert all(name in {field.name for field in fields(MinionSpec)} for name in KEYWORD_FIELDS)
