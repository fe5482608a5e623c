"""Figures: functions from tables to axes. Colours are told apart by the colour-blind and in grey print.

Those of tournaments and of runs are here, those of groups in `plots_groups`.
"""

import io
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
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, PercentFormatter
from scipy.special import stdtrit

from evo.tables import long_weights

BLUE = "#0072b2"
GREY = "#555555"
ORANGE = "#d55e00"
FEW_NAMES = 10
"""More names on an axis are written upright."""

MARKERS = "osD^vPX"
BOXES: dict[str, Any] = {"color": "#9ecae1", "linecolor": "#333333", "linewidth": 0.8}
MOST_BOXES = 25
LARGEST = 40.0
"""Inches."""

LONGEST = 36
"""Characters of an entrant's name in a figure."""
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
    """Our style; names in scripts the font lacks, or too long for the figure, make no noise."""
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        for message in ("Glyph", "constrained_layout not applied", "There are no gridspecs"):
            warnings.filterwarnings("ignore", message, UserWarning)
        yield


@contextmanager
def figure(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    """A figure with one pair of axes in our style; sizes in inches. Nothing global is changed."""
    with _styled():
        drawn = Figure(figsize=(min(width, LARGEST), min(height, LARGEST)), layout="constrained")
        FigureCanvasAgg(drawn)  # else every label measured makes a renderer of the whole figure
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
    """A figure of one of the functions of this module; sizes in inches."""
    with figure(width, height) as (drawn, axes):
        plot(axes, *data)
        return Picture(png(drawn))


def plot_scores(axes: Axes, scores: pd.DataFrame, label: str) -> Axes:
    """A heat map of scores per game.

    Args:
        axes: to draw on.
        scores: rows against columns, in [0, 1]; missing where two did not meet.
        label: of the colours.
    """
    scores = scores.rename(index=_short, columns=_short)
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


def _short(name: str) -> str:
    """A name that leaves room for the figure: of a long one, both ends."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST // 2 - 1]}…{name[-LONGEST // 2 :]}"


def plot_ratings(axes: Axes, ratings: pd.DataFrame) -> Axes:
    """Ratings with their 95% intervals, the best on top.

    Args:
        axes: to draw on.
        ratings: columns entrant, rating, low, high (Elo), in the order to draw.
    """
    places = np.arange(len(ratings))
    value = ratings["rating"].to_numpy()
    spread = np.abs(np.stack([value - ratings["low"], ratings["high"] - value]))
    spread[~np.isfinite(spread)] = np.nan
    axes.errorbar(value, places, xerr=spread, fmt="o", color=BLUE, capsize=3, markersize=5, elinewidth=1.5)
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="rating, Elo (mean of all entrants 0; bars: 95% intervals)", ylabel="")
    axes.set_yticks(places, [_short(name) for name in ratings["entrant"]])
    axes.set_ylim(len(ratings) - 0.5, -0.5)
    axes.grid(axis="x", linewidth=0.4, alpha=0.6)
    for place, (rating, low, high) in enumerate(zip(value, ratings["low"], ratings["high"], strict=True)):
        bound = " or more" if np.isinf(high) else " or less" if np.isinf(low) else ""
        axes.annotate(
            f"{rating:+.0f}{bound}", (rating, place), (0, 6), textcoords="offset points", ha="center", size=8
        )
    return axes


def plot_sweep(axes: Axes, curve: pd.DataFrame, entrant: str, against: str, usual: float | None) -> Axes:
    """Win rate by the value of a weight, with its 95% intervals.

    Args:
        axes: to draw on.
        curve: as `evo.sweep.sweep_table` makes it.
        entrant: whose weight it is.
        against: the opponent.
        usual: the entrant's own value, marked; None for none.
    """
    table = curve.sort_values("value")
    axes.fill_between(table["value"], table["low"], table["high"], color=BLUE, alpha=0.2, linewidth=0)
    axes.plot(table["value"], table["win_rate"], "o-", color=BLUE, markersize=4, linewidth=1.4)
    axes.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    if usual is not None and table["value"].min() <= usual <= table["value"].max():
        axes.axvline(usual, color=ORANGE, linewidth=1, linestyle="--", label=f"its own value, {usual:g}")
        axes.legend(frameon=False, fontsize=8)
    weight = table["weight"].iloc[0]
    axes.set(xlabel=f"{weight} of {_short(entrant)}", ylabel=f"win rate against\n{_short(against)}")
    decimals = 0 if np.ptp(table["win_rate"]) > 0.05 else 1
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=decimals))
    axes.grid(linewidth=0.4, alpha=0.6)
    return axes


def _some_generations(individuals: pd.DataFrame) -> pd.DataFrame:
    """All generations, or every so many that at most `MOST_BOXES` remain; the last always."""
    last = int(individuals["generation"].max())
    step = -(-(last + 1) // MOST_BOXES)
    return individuals[(last - individuals["generation"]) % step == 0]


def _boxes(axes: Axes, table: pd.DataFrame, y: str) -> None:
    sns.boxplot(table, x="generation", y=y, ax=axes, fliersize=1.5, native_scale=True, **BOXES)


def plot_fitness(axes: Axes, individuals: pd.DataFrame) -> Axes:
    """Fitness of all individuals by generation, as a score per game (EVA's Fig. 2)."""
    _boxes(axes, _some_generations(individuals), "win_rate")
    axes.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="generation", ylabel="fitness, score per game")
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    return axes


def plot_ages(axes: Axes, individuals: pd.DataFrame) -> Axes:
    """Age of those who survived a generation (EVA's Fig. 4)."""
    _boxes(axes, _some_generations(individuals[individuals["survived"]]), "age")
    axes.set(xlabel="generation", ylabel="age, generations since birth")
    return axes


def plot_lifespans(axes: Axes, spans: pd.DataFrame) -> Axes:
    """How long individuals survived, and when those were born who survived at all (EVA's Fig. 3).

    Args:
        axes: to draw on.
        spans: as `evo.tables.lifespans` makes them.
    """
    survivors = spans[spans["lifespan"] > 0]
    table = pd.DataFrame(
        {"generations survived": survivors["lifespan"], "generation of birth": survivors["birth"]}
    )
    sns.boxplot(table, ax=axes, orient="h", fliersize=2, **BOXES)
    axes.set(xlabel="generations", ylabel="")
    return axes


def _line_over_runs(axes: Axes, table: pd.DataFrame, y: str, marker: str = "") -> bool:
    """The mean over runs by generation and, of several runs, its 95% interval by Student's t."""
    groups = table.groupby("generation")[y]
    middle, n = groups.mean(), groups.count()
    axes.plot(middle.index, middle.to_numpy(), color=BLUE, marker=marker, markersize=4)
    several = bool(n.max() > 1)
    if several:
        half = stdtrit(np.maximum(n - 1, 1), 0.975) * groups.std() / np.sqrt(n)
        axes.fill_between(middle.index, middle - half, middle + half, color=BLUE, alpha=0.25, linewidth=0)
    return several


def plot_newcomers(axes: Axes, new: pd.DataFrame) -> Axes:
    """Survivors born in the generation: mean over runs with its 95% interval (EVA's Fig. 5).

    Args:
        axes: to draw on.
        new: as `evo.tables.newcomers` makes them.
    """
    several = _line_over_runs(axes, new, "newcomers")
    axes.set(xlabel="generation", ylabel="new individuals" + (", mean and 95% interval" if several else ""))
    axes.set_ylim(bottom=0)
    return axes


def plot_weights(axes: Axes, population: pd.DataFrame, marked: dict[str, np.ndarray]) -> Axes:
    """Distribution of each weight's share of the sum (EVA's Figs. 6 and 7).

    Args:
        axes: to draw on.
        population: one row an individual.
        marked: shares of profiles to show beside, such as the thesis's seven, by name.
    """
    table = long_weights(population)
    sns.boxplot(table, x="weight", y="share", ax=axes, fliersize=0, whis=(0, 100), **BOXES)
    sns.stripplot(
        table, x="weight", y="share", ax=axes, color=BLUE, size=2.5, alpha=0.6, jitter=0.2, legend=False
    )
    for place, (name, shares) in enumerate(marked.items()):
        axes.plot(
            np.arange(len(shares)) + 0.38,
            shares,
            MARKERS[place % len(MARKERS)],
            color=sns.color_palette("colorblind")[place % 10],
            markersize=4,
            label=name,
            linestyle="none",
        )
    if marked:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), fontsize=7, ncols=4, frameon=False)
    axes.set(xlabel="weight", ylabel="share")
    if table["weight"].nunique() > FEW_NAMES:
        axes.tick_params(axis="x", labelrotation=90)
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    return axes


def plot_sigmas(axes: Axes, sigmas: pd.DataFrame) -> Axes:
    """Median step size of the survivors by generation, a line a weight; logarithmic.

    Args:
        axes: to draw on.
        sigmas: as `evo.tables.long_sigmas` makes them.
    """
    middle = (
        sigmas[sigmas["survived"]]
        .groupby(["generation", "weight"], observed=True)["sigma"]
        .median()
        .reset_index()
    )
    sns.lineplot(
        middle,
        x="generation",
        y="sigma",
        hue="weight",
        style="weight",
        ax=axes,
        palette="colorblind",
        linewidth=1.2,
    )
    axes.set(xlabel="generation", ylabel="step size, median of the survivors", yscale="log")
    axes.yaxis.set_major_formatter("{x:g}")  # names may hold a $, so nothing is set as mathematics
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.legend(fontsize=7, ncols=2, frameon=False)
    return axes


def plot_progress(axes: Axes, progress: pd.DataFrame) -> Axes:
    """Score of each generation's best against fixed opponents, mean over runs with its 95% interval.

    Args:
        axes: to draw on.
        progress: columns run, generation, score.
    """
    _line_over_runs(axes, progress, "score", marker="o")
    axes.set(xlabel="generation", ylabel="score of the best against the thesis's seven")
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    return axes


def plot_lineage(axes: Axes, family: pd.DataFrame) -> Axes:
    """An individual and its ancestors: bars from birth to the last generation survived, lines to parents.

    Args:
        axes: to draw on.
        family: as `evo.tables.ancestors` makes it.
    """
    rows = {int(one): place for place, one in enumerate(family["individual"])}
    axes.barh(
        list(rows.values()),
        np.maximum(family["last"] - family["birth"], 0.3),
        left=family["birth"],
        height=0.6,
        color=BLUE,
    )
    for row in family.to_dict("records"):
        place = rows[int(row["individual"])]
        for parent in (row["parent_a"], row["parent_b"]):
            if pd.notna(parent) and int(parent) in rows:
                axes.plot([row["birth"]] * 2, [rows[int(parent)], place], color=GREY, linewidth=0.8)
    axes.set(xlabel="generation", ylabel="")
    few = len(rows) <= 30
    axes.set_yticks(list(rows.values()) if few else [], [f"individual {one}" for one in rows] if few else [])
    axes.tick_params(axis="y", length=0, labelsize=7)
    return axes
