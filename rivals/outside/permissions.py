"""Permission to run agents from outside: only those that the command line names.

A file that names an agent from outside would otherwise run any program of this machine. Without a command
line, as in scripts and workers, the code has named it.
"""

import re
import shlex
import sys
from collections.abc import Sequence

from engine.errors import WrongValueError

NAME_PREFIXES = ("python", "process")
"""Prefixes of the names of agents from outside."""


class OutsideAgentError(WrongValueError, ValueError):
    """Malformed name of an agent from outside."""


def is_outside(name: str) -> bool:
    """Whether a name is that of an agent from outside, which runs in its own process."""
    return name.partition(":")[0] in NAME_PREFIXES and ":" in name


def command_of(name: str) -> list[str]:
    """Command line that starts an agent from outside.

    Raises:
        OutsideAgentError: malformed name.
    """
    scheme, _, rest = name.partition(":")
    try:
        words = shlex.split(rest) if scheme == "process" else []
    except ValueError as error:
        raise OutsideAgentError(f"{name}: {str(error).lower()}") from None
    if words:
        return words
    module, colon, class_name = rest.partition(":")
    if scheme != "python" or not (module and colon and class_name):
        raise OutsideAgentError(
            f"{name!r} is not an agent from outside: write python:MODULE:CLASS or process:COMMAND"
        )
    return [sys.executable, "-m", "rivals.outside.host", module, class_name]


ALLOW_OPTION = "--allow-agent"
"""Option that permits an agent from outside named by a file."""

_named: set[str] | None = None


class NotAllowedError(WrongValueError):
    """An agent from outside named only by a file."""


AGENT_COMMANDS = ("tournament", "play", "check-agent", "sweep", "mulligan", "exploit", "ablate")
"""Commands whose arguments are agents; arguments of other commands are files and folders."""

AGENT_LIST_OPTIONS = ("--players",)
"""Options that take comma-separated agents."""

AGENT_OPTIONS = (
    ALLOW_OPTION,
    "--against",
    "--champion",
    "--opponent",
    "--player",
    "--rival",
    *AGENT_LIST_OPTIONS,
)
"""Options whose values are agents."""


def set_command_line(words: Sequence[str]) -> None:
    """Permit only the agents that a command line names: in arguments, options, or values of --set."""
    global _named  # noqa: PLW0603 - a process has one command line
    _named = set()
    command = next((word for word in words if not word.startswith("-")), "")
    previous = ""
    for word in words:
        option, equals, value = word.partition("=")
        if word.startswith("--") and equals:
            candidates = _texts_of(option, value)
        elif previous.startswith("-"):
            candidates = (
                _texts_of(previous, word)
                if previous in (*AGENT_OPTIONS, "--set")
                else _arguments(command, word)
            )
        else:
            candidates = _arguments(command, word)
        found = {text for text in candidates if is_outside(text)}
        _named |= found | {text.rpartition("@")[0] for text in found if "@" in text}
        previous = word


def _arguments(command: str, word: str) -> set[str]:
    """Agents from outside that a positional argument of a command names."""
    return {word} if command in AGENT_COMMANDS else set()


def _texts_of(option: str, value: str) -> set[str]:
    """Possible names of agents from outside in the value of a command-line option."""
    if option == "--set":
        text = value.partition("=")[2]
        return {text.strip("\"'"), *re.findall(r'"([^"]*)"', text), *re.findall(r"'([^']*)'", text)}
    if option in AGENT_LIST_OPTIONS:
        return {value, *value.split(",")}
    return {value} if option in AGENT_OPTIONS else set()


def allow_options(*names: str) -> str:
    """Command-line options that permit these agents, each with a leading space."""
    return "".join(
        f" {ALLOW_OPTION} {shlex.quote(name)}" for name in dict.fromkeys(names) if is_outside(name)
    )


def refuse_unnamed(name: str) -> None:
    """Raise an error for an agent that the command line does not name.

    Raises:
        NotAllowedError: the command line does not name it.
    """
    if _named is not None and name not in _named:
        raise NotAllowedError(
            f"{name} comes from a file and would run a program on this machine; if you trust it, add"
            f"{allow_options(name)}"
        )
