"""Figures of learned values: functions from tables to axes."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from evo.figures.style import (
    BLUE,
    COLOURS,
    GREY,
    MARKERS,
    ORANGE,
    legend_above,
    short_name,
    whole_ticks,
)
from evo.stats.ratings import elo


def plot_curve(axes: Axes, curve: pd.DataFrame) -> Axes:
    """Elo against each opponent by round, with 95% intervals.

    Args:
        axes: to draw on.
        curve: as `evo.learning.run.curve_of` makes it.
    """
    opponents = list(dict.fromkeys(curve["opponent"]))
    for place, opponent in enumerate(opponents):
        own = curve[curve["opponent"] == opponent]
        value, low, high = (own[name].map(elo).to_numpy(float) for name in ("score", "low", "high"))
        shift = 0.06 * (place - (len(opponents) - 1) / 2)
        axes.errorbar(
            own["round"] + shift,
            value,
            yerr=np.abs(np.array([value - low, high - value])),
            fmt=f"{MARKERS[place % len(MARKERS)]}-",
            color=COLOURS[place % len(COLOURS)],
            markersize=4.5,
            linewidth=1.4,
            capsize=2,
            label=short_name(opponent),
        )
    axes.axhline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="round (0: the profile it began with)", ylabel="Elo against the opponent")
    whole_ticks(axes.xaxis)
    axes.grid(linewidth=0.4, alpha=0.6)
    legend_above(axes)
    return axes


def plot_weights(axes: Axes, weights: pd.DataFrame) -> Axes:
    """Features by what a usual difference in them is worth, the largest on top.

    Args:
        axes: to draw on.
        weights: columns feature, effect (log-odds of a standard deviation), sorted.
    """
    places = np.arange(len(weights))
    effect = weights["effect"].to_numpy(float)
    axes.barh(places, effect, color=np.where(effect < 0, ORANGE, BLUE), height=0.7)
    axes.set_yticks(places, list(weights["feature"]), fontsize=9)
    axes.set_ylim(len(weights) - 0.4, -0.6)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set(xlabel="log-odds of winning for one standard deviation", ylabel="")
    axes.grid(axis="x", linewidth=0.4, alpha=0.6)
    return axes


def plot_calibration(axes: Axes, groups: pd.DataFrame) -> Axes:
    """What happened by what was predicted, with 95% intervals; the diagonal is perfect.

    Args:
        axes: to draw on.
        groups: columns chance, points, low, high.
    """
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
    errors = np.abs(groups[["low", "high"]].to_numpy().T - groups["points"].to_numpy())
    axes.errorbar(
        groups["chance"], groups["points"], yerr=errors, fmt="o-", color=BLUE, markersize=4.5, capsize=2
    )
    edges = groups[["chance", "low", "high"]].to_numpy()
    margin = 0.05
    limits = max(0.0, float(edges.min()) - margin), min(1.0, float(edges.max()) + margin)
    axes.set(xlim=limits, ylim=limits, xlabel="predicted chance", ylabel="what happened")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.grid(linewidth=0.4, alpha=0.6)
    return axes


def plot_features(axes: Axes, curve: pd.DataFrame) -> Axes:
    """Elo against the value with all features, by how many are left, with 95% intervals.

    Args:
        axes: to draw on.
        curve: columns features, elo, low, high (Elo).
    """
    table = curve.sort_values("features")
    axes.fill_between(table["features"], table["low"], table["high"], color=BLUE, alpha=0.2, linewidth=0)
    axes.plot(table["features"], table["elo"], "o-", color=BLUE, markersize=4, linewidth=1.4)
    axes.axhline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="features that are left", ylabel="Elo against\nthe value with all")
    whole_ticks(axes.xaxis)
    axes.grid(linewidth=0.4, alpha=0.6)
    return axes
