"""Tables that fit the terminal: where the width does not hold all columns, the least important go."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

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
