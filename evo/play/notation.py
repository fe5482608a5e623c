"""How entrants are written, for help texts and errors; `evo.play.entrants` reads them."""

from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND, listed
from rivals.kinds import AgentKind
from rivals.outside.names import is_outside
from rivals.registry import AGENTS, DEFAULT_AGENT


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
