"""Formats of tournaments: who of the entrants plays whom."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

Seats = Literal["paired", "fixed", "first"]


def _all(n: int) -> list[int]:
    return list(range(n))


def _first(n: int) -> list[int]:  # noqa: ARG001 - the same for any number
    return [0]


@dataclass(frozen=True)
class Format:
    """Which entrants, by place, play each other.

    Attributes:
        summary: for --help; "" for a format that users cannot choose.
        pairs: all pairings (i, j), i < j, of n entrants.
        diagonal: entrants of n that also play themselves with `fixed` seats.
    """

    summary: str
    pairs: Callable[[int], list[tuple[int, int]]]
    diagonal: Callable[[int], list[int]]


FORMATS = {
    "round-robin": Format("every entrant plays every other", lambda n: list(combinations(range(n), 2)), _all),
    "gauntlet": Format("the first entrant plays all others", lambda n: [(0, j) for j in range(1, n)], _first),
    "sweep": Format("", lambda n: [(i, n - 1) for i in range(n - 1)], _all),
    "self-play": Format("", lambda n: [], _all),  # noqa: ARG005 - no pairings for any number
}
"""Formats by name; the first is the default."""

OFFERED_FORMATS = tuple(name for name, style in FORMATS.items() if style.summary)
"""Formats that users can choose."""

SEATS = ("paired", "fixed")
"""Kinds of seats that users can choose."""
