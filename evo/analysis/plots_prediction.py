"""The figure of how well decks are predicted."""

import pandas as pd
from matplotlib.axes import Axes

from evo.figures.style import BLUE, GREY, MARKERS, ORANGE, legend_above, share_ticks, whole_ticks


def plot_accuracy(axes: Axes, table: pd.DataFrame) -> Axes:
    """The share of the cards left that are predicted right, by cards seen: mean and 95% interval.

    Args:
        axes: to draw on.
        table: as `evo.analysis.prediction.accuracy` makes it.
    """
    colours = (BLUE, ORANGE, GREY)
    for place, (exchanged, rows) in enumerate(table.groupby("exchanged")):
        colour = colours[place % len(colours)]
        label = "as in the library" if exchanged == 0 else f"{exchanged} cards exchanged"
        axes.fill_between(rows["seen"], rows["low"], rows["high"], color=colour, alpha=0.15, linewidth=0)
        axes.plot(rows["seen"], rows["right"], MARKERS[place] + "-", color=colour, markersize=3, label=label)
    axes.set(xlabel="cards seen", ylabel="cards left predicted right", ylim=(0, 1.02))
    whole_ticks(axes.xaxis)
    share_ticks(axes.yaxis)
    legend_above(axes)
    return axes
