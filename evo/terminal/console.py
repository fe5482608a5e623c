"""Command line output: one-line errors, a console that strips control characters, tables that fit."""

import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from engine import terminal
from engine.errors import ManaforgeError
from engine.terminal import BROKEN_PIPE, print_error, redirect_to_devnull, safe_text


def run_command_line(app: typer.Typer, program: str) -> None:
    """Run a Typer app; the project's errors become one line on standard error and an exit code.

    The exit code after Ctrl-C is 130, after a closed output pipe (as of `| head -1`) 141. Closed standard
    streams are opened on /dev/null.
    """
    _open_closed_streams()
    _replace_unencodable()
    terminal.in_command = True
    try:
        app(prog_name=program)
    except SystemExit as ended:
        _flush(program)
        if isinstance(ended.__context__, BrokenPipeError):  # for which Typer and rich exit with 1
            sys.exit(BROKEN_PIPE)
        raise
    except Exception as error:
        _flush(program)
        exit_with_error(error, program)
    finally:
        terminal.in_command = False


def _open_closed_streams() -> None:
    """Open closed standard streams on /dev/null, so that no other file gets a standard descriptor."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, number)
            if nothing != number:
                os.close(nothing)
            stream = os.fdopen(number, mode, encoding="utf-8")
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _replace_unencodable() -> None:
    """Let standard output and error replace unencodable characters instead of raising."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _flush(program: str) -> None:
    """Flush standard output.

    Raises:
        SystemExit: its pipe is closed, or it cannot be written.
    """
    stream = sys.__stdout__ or sys.stdout  # Typer puts its own in place of sys.stdout at the end
    try:
        stream.flush()
    except BrokenPipeError:
        redirect_to_devnull(stream)
        sys.exit(BROKEN_PIPE)
    except OSError as error:
        redirect_to_devnull(stream)
        exit_with_error(OSError(error.errno, error.strerror, "standard output"), program)


def exit_with_error(error: Exception, program: str) -> NoReturn:
    """Print an error of the project or the system as one line and exit; re-raise any other.

    The exit code is the error's `exit_code`, or 1 for an error of the system.
    """
    if isinstance(error, ManaforgeError | OSError) and not _folder_exists():
        print_error(f"{program}: the current folder was deleted; change to one that exists")
        sys.exit(1)
    if isinstance(error, ManaforgeError):
        print_error(f"{program}: {error}")
    elif isinstance(error, OSError):
        prefix = f"{error.filename}: " if error.filename else ""
        print_error(f"{program}: {prefix}{error.strerror or error}")
    else:
        raise error
    sys.exit(error.exit_code if isinstance(error, ManaforgeError) else 1)


def table_width(usual: int) -> int:
    """Width of tables without a terminal: the value of the environment variable COLUMNS, else `usual`."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else usual


def _folder_exists() -> bool:
    """Whether the current folder exists."""
    try:
        Path.cwd()
    except OSError:
        return False
    return True


class SafeConsole(Console):
    """A rich console without markup that strips control characters from texts.

    If its pipe is closed, as after `| head -1`, the command ends with `BROKEN_PIPE`; on standard error, which
    has only messages, further output is discarded.

    Arguments are those of `rich.console.Console`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render a renderable of rich, with control characters in texts replaced."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(safe_text(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Discard further output, since nobody reads it.

        Raises:
            SystemExit: this is standard output.
        """
        redirect_to_devnull(self.file)
        if not self.stderr:
            self.on_no_reader()

    def on_no_reader(self) -> None:
        """End the command, since the reader of its output has closed the pipe.

        Raises:
            SystemExit: with `BROKEN_PIPE`.
        """
        raise SystemExit(BROKEN_PIPE)


class HelpText(Text):
    """Text of a help page: long words wrap instead of being cut, and no `:code:` becomes an emoji."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"overflow": "fold", **options})

    @classmethod
    def from_markup(cls, text: str, **options: Any) -> Text:
        """Parse markup of rich."""
        return super().from_markup(text, **{"emoji": False, "overflow": "fold", **options})


def use_help_texts() -> None:
    """Let Typer write help pages in `HelpText`, for which it has no setting."""
    from typer import rich_utils  # noqa: PLC0415 - slow to import, and needed for help alone

    setattr(rich_utils, "Text", HelpText)  # noqa: B010


PADDING = 3
"""Characters of a column besides its cells: two spaces and a border."""


class Column(NamedTuple):
    """A column of a `FittingTable`.

    Attributes:
        name: its heading.
        importance: 0: always shown; columns with the highest number are dropped first.
        right: whether its cells are right-aligned, as numbers.
        shortest: length to which its cells may be shortened; 0: never shortened.
        shorten: shortens a cell to a length.
        folds: whether its cells and heading may wrap to several lines.
    """

    name: str
    importance: int = 0
    right: bool = False
    shortest: int = 0
    shorten: Callable[[str, int], str] = lambda text, length: text[-length:]
    folds: bool = False


SHORTEST_NAME = 24
"""Width to which the names of rows wrap on a terminal before a column is dropped."""


def wrap_name(name: str, width: int) -> str:
    """Break a name into lines of at most `width` characters after `/`, `-` or spaces, where possible."""
    lines = [""]
    for part in re.findall(r"[^/ -]*[/ -]|[^/ -]+", name):
        if lines[-1] and cell_len(lines[-1] + part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


@dataclass(frozen=True)
class FittingTable:
    """A table that drops less important columns until it fits the width.

    Long names of rows wrap on a terminal. Elsewhere they stay in one piece, to be searched and copied; the
    table is then wider than asked for if the columns that are always shown do not fit.

    Attributes:
        columns: its columns; the first with importance 0 has the names of the rows.
        rows: the cells, each row with a text for every column.
        title: above the table.
        caption: below the table.
    """

    columns: Sequence[Column]
    rows: Iterable[Sequence[str]]
    title: str | Text | None = None
    caption: str | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.fitted(options.max_width, console.is_terminal)

    def fitted(self, width: int, wraps: bool) -> Table:
        """Lay out the table in `width` characters; `wraps`: whether long names of rows wrap."""
        cells = [[Text(cell) for cell in row] for row in self.rows]
        widths = self._widths(cells)
        name = min((p for p, column in enumerate(self.columns) if column.importance == 0), default=0)
        taken, kept = 1, set()
        for place in sorted(range(len(self.columns)), key=lambda place: self.columns[place].importance):
            column = self.columns[place]
            shortest = SHORTEST_NAME if place == name and wraps else column.shortest
            needed = min(widths[place], shortest or widths[place])
            if column.importance == 0 or taken + needed + PADDING <= width:
                kept.add(place)
                taken += needed + PADDING
        table = Table(title=self.title, title_justify="left", caption=self.caption, caption_justify="left")
        for place in sorted(kept):
            column = self.columns[place]
            if column.shortest and column.shortest < widths[place]:
                longest = min(widths[place], column.shortest + max(0, width - taken))
                taken += longest - column.shortest
                for row in cells:
                    row[place] = Text(column.shorten(row[place].plain, longest)) if row[place] else row[place]
        names_width = widths[name]
        if wraps and widths[name] > SHORTEST_NAME:
            names_width = min(widths[name], max(SHORTEST_NAME, SHORTEST_NAME + width - taken))
            for row in cells:
                row[name] = Text(wrap_name(row[name].plain, names_width))
        elif not wraps and taken > width:
            table.width = taken
        for place in sorted(kept):
            column = self.columns[place]
            table.add_column(
                Text(column.name),
                justify="right" if column.right else "left",
                overflow="fold",
                min_width=names_width if place == name and not wraps else column.shortest or None,
                no_wrap=not (place == name and wraps) and not column.folds and not column.shortest,
            )
        for row in cells:
            table.add_row(*(row[place] for place in sorted(kept)))
        return table

    def _widths(self, cells: list[list[Text]]) -> list[int]:
        """Width of each column: its longest cell or heading; headings of shortened columns wrap."""
        headings = [column.shortest or len(column.name) for column in self.columns]
        return [
            max([heading, *(row[place].cell_len for row in cells)]) for place, heading in enumerate(headings)
        ]
