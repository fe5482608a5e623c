"""Figures of clusters of weights: the tree, the map, and how clusters differ by decks."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from scipy.cluster.hierarchy import dendrogram

from evo.analysis.clustering import Clusters, called, size_in_words
from evo.analysis.tables import shares_of
from evo.figures.page import points
from evo.figures.style import DIVERGING, GREY, MARKERS, is_narrow, legend_above, small

SIGNIFICANT = 0.05
MOST_LEAVES, MOST_LEAVES_NARROW = 40, 22
"""Most individuals that are named below a tree, and below one on a telephone."""

FAINTEST = 1e-6
"""Smaller p-values are drawn like this one."""


def cluster_colours(n: int) -> dict[int, str]:
    """A colour for each cluster, 1 to n."""
    palette = sns.color_palette("colorblind", max(n, 1))
    return {number + 1: to_hex(colour) for number, colour in enumerate(palette)}


def _label(cluster: Any) -> str:
    """A row of `Clusters.summary` in a legend."""
    return f"{cluster.group}: {cluster.name} ({size_in_words(cluster.size)})"


def plot_tree(axes: Axes, clusters: Clusters) -> Axes:
    """Ward's tree, coloured by cluster (EVA's Fig. 8)."""
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
        leaf_font_size=max(8, small(axes)),
    )
    for row in clusters.summary.itertuples():
        axes.plot([], [], color=colours[row.group], label=_label(row))
    legend_above(axes)
    axes.set(ylabel="distance of merged clusters (Ward)", xlabel="" if few else f"{n} individuals")
    return axes


def project(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal components of shares.

    Returns:
        Coordinates, shape (individuals, 2), and the part of the variance that each axis shows, shape (2,).
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
    """All individuals in the plane of the first two principal components, by cluster; medoids have a ring."""
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
    """How two clusters differ by decks (one part of EVA's Figs. 9 and 10).

    Differences of scores in points. Blue where the first cluster scores more, red where the second does,
    darker for smaller corrected p-values; differences at 0.05 after correction have a thick box.

    Args:
        axes: to draw on.
        comparisons: rows of `evo.analysis.clustering.compare_clusters` of one kind and two clusters.
        decks: in the order to draw.
        sizes: of the clusters, to tell those of one individual.
    """
    shade = pd.DataFrame(0.0, index=decks, columns=decks)
    texts = pd.DataFrame("", index=decks, columns=decks)
    boxed = []
    for row in comparisons.itertuples():
        p = max(row.p_adjusted, FAINTEST) if pd.notna(row.p_adjusted) else 1.0
        difference = row.score - row.other_score
        shade.loc[row.deck, row.opponent_deck] = -np.log10(p) * np.sign(difference)
        texts.loc[row.deck, row.opponent_deck] = points(difference) if pd.notna(difference) else ""
        if p < SIGNIFICANT:
            boxed.append((decks.index(row.opponent_deck), decks.index(row.deck)))
    most = -np.log10(FAINTEST)
    sns.heatmap(
        shade,
        ax=axes,
        vmin=-most,
        vmax=most,
        center=0,
        cmap=DIVERGING,
        annot=texts,
        fmt="",
        annot_kws={"size": small(axes)},
        cbar=False,
        linewidths=0.5,
        square=True,
    )
    for x, y in boxed:
        axes.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor="black", linewidth=2, clip_on=False))
    first = comparisons.iloc[0]
    one, other = (called(first[name], sizes) for name in ("group", "other"))
    axes.set_title(f"{first['kind']}:\n{one} against {other}", fontsize=9)
    axes.set(xlabel="opponent's deck", ylabel="own deck")
    axes.tick_params(axis="both", labelsize=small(axes), length=0)
    axes.tick_params(axis="x", labelrotation=30)
    for text in axes.get_xticklabels():
        text.set(ha="right", rotation_mode="anchor")
    axes.tick_params(axis="y", labelrotation=0)
    return axes
