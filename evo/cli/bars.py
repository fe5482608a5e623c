"""Progress bars and lines that fit the terminal: of their parts, the least important go."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, ProgressColumn, Task
from rich.table import Table
from rich.text import Text

from evo.wording import duration

SHORTEST_BAR, LONGEST_BAR = 8, 40
"""Characters of a bar."""


class Part(NamedTuple):
    """A part of a bar's line.

    Attributes:
        column: draws it.
        importance: 0 stays always; of the others the highest number goes first.
    """

    column: ProgressColumn
    importance: int = 0


class TimeLeft(ProgressColumn):
    """The time left, and the word for it; nothing while it is unknown."""

    max_refresh = 0.5  # seconds

    def render(self, task: Task) -> Text:
        """Such as "11 h 58 min left"."""
        left = task.time_remaining
        return Text("" if left is None else f"{duration(left)} left", style="progress.remaining")


class FittingProgress(Progress):
    """A progress bar on one line, which is fitted anew whenever it is drawn.

    Args:
        parts: from left to right.
        console: the terminal.
    """

    def __init__(self, parts: Sequence[Part], console: Console) -> None:
        self._parts, self._terminal = parts, console
        super().__init__(*(part.column for part in parts), console=console, transient=True)

    def make_tasks_table(self, tasks: Iterable[Task]) -> Table:
        """The parts that fit, of its only task."""
        shown = list(tasks)
        left, places = self._terminal.width + 1, set()  # no space behind the last
        for place in sorted(range(len(self._parts)), key=lambda place: self._parts[place].importance):
            part = self._parts[place]
            width = max((self._width(part.column, task) for task in shown), default=0) + 1
            if width > 1 and (part.importance == 0 or width <= left):
                places.add(place)
                left -= width
        chosen = [self._parts[place].column for place in sorted(places)]
        for column in chosen:
            if isinstance(column, BarColumn):
                column.bar_width = min(LONGEST_BAR, SHORTEST_BAR + max(0, left))
        self.columns = tuple(chosen)
        return super().make_tasks_table(shown)

    def _width(self, column: ProgressColumn, task: Task) -> int:
        """Characters that a column takes."""
        if isinstance(column, BarColumn):
            return SHORTEST_BAR
        return Measurement.get(self._terminal, self._terminal.options, column(task)).maximum


def fitted_line(parts: Sequence[tuple[str, int]], width: int) -> str:
    """Parts with commas between them in so many characters.

    Args:
        parts: texts with their importance: 0 stays always; of the others the highest number goes first.
        width: characters.
    """
    kept = list(parts)
    while len(", ".join(text for text, _ in kept)) > width:
        least = max(kept, key=lambda part: part[1])
        if least[1] == 0:
            break
        kept.remove(least)
    return ", ".join(text for text, _ in kept)
