"""Notation of entrants and formats of tournaments, for help texts and errors."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND, listed
from rivals.kinds import AgentKind
from rivals.outside.permissions import is_outside
from rivals.registry import AGENTS, DEFAULT_AGENT

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


def _notation_of(kind: AgentKind) -> str:
    profile = ("[:PROFILE]" if kind.default_profile else ":PROFILE") if kind.weighted else ""
    text = kind.name + profile
    if kind.name != DEFAULT_AGENT:
        more = "[@BACKEND]" if kind.takes_backend else "[@OPTIONS]" if kind.options else ""
        return text + more
    solvers = listed([f"@{name}" for name in BACKENDS if name != DEFAULT_BACKEND], "or")
    return (
        f"{text} (a name of configs/profiles, the path of a profile file, or a run folder for its champion; "
        f"{solvers} appended chooses the solver)"
    )


def entrant_text(agent: str, profile: object, options: str = "") -> str:
    """An entrant that plays by a profile: a name, a file or a run folder.

    Args:
        agent: its kind.
        profile: by which it plays.
        options: as they stand after `@`; "" for their defaults.
    """
    if is_outside(agent):
        return f"{agent}@{','.join(filter(None, (options, f'{PROFILE}={profile}')))}"
    return f"{agent}:{profile}" + (f"@{options}" if options else "")


PROFILE = "profile"
"""What stands after `@` of an outside agent before the file, or the run folder, of its parameters."""

NOTATION = ", ".join(
    [
        *map(_notation_of, AGENTS.values()),
        "python:MODULE:CLASS[@OPTIONS] or process:COMMAND[@OPTIONS] (agents from outside, "
        "docs/agents-outside.md)",
    ]
)
"""How entrants of every agent kind are written, for help and errors."""
