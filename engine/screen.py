"""The terminal as every command writes to it: a text from anyone may be on it, and none commands it."""

import os
import signal
import sys
import unicodedata
from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

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


class Screen(Console):
    """A console that takes no text for markup and lets no control character through but its own.

    When nobody reads it any more, as after `| head -1`, standard output ends the command with `BROKEN_PIPE`;
    standard error, where only messages are, goes on without a word.

    Arguments are those of `rich.console.Console`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of a renderable, their texts as `shown` makes them."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(shown(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Write nowhere from here on.

        Raises:
            SystemExit: this is standard output.
        """
        write_nowhere(self.file)
        if not self.stderr:
            self.on_no_reader()

    def on_no_reader(self) -> None:
        """End the command, since nobody reads its output.

        Raises:
            SystemExit: with `BROKEN_PIPE`.
        """
        raise SystemExit(BROKEN_PIPE)
