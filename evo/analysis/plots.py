"""Plots of runs, clusters and deck prediction, each a function that draws a table on axes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, NullFormatter
from scipy.cluster.hierarchy import dendrogram
from scipy.special import stdtrit

from evo.analysis.clustering import Clusters, cluster_label, size_text
from evo.analysis.tables import long_weights, shares_of
from evo.config.benchmarks import SEVEN
from evo.figures.page import percentage_points
from evo.figures.style import (
    BLUE,
    DIVERGING_COLOURS,
    GREY,
    MARKERS,
    ORANGE,
    figure_width,
    integer_ticks,
    is_narrow,
    legend_above,
    percent_ticks,
    small_font_size,
)

MOST_HORIZONTAL_NAMES = 10
"""Most names on an axis that are written horizontally."""

INCHES_PER_NAME = 0.75

BOX_STYLE: dict[str, Any] = {"color": "#9ecae1", "linecolor": "#333333", "linewidth": 0.8}
MOST_BOXES = 25


def _some_generations(individuals: pd.DataFrame) -> pd.DataFrame:
    """Rows of at most `MOST_BOXES` evenly spaced generations, always with the last."""
    last = int(individuals["generation"].max())
    step = -(-(last + 1) // MOST_BOXES)
    return individuals[(last - individuals["generation"]) % step == 0]


def _draw_boxes(axes: Axes, table: pd.DataFrame, y: str) -> None:
    sns.boxplot(table, x="generation", y=y, ax=axes, fliersize=1.5, native_scale=True, **BOX_STYLE)
    integer_ticks(axes.xaxis)


def plot_fitness(axes: Axes, individuals: pd.DataFrame) -> Axes:
    """Fitness of all individuals by generation, as a score per game (EVA's Fig. 2: survivors only)."""
    _draw_boxes(axes, _some_generations(individuals), "win_rate")
    axes.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="generation", ylabel="fitness, score per game")
    percent_ticks(axes.yaxis)
    return axes


def plot_ages(axes: Axes, individuals: pd.DataFrame) -> Axes:
    """Ages of the survivors by generation (EVA's Fig. 4)."""
    _draw_boxes(axes, _some_generations(individuals[individuals["survived"]]), "age")
    axes.set(xlabel="generation", ylabel="age, generations since birth")
    integer_ticks(axes.yaxis)
    return axes


def plot_lifespans(axes: Axes, spans: pd.DataFrame) -> Axes:
    """Lifespans and generations of birth of all individuals that ever survived (EVA's Fig. 3).

    Args:
        axes: to draw on.
        spans: from `evo.analysis.tables.lifespans`.
    """
    survivors = spans[spans["lifespan"] > 0]
    table = pd.DataFrame(
        {"generations survived": survivors["lifespan"], "generation of birth": survivors["birth"]}
    )
    sns.boxplot(table, ax=axes, orient="h", fliersize=2, **BOX_STYLE)
    axes.set(xlabel="generations", ylabel="")
    integer_ticks(axes.xaxis)
    return axes


def _draw_mean_over_runs(
    axes: Axes, table: pd.DataFrame, y: str, marker: str = "", colour: str = BLUE, label: str = ""
) -> bool:
    """Draw a mean over runs by generation, with a 95% interval by Student's t for several runs."""
    groups = table.groupby("generation")[y]
    mean, n = groups.mean(), groups.count()
    axes.plot(mean.index, mean.to_numpy(), color=colour, marker=marker, markersize=4, label=label or None)
    integer_ticks(axes.xaxis)
    several = bool(n.max() > 1)
    if several:
        half = stdtrit(np.maximum(n - 1, 1), 0.975) * groups.std() / np.sqrt(n)
        axes.fill_between(mean.index, mean - half, mean + half, color=colour, alpha=0.25, linewidth=0)
    return several


def plot_newcomers(axes: Axes, new: pd.DataFrame) -> Axes:
    """New survivors by generation: mean over runs with 95% interval (EVA's Fig. 5: survivors of age 1).

    Args:
        axes: to draw on.
        new: from `evo.analysis.tables.newcomers`.
    """
    several = _draw_mean_over_runs(axes, new, "newcomers")
    axes.set(xlabel="generation", ylabel="newcomers" + (", mean and 95% interval" if several else ""))
    axes.set_ylim(bottom=0)
    integer_ticks(axes.yaxis)
    return axes


def plot_weights(
    axes: Axes, population: pd.DataFrame, marked: dict[str, np.ndarray], measure: str = "share"
) -> Axes:
    """Distribution of each weight's share of the sum (EVA's Figs. 6 and 7: of raw weights).

    Args:
        axes: to draw on.
        population: one row per individual.
        marked: shares of profiles to mark, such as the thesis's seven, by name.
        measure: label of the y axis.
    """
    table = long_weights(population)
    sns.boxplot(table, x="weight", y="share", ax=axes, fliersize=0, whis=(0, 100), **BOX_STYLE)
    spread = np.random.default_rng(1).uniform(
        -0.2, 0.2, len(table)
    )  # seaborn's own jitter is not reproducible
    places = table["weight"].cat.codes + spread
    axes.scatter(places, table["share"], 2.5**2, BLUE, alpha=0.6, linewidths=0, zorder=3)
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
        legend_above(axes)
    axes.set(xlabel="weight", ylabel=measure)
    if table["weight"].nunique() > min(MOST_HORIZONTAL_NAMES, figure_width(axes) / INCHES_PER_NAME):
        axes.tick_params(axis="x", labelrotation=90)
    percent_ticks(axes.yaxis)
    return axes


def plot_sigmas(axes: Axes, sigmas: pd.DataFrame) -> Axes:
    """Median step size of the survivors by generation, one line per weight, on a log scale.

    Args:
        axes: to draw on.
        sigmas: from `evo.analysis.tables.long_sigmas`.
    """
    medians = (
        sigmas[sigmas["survived"]]
        .groupby(["generation", "weight"], observed=True)["sigma"]
        .median()
        .reset_index()
    )
    sns.lineplot(
        medians,
        x="generation",
        y="sigma",
        hue="weight",
        style="weight",
        ax=axes,
        palette="colorblind",
        linewidth=1.2,
    )
    axes.set(xlabel="generation", ylabel="step size, median of the survivors", yscale="log")
    integer_ticks(axes.xaxis)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    axes.yaxis.set_major_formatter("{x:g}")  # plain text, since weight names may contain a $
    axes.yaxis.set_minor_formatter(NullFormatter())
    legend_above(axes)
    return axes


def plot_progress(axes: Axes, progress: pd.DataFrame, opponents: str = SEVEN.short) -> Axes:
    """Score of each generation's best individual against fixed opponents: mean over runs, 95% intervals.

    Args:
        axes: to draw on.
        progress: columns run, generation, score; for one run, also low and high, if present; centre, the
            score of the strategy's centre, is drawn as a second line.
        opponents: of the scores, for the axis.
    """
    centre = "centre" in progress.columns and bool(progress["centre"].notna().any())
    _draw_mean_over_runs(axes, progress, "score", marker="o", label="best" if centre else "")
    if centre:
        _draw_mean_over_runs(axes, progress.dropna(subset=["centre"]), "centre", "s", ORANGE, "centre")
        legend_above(axes)
    if progress["run"].nunique() == 1 and {"low", "high"} <= set(progress.columns):
        bounds = np.abs(progress[["low", "high"]].to_numpy().T - progress["score"].to_numpy())
        axes.errorbar(progress["generation"], progress["score"], bounds, fmt="none", ecolor=BLUE, linewidth=1)
    axes.set(xlabel="generation", ylabel=f"{'' if centre else 'best '}against {opponents}")
    percent_ticks(axes.yaxis)
    return axes


def plot_lineage(axes: Axes, family: pd.DataFrame) -> Axes:
    """Lineage of an individual: bars from birth to the last generation survived, lines to parents.

    Args:
        axes: to draw on.
        family: from `evo.analysis.tables.ancestors`.
    """
    rows = {int(number): place for place, number in enumerate(family["individual"])}
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
    integer_ticks(axes.xaxis)
    labelled = rows if len(rows) <= 30 else {}
    axes.set_yticks(list(labelled.values()), [f"individual {number}" for number in labelled])
    axes.tick_params(axis="y", length=0, labelsize=small_font_size(axes))
    return axes


SIGNIFICANT = 0.05
MOST_LEAVES, MOST_LEAVES_NARROW = 40, 22
"""Most individuals named below a tree, and below a narrow one for telephones."""

LEAST_DRAWN_P = 1e-6
"""Least p-value on the colour scale; smaller ones are drawn alike."""


def cluster_colours(n: int) -> dict[int, str]:
    """Colours of the clusters 1 to n; vermilion, which resembles the second colour, comes last of ten."""
    palette = sns.color_palette("colorblind", max(n, 10))
    order = [0, 1, 2, *range(4, 10), 3, *range(10, len(palette))]
    return {number: to_hex(palette[place]) for number, place in enumerate(order[:n], 1)}


def _label(cluster: Any) -> str:
    """Legend entry of a cluster, from a row of `Clusters.summary`."""
    return f"{cluster.group}: {cluster.name} ({size_text(cluster.size)})"


def plot_tree(axes: Axes, clusters: Clusters) -> Axes:
    """Dendrogram of Ward's tree, coloured by cluster (EVA's Fig. 8)."""
    labels = clusters.members["group"].to_numpy()
    colours = cluster_colours(labels.max())
    n = len(labels)
    under: list[set[int]] = [{int(label)} for label in labels]
    for left, right in clusters.tree[:, :2].astype(int):
        under.append(under[left] | under[right])

    def colour(node: int) -> str:
        return colours[next(iter(under[node]))] if len(under[node]) == 1 else GREY

    if clusters.tree[:, 2].max() == 0:
        axes.text(0.5, 0.5, f"{n} individuals, all equal", ha="center")
        axes.set_axis_off()
        return axes
    few = n <= (MOST_LEAVES_NARROW if is_narrow(axes) else MOST_LEAVES)
    keys = clusters.members[["run", "individual"]].itertuples(index=False)
    names = [f"{run}:{number}" for run, number in keys]
    dendrogram(
        clusters.tree,
        ax=axes,
        link_color_func=colour,
        labels=names if few else None,
        no_labels=not few,
        leaf_rotation=90,
        leaf_font_size=max(8, small_font_size(axes)),
    )
    for row in clusters.summary.itertuples():
        axes.plot([], [], color=colours[row.group], label=_label(row))
    legend_above(axes)
    axes.set(ylabel="distance of merged clusters (Ward)", xlabel="" if few else f"{n} individuals")
    return axes


def project(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Project weight shares on their first two principal components.

    Returns:
        Coordinates, shape (individuals, 2), and the explained variance ratio of each axis, shape (2,).
    """
    from sklearn.decomposition import PCA  # noqa: PLC0415 - a second to import

    parts = min(2, *shares.shape)
    if len(shares) < 2 or np.ptp(shares, axis=0).max(initial=0.0) == 0:
        return np.zeros((len(shares), 2)), np.zeros(2)
    model = PCA(parts, svd_solver="full").fit(shares)
    places, kept = np.zeros((len(shares), 2)), np.zeros(2)
    places[:, :parts], kept[:parts] = model.transform(shares), model.explained_variance_ratio_
    return places, kept


def plot_map(axes: Axes, clusters: Clusters) -> Axes:
    """Map of the individuals by their first two principal components and cluster; rings mark medoids."""
    places, kept = project(clusters.members[shares_of(clusters.members)].to_numpy())
    labels = clusters.members["group"].to_numpy()
    colours = cluster_colours(labels.max())
    for row in clusters.summary.itertuples():
        own = labels == row.group
        mark, colour = MARKERS[(row.group - 1) % len(MARKERS)], colours[row.group]
        axes.scatter(
            places[own, 0], places[own, 1], s=22, alpha=0.75, marker=mark, color=colour, label=_label(row)
        )
        x, y = places[row.medoid]
        axes.scatter(x, y, s=110, facecolors="none", edgecolors=colour, linewidths=1.4)
    legend_above(axes)
    axes.set(
        xlabel=f"first component, {kept[0]:.0%} of the variance of shares",
        ylabel=f"second component, {kept[1]:.0%}",
    )
    return axes


def plot_comparison(
    axes: Axes, comparisons: pd.DataFrame, decks: list[str], sizes: Mapping[int, int] | None = None
) -> Axes:
    """Heat map of score differences between two clusters by decks (one part of EVA's Figs. 9 and 10).

    Numbers are differences in points. Blue: the first cluster scores more, red: the second; darker for
    smaller corrected p-values; thick boxes mark corrected p-values below 0.05.

    Args:
        axes: to draw on.
        comparisons: rows of `evo.analysis.clustering.compare_clusters` of one kind and two clusters.
        decks: names, in the order to draw.
        sizes: sizes of the clusters, to mark those of one individual.
    """
    shade = pd.DataFrame(0.0, index=decks, columns=decks)
    texts = pd.DataFrame("", index=decks, columns=decks)
    boxed = []
    for row in comparisons.itertuples():
        p = max(row.p_adjusted, LEAST_DRAWN_P) if pd.notna(row.p_adjusted) else 1.0
        difference = row.score - row.other_score
        shade.loc[row.deck, row.opponent_deck] = -np.log10(p) * np.sign(difference)
        texts.loc[row.deck, row.opponent_deck] = percentage_points(difference) if pd.notna(difference) else ""
        if p < SIGNIFICANT:
            boxed.append((decks.index(row.opponent_deck), decks.index(row.deck)))
    most = -np.log10(LEAST_DRAWN_P)
    sns.heatmap(
        shade,
        ax=axes,
        vmin=-most,
        vmax=most,
        center=0,
        cmap=DIVERGING_COLOURS,
        annot=texts,
        fmt="",
        annot_kws={"size": small_font_size(axes)},
        cbar=False,
        linewidths=0.5,
        square=True,
    )
    for x, y in boxed:
        axes.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor="black", linewidth=2, clip_on=False))
    first = comparisons.iloc[0]
    one, other = (cluster_label(first[name], sizes) for name in ("group", "other"))
    axes.set_title(f"{first['kind']}:\n{one} against {other}", fontsize=9)
    axes.set(xlabel="opponent's deck", ylabel="own deck")
    axes.tick_params(axis="both", labelsize=small_font_size(axes), length=0)
    axes.tick_params(axis="x", labelrotation=30)
    for text in axes.get_xticklabels():
        text.set(ha="right", rotation_mode="anchor")
    axes.tick_params(axis="y", labelrotation=0)
    return axes


def plot_accuracy(axes: Axes, table: pd.DataFrame) -> Axes:
    """Accuracy of deck prediction by number of cards seen: mean and 95% interval.

    Args:
        axes: to draw on.
        table: from `evo.analysis.prediction.prediction_accuracy`.
    """
    colours = (BLUE, ORANGE, GREY)
    for place, (exchanged, rows) in enumerate(table.groupby("exchanged")):
        colour = colours[place % len(colours)]
        label = "as in the library" if exchanged == 0 else f"{exchanged} cards exchanged"
        axes.fill_between(rows["seen"], rows["low"], rows["high"], color=colour, alpha=0.15, linewidth=0)
        axes.plot(rows["seen"], rows["right"], MARKERS[place] + "-", color=colour, markersize=3, label=label)
    axes.set(xlabel="cards seen", ylabel="cards left predicted right", ylim=(0, 1.02))
    integer_ticks(axes.xaxis)
    percent_ticks(axes.yaxis)
    legend_above(axes)
    return axes
