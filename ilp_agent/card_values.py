"""Card values: values of single cards in hand and on board, in `[card_values]` tables of profiles.

    [card_values.hand]
    CS2_029 = 0.41

    [card_values.board]
    CS2_182 = 0.22

Cards have their ids, or their names without one; a card that is not in the game has no effect. The agent
`lookahead` adds the values to its evaluation on class decks; `manaforge learn` learns them from games.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.errors import ManaforgeError, unknown_name
from ilp_agent.weights import MAX_WEIGHT

ZONES = ("hand", "board")
"""Names of the tables, in the order of `CardValues`."""

STEPS = 2.0**32
"""Values are rounded to multiples of 1 / `STEPS`: sums below 2**20 are exact, whatever their order."""


class CardValueError(ManaforgeError, ValueError):
    """Invalid card values; the message names the key."""


class CardValues(NamedTuple):
    """Values of single cards, each card once per zone; false without any.

    Attributes:
        hand: card ids and their values in the own hand.
        board: card ids and their values in play: minions and weapons, enemy ones against.
    """

    hand: tuple[tuple[str, float], ...] = ()
    board: tuple[tuple[str, float], ...] = ()

    def __bool__(self) -> bool:
        return any(map(len, self))

    def by_number(self, ids: Sequence[str]) -> np.ndarray:
        """Values by card number for kernels: first in hand, then on board; float64, shape (2 cards,).

        Args:
            ids: of the cards of a card table in its order (`engine.match.card_id_or_name`).
        """
        found = [zone.get(card, 0.0) for zone in map(dict, self) for card in ids]
        return np.round(np.array(found) * STEPS) / STEPS

    def tables(self) -> dict[str, dict[str, float]]:
        """The values as tables of a file, by zone and card id, without empty ones."""
        return {zone: dict(values) for zone, values in zip(ZONES, self, strict=True) if values}


NO_CARD_VALUES = CardValues()


def read_card_values(content: object) -> CardValues:
    """Read and check the tables that `CardValues.tables` returns; cards in the order of their ids.

    Raises:
        CardValueError: invalid tables; the message begins with the key.
    """
    for zone in _table(content, "card_values"):
        if zone not in ZONES:
            raise CardValueError(f"card_values.{zone}: {unknown_name('key', zone, ZONES)}")
    if any("" in own for own in content.values() if isinstance(own, Mapping)):  # type: ignore[attr-defined]
        raise CardValueError("card_values: the id of a card is missing")
    zones = [_table(_table(content, "card_values").get(zone, {}), f"card_values.{zone}") for zone in ZONES]
    return CardValues(
        *(
            tuple(sorted((card, _number(value, f"card_values.{zone}.{card}")) for card, value in own.items()))
            for zone, own in zip(ZONES, zones, strict=True)
        )
    )


def _table(content: object, key: str) -> Mapping[str, Any]:
    if not isinstance(content, Mapping):
        raise CardValueError(f"{key} must be a table, got {content!r}")
    return content


def _number(value: object, key: str) -> float:
    if type(value) not in (int, float) or not abs(value) <= MAX_WEIGHT:  # type: ignore[arg-type]
        raise CardValueError(f"{key} must be a finite number, at most {MAX_WEIGHT:g} in size, got {value!r}")
    return float(value)  # type: ignore[arg-type]
