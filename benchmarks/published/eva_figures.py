"""EVA's figures, of our runs."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter
from scipy.cluster.hierarchy import dendrogram, linkage

from benchmarks.published import eva_authors
from benchmarks.published.eva_blocks import cells_of, lives_of, newcomers_of_age, short
from benchmarks.published.eva_paper import ACRONYMS, BATTLEFIELD, DECKS, VALUE
from evo.analysis.plots import BOX_STYLE, cluster_colours, plot_comparison
from evo.figures.style import (
    BLUE,
    DIVERGING_COLOURS,
    GREY,
    figure,
    grid,
    integer_ticks,
    legend_above,
    png_bytes,
)
from rivals import EvaWeights

EVERY = 5
"""Generations between boxes."""


def draw(folder: Path) -> dict[str, bytes]:
    """The figures of the page."""
    members = pd.read_csv(folder / "eva-weights.csv", dtype={"run": str})
    return {
        "published-eva-course": _course(pd.read_csv(folder / "eva-survivors.csv", dtype={"run": str})),
        "published-eva-weights": _weights(members),
        "published-eva-tree": _tree(members),
        "published-eva-groups": _groups(pd.read_csv(folder / "eva-comparisons.csv"), members),
        "published-eva-agents": _agents(
            pd.read_csv(folder / "eva-agents-ratings.csv"), pd.read_csv(folder / "eva-agents-decks.csv")
        ),
    }


def _course(survivors: pd.DataFrame) -> bytes:
    """Figs. 2 to 5: scores, lives, ages, newcomers."""
    table = survivors.assign(
        score=survivors["fitness"] / survivors["games"], age=survivors["generation"] - survivors["birth"]
    )
    some = table[table["generation"] % EVERY == 0]
    with grid(4, 4.6, 3.0, columns=2) as (drawn, (scores, lives, ages, new)):
        for axes, y, label in (
            (scores, "score", "fitness, score per game"),
            (ages, "age", "age, generations"),
        ):
            sns.boxplot(some, x="generation", y=y, ax=axes, fliersize=1.5, native_scale=True, **BOX_STYLE)
            axes.set(xlabel="generation", ylabel=label)
            integer_ticks(axes.xaxis)
        scores.set_title("Fig. 2: survivors", fontsize=10)
        scores.yaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10]))
        scores.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        ages.set_title("Fig. 4: survivors", fontsize=10)
        spans = lives_of(survivors)
        both = pd.DataFrame({"generations\nlived": spans["lived"], "generation\nof birth": spans["birth"]})
        sns.boxplot(both, ax=lives, orient="h", fliersize=2, **BOX_STYLE)
        lives.set(title="", xlabel="generations", ylabel="")
        lives.set_title("Fig. 3: all that ever survived", fontsize=10)
        _newcomers(new, newcomers_of_age(survivors, 1))
        return png_bytes(drawn)


def _newcomers(axes: Axes, new: pd.DataFrame) -> None:
    """Fig. 5: mean over runs, with the normal interval."""
    mean, half = new.mean(axis=1), 1.96 * new.std(axis=1) / np.sqrt(new.shape[1])
    axes.errorbar(mean.index, mean, half, color=BLUE, ecolor="#bbbbbb", linewidth=1.2, elinewidth=1)
    axes.axhline(1, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="generation", ylabel="newcomers, mean of runs", ylim=(0, None))
    axes.set_title("Fig. 5: survivors of age 1", fontsize=10)
    integer_ticks(axes.xaxis)


def _weights(members: pd.DataFrame) -> bytes:
    """Figs. 6 and 7: raw weights of the last populations, the authors' and ours."""
    authors = pd.DataFrame(eva_authors.weights(), columns=list(EvaWeights.names()))
    both = pd.concat([authors.assign(runs="the authors' ten runs"), members.assign(runs="ours")])
    parts = {"Fig. 6: the battlefield": BATTLEFIELD, "Fig. 7: a minion's value": VALUE}
    with grid(2, 9.0, 2.7, columns=1) as (drawn, axes):
        for own, (title, of_part) in zip(axes, parts.items(), strict=True):
            long = both[["runs", *of_part]].rename(columns=of_part).melt("runs", value_name="weight")
            sns.boxplot(
                long,
                x="variable",
                y="weight",
                hue="runs",
                palette=["#dddddd", BLUE],
                ax=own,
                fliersize=2,
                linewidth=0.8,
                legend="full" if own is axes[0] else False,
            )
            own.set(xlabel="", ylabel="weight", ylim=(-0.03, 1.03))
            own.set_title(title, fontsize=10)
        sns.move_legend(axes[0], "upper right", bbox_to_anchor=(1.0, 1.3), ncol=2, title=None, frameon=False)
        return png_bytes(drawn)


def _tree(members: pd.DataFrame) -> bytes:
    """Fig. 8: Ward's tree of raw weights, coloured by group; below, the run of each leaf."""
    tree = linkage(members[list(ACRONYMS)].to_numpy(), "ward")
    labels = members["group"].to_numpy()
    colours = cluster_colours(labels.max())
    under: list[set[int]] = [{int(label)} for label in labels]
    for left, right in tree[:, :2].astype(int):
        under.append(under[left] | under[right])
    with figure(9.0, 3.4) as (drawn, axes):
        shown = dendrogram(
            tree,
            ax=axes,
            link_color_func=lambda node: colours[min(under[node])] if len(under[node]) == 1 else GREY,
            no_labels=True,
        )
        for group, size in members["group"].value_counts().sort_index().items():
            axes.plot([], [], color=colours[int(group)], label=f"group {group}: {size} individuals")
        legend_above(axes)
        axes.set(ylabel="distance of merged groups")
        leaves = members.iloc[shown["leaves"]]
        runs = sorted(members["run"].unique())
        below = axes.inset_axes((0, -0.08 - 0.06 * len(runs), 1, 0.06 * len(runs)), sharex=axes)
        places = 5 + 10 * np.arange(len(leaves))  # where scipy draws them
        rows = leaves["run"].map(runs.index)
        below.scatter(places, rows, c=leaves["group"].map(colours), marker="s", s=14)
        below.set(yticks=range(len(runs)), yticklabels=runs, ylim=(len(runs) - 0.5, -0.5), ylabel="run")
        below.tick_params(axis="x", bottom=False, labelbottom=False)
        below.tick_params(axis="y", length=0, labelsize=7)
        below.grid(axis="y", linewidth=0.3)
        below.set_axisbelow(True)
        return png_bytes(drawn)


def _groups(comparisons: pd.DataFrame, members: pd.DataFrame) -> bytes:
    """Figs. 9 and 10: how groups differ by decks; two rows for each."""
    named = comparisons.assign(
        deck=comparisons["deck"].map(DECKS), opponent_deck=comparisons["opponent_deck"].map(DECKS)
    )
    pairs = list(dict.fromkeys(zip(named["group"], named["other"], strict=True)))
    kinds = ("any opponent", "head to head")
    sizes = {int(group): int(size) for group, size in members["group"].value_counts().items()}
    with grid(2 * len(pairs), 2.9, 2.9, columns=len(pairs) // 2) as (drawn, axes):
        for place, (kind, (group, other)) in enumerate(product(kinds, pairs)):
            own = named[(named["kind"] == kind) & (named["group"] == group) & (named["other"] == other)]
            plot_comparison(axes[place], own, list(DECKS.values()), sizes)
        return png_bytes(drawn)


def _agents(ratings: pd.DataFrame, decks: pd.DataFrame) -> bytes:
    """Fig. 11: score by pair of decks; a part an agent."""
    entrants = list(ratings["entrant"])
    with grid(len(entrants), 2.7, 2.6, columns=3) as (drawn, axes):
        for own, entrant in zip(axes, entrants, strict=True):
            sns.heatmap(
                100 * cells_of(decks, entrant),
                ax=own,
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
            own.set(xlabel="opponent's deck", ylabel="own deck")
            own.set_title(short(entrant), fontsize=10)
            own.tick_params(axis="both", length=0, labelsize=8)
        return png_bytes(drawn)
