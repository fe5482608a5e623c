"""The style of all figures: sizes, colours that are distinct for the colour-blind and in grey, PNG files.

The figures are in `evo.tournament.report`, `evo.analysis.plots` and `evo.analysis.plots`.
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
"""Of lines, in their order."""

MARKERS = "osD^vPX"
LARGEST = 40.0
"""Inches."""

WIDE, NARROW = 9.0, 4.4
"""Inches of a figure that fills a page, and of the same on a telephone."""

LONGEST, LONGEST_NARROW = 36, 22
"""Characters of an entrant's name in a figure, and in one on a telephone."""

LEGEND = 9
"""Size of a legend's letters, in points: readable on a telephone too."""

SMALL, SMALL_NARROW = 7, 9
"""Size of the smallest letters of a figure, and of one on a telephone, in points."""

LEFT_OF_AXES = 0.8
"""Inches for ticks and label of the vertical axis."""

DIVERGING = "vlag_r"
"""Red below one half, blue above, white between."""

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
    """Our style, without warnings for names that are too long or in scripts the font lacks."""
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        for message in ("Glyph", "constrained_layout not applied", "There are no gridspecs"):
            warnings.filterwarnings("ignore", message, UserWarning)
        yield


@contextmanager
def figure(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    """A figure with one pair of axes in our style; sizes in inches. Nothing global is changed."""
    with _styled():
        drawn = Figure(figsize=(min(width, LARGEST), min(height, LARGEST)), layout="constrained")
        FigureCanvasAgg(drawn)  # else measuring each label creates a renderer of the whole figure
        yield drawn, drawn.subplots()


@contextmanager
def grid(n: int, width: float, height: float, columns: int = 3) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure with n pairs of axes in rows; sizes of one of them in inches."""
    with _styled():
        columns = min(columns, n)
        rows = -(-n // columns)
        drawn = Figure(figsize=(width * columns, height * rows + 0.3), layout="constrained")
        FigureCanvasAgg(drawn)
        axes = list(np.atleast_1d(drawn.subplots(rows, columns)).reshape(-1))
        for unused in axes[n:]:
            unused.set_axis_off()
        yield drawn, axes[:n]


def png(drawn: Figure) -> bytes:
    """A figure as a PNG file."""
    buffer = io.BytesIO()
    with _styled():
        drawn.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


@dataclass(frozen=True)
class Picture:
    """A PNG that notebooks show as a picture."""

    png: bytes = field(repr=False)

    def _repr_png_(self) -> bytes:
        return self.png


def draw(plot: Callable[..., Axes], *data: Any, width: float = 6.2, height: float = 3.4) -> Picture:
    """A figure of a plotting function that takes axes and data; sizes in inches."""
    with figure(width, height) as (drawn, axes):
        plot(axes, *data)
        return Picture(png(drawn))


def draw_both(
    plot: Callable[..., Axes], *data: Any, height: float = 3.6, width: float = WIDE
) -> tuple[bytes, bytes]:
    """A figure for wide pages and the same for narrow ones, as PNG files (`evo.figures.page.image`).

    Args:
        plot: takes axes and data.
        data: what it draws.
        height: inches of the wide one.
        width: inches of the wide one.
    """
    low = max(2.0, 0.85 * height)
    return draw(plot, *data, width=width, height=height).png, draw(plot, *data, width=NARROW, height=low).png


def width_of(axes: Axes) -> float:
    """Inches of the whole figure."""
    drawn = axes.get_figure(root=True)
    return WIDE if drawn is None else float(drawn.get_figwidth())


def legend_above(axes: Axes) -> None:
    """A legend that covers no data, in as many columns as leave the axes their width.

    Args:
        axes: with labelled lines or marks.
    """
    drawn = axes.get_figure(root=True)
    assert drawn is not None
    room = (drawn.get_figwidth() - LEFT_OF_AXES) * drawn.get_dpi()
    for columns in range(len(axes.get_legend_handles_labels()[1]), 0, -1):
        legend = axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=columns,
            fontsize=LEGEND,
            frameon=False,
            borderaxespad=0.2,
            columnspacing=1.2,
            handletextpad=0.4,
        )
        if legend.get_window_extent().width <= room:
            return


def whole_ticks(axis: Axis) -> None:
    """Ticks at whole numbers only, as for generations."""
    axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))


def share_ticks(axis: Axis) -> None:
    """Ticks of shares in percent, each exactly what it says."""
    axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10]))
    axis.set_major_formatter(lambda share, _: f"{round(100 * share, 6):g}%")


def plot_scores(axes: Axes, scores: pd.DataFrame, label: str) -> Axes:
    """A heat map of scores per game: numbers where they fit, and where names do not, one of several names.

    Args:
        axes: to draw on.
        scores: rows against columns, in [0, 1]; missing without games.
        label: of the colours.
    """
    scores = scores.rename(index=short_name, columns=short_name)
    size = 10 if len(scores) <= 8 else 9 if len(scores) <= 14 else 7
    room = 40 * width_of(axes) / len(scores)  # points for each name
    every = math.ceil(small(axes) / room)
    sns.heatmap(
        scores,
        ax=axes,
        vmin=0,
        vmax=1,
        center=0.5,
        cmap=DIVERGING,
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


def short_name(name: str, longest: int = LONGEST) -> str:
    """A name that fits a figure: of a long one, both ends."""
    return name if len(name) <= longest else f"{name[: longest // 2 - 1]}…{name[-longest // 2 :]}"


def is_narrow(axes: Axes) -> bool:
    """Whether the figure is the form for a telephone."""
    return width_of(axes) <= NARROW


def small(axes: Axes) -> int:
    """Size of the smallest letters, in points."""
    return SMALL_NARROW if is_narrow(axes) else SMALL
