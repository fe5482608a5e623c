"""Text for terminals: strip control characters, and survive closed streams."""

import os
import signal
import sys
import unicodedata
from typing import IO

HIDDEN = "�"
"""Stands for a character that is not shown."""

in_command = False
"""Whether this process runs a command of ours, which a signal may end at any time."""

BROKEN_PIPE = 128 + signal.SIGPIPE
"""Exit code of a command whose output nobody reads any more."""


def shown(text: object) -> str:
    """A text from anyone as it may be printed: escape codes and what reorders or hides text are replaced."""
    whole = str(text)
    if whole.isprintable():
        return whole
    return "".join(letter if _is_harmless(letter) else HIDDEN for letter in whole)


def _is_harmless(letter: str) -> bool:
    """Whether a character neither commands the terminal nor reorders text, as joiners and spaces do not."""
    return letter.isprintable() or letter in "\n\t\u200c\u200d\ufe0f" or unicodedata.category(letter) == "Zs"


def write_nowhere(stream: IO[str]) -> None:
    """Send a standard stream nowhere from here on, also what is in its buffer: nobody reads it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def say_error(text: str) -> None:
    """Print a line on standard error, if somebody reads it."""
    try:
        print(shown(text), file=sys.stderr, flush=True)
    except OSError:
        write_nowhere(sys.stderr)
