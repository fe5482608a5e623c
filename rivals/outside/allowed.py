"""Which outside agents may run: those that the command line names.

A file that names one is read, and not followed: whoever wrote it chose a program of this machine. Where there
is no command line, as in a script or a worker, the code has named it.
"""

import re
import shlex
from collections.abc import Iterable

from engine.errors import WrongValueError

OPTION = "--allow-agent"
"""Names an agent on the command line that a file names."""

_named: set[str] | None = None


class NotAllowedError(WrongValueError):
    """An outside agent that only a file names."""


def command_line_is(words: Iterable[str]) -> None:
    """From now on only agents run that these words name: alone, in lists, or in values of --set."""
    global _named  # noqa: PLW0603 - a process has one command line
    _named = set()
    for word in words:
        texts = {word, word.partition("=")[2], *word.split(","), *re.findall(r'"([^"]*)"', word)}
        texts |= {text.partition("=")[2].strip("\"'") for text in texts}
        _named |= texts | {text.rpartition("@")[0] for text in texts}


def refuse_unnamed(name: str) -> None:
    """Refuse an agent that the command line does not name.

    Raises:
        NotAllowedError: it does not.
    """
    if _named is not None and name not in _named:
        raise NotAllowedError(
            f"{name} is named by a file, and runs a program of this machine; if you trust it, add "
            f"{OPTION} {shlex.quote(name)}"
        )
