"""Style of all figures (matplotlib): sizes, colours distinct for the colour-blind and in grey, PNG output.

The figures are in `evo.tournament.report`, `evo.analysis.plots` and others.
"""

import io
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

BLUE = "#0072b2"
GREY = "#555555"
ORANGE = "#d55e00"
GREEN = "#009e73"
COLOURS = (BLUE, ORANGE, GREEN, "#cc79a7", "#e69f00", "#56b4e9", GREY)
"""Line colours, in order."""

MARKERS = "osD^vPX"
MAX_INCHES = 40.0
"""Most inches of a figure's width and height."""

WIDE_INCHES, NARROW_INCHES = 9.0, 4.4
"""Width in inches of a figure in page width, and of its version for phones."""

MAX_NAME_LENGTH, MAX_NAME_LENGTH_NARROW = 36, 22
"""Most characters of an entrant's name in a figure, and in its version for phones."""

LEGEND_FONT_SIZE = 9
"""Font size of legends in points, readable on a phone too."""

SMALL_FONT_SIZE, SMALL_FONT_SIZE_NARROW = 7, 9
"""Smallest font size in points of a figure, and of its version for phones."""

LEFT_MARGIN_INCHES = 0.8
"""Inches for ticks and label of the vertical axis."""

DIVERGING_COLOURS = "vlag_r"
"""Colour map: red below one half, white at it, blue above."""

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 150,
    "savefig.bbox": "tight",
    "svg.hashsalt": "manaforge",
    "text.parse_math": False,
}


@contextmanager
def _styled() -> Iterator[None]:
    """Context with the project's figure style, without warnings about long names or missing glyphs."""
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        for message in ("Glyph", "constrained_layout not applied", "There are no gridspecs"):
            warnings.filterwarnings("ignore", message, UserWarning)
        yield


@contextmanager
def figure(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    """Context with a figure of one pair of axes in the project's style; sizes in inches, no global state."""
    with _styled():
        drawn = Figure(figsize=(min(width, MAX_INCHES), min(height, MAX_INCHES)), layout="constrained")
        FigureCanvasAgg(drawn)  # else measuring each label creates a renderer of the whole figure
        yield drawn, drawn.subplots()


@contextmanager
def grid(n: int, width: float, height: float, columns: int = 3) -> Iterator[tuple[Figure, list[Axes]]]:
    """Context with a figure of n pairs of axes in a grid; width and height of one pair in inches."""
    with _styled():
        columns = min(columns, n)
        rows = -(-n // columns)
        drawn = Figure(figsize=(width * columns, height * rows + 0.3), layout="constrained")
        FigureCanvasAgg(drawn)
        axes = list(np.atleast_1d(drawn.subplots(rows, columns)).reshape(-1))
        for unused in axes[n:]:
            unused.set_axis_off()
        yield drawn, axes[:n]


def png_bytes(drawn: Figure) -> bytes:
    """Render a figure as a PNG file."""
    buffer = io.BytesIO()
    with _styled():
        drawn.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


@dataclass(frozen=True)
class Picture:
    """A PNG image that notebooks display."""

    png: bytes = field(repr=False)

    def _repr_png_(self) -> bytes:
        """The PNG file, for IPython's display."""
        return self.png


def draw(plot: Callable[..., Axes], *data: Any, width: float = 6.2, height: float = 3.4) -> Picture:
    """Draw a figure with a plotting function of axes and data; sizes in inches."""
    with figure(width, height) as (drawn, axes):
        plot(axes, *data)
        return Picture(png_bytes(drawn))


def draw_wide_and_narrow(
    plot: Callable[..., Axes], *data: Any, height: float = 3.6, width: float = WIDE_INCHES
) -> tuple[bytes, bytes]:
    """Draw a figure for wide and for narrow pages, as two PNG files (`evo.figures.page.image`).

    Args:
        plot: plotting function of axes and data.
        data: its data.
        height: of the wide figure, in inches.
        width: of the wide figure, in inches.
    """
    low = max(2.0, 0.85 * height)
    return draw(plot, *data, width=width, height=height).png, draw(
        plot, *data, width=NARROW_INCHES, height=low
    ).png


def figure_width(axes: Axes) -> float:
    """Width of the whole figure in inches."""
    drawn = axes.get_figure(root=True)
    return WIDE_INCHES if drawn is None else float(drawn.get_figwidth())


def legend_above(axes: Axes) -> None:
    """Add a legend above the axes, in as many columns as fit their width.

    Args:
        axes: axes with labelled artists.
    """
    drawn = axes.get_figure(root=True)
    assert drawn is not None
    room = (drawn.get_figwidth() - LEFT_MARGIN_INCHES) * drawn.get_dpi()
    for columns in range(len(axes.get_legend_handles_labels()[1]), 0, -1):
        legend = axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=columns,
            fontsize=LEGEND_FONT_SIZE,
            frameon=False,
            borderaxespad=0.2,
            columnspacing=1.2,
            handletextpad=0.4,
        )
        if legend.get_window_extent().width <= room:
            return


def integer_ticks(axis: Axis) -> None:
    """Put ticks at integers only, as for generations."""
    axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))


def percent_ticks(axis: Axis) -> None:
    """Put ticks at round values, labelled by exact percentages."""
    axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10]))
    axis.set_major_formatter(lambda share, _: f"{round(100 * share, 6):g}%")


def plot_scores(axes: Axes, scores: pd.DataFrame, label: str) -> Axes:
    """Plot a heat map of scores per game, with numbers and names if they fit.

    Args:
        axes: to draw on.
        scores: rows against columns, in [0, 1]; missing without games.
        label: of the colour bar.
    """
    scores = scores.rename(index=short_name, columns=short_name)
    size = 10 if len(scores) <= 8 else 9 if len(scores) <= 14 else 7
    room = 40 * figure_width(axes) / len(scores)  # points for each name
    every = math.ceil(small_font_size(axes) / room)
    sns.heatmap(
        scores,
        ax=axes,
        vmin=0,
        vmax=1,
        center=0.5,
        cmap=DIVERGING_COLOURS,
        square=True,
        linewidths=0.5,
        xticklabels=every,
        yticklabels=every,
        annot=len(scores) <= 24 and room >= 2 * size,
        fmt=".0%",
        annot_kws={"size": size},
        cbar_kws={"label": label, "format": PercentFormatter(1, decimals=0), "shrink": 0.7},
    )
    axes.set(xlabel=scores.columns.name, ylabel=scores.index.name)
    points = min(10.0, room * every)
    axes.tick_params(axis="x", labelrotation=45, length=0, labelsize=points)
    axes.tick_params(axis="y", labelrotation=0, length=0, labelsize=points)
    for text in axes.get_xticklabels():
        text.set(ha="right", rotation_mode="anchor")
    return axes


def short_name(name: str, longest: int = MAX_NAME_LENGTH) -> str:
    """Shorten a long name to its two ends."""
    return name if len(name) <= longest else f"{name[: longest // 2 - 1]}…{name[-longest // 2 :]}"


def is_narrow(axes: Axes) -> bool:
    """Whether a figure is drawn in the narrow version for phones."""
    return figure_width(axes) <= NARROW_INCHES


def small_font_size(axes: Axes) -> int:
    """Smallest font size of texts in a figure, in points."""
    return SMALL_FONT_SIZE_NARROW if is_narrow(axes) else SMALL_FONT_SIZE
