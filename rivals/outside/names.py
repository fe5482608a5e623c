"""Names of outside agents: python:MODULE:CLASS and process:COMMAND."""

import shlex
import sys

from engine.errors import WrongValueError

OUTSIDE = ("python", "process")
"""What the names begin with."""


class OutsideAgentError(WrongValueError, ValueError):
    """A text that names no outside agent."""


def is_outside(name: str) -> bool:
    """Whether a name is an outside agent's, which runs in a process of its own."""
    return name.partition(":")[0] in OUTSIDE and ":" in name


def command_of(name: str) -> list[str]:
    """The words of the command that starts an outside agent.

    Raises:
        OutsideAgentError: the name is none.
    """
    sort, _, rest = name.partition(":")
    try:
        words = shlex.split(rest) if sort == "process" else []
    except ValueError as error:
        raise OutsideAgentError(f"{name}: {str(error).lower()}") from None
    if words:
        return words
    module, colon, found = rest.partition(":")
    if sort != "python" or not (module and colon and found):
        raise OutsideAgentError(f"{name!r} is no outside agent: write python:MODULE:CLASS or process:COMMAND")
    return [sys.executable, "-m", "rivals.outside.host", module, found]
