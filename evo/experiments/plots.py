"""Figures of experiments: functions that plot tables on axes."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from evo.figures.style import BLUE, COLOURS, GREY, MARKERS, legend_above, short_name

RANGE_MARGIN = 0.15
"""Margin beyond the range of means, as a share of it; bands may exceed it."""


def plot_curves(axes: Axes, curves: pd.DataFrame, label: str) -> Axes:
    """Plot learning curves by contender, with 95% intervals over runs; `label` is that of the y axis.

    Args:
        axes: to draw on.
        curves: table of `evo.experiments.optimisers.learning_curves`.
        label: of the value axis.
    """
    for i, name in enumerate(dict.fromkeys(curves["contender"])):
        curve = curves[curves["contender"] == name]
        colour = COLOURS[i % len(COLOURS)]
        axes.fill_between(curve["games"], curve["low"], curve["high"], color=colour, alpha=0.12, linewidth=0)
        axes.plot(
            curve["games"],
            curve["mean"],
            f"{MARKERS[i % len(MARKERS)]}-",
            color=colour,
            markersize=4.5,
            linewidth=1.4,
            label=short_name(name),
        )
    low, high = curves["mean"].min(), curves["mean"].max()
    axes.set_ylim(low - RANGE_MARGIN * (high - low) - 1, high + RANGE_MARGIN * (high - low) + 1)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(_thousands))
    axes.set(xlabel="games of a run", ylabel=label)
    axes.grid(linewidth=0.4, alpha=0.6)
    legend_above(axes)
    return axes


def plot_worth(axes: Axes, worth: pd.DataFrame, label: str = "Elo lost without the weight") -> Axes:
    """Plot the worth of each weight or card, with intervals, the highest on top.

    Args:
        axes: to draw on.
        worth: columns weight, elo, low, high; sorted.
        label: of the value axis.
    """
    places = np.arange(len(worth))
    value, low, high = (worth[name].to_numpy(float) for name in ("elo", "low", "high"))
    errors = np.clip(np.array([value - low, high - value]), 0, None)
    axes.errorbar(value, places, xerr=errors, fmt="o", color=BLUE, markersize=4.5, capsize=2)
    axes.set_yticks(places, [short_name(str(name)) for name in worth["weight"]], fontsize=9)
    axes.set_ylim(len(worth) - 0.4, -0.6)
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel=label, ylabel="")
    axes.grid(axis="x", linewidth=0.4, alpha=0.6)
    return axes


def _thousands(games: float, _: object) -> str:
    """Format a number of games: 20000 as "20k", a million as "1M"."""
    if games >= 1e6:
        return f"{games / 1e6:g}M"
    return f"{games / 1e3:g}k" if games >= 1e3 else f"{games:g}"
