"""Mulligan keep values: the win-rate gain of keeping an opening card, in `[mulligan]` tables of profiles.

For each deck name and seat there is a learned value for each card, and the half-width of its 95% interval:

    [mulligan.thesis-paladin.first.values]
    CS2_189 = 0.0213

    [mulligan.thesis-paladin.first.half_widths]
    CS2_189 = 0.0092

An agent with such a profile keeps cards whose value is 0 or more and replaces the others; cards without a
value follow the ruleset's mulligan rule. `evo.learning.mulligan` learns the values from games.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.errors import ManaforgeError, unknown_name
from engine.safe_files import is_one_line

SEATS = ("first", "second")
"""Names of the seats: first and second player."""

_PARTS = ("values", "half_widths")


class MulliganError(ManaforgeError, ValueError):
    """An invalid `[mulligan]` table; the message names the key."""


class KeepValue(NamedTuple):
    """Gain of keeping a card over replacing it.

    Attributes:
        value: gain in points per game, -1 to 1.
        half_width: half-width of its 95% interval, at least 0.
    """

    value: float
    half_width: float


class SeatValues(NamedTuple):
    """The keep values of one deck in one seat.

    Attributes:
        deck: the deck's name.
        seat: 0 for the first player, 1 for the second.
        cards: values by card id, or by name for a card outside the catalogue.
    """

    deck: str
    seat: int
    cards: Mapping[str, KeepValue]


class DeckMulligan(NamedTuple):
    """Mulligan choices for one deck in one seat; other cards follow the ruleset's rule.

    Attributes:
        deck: the deck's name.
        seat: 0 for the first player, 1 for the second.
        keep: ids of the cards to keep.
        replace: ids of the cards to replace.
    """

    deck: str
    seat: int
    keep: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()


def mulligan_from_values(values: SeatValues) -> DeckMulligan:
    """Mulligan choices from keep values: keep cards with a value of 0 or more."""
    keep = tuple(sorted(card for card, gain in values.cards.items() if gain.value >= 0))
    replace = tuple(sorted(card for card, gain in values.cards.items() if gain.value < 0))
    return DeckMulligan(values.deck, values.seat, keep, replace)


def write_mulligan(mulligan: tuple[SeatValues, ...]) -> dict[str, Any]:
    """Keep values as TOML tables, ordered by deck and seat; cards with the highest values first."""
    content: dict[str, Any] = {}
    for deck, seat, cards in mulligan:
        ordered = sorted(cards.items(), key=lambda entry: (-entry[1].value, entry[0]))
        content.setdefault(deck, {})[SEATS[seat]] = {
            "values": {card: float(gain.value) for card, gain in ordered},
            "half_widths": {card: float(gain.half_width) for card, gain in ordered},
        }
    return content


def read_mulligan(content: object) -> tuple[SeatValues, ...]:
    """Read and check the tables that `write_mulligan` writes.

    Raises:
        MulliganError: invalid tables; the message begins with the key.
    """
    found = []
    for deck, seats in _table(content, "mulligan").items():
        if not deck or not is_one_line(deck):
            raise MulliganError(f"mulligan: the name of a deck must be one line of text, got {deck!r}")
        for seat, parts in _table(seats, f"mulligan.{deck}").items():
            key = f"mulligan.{deck}.{seat}"
            if seat not in SEATS:
                raise MulliganError(f"{key}: {unknown_name('seat', seat, SEATS)}")
            found.append(SeatValues(deck, SEATS.index(seat), _cards(_table(parts, key), key)))
    return tuple(sorted(found, key=lambda values: values[:2]))


def _cards(parts: Mapping[str, Any], key: str) -> dict[str, KeepValue]:
    """Read the keep values of one deck and seat."""
    for name in parts:
        if name not in _PARTS:
            raise MulliganError(f"{key}.{name}: {unknown_name('key', name, _PARTS)}")
    values, half_widths = (_table(parts.get(name), f"{key}.{name}") for name in _PARTS)
    for card in {**values, **half_widths}:
        if card not in values or card not in half_widths:
            missing = _PARTS[card in values]
            raise MulliganError(f"{key}.{missing}.{card} is missing; a card needs a value and a half width")
    return {
        card: KeepValue(
            _number(values[card], -1.0, f"{key}.values.{card}"),
            _number(half_widths[card], 0.0, f"{key}.half_widths.{card}"),
        )
        for card in values
    }


def _table(content: object, key: str) -> Mapping[str, Any]:
    if not isinstance(content, Mapping):
        problem = "is missing" if content is None else f"must be a table, got {content!r}"
        raise MulliganError(f"{key} {problem}")
    return content


def _number(value: object, least: float, key: str) -> float:
    if type(value) not in (int, float) or not least <= value <= 1:  # type: ignore[operator]
        raise MulliganError(f"{key} must be a number from {least:g} to 1, got {value!r}")
    return float(value)  # type: ignore[arg-type]
