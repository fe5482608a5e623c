"""Rulesets: opening hands, The Coin, mulligan, turn cap and hero health (`engine/data/rulesets.toml`)."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine.codes import HAND_SIZE, HERO_HEALTH, MAX_STAT
from engine.errors import RulesetError, unknown_name
from engine.shipped import DATA
from engine.state import RULES


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Setup of a game: opening hands, mulligan, hero health and turn cap.

    Attributes:
        name: as commands and configurations write it.
        description: one line for listings.
        hand_first: opening cards of the player who goes first.
        hand_second: opening cards of the other player, before The Coin.
        coin: whether the other player gets The Coin.
        first_draw: whether both players draw at the start of their first turn.
        turn_cap: rounds after which the game is a draw.
        mulligan_above: opening cards that cost more are replaced once; -1 for no mulligan.
        hero_health: starting and maximum health of heroes.

    Raises:
        RulesetError: a number is not an integer or out of range.
    """

    name: str
    description: str
    hand_first: int
    hand_second: int
    coin: bool
    first_draw: bool
    turn_cap: int
    mulligan_above: int = -1
    hero_health: int = HERO_HEALTH

    def __post_init__(self) -> None:
        limits = {
            "hand_first": (0, HAND_SIZE - 1),
            "hand_second": (0, HAND_SIZE - 1),
            "turn_cap": (1, MAX_STAT - 1),
            "mulligan_above": (-1, MAX_STAT),
            "hero_health": (1, HERO_HEALTH),
        }
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise RulesetError(f"{name} must be an integer from {low} to {high}, got {value!r}")
        for name in ("coin", "first_draw"):
            if type(getattr(self, name)) is not bool:
                raise RulesetError(f"{name} must be True or False, got {getattr(self, name)!r}")

    @property
    def array(self) -> np.void:
        """The ruleset as a record of dtype `RULES`, for kernels."""
        record: np.void = np.zeros(1, RULES)[0]
        for field in RULES.names or ():
            record[field] = getattr(self, field)
        return record


@lru_cache(maxsize=1)
def rulesets() -> dict[str, Ruleset]:
    """All rulesets by name; an alias maps to the ruleset with its first name."""
    read = tomllib.loads((DATA / "rulesets.toml").read_text(encoding="utf-8"))
    first = {name: fields.get("same_as", name) for name, fields in read.items()}
    return {name: Ruleset(first[name], **read[first[name]]) for name in read}


def find_ruleset(name: str) -> Ruleset:
    """Find a ruleset by name.

    Raises:
        UnknownNameError: there is none; the message lists the nearest names.
    """
    if name not in rulesets():
        raise unknown_name("ruleset", name, rulesets())
    return rulesets()[name]
