"""The curve of one weight: printed as a table, and drawn."""

import pandas as pd
from rich.console import Console
from rich.table import Table as RichTable

from evo.tournament.sweep import shown


def sweep_figure(curve: pd.DataFrame, entrant: str, against: str, usual: float | None) -> bytes:
    """The curve as an image."""
    from evo.figures.style import figure, png  # two seconds to import
    from evo.tournament.plots import plot_sweep

    with figure(6.2, 3.6) as (drawn, axes):
        plot_sweep(axes, curve, entrant, against, usual)
        return png(drawn)


def show_curve(curve: pd.DataFrame, usual: float | None, unproven: int, console: Console) -> None:
    """Print the curve as a table, with its best values marked."""
    table = RichTable(
        str(curve["weight"].iloc[0]), "games", "won", "lost", "drawn", "win rate", "95% interval", ""
    )
    for row in curve.itertuples():
        counts = [f"{count:,}" for count in (row.games, row.wins, row.losses, row.draws)]
        value = shown(row.value) + (" (its own)" if row.value == usual else "")
        interval = f"{row.low:.1%} to {row.high:.1%}"
        table.add_row(value, *counts, f"{row.win_rate:.1%}", interval, row.against_best)
    console.print(table)
    if unproven:
        console.print(
            f"{unproven:,} turns are unproven: the search for the best plan had not ended", markup=False
        )
