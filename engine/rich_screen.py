"""A console that strips control characters."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from engine.screen import BROKEN_PIPE, shown, write_nowhere


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
