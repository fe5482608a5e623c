"""Keep values: what keeping an opening card gains over replacing it, as the part `[mulligan]` of profiles.

By the name of a deck and the seat, a value for each card that was learned, and half the width of its 95%
interval:

    [mulligan.thesis-paladin.first.values]
    CS2_189 = 0.0213

    [mulligan.thesis-paladin.first.half_widths]
    CS2_189 = 0.0092

A player with such a profile keeps cards whose value is 0 or more and replaces the others; a card without a
value goes by the ruleset's rule. `evo.learning.mulligan` learns them from games.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.errors import ManaforgeError, unknown_name
from engine.safe_files import is_one_line

SEATS = ("first", "second")
"""Names of the seats: who goes first, and who second."""

_PARTS = ("values", "half_widths")


class MulliganError(ManaforgeError, ValueError):
    """A part `[mulligan]` that cannot be used; the message names the key."""


class KeepValue(NamedTuple):
    """What keeping a card gains over replacing it.

    Attributes:
        value: in points a game, -1 to 1: how much more games are won.
        half_width: of its 95% interval, at least 0.
    """

    value: float
    half_width: float


class SeatValues(NamedTuple):
    """The keep values of one deck in one seat.

    Attributes:
        deck: its name.
        seat: 0 for who goes first, 1 for the other.
        cards: by card id, or by name for a card that is in no catalogue.
    """

    deck: str
    seat: int
    cards: Mapping[str, KeepValue]


class DeckKeeps(NamedTuple):
    """What a player keeps and replaces with one deck in one seat; other cards go by the ruleset's rule.

    Attributes:
        deck: its name.
        seat: 0 for who goes first, 1 for the other.
        keep: ids of the cards that are kept.
        replace: ids of those that are replaced.
    """

    deck: str
    seat: int
    keep: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()


def keeps_of(values: SeatValues) -> DeckKeeps:
    """What a player with these values does: cards of value 0 or more are kept."""
    keep = tuple(sorted(card for card, found in values.cards.items() if found.value >= 0))
    replace = tuple(sorted(card for card, found in values.cards.items() if found.value < 0))
    return DeckKeeps(values.deck, values.seat, keep, replace)


def write_mulligan(mulligan: tuple[SeatValues, ...]) -> dict[str, Any]:
    """Keep values as the tables of TOML, in the order of decks and seats; cards of high values first."""
    content: dict[str, Any] = {}
    for deck, seat, cards in mulligan:
        ordered = sorted(cards.items(), key=lambda entry: (-entry[1].value, entry[0]))
        content.setdefault(deck, {})[SEATS[seat]] = {
            "values": {card: float(found.value) for card, found in ordered},
            "half_widths": {card: float(found.half_width) for card, found in ordered},
        }
    return content


def read_mulligan(content: object) -> tuple[SeatValues, ...]:
    """Keep values from the tables that `write_mulligan` writes, checked.

    Raises:
        MulliganError: they are not such tables; the message begins with the key.
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
    """The values of one deck and seat."""
    for name in parts:
        if name not in _PARTS:
            raise MulliganError(f"{key}.{name}: {unknown_name('key', name, _PARTS)}")
    values, half_widths = (_table(parts.get(name), f"{key}.{name}") for name in _PARTS)
    for card in {**values, **half_widths}:
        if card not in values or card not in half_widths:
            missing = _PARTS[card in values]
            raise MulliganError(f"{key}.{missing}.{card} is missing; every card has a value and a half width")
    return {
        card: KeepValue(
            _number(values[card], -1.0, f"{key}.values.{card}"),
            _number(half_widths[card], 0.0, f"{key}.half_widths.{card}"),
        )
        for card in values
    }


def _table(content: object, key: str) -> Mapping[str, Any]:
    if not isinstance(content, Mapping):
        what = "is missing" if content is None else f"must be a table, got {content!r}"
        raise MulliganError(f"{key} {what}")
    return content


def _number(value: object, least: float, key: str) -> float:
    if type(value) not in (int, float) or not least <= value <= 1:  # type: ignore[operator]
        raise MulliganError(f"{key} must be a number from {least:g} to 1, got {value!r}")
    return float(value)  # type: ignore[arg-type]
