"""The curve of a sweep: printed as a table, and drawn."""

import pandas as pd
from rich.console import Console

from engine.tables import Column, FittingTable
from evo.tournament.sweep import Variants, shown
from evo.wording import counted

COLUMNS = (
    Column("games", 4, right=True),
    Column("won", 5, right=True),
    Column("lost", 6, right=True),
    Column("drawn", 7, right=True),
    Column("win rate", right=True),
    Column("95% interval", 2, right=True),
    Column("", 3),
)
"""Beside the values."""


def sweep_figure(curve: pd.DataFrame, variants: Variants, against: str) -> bytes:
    """The curve as an image."""
    from evo.figures.style import figure, png  # two seconds to import
    from evo.tournament.plots import plot_sweep

    with figure(6.2, 3.6) as (drawn, axes):
        plot_sweep(axes, curve, variants, against)
        return png(drawn)


def show_curve(curve: pd.DataFrame, usual: float | None, unproven: int, console: Console) -> None:
    """Print the curve as a table, with its best values marked."""
    rows = []
    for row in curve.itertuples():
        counts = [f"{count:,}" for count in (row.games, row.wins, row.losses, row.draws)]
        value = shown(row.value) + (" (its own)" if row.value == usual else "")
        interval = f"{row.low:.1%} to {row.high:.1%}"
        rows.append([value, *counts, f"{row.win_rate:.1%}", interval, row.against_best])
    console.print(FittingTable((Column(str(curve["weight"].iloc[0])), *COLUMNS), rows))
    if unproven:
        console.print(
            f"{counted(unproven, 'turn')} unproven: the search for the best plan had not ended", markup=False
        )
