"""Tables that fit the terminal: where the width does not hold all columns, the least important go."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

PADDING = 3
"""Characters a column takes beside its cells: two spaces and a border."""


class Column(NamedTuple):
    """A column of a table that fits.

    Attributes:
        name: its heading.
        importance: 0 stays always; of the others the highest number goes first.
        right: whether its cells are numbers, aligned to the right.
    """

    name: str
    importance: int = 0
    right: bool = False


def fitting_table(
    console: Console, columns: Sequence[Column], rows: Iterable[Sequence[str]], title: str | None = None
) -> RichTable:
    """A table of texts in which names are never cut: columns are left out until it fits the console.

    Args:
        console: where it will be shown.
        columns: headings and importance; the first is the name of a row, and always stays.
        rows: the cells, each with a text for every column.
        title: above the table.
    """
    cells = [list(row) for row in rows]
    widths = [
        max(len(text) for text in texts) for texts in zip([c.name for c in columns], *cells, strict=True)
    ]
    shown: set[int] = set()
    for place in sorted(range(len(columns)), key=lambda place: columns[place].importance):
        taken = sum(widths[other] + PADDING for other in shown) + 1
        if columns[place].importance == 0 or taken + widths[place] + PADDING <= console.width:
            shown.add(place)
    table = RichTable(title=title, title_justify="left")
    for place in sorted(shown):
        name, justify = columns[place].name, "right" if columns[place].right else "left"
        table.add_column(name, justify=justify, overflow="fold", no_wrap=place > 0)  # type: ignore[arg-type]
    for row in cells:
        table.add_row(*(Text(row[place]) for place in sorted(shown)))
    return table
