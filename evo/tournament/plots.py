"""Figures of tournaments: functions from tables to axes."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from evo.figures.style import BLUE, GREY, LONGEST, LONGEST_NARROW, ORANGE, is_narrow, short_name
from evo.tournament.sweep import Variants

LONGEST_LABEL = 70
"""Characters of an axis label on one line."""


def plot_ratings(axes: Axes, ratings: pd.DataFrame) -> Axes:
    """Ratings with their 95% intervals, the best on top, and their numbers in a column on the right.

    The bar of an interval without bound on a side goes to the edge, and has no end mark there.

    Args:
        axes: to draw on.
        ratings: columns entrant, rating, low, high (Elo), in the order to draw.
    """
    places = np.arange(len(ratings))
    value, low, high = (ratings[name].to_numpy(float) for name in ("rating", "low", "high"))
    ends = np.concatenate([value, low, high])
    ends = ends[np.isfinite(ends)]
    margin = max(0.05 * float(np.ptp(ends)), 1.0)
    edges = float(ends.min()) - margin, float(ends.max()) + margin
    axes.hlines(places, np.maximum(low, edges[0]), np.minimum(high, edges[1]), color=BLUE, linewidth=1.5)
    for bound in (low, high):
        axes.plot(bound, places, "|", color=BLUE, markersize=7)
    axes.plot(value, places, "o", color=BLUE, markersize=5)
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    narrow = is_narrow(axes)
    longest = LONGEST_NARROW if narrow else LONGEST
    end = "\n" if narrow else " "
    axes.set(xlabel=f"rating, Elo (mean of all entrants 0;{end}bars: 95% intervals)", ylabel="")
    axes.set_yticks(places, [short_name(name, longest) for name in ratings["entrant"]])
    axes.set_xlim(*edges)
    axes.set_ylim(len(ratings) - 0.5, -0.5)
    axes.grid(axis="x", linewidth=0.4, alpha=0.6)
    for place, rating in enumerate(value):
        bound = "≥ " if np.isinf(high[place]) else "≤ " if np.isinf(low[place]) else ""
        axes.annotate(
            f"{bound}{rating:+.0f}",
            (1, place),
            (5, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            size=9,
        )
    return axes


def plot_sweep(axes: Axes, curve: pd.DataFrame, variants: Variants, against: str) -> Axes:
    """Win rate by the value of what is varied, with its 95% intervals.

    Args:
        axes: to draw on.
        curve: as `evo.tournament.sweep.sweep_table` makes it.
        variants: whose curve it is; their own value is marked.
        against: the opponent.
    """
    table, usual = curve.sort_values("value"), variants.usual
    axes.fill_between(table["value"], table["low"], table["high"], color=BLUE, alpha=0.2, linewidth=0)
    axes.plot(table["value"], table["win_rate"], "o-", color=BLUE, markersize=4, linewidth=1.4)
    axes.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    if usual is not None and table["value"].min() <= usual <= table["value"].max():
        own = f"its own value, {usual:g}" if variants.kind == "weight" else f"the deck as it is, {usual:g}"
        axes.axvline(usual, color=ORANGE, linewidth=1, linestyle="--", label=own)
        axes.legend(frameon=False, fontsize=8)
    if variants.kind != "weight":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    of = f"of {short_name(variants.entrant)}"
    end = " " if len(variants.axis) + len(of) < LONGEST_LABEL else "\n"
    axes.set(xlabel=f"{variants.axis}{end}{of}", ylabel=f"win rate against\n{short_name(against)}")
    decimals = None if np.ptp(table["win_rate"]) > 0.05 else 1
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=decimals))
    axes.grid(linewidth=0.4, alpha=0.6)
    return axes
