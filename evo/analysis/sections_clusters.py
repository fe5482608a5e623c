"""Sections about clusters of weights, on the pages of reports and of crossplays."""

from collections.abc import Iterable, Mapping
from functools import partial

import pandas as pd
from markupsafe import Markup

from evo.analysis import sentences as say
from evo.analysis.clustering import Clusters, size_in_words, sizes_of
from evo.analysis.plots_clusters import plot_comparison, plot_map, plot_tree
from evo.analysis.tables import names_of, shares_of
from evo.figures.page import Cell, Format, Section, html_table, image, points
from evo.figures.style import NARROW, draw_both, grid, png
from ilp_agent.weights import WeightVector

MOST_COMPARED = 3
"""Most clusters whose comparisons are drawn."""


def clusters_section(
    clusters: Clusters, vector: type[WeightVector], scores: Mapping[int, float] | None = None
) -> Section:
    """The clusters: their tree, their map, a table of them and the silhouettes of other numbers of clusters.

    Args:
        clusters: of a population.
        vector: the class of its weights.
        scores: by cluster, where they have played.
    """
    parts = []
    if len(clusters.members) > 1:
        parts.append(image(draw_both(plot_tree, clusters, height=4), "Ward's tree"))
        parts.append(image(draw_both(plot_map, clusters, height=4.4), "map of the weights"))
    parts.append(_clusters_table(clusters, vector, scores))
    if len(clusters.levels):
        levels = clusters.levels.rename(columns={"groups": "clusters", "silhouette": "mean silhouette"})
        parts.append(
            html_table(levels, {"mean silhouette": "{:.2f}"}, "Silhouettes by the number of clusters")
        )
    what = "shares" if vector.COMPARABLE else "places between the bounds"
    note = f"Ward's method on {what}; rings mark medoids. Weights: their means."
    text, conclusion = say.clusters_sentence(clusters), say.clusters_conclusion(clusters)
    return Section("Styles", text, parts, note, conclusion)


def shown_weights(vector: type[WeightVector], names: Iterable[str]) -> dict[str, Format]:
    """How columns of a table show the scale-free forms of weights of these names."""
    return {name: partial(vector.shown, name) for name in names}


def _clusters_table(
    clusters: Clusters, vector: type[WeightVector], scores: Mapping[int, float] | None
) -> Markup:
    names = names_of(clusters.summary)
    alone = clusters.summary["size"] == 1
    columns = {"group": "cluster", "name": "set apart by"}
    columns |= dict(zip(shares_of(clusters.summary), names, strict=True))
    table = clusters.summary.drop(columns="medoid").rename(columns=columns)
    table["size"] = [Cell(size_in_words(size), size) for size in clusters.summary["size"]]
    table["silhouette"] = table["silhouette"].mask(alone)  # 0 by convention, and says nothing
    if scores is not None:
        table.insert(3, "score", table["cluster"].map(scores))
    formats = shown_weights(vector, names) | {"score": "{:.1%}"}
    return html_table(table, formats | dict.fromkeys(("silhouette", "stability"), "{:.2f}"), "Clusters")


def comparisons_section(
    comparisons: pd.DataFrame, decks: list[str], sizes: Mapping[int, int], played: str
) -> Section:
    """How clusters differ by decks.

    Args:
        comparisons: as `evo.analysis.clustering.compare_clusters` makes it.
        decks: names, in the order to draw.
        sizes: of the clusters.
        played: the games, in a sentence.
    """
    few = comparisons[(comparisons["group"] <= MOST_COMPARED) & (comparisons["other"] <= MOST_COMPARED)]
    parts = []
    cut = f" Drawn are the {MOST_COMPARED} largest clusters." if len(few) < len(comparisons) else ""
    if len(few):
        both = (_drawn(few, decks, sizes, columns=3), _drawn(few, decks, sizes, columns=1))
        parts.append(image(both, "clusters compared by decks"))
        parts.append(_comparisons_table(comparisons))
    sentence = say.comparisons_sentence(comparisons, sizes)
    return Section(
        "Styles by decks",
        sentence,
        parts,
        f"{played} Numbers: the first cluster's score less the second's, in points; depth of colour: the "
        f"corrected p-value; thick boxes: below 0.05.{cut}",
        say.comparisons_conclusion(comparisons),
    )


def _drawn(comparisons: pd.DataFrame, decks: list[str], sizes: Mapping[int, int], columns: int) -> bytes:
    """A row for each two clusters, in it the kinds of comparison, in one figure."""
    pairs = list(comparisons.groupby(["group", "other", "kind"]))
    width = NARROW if columns == 1 else max(2.9, 1.2 + 0.45 * len(decks))
    with grid(len(pairs), width, 1.05 * width, columns) as (drawn, cells):
        for axes, (_, pair) in zip(cells, pairs, strict=True):
            plot_comparison(axes, pair, decks, sizes)
        return png(drawn)


def _comparisons_table(comparisons: pd.DataFrame) -> Markup:
    columns = {"group": "cluster", "opponent_deck": "opponent's deck", "other_score": "other's score"}
    table = comparisons.rename(columns=columns)
    table.insert(table.columns.get_loc("p"), "difference, points", table["score"] - table["other's score"])
    table = table.rename(columns={"p_adjusted": "corrected p"})
    formats = dict.fromkeys(("score", "other's score"), "{:.1%}") | dict.fromkeys(
        ("p", "corrected p"), "{:.3f}"
    )
    return html_table(table, {**formats, "difference, points": points}, "Comparisons")


def crossplay_sections(
    clusters: Clusters,
    vector: type[WeightVector],
    comparisons: pd.DataFrame,
    scores: Mapping[int, float],
    decks: list[str],
    problems: tuple[str, ...] = (),
) -> list[Section]:
    """What a crossplay tells of the clusters of its population.

    Args:
        clusters: of the population.
        vector: the class of its weights.
        comparisons: of the clusters by the games that were played.
        scores: of the clusters over all their games.
        decks: names, in the order to draw.
        problems: what could not be read, one sentence each.
    """
    sections = [clusters_section(clusters, vector, scores)]
    if len(clusters.summary) > 1:
        played = "All individuals against all."
        sections.append(comparisons_section(comparisons, decks, sizes_of(clusters), played))
    if problems:
        text = ". ".join(problems) + "."
        sections.insert(0, Section("What could not be read", text, conclusion=text))
    return sections
