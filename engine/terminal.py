"""Text output: replace control characters, and handle closed streams."""

import os
import signal
import sys
import unicodedata
from typing import IO

REPLACEMENT = "�"
"""Replacement of characters that are not printed."""

in_command = False
"""Whether this process runs one of the project's commands, which a signal may end at any time."""

BROKEN_PIPE = 128 + signal.SIGPIPE
"""Exit code of a command whose output pipe was closed."""


def safe_text(text: object) -> str:
    """Make untrusted text safe to print: replace escape codes and characters that reorder or hide text."""
    string = str(text)
    if string.isprintable():
        return string
    return "".join(letter if _is_harmless(letter) else REPLACEMENT for letter in string)


def _is_harmless(letter: str) -> bool:
    """Whether a character is printable, or a space or joiner that does not reorder text."""
    return letter.isprintable() or letter in "\n\t\u200c\u200d\ufe0f" or unicodedata.category(letter) == "Zs"


def redirect_to_devnull(stream: IO[str]) -> None:
    """Redirect a standard stream to /dev/null, including its buffered text."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def print_error(text: str) -> None:
    """Print a line on standard error; if the stream is closed, discard all further output to it."""
    try:
        print(safe_text(text), file=sys.stderr, flush=True)
    except OSError:
        redirect_to_devnull(sys.stderr)
