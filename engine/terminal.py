"""Text output: replace control characters, and handle closed streams."""

import os
import signal
import sys
import unicodedata
from typing import IO

HIDDEN = "�"
"""Replacement of characters that are not printed."""

in_command = False
"""Whether this process runs one of the project's commands, which a signal may end at any time."""

BROKEN_PIPE = 128 + signal.SIGPIPE
"""Exit code of a command whose output pipe was closed."""


def shown(text: object) -> str:
    """Make untrusted text safe to print: replace escape codes and characters that reorder or hide text."""
    string = str(text)
    if string.isprintable():
        return string
    return "".join(letter if _is_harmless(letter) else HIDDEN for letter in string)


def _is_harmless(letter: str) -> bool:
    """Whether a character is printable, or a space or joiner that does not reorder text."""
    return letter.isprintable() or letter in "\n\t\u200c\u200d\ufe0f" or unicodedata.category(letter) == "Zs"


def write_nowhere(stream: IO[str]) -> None:
    """Redirect a standard stream to /dev/null, including its buffered text."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def say_error(text: str) -> None:
    """Print a line on standard error; if the stream is closed, discard all further output to it."""
    try:
        print(shown(text), file=sys.stderr, flush=True)
    except OSError:
        write_nowhere(sys.stderr)
