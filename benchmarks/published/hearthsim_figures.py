"""Figures of HearthSim's experiments."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.ticker import MaxNLocator, PercentFormatter

from benchmarks.published.hearthsim_tables import PLAYERS, POSTED
from evo.figures.style import COLOURS, GREY, MARKERS, figure, grid, png_bytes


def draw_curves(
    experiments: Mapping[str, Mapping[tuple[str, str], pd.DataFrame]],
    printed: Mapping[str, Mapping[str, Mapping[float, tuple[float, int]]]],
) -> bytes:
    """Win rate of the first player over the value of what varies, with 95% intervals; a part an experiment.

    Args:
        experiments: by the name of what varies, curves by their words and player: columns win_rate, low and
            high, index the value. The program's are solid, the formula's dashed.
        printed: the posts' cells of each experiment, by the same words: share and games by value.
    """
    with grid(len(experiments), 4.5, 3.3, columns=2) as (drawn, axes):
        for own, (name, curves) in zip(axes, experiments.items(), strict=True):
            places = {words: place for place, words in enumerate(dict.fromkeys(words for words, _ in curves))}
            for (words, player), curve in curves.items():
                place = places[words]
                colour, posted = COLOURS[place], player == POSTED
                if posted:
                    own.fill_between(
                        curve.index, curve["low"], curve["high"], color=colour, alpha=0.2, linewidth=0
                    )
                label = words if len(places) > 1 and posted else PLAYERS[player] if len(places) == 1 else None
                own.plot(
                    curve.index,
                    curve["win_rate"],
                    "-" if posted else "--",
                    linewidth=1.4 if posted else 0.9,
                    color=colour,
                    label=label,
                )
            for number, (words, cells) in enumerate(printed[name].items()):
                own.plot(
                    list(cells),
                    [share for share, _ in cells.values()],
                    MARKERS[places[words]],
                    color=COLOURS[places[words]] if len(places) > 1 else "black",
                    markersize=4.5,
                    markerfacecolor="white",
                    label="printed in the post" if number == 0 else None,
                )
            own.legend(frameon=False, fontsize=8)
            own.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
            own.set(xlabel=name, ylabel="win rate")
            own.yaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10]))
            own.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
            own.grid(linewidth=0.4, alpha=0.6)
        return png_bytes(drawn)


def draw_lengths(lengths: pd.DataFrame) -> bytes:
    """Share of the games that end in each round; a line a weight of Divine Shield.

    Args:
        lengths: columns value, rounds, games.
    """
    with figure(6.2, 3.0) as (drawn, axes):
        for place, (value, own) in enumerate(lengths.groupby("value")):
            axes.plot(
                own["rounds"],
                own["games"] / own["games"].sum(),
                f"-{MARKERS[place]}",
                color=COLOURS[place],
                markersize=3,
                label=f"w_ds = {value:g}",
            )
        axes.set(xlabel="round in which the game ends", ylabel="share of games")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.legend(frameon=False)
        return png_bytes(drawn)
