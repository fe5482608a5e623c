"""Figures of the thesis's tournament."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from evo.figures.style import DIVERGING_COLOURS, figure, grid, png_bytes


def _heat(axes: Axes, rates: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> None:
    sns.heatmap(
        pd.DataFrame(100 * rates, index=list(rows), columns=list(columns)),
        ax=axes,
        vmin=0,
        vmax=100,
        center=50,
        cmap=DIVERGING_COLOURS,
        annot=True,
        fmt=".0f",
        annot_kws={"size": 9},
        cbar=False,
        linewidths=0.5,
    )
    axes.tick_params(axis="both", length=0, labelsize=9)
    axes.tick_params(axis="y", labelrotation=0)
    axes.tick_params(axis="x", labelrotation=40)
    for text in axes.get_xticklabels():
        text.set(ha="right", rotation_mode="anchor")


def draw_players(rates: Mapping[str, np.ndarray], profiles: Sequence[str]) -> bytes:
    """Two tables side by side: percentage of games that the row, which goes first, wins."""
    with grid(len(rates), 4.9, 4.4, columns=2) as (drawn, axes):
        for place, (own, (name, values)) in enumerate(zip(axes, rates.items(), strict=True)):
            _heat(own, values, profiles, profiles)
            own.set_title(name, fontsize=11)
            own.set(xlabel="goes second: Warrior", ylabel="" if place else "goes first: Paladin")
            if place:
                own.set_yticklabels([])
        return png_bytes(drawn)


def draw_profiles(scores: Mapping[str, np.ndarray], profiles: Sequence[str]) -> bytes:
    """Percentage of games that each profile (row) wins against the other six, under each player (column)."""
    with figure(8.6, 4.2) as (drawn, axes):
        _heat(axes, np.array(list(scores.values())).T, profiles, list(scores))
        axes.set(xlabel="player", ylabel="")
        for end in (1, 4, 7):
            axes.axvline(end, color="white", linewidth=4)
        return png_bytes(drawn)
