"""Names of outside agents, and which of them may run.

A file that names one is read, and not followed: whoever wrote it chose a program of this machine. Where there
is no command line, as in a script or a worker, the code has named it.
"""

import re
import shlex
import sys
from collections.abc import Sequence

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


OPTION = "--allow-agent"
"""Names an agent on the command line that a file names."""

_named: set[str] | None = None


class NotAllowedError(WrongValueError):
    """An outside agent that only a file names."""


ENTRANTS = ("tournament", "play", "check-agent", "sweep", "mulligan", "exploit", "ablate")
"""Commands whose arguments are agents; those of others are files and folders, which may have any name."""

LISTS = ("--players",)
"""Options of several agents, with commas between them."""

NAMING = (OPTION, "--against", "--champion", "--opponent", *LISTS)
"""Options whose values are agents; what else follows an option names none."""


def command_line_is(words: Sequence[str]) -> None:
    """From now on only agents run that these words name: as arguments, in options, or in values of --set."""
    global _named  # noqa: PLW0603 - a process has one command line
    _named = set()
    command = next((word for word in words if not word.startswith("-")), "")
    before = ""
    for word in words:
        option, equals, value = word.partition("=")
        if word.startswith("--") and equals:
            texts = _texts_of(option, value)
        elif before.startswith("-"):
            texts = _texts_of(before, word) if before in (*NAMING, "--set") else _arguments(command, word)
        else:
            texts = _arguments(command, word)
        found = {text for text in texts if is_outside(text)}
        _named |= found | {text.rpartition("@")[0] for text in found if "@" in text}
        before = word


def _arguments(command: str, word: str) -> set[str]:
    """What a word names that stands alone."""
    return {word} if command in ENTRANTS else set()


def _texts_of(option: str, value: str) -> set[str]:
    """What the value of an option names."""
    if option == "--set":
        text = value.partition("=")[2]
        return {text.strip("\"'"), *re.findall(r'"([^"]*)"', text), *re.findall(r"'([^']*)'", text)}
    if option in LISTS:
        return {value, *value.split(",")}
    return {value} if option in NAMING else set()


def allowing(*names: str) -> str:
    """Options of a command that plays these agents where files name them, with a space before each."""
    return "".join(f" {OPTION} {shlex.quote(name)}" for name in dict.fromkeys(names) if is_outside(name))


def refuse_unnamed(name: str) -> None:
    """Refuse an agent that the command line does not name.

    Raises:
        NotAllowedError: it does not.
    """
    if _named is not None and name not in _named:
        raise NotAllowedError(
            f"{name} is named by a file, and runs a program of this machine; if you trust it, add"
            f"{allowing(name)}"
        )
