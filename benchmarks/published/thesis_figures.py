"""Figures of the thesis's tournament."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from evo.figures.style import COLOURS, DIVERGING_COLOURS, figure, grid, png_bytes


def _heat(
    axes: Axes, rates: np.ndarray, rows: Sequence[str], columns: Sequence[str], centre: int = 50
) -> None:
    sns.heatmap(
        pd.DataFrame(100 * rates, index=list(rows), columns=list(columns)),
        ax=axes,
        vmin=centre - 50,
        vmax=centre + 50,
        center=centre,
        cmap=DIVERGING_COLOURS,
        annot=True,
        fmt=".0f" if centre else "+.0f",
        annot_kws={"size": 9},
        cbar=False,
        linewidths=0.5,
    )
    axes.tick_params(axis="both", length=0, labelsize=9)
    axes.tick_params(axis="y", labelrotation=0)
    axes.tick_params(axis="x", labelrotation=40)
    for text in axes.get_xticklabels():
        text.set(ha="right", rotation_mode="anchor")


def draw_players(
    rates: Mapping[str, np.ndarray], profiles: Sequence[str], difference: np.ndarray | None = None
) -> bytes:
    """Tables side by side: percentage of games that the row, which goes first, wins.

    Args:
        rates: shape (7, 7) each, by the player's words.
        profiles: names of the rows and columns.
        difference: of the last table from the first, in a part of its own.
    """
    parts = {
        **rates,
        **({} if difference is None else {"the difference, points": np.round(difference, 2) + 0.0}),
    }
    with grid(len(parts), 4.9 if difference is None else 4.3, 4.4, columns=len(parts)) as (drawn, axes):
        for place, (own, (name, values)) in enumerate(zip(axes, parts.items(), strict=True)):
            _heat(own, values, profiles, profiles, 0 if place == len(rates) else 50)
            own.set_title(name, fontsize=11)
            own.set(xlabel="goes second: Warrior", ylabel="" if place else "goes first: Paladin")
            if place:
                own.set_yticklabels([])
        return png_bytes(drawn)


def draw_profiles(scores: Mapping[str, np.ndarray], profiles: Sequence[str]) -> bytes:
    """Percentage of games that each profile (row) wins against the others, printed and under each player."""
    with figure(9.2, 4.2) as (drawn, axes):
        _heat(axes, np.array(list(scores.values())).T, profiles, list(scores))
        axes.set(xlabel="player", ylabel="")
        for end in (1, 2, 5, 8):
            axes.axvline(end, color="white", linewidth=4)
        return png_bytes(drawn)


def draw_guesses(drawn_errors: Sequence[float], earlier: Mapping[str, float]) -> bytes:
    """Mean error of each guess of the decks, in points: those drawn at random, and the earlier ones."""
    with figure(7.0, 2.6) as (drawn, axes):
        low, high = int(min(drawn_errors)), int(max(drawn_errors)) + 1
        axes.hist(drawn_errors, bins=range(low, high + 1), color=COLOURS[0], alpha=0.75)
        for place, (words, error) in enumerate(earlier.items(), 1):
            axes.axvline(
                error, color=COLOURS[place], linewidth=1.8, linestyle="--", label=f"{words}, predicted"
            )
        axes.set(xlabel="mean error of 49 cells, points", ylabel="drawn guesses")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(frameon=False, fontsize=9)
        return png_bytes(drawn)
