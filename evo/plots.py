"""Figures: functions from tables to axes. Colours are told apart by the colour-blind and in grey print."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

BLUE = "#0072b2"
GREY = "#555555"
DIVERGING = "vlag_r"
"""Red below one half, blue above, white between."""

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 150,
    "savefig.bbox": "tight",
    "svg.hashsalt": "manaforge",
}


@contextmanager
def figure(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    """A figure with one pair of axes in our style; sizes in inches. Nothing global is changed."""
    with mpl.rc_context(STYLE):
        drawn = Figure(figsize=(width, height), layout="constrained")
        yield drawn, drawn.subplots()


def png(drawn: Figure) -> bytes:
    """A figure as a PNG file."""
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        drawn.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def plot_scores(axes: Axes, scores: pd.DataFrame, label: str) -> Axes:
    """A heat map of scores per game.

    Args:
        axes: to draw on.
        scores: rows against columns, in [0, 1]; missing where two did not meet.
        label: of the colours.
    """
    size = 9 if len(scores) <= 8 else 7 if len(scores) <= 14 else 5
    sns.heatmap(
        scores,
        ax=axes,
        vmin=0,
        vmax=1,
        center=0.5,
        cmap=DIVERGING,
        square=True,
        linewidths=0.5,
        annot=len(scores) <= 24,
        fmt=".0%",
        annot_kws={"size": size},
        cbar_kws={"label": label, "format": PercentFormatter(1, decimals=0), "shrink": 0.7},
    )
    axes.set(xlabel=scores.columns.name, ylabel=scores.index.name)
    axes.tick_params(axis="x", labelrotation=45, length=0)
    axes.tick_params(axis="y", labelrotation=0, length=0)
    for text in axes.get_xticklabels():
        text.set(ha="right", rotation_mode="anchor")
    return axes


def plot_ratings(axes: Axes, ratings: pd.DataFrame) -> Axes:
    """Ratings with their 95% intervals, the best on top.

    Args:
        axes: to draw on.
        ratings: columns entrant, rating, low, high (Elo), in the order to draw.
    """
    places = np.arange(len(ratings))
    value = ratings["rating"].to_numpy()
    spread = np.abs(np.stack([value - ratings["low"], ratings["high"] - value]))
    axes.errorbar(value, places, xerr=spread, fmt="o", color=BLUE, capsize=3, markersize=5, elinewidth=1.5)
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="rating, Elo (mean of all entrants 0; bars: 95% intervals)", ylabel="")
    axes.set_yticks(places, ratings["entrant"])
    axes.set_ylim(len(ratings) - 0.5, -0.5)
    axes.grid(axis="x", linewidth=0.4, alpha=0.6)
    for place, rating in enumerate(value):
        axes.annotate(
            f"{rating:+.0f}", (rating, place), (0, 6), textcoords="offset points", ha="center", size=8
        )
    return axes
