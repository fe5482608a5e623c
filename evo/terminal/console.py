"""Command lines: errors on one line, a console that strips control characters, tables that fit."""

import io
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import typer
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from engine import terminal
from engine.errors import ManaforgeError
from engine.terminal import BROKEN_PIPE, say_error, shown, write_nowhere


def command_line(app: typer.Typer, program: str) -> None:
    """Run a Typer app: our errors are one line on standard error with their exit code; Ctrl-C is 130.

    A command whose standard output nobody reads any more, as after `| head -1`, ends with 141. Standard
    streams that are closed are opened on nothing.
    """
    _open_closed_streams()
    _write_anything()
    terminal.in_command = True
    try:
        app(prog_name=program)
    except SystemExit as ended:
        _flush(program)
        if isinstance(ended.__context__, BrokenPipeError):  # Typer and rich end so with 1
            sys.exit(BROKEN_PIPE)
        raise
    except Exception as error:
        _flush(program)
        end_with(error, program)
    finally:
        terminal.in_command = False


def _open_closed_streams() -> None:
    """Open each standard stream that is closed on /dev/null, so that no file of ours takes its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, number)
            if nothing != number:
                os.close(nothing)
            stream = os.fdopen(number, mode, encoding="utf-8")
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _write_anything() -> None:
    """Let standard output and error replace what their encoding lacks, so that no name stops a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _flush(program: str) -> None:
    """Write what is left in standard output's buffer.

    Raises:
        SystemExit: nobody reads it, or it cannot be written.
    """
    stream = sys.__stdout__ or sys.stdout  # Typer puts its own in place of sys.stdout at the end
    try:
        stream.flush()
    except BrokenPipeError:
        write_nowhere(stream)
        sys.exit(BROKEN_PIPE)
    except OSError as error:
        write_nowhere(stream)
        end_with(OSError(error.errno, error.strerror, "standard output"), program)


def end_with(error: Exception, program: str) -> NoReturn:
    """Exit with one line on standard error for our errors and the system's; raise all others again.

    The code is the error's own `exit_code`; of the system's 1.
    """
    if isinstance(error, ManaforgeError | OSError) and not _has_folder():
        say_error(f"{program}: the current folder was deleted; change to one that exists")
        sys.exit(1)
    if isinstance(error, ManaforgeError):
        say_error(f"{program}: {error}")
    elif isinstance(error, OSError):
        about = f"{error.filename}: " if error.filename else ""
        say_error(f"{program}: {about}{error.strerror or error}")
    else:
        raise error
    sys.exit(error.exit_code if isinstance(error, ManaforgeError) else 1)


def plain_width(usual: int) -> int:
    """Characters of a table without a terminal: what the environment's COLUMNS says, else the usual."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else usual


def _has_folder() -> bool:
    """Whether the current folder exists."""
    try:
        Path.cwd()
    except OSError:
        return False
    return True


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


PADDING = 3
"""Characters a column takes beside its cells: two spaces and a border."""


class Column(NamedTuple):
    """A column of a table that fits.

    Attributes:
        name: its heading.
        importance: 0 stays always; of the others the highest number goes first.
        right: whether its cells are numbers, aligned to the right.
        shortest: characters to which its cells may be cut, from the left; 0: they are not cut.
        folds: whether its cells, and its heading, take as many lines as they need.
    """

    name: str
    importance: int = 0
    right: bool = False
    shortest: int = 0
    folds: bool = False


@dataclass(frozen=True)
class FittingTable:
    """A table of texts in which names are never cut: columns are left out until it fits where it is shown.

    Attributes:
        columns: headings and importance; the first that always stays is the name of a row.
        rows: the cells, each row with a text for every column.
        title: above the table.
        caption: below the table.
    """

    columns: Sequence[Column]
    rows: Iterable[Sequence[str]]
    title: str | Text | None = None
    caption: str | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.fitted(options.max_width)

    def fitted(self, width: int) -> Table:
        """The table in so many characters."""
        cells = [[Text(cell) for cell in row] for row in self.rows]
        widths = self._widths(cells)
        taken, shown = 1, set()
        for place in sorted(range(len(self.columns)), key=lambda place: self.columns[place].importance):
            column = self.columns[place]
            least = min(widths[place], column.shortest or widths[place])
            if column.importance == 0 or taken + least + PADDING <= width:
                shown.add(place)
                taken += least + PADDING
        table = Table(title=self.title, title_justify="left", caption=self.caption, caption_justify="left")
        name = min((p for p, column in enumerate(self.columns) if column.importance == 0), default=0)
        for place in sorted(shown):
            column = self.columns[place]
            if column.shortest and column.shortest < widths[place]:
                longest = min(widths[place], column.shortest + max(0, width - taken))
                taken += longest - column.shortest
                for row in cells:
                    row[place] = row[place][-longest:] if row[place] else row[place]
            table.add_column(
                Text(column.name),
                justify="right" if column.right else "left",
                overflow="fold",
                min_width=column.shortest or None,
                no_wrap=place != name and not column.folds and not column.shortest,
            )
        for row in cells:
            table.add_row(*(row[place] for place in sorted(shown)))
        return table

    def _widths(self, cells: list[list[Text]]) -> list[int]:
        """Characters of each column's longest cell; of those that are cut the heading folds."""
        headings = [column.shortest or len(column.name) for column in self.columns]
        return [
            max([heading, *(row[place].cell_len for row in cells)]) for place, heading in enumerate(headings)
        ]
