"""Entrant notation and tournament formats (round-robin, gauntlet, ...)."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND, join_names
from rivals.kinds import AgentKind
from rivals.outside.permissions import is_outside
from rivals.registry import AGENTS, DEFAULT_AGENT

Seats = Literal["paired", "fixed", "first"]


def _all(n: int) -> list[int]:
    """Indices of all n entrants."""
    return list(range(n))


def _first(n: int) -> list[int]:  # noqa: ARG001 - the same for any number
    """Index of the first of n entrants, as a list."""
    return [0]


@dataclass(frozen=True)
class Format:
    """A tournament format: which entrants play each other.

    Attributes:
        summary: for --help; "" for a format that users cannot choose.
        pairs: from n, all pairings (i, j), i < j, of n entrants.
        diagonal: from n, entrants that also play themselves with `fixed` seats.
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
"""Seat modes that users can choose (`evo.play.matchups`)."""


def _notation_of(kind: AgentKind) -> str:
    """The entrant notation of an agent kind, such as `lookahead[:PROFILE][@OPTIONS]`."""
    profile = ("[:PROFILE]" if kind.default_profile else ":PROFILE") if kind.weighted else ""
    text = kind.name + profile
    if kind.name != DEFAULT_AGENT:
        suffix = "[@BACKEND]" if kind.takes_backend else "[@OPTIONS]" if kind.options else ""
        return text + suffix
    solvers = join_names([f"@{name}" for name in BACKENDS if name != DEFAULT_BACKEND], "or")
    return (
        f"{text} (a name of configs/profiles, the path of a profile file, or a run folder for its champion; "
        f"{solvers} appended chooses the solver, @secrets=mean or @secrets=worst how hidden Secrets count)"
    )


def entrant_text(agent: str, profile: object, options: str = "") -> str:
    """Format the text of an entrant with a profile.

    Args:
        agent: agent kind.
        profile: profile name, profile file or run folder.
        options: text after `@`; "" for defaults.
    """
    if is_outside(agent):
        return f"{agent}@{','.join(filter(None, (options, f'{PROFILE_OPTION}={profile}')))}"
    return f"{agent}:{profile}" + (f"@{options}" if options else "")


PROFILE_OPTION = "profile"
"""Option of agents from outside that names the file or run folder of their parameters."""

NOTATION = ", ".join(
    [
        *map(_notation_of, AGENTS.values()),
        "python:MODULE:CLASS[@OPTIONS] or process:COMMAND[@OPTIONS] (agents from outside, "
        "docs/agents-outside.md)",
    ]
)
"""Notation of entrants of every agent kind, for help texts and errors."""
