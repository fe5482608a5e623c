"""Figures of the minimax player."""

import pandas as pd
from matplotlib.ticker import MaxNLocator, PercentFormatter

from evo.figures.style import BLUE, COLOURS, GREY, ORANGE, figure, grid, legend_above, png_bytes


def draw_learning(curves: pd.DataFrame, peak: float) -> bytes:
    """Win rate against aggro by games learned from: a part a recipe, a thin line a seed, their mean thick.

    Args:
        curves: columns recipe, seed, games, score.
        peak: the paper's highest, marked.
    """
    recipes = list(curves["recipe"].unique())
    with grid(len(recipes), 4.0, 2.5, columns=2) as (drawn, axes):
        for own, recipe in zip(axes, recipes, strict=True):
            table = curves[curves["recipe"] == recipe]
            for _, line in table.groupby("seed"):
                own.plot(line["games"], line["score"], color=BLUE, linewidth=0.8, alpha=0.45)
            mean = table.groupby("games")["score"].mean()
            own.plot(mean.index, mean, color=BLUE, linewidth=2.2, label="mean of the seeds")
            own.axhline(peak, color=ORANGE, linewidth=1, linestyle="--", label="the paper's peak")
            own.set(title=recipe, xlabel="games learned from", ylabel="win rate against aggro", ylim=(0, 1))
            own.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes[-1].legend(frameon=False, fontsize=9)
        return png_bytes(drawn)


def draw_search(search: pd.DataFrame, best: int) -> bytes:
    """Win rate by the number of features, scored by other games: a thin line a search, their mean thick.

    Args:
        search: columns seed, features, fresh_score.
        best: the paper's best number, marked.
    """
    with figure(6.2, 3.2) as (drawn, axes):
        for place, (seed, line) in enumerate(search.groupby("seed")):
            axes.plot(
                line["features"],
                line["fresh_score"],
                color=COLOURS[place + 1],
                linewidth=0.9,
                alpha=0.7,
                label=f"search {seed}",
            )
        mean = search.groupby("features")["fresh_score"].mean()
        axes.plot(mean.index, mean, "o-", color=BLUE, linewidth=2, markersize=4, label="mean")
        axes.axvline(best, color=GREY, linewidth=1, linestyle=":", label="the paper's best number")
        axes.invert_xaxis()
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set(xlabel="features left", ylabel="win rate against aggro")
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        legend_above(axes)
        return png_bytes(drawn)
