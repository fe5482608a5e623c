"""Clusters of weights: planted ones are found, scale has no effect, degenerate cases are noted; against scipy."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.cluster.hierarchy import linkage
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score

from evo.analysis.clustering import cluster_weights, compare_clusters, score_cube, sizes_of
from evo.analysis.plots import plot_comparison, plot_map, plot_tree, plot_weights, project
from evo.analysis.report import clusters_section, comparisons_section
from evo.analysis.sentences import (
    clusters_sentence,
    comparisons_sentence,
    weights_sentence,
    weights_table,
)
from evo.figures.style import figure
from evo.play.games import GAME
from evo.play.matchups import Matchups, games_table, make_pairings
from evo.stats.run_statistics import mean_over_runs
from ilp_agent import WEIGHT_NAMES, Weights
from tests.conftest import cases

WEIGHTS = [f"weight_{name}" for name in WEIGHT_NAMES]
SHARES = [f"share_{name}" for name in WEIGHT_NAMES]
N = len(WEIGHT_NAMES)


def population(weights: np.ndarray, scale: np.ndarray | float = 1.0) -> pd.DataFrame:
    weights = weights * np.reshape(scale, (-1, 1)) if np.ndim(scale) else weights * scale
    total = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, total, out=np.full_like(weights, np.nan), where=total > 0)
    frame = pd.DataFrame(np.hstack([weights, shares]), columns=[*WEIGHTS, *SHARES])
    frame.insert(0, "individual", range(len(frame)))
    frame.insert(0, "run", [f"r{number % 3}" for number in range(len(frame))])
    for column in ("generation", "survived"):
        frame[column] = 1
    return frame


def planted(
    sizes: tuple[int, ...] = (20, 12, 6), noise: float = 0.03, seed: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    middles = np.eye(N)[: len(sizes)] + 0.4
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return np.abs(middles[labels] + noise * rng.normal(size=(len(labels), N))), labels


@pytest.mark.parametrize("sizes", [(20, 12, 6), (15, 14), (10, 9, 8, 7, 6)])
def test_planted_clusters_are_found(sizes: tuple[int, ...]) -> None:
    weights, labels = planted(sizes)
    found = cluster_weights(population(weights))
    assert len(found.summary) == len(sizes)
    assert (found.members["group"].to_numpy() == labels + 1).all()
    assert (found.summary["stability"] > 0.95).all()
    assert found.summary["size"].tolist() == list(sizes)
    assert found.summary["runs"].tolist() == [3] * len(sizes)
    assert found.summary["name"].is_unique
    for place, name in enumerate(found.summary["name"]):
        assert f"more {WEIGHT_NAMES[place]}" in name
    for row in found.summary.itertuples():
        assert found.members.loc[row.medoid, "group"] == row.group
    assert found.members["medoid"].sum() == len(sizes)
    assert found.notes[0].endswith("structure")


def test_scaling_an_individual_changes_no_table_and_no_figure() -> None:
    weights, _ = planted()
    rng = np.random.default_rng(2)
    one, other = population(weights), population(weights, np.exp(rng.normal(0, 3, len(weights))))
    a, b = cluster_weights(one), cluster_weights(other)
    keep = [name for name in a.members.columns if name not in WEIGHTS]
    pd.testing.assert_frame_equal(a.members[keep], b.members[keep])
    pd.testing.assert_frame_equal(a.summary, b.summary)
    pd.testing.assert_frame_equal(weights_table(one), weights_table(other))
    assert weights_sentence(one) == weights_sentence(other)
    drawn = []
    for table, clusters in ((one, a), (other, b)):
        with figure(5, 4) as (_, axes):
            plot_map(axes, clusters)
            points = np.concatenate([part.get_offsets() for part in axes.collections])
        with figure(5, 4) as (_, axes):
            plot_weights(axes, table, {})
            lines = np.concatenate([line.get_ydata() for line in axes.lines])
        drawn.append((points, lines))
    for left, right in zip(*drawn, strict=True):
        assert np.allclose(np.asarray(left, float), np.asarray(right, float), atol=1e-12)


def test_levels_tree_and_map_agree_with_scipy_and_scikit_learn() -> None:
    weights, labels = planted(noise=0.1)
    table = population(weights)
    found = cluster_weights(table)
    shares = table[SHARES].to_numpy()
    assert found.tree == pytest.approx(linkage(shares, "ward"))
    chosen = found.levels.set_index("groups")["silhouette"]
    assert chosen[3] == pytest.approx(
        silhouette_score(shares, found.members["group"] if len(found.summary) == 3 else labels)
    )
    assert found.levels["groups"].tolist() == list(range(2, 11))
    places, kept = project(shares)
    model = PCA(2).fit(shares)
    assert np.abs(places) == pytest.approx(np.abs(model.transform(shares)))
    assert kept == pytest.approx(model.explained_variance_ratio_)


@pytest.mark.parametrize(
    ("weights", "note"),
    [
        (np.ones((1, N)), "there is one individual"),
        (np.array([[1.0] * N, [2.0] + [1.0] * (N - 1)]), "there are 2"),
        (np.ones((9, N)) * np.arange(1, 10)[:, None], "all are equal"),
    ],
)
def test_degenerate_populations_are_told(weights: np.ndarray, note: str) -> None:
    found = cluster_weights(population(weights))
    assert note in found.notes[-1]
    assert len(found.summary) == 1
    assert (found.members["group"] == 1).all()
    assert clusters_sentence(found).startswith("No clusters can be formed")
    if len(weights) > 1:
        for plot in (plot_tree, plot_map):
            with figure(4, 4) as (_, axes):
                plot(axes, found)


def test_individuals_without_any_weight_are_left_out_and_told() -> None:
    weights, _ = planted()
    weights[5] = 0
    found = cluster_weights(population(weights))
    assert len(found.members) == len(weights) - 1
    assert "1 individual without any weight above 0 is left out" in found.notes[0]


def test_two_clusters_at_most_and_a_given_number() -> None:
    two = np.array([[1.0] * N, [1.0] * N, [9.0] + [1.0] * (N - 1)])
    found = cluster_weights(population(two))
    assert found.summary["size"].tolist() == [2, 1]
    assert len(cluster_weights(population(planted()[0]), 2).summary) == 2
    assert len(cluster_weights(population(np.ones((5, N))), 4).summary) == 1


def games_of(n: int, seed: int = 1) -> pd.DataFrame:
    matchups = Matchups(make_pairings(n, "round-robin", ()), 2, 6, seed, (1,))
    rng = np.random.default_rng(seed)
    played = np.zeros(len(matchups), GAME)
    schedule, _ = matchups.schedule(0, len(matchups))
    better = (schedule.players[:, 0] < n // 2) & (schedule.decks[:, 0] == 0)
    played["outcome"] = np.where(rng.random(len(played)) < np.where(better, 0.85, 0.5), 1, 2)
    return games_table(matchups, played, [str(i) for i in range(n)], ["x", "y"])


def test_comparisons_agree_with_scipy() -> None:
    games, groups = games_of(12), np.repeat([1, 2], 6)
    table = compare_clusters(games, groups)
    won, played = score_cube(games)
    assert played.sum() == 2 * len(games)
    assert won.sum() == len(games)
    assert len(table) == 3 * 4
    for row in table.itertuples():
        a, b = "xy".index(row.deck), "xy".index(row.opponent_deck)
        if row.kind == "any opponent":
            rates = won[:, :, a, b].sum(1) / played[:, :, a, b].sum(1)
            ours, theirs = rates[:6], rates[6:]
        else:
            ours = won[:6, 6:, a, b].sum(1) / played[:6, 6:, a, b].sum(1)
            a, b = (b, a) if row.kind == "head to head" else (a, b)
            theirs = won[6:, :6, a, b].sum(1) / played[6:, :6, a, b].sum(1)
        assert (row.score, row.other_score) == pytest.approx((ours.mean(), theirs.mean()))
        if row.kind == "decks exchanged":
            assert row.p < 0.1 or abs(row.score - row.other_score) < 0.2
        else:
            assert row.p == stats.mannwhitneyu(ours, theirs, method="asymptotic").pvalue
    for kind, rows in table.groupby("kind"):
        assert rows["p_adjusted"].to_numpy() == pytest.approx(stats.false_discovery_control(rows["p"])), kind
    assert (table[(table["deck"] == "x") & (table["kind"] == "any opponent")]["p_adjusted"] < 0.05).all()
    assert "differ at 0.05 after correction" in comparisons_sentence(table)
    assert compare_clusters(games, np.ones(12, int)).empty
    assert comparisons_sentence(compare_clusters(games, np.ones(12, int))).startswith("With one cluster")
    with figure(4, 4) as (_, axes):
        rows = table[table["kind"] == "any opponent"]
        plot_comparison(axes, rows, ["x", "y"])
        thick = sum(1 for patch in axes.patches)
        assert thick == (rows["p_adjusted"] < 0.05).sum()


def test_a_cluster_of_one_individual_is_called_that() -> None:
    weights, _ = planted((9, 1))
    clusters = cluster_weights(population(weights), 2)
    assert clusters.summary["size"].tolist() == [9, 1]
    said = clusters_sentence(clusters)
    assert "1 of the 2 clusters is of one individual." in said
    assert "one individual of 1 run" in said
    for plot in (plot_tree, plot_map):
        with figure(9, 4) as (_, axes):
            plot(axes, clusters)
            labels = [text.get_text() for text in axes.get_legend().get_texts()]
        assert labels[0].endswith("(9 individuals)")
        assert labels[1].endswith("(one individual)")
    table = clusters_section(clusters, Weights, {1: 0.4, 2: 0.9}).parts[2]
    assert '<td class="number" data-value="1">one individual</td>' in table
    assert '<td class="number" data-value="0.9">90.0%</td>' in table
    comparisons = compare_clusters(games_of(10), np.repeat([1, 2], [9, 1]))
    with figure(4, 4) as (_, axes):
        plot_comparison(
            axes, comparisons[comparisons["kind"] == "any opponent"], ["x", "y"], sizes_of(clusters)
        )
        assert axes.get_title() == "any opponent:\n1 against 2 (one individual)"
        assert all("%" not in text.get_text() for text in axes.texts), "differences are points"
    text = comparisons_section(comparisons, ["x", "y"], sizes_of(clusters), "").conclusion
    assert re.fullmatch(
        r"Scores of clusters differ significantly in \d of 4 comparisons .* in \d of 4 against .*", text
    )


def test_clusters_of_nobody_are_left_out() -> None:
    games = games_of(12)
    groups = np.array([0] * 2 + [1] * 5 + [2] * 5)
    assert set(compare_clusters(games, groups)["group"]) == {1}


def test_intervals_over_runs_agree_with_scipy() -> None:
    values = np.random.default_rng(1).normal(size=10)
    expected = stats.t.interval(0.95, 9, values.mean(), stats.sem(values))
    assert mean_over_runs(values)[1:] == pytest.approx(expected)
    assert np.isnan(mean_over_runs([1.0])[1])


def test_equal_clusters_with_decks_exchanged_differ_no_oftener_than_by_chance() -> None:
    """Round robins of 16 equal players with unequal decks: at most 5% of the tests, plus 3 errors."""
    values, runs = [], cases(30, 60)
    for seed in range(runs):
        matchups = Matchups(make_pairings(16, "round-robin", ()), 2, 2, seed, (1,))
        rng = np.random.default_rng(seed)
        schedule, _ = matchups.schedule(0, len(matchups))
        played = np.zeros(len(matchups), GAME)
        chance = np.array([0.5, 0.65])[schedule.decks[:, 0]]
        played["outcome"] = np.where(rng.random(len(played)) < chance, 1, 2)
        games = games_table(matchups, played, [str(i) for i in range(16)], ["x", "y"])
        table = compare_clusters(games, np.repeat([1, 2], 8))
        values += table.loc[table["kind"] == "decks exchanged", "p"].tolist()
    assert (np.array(values) < 0.05).mean() < 0.05 + 3 * (0.05 * 0.95 / (4 * runs)) ** 0.5


def test_noise_makes_no_clusters() -> None:
    """Uniform weights: the silhouette is no better than chance in most draws, and the note says so."""
    told = 0
    draws = cases(3, 10)
    for seed in range(draws):
        found = cluster_weights(population(np.random.default_rng(seed).random((60, N))))
        told += any("by chance" in note for note in found.notes)
    assert told >= 0.7 * draws
    assert not any("by chance" in note for note in cluster_weights(population(planted()[0])).notes)
    tiny = cluster_weights(population(planted((8, 7, 2))[0]), 3)
    assert np.isnan(tiny.summary["stability"].iloc[2])
    assert "too small to estimate its stability" in clusters_sentence(tiny)
    nobody = cluster_weights(population(np.zeros((4, N))))
    assert nobody.summary.empty
    assert "there are no individuals" in nobody.notes[-1]
