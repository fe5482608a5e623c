"""Ward clustering of weight vectors into styles of play: stability, scores by deck, play statistics.

Weights are compared in their scale-free form, since a common factor changes no plan. Source of the method:
EVA, section 5.4: Ward's tree, the silhouette at each level, rank-sum tests between clusters.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.stats import false_discovery_control, mannwhitneyu

from engine import HERO, ActionKind, play
from engine.actions import Action
from engine.position import Position
from evo.analysis.tables import Runs, names_of, shares_of, weights_of
from evo.config.messages import counted
from evo.stats.ratings import outcome_codes, points_of_first
from rivals import agent_of

MOST_CLUSTERS = 10
STABILITY_DRAWS = 100
PERMUTATIONS = 999
NULL_DRAWS = 40
SMALLEST_STABLE = 5
"""Least size of a cluster whose stability is estimated by bootstrap."""

EQUAL_TOLERANCE = 1e-9
"""Shares that differ by less than this are equal."""


@dataclass(frozen=True)
class Clusters:
    """A population of weight vectors, clustered.

    Attributes:
        members: the population with group (number of the cluster, 1 the largest), silhouette (nan if there is
            one cluster) and medoid (whether the individual is its cluster's medoid).
        tree: Ward's linkage, shape (members - 1, 4), in scipy's format.
        levels: one row per number of clusters: groups (that number), silhouette (mean); empty if there
            are too few individuals.
        summary: one row per cluster: group (its number), name, size, runs (number of runs it comes from),
            silhouette, stability (mean Jaccard similarity to its nearest cluster in bootstrap draws; above
            0.75 is stable), medoid (row in `members`), share_NAME (means).
        notes: remarks for the reader, one sentence each.
    """

    members: pd.DataFrame
    tree: np.ndarray
    levels: pd.DataFrame
    summary: pd.DataFrame
    notes: tuple[str, ...]


def cluster_weights(population: pd.DataFrame, n_clusters: int | None = None, seed: int = 1) -> Clusters:
    """Cluster a population by its weight shares.

    Args:
        population: one row per individual, with run, individual and share_NAME (`evo.analysis.tables`).
        n_clusters: number of clusters; None: the best by silhouette.
        seed: seed of the bootstrap draws.
    """
    notes = []
    columns = shares_of(population)
    scaled = population[population[columns].notna().all(axis=1)].reset_index(drop=True)
    if len(scaled) < len(population):
        n_left = len(population) - len(scaled)
        are = "is" if n_left == 1 else "are"
        notes.append(f"{counted(n_left, 'individual')} without any weight above 0 {are} left out")
    shares = scaled[columns].to_numpy()
    n = len(shares)
    distinct = len(np.unique(np.round(shares / EQUAL_TOLERANCE), axis=0)) if n else 0
    tree = linkage(shares, "ward") if n > 1 else np.empty((0, 4))
    most = min(MOST_CLUSTERS, distinct, n - 1)
    levels = pd.DataFrame(
        [(k, _silhouettes(shares, cut_tree(tree, k)).mean()) for k in range(2, most + 1)],
        columns=["groups", "silhouette"],
    )
    chosen = n_clusters
    if levels.empty:
        reason = (
            "there are no individuals"
            if n == 0
            else "there is one individual"
            if n == 1
            else f"there are {n} individuals"
            if n < 3
            else "all are equal"
        )
        notes.append(f"no clusters can be formed: {reason}")
        chosen = 1
    elif chosen is None:
        best = levels.loc[levels["silhouette"].idxmax()]
        chosen = int(best["groups"])
        strength = strength_text(best["silhouette"])
        notes.append(f"{chosen} clusters have the best silhouette, {best['silhouette']:.2f}: {strength}")
        chance = _chance_silhouette(shares, most, np.random.default_rng(seed))
        if best["silhouette"] <= chance:
            notes.append(
                f"populations of one cluster reach {chance:.2f} by chance (95%), so these "
                "clusters are only descriptive"
            )
    chosen = max(1, min(chosen, max(distinct, 1)))
    labels = cut_tree(tree, chosen) if chosen > 1 else np.ones(n, int)
    members = scaled.assign(
        group=labels, silhouette=_silhouettes(shares, labels) if 1 < chosen < n else np.full(n, np.nan)
    )
    stability = _stability(shares, labels, np.random.default_rng(seed)) if 1 < chosen < n else {}
    members, summary = _describe(members, shares, stability)
    return Clusters(members, tree, levels, summary, tuple(notes))


def size_text(size: int) -> str:
    """Size of a cluster in words: "one individual", "1,200 individuals"."""
    return "one individual" if size == 1 else f"{size:,} individuals"


def sizes_of(clusters: Clusters) -> dict[int, int]:
    """Sizes of clusters by cluster number."""
    return dict(zip(clusters.summary["group"], clusters.summary["size"], strict=True))


def cluster_label(cluster: int, sizes: Mapping[int, int] | None = None) -> str:
    """Label of a cluster: its number, with a remark if the cluster has one individual."""
    return f"{cluster} (one individual)" if (sizes or {}).get(cluster) == 1 else str(cluster)


def cut_tree(tree: np.ndarray, k: int) -> np.ndarray:
    """Labels of k clusters of a tree, numbered by size, 1 the largest; ties by first member."""
    raw = fcluster(tree, k, "maxclust")
    names, first, counts = np.unique(raw, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    rank = {int(names[place]): number + 1 for number, place in enumerate(order)}
    return np.array([rank[int(label)] for label in raw])


def _silhouettes(shares: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Silhouette of each individual; nan if undefined (one cluster, or one individual per cluster)."""
    from sklearn.metrics import silhouette_samples  # noqa: PLC0415 - a second to import

    if not 2 <= len(np.unique(labels)) <= len(labels) - 1:
        return np.full(len(labels), np.nan)
    return np.asarray(silhouette_samples(shares, labels))


def _chance_silhouette(shares: np.ndarray, most: int, pick: np.random.Generator) -> float:
    """95% quantile of the best silhouette of populations drawn from one cluster with the same covariance."""
    mean, covariance = shares.mean(axis=0), np.cov(shares.T)
    found = []
    for _ in range(NULL_DRAWS):
        drawn = pick.multivariate_normal(mean, covariance, len(shares), check_valid="ignore", method="eigh")
        tree = linkage(drawn, "ward")
        found.append(max(_silhouettes(drawn, cut_tree(tree, k)).mean() for k in range(2, most + 1)))
    return float(np.quantile(found, 0.95))


def strength_text(silhouette: float) -> str:
    """Strength of a silhouette in the terms of Kaufman and Rousseeuw, "Finding Groups in Data", 1990."""
    for least, words in (
        (0.71, "a strong structure"),
        (0.51, "a reasonable structure"),
        (0.26, "a weak structure"),
    ):
        if silhouette >= least:
            return words
    return "no substantial structure"


def _stability(shares: np.ndarray, labels: np.ndarray, pick: np.random.Generator) -> dict[int, float]:
    """Stability of clusters: mean Jaccard similarity to the most similar cluster of bootstrap draws.

    Source: Hennig, "Cluster-wise assessment of cluster stability", 2007.
    """
    k = labels.max()
    found: dict[int, list[float]] = {cluster: [] for cluster in range(1, k + 1)}
    for _ in range(STABILITY_DRAWS):
        drawn = np.unique(pick.integers(len(labels), size=len(labels)))
        if len(drawn) <= k:
            continue
        again = fcluster(linkage(shares[drawn], "ward"), k, "maxclust")
        for cluster, values in found.items():
            own = labels[drawn] == cluster
            if own.any():
                others = [again == label for label in set(again)]
                values.append(max((own & other).sum() / (own | other).sum() for other in others))
    sizes = np.bincount(labels)
    return {
        cluster: float(np.mean(values)) if values and sizes[cluster] >= SMALLEST_STABLE else float("nan")
        for cluster, values in found.items()
    }


def _describe(
    members: pd.DataFrame, shares: np.ndarray, stability: dict[int, float]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mark the medoid of each cluster in `members`, and summarise the clusters; returns both tables."""
    weights = names_of(members)
    overall, spread = (
        (shares.mean(axis=0), shares.std(axis=0)) if len(shares) else (np.zeros(len(weights)),) * 2
    )
    medoid, rows = np.zeros(len(members), bool), []
    names: set[str] = set()
    for cluster in sorted(members["group"].unique()):
        own = np.flatnonzero(members["group"] == cluster)
        distances = np.linalg.norm(shares[own][:, None] - shares[own], axis=2).sum(axis=1)
        place = int(own[distances.argmin()])
        medoid[place] = True
        mean = shares[own].mean(axis=0)
        name = _name(mean, overall, spread, weights, names)
        names.add(name)
        rows.append(
            {
                "group": cluster,
                "name": name,
                "size": len(own),
                "runs": members["run"].iloc[own].nunique(),
                "silhouette": members["silhouette"].iloc[own].mean(),
                "stability": stability.get(cluster, float("nan")),
                "medoid": place,
            }
            | dict(zip(shares_of(members), mean, strict=True))
        )
    columns = ["group", "name", "size", "runs", "silhouette", "stability", "medoid", *shares_of(members)]
    return members.assign(medoid=medoid), pd.DataFrame(rows, columns=columns)


def _name(
    mean: np.ndarray, overall: np.ndarray, spread: np.ndarray, weights: list[str], taken: set[str]
) -> str:
    """Name of a cluster by the weights in which it differs most, as many as make the name unique."""
    difference = np.divide(mean - overall, spread, out=np.zeros_like(mean), where=spread > EQUAL_TOLERANCE)
    order = np.argsort(-np.abs(difference), kind="stable")
    words = [
        f"{'more' if difference[place] > 0 else 'less'} {weights[place]}"
        for place in order
        if difference[place] != 0
    ]
    if not words:
        return "all equal"
    for count in range(2, len(words) + 1):
        if ", ".join(words[:count]) not in taken:
            return ", ".join(words[:count])
    return ", ".join(words)


def score_cube(games: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Points won and games played by every pair of entrants, by decks.

    Args:
        games: a table of `evo.play.matchups.games_table`.

    Returns:
        Two arrays of shape (entrants, entrants, decks, decks): of i against j, i holding the first deck.
    """
    n, d = len(games["first"].cat.categories), len(games["first_deck"].cat.categories)
    first, second, one, two = (
        games[name].cat.codes.to_numpy(np.int64) for name in ("first", "second", "first_deck", "second_deck")
    )
    points = points_of_first(outcome_codes(games["outcome"].to_numpy(object)))
    won, played = np.zeros((n, n, d, d)), np.zeros((n, n, d, d))
    for own, other, deck, opposed, score in (
        (first, second, one, two, points),
        (second, first, two, one, 1 - points),
    ):
        np.add.at(won, (own, other, deck, opposed), score)
        np.add.at(played, (own, other, deck, opposed), 1)
    return won, played


def compare_clusters(games: pd.DataFrame, clusters: np.ndarray) -> pd.DataFrame:
    """Compare clusters by decks: EVA's Figs. 9 and 10, tests corrected for multiple comparisons.

    Args:
        games: a round robin, a table of `evo.play.matchups.games_table`.
        clusters: cluster of each entrant, 1 and up (0: none), in the order of the table's names.

    Returns:
        One row per comparison: kind, group and other (clusters), deck, opponent_deck, score, other_score
        (means over the two clusters), p and p_adjusted (Benjamini and Hochberg, over all rows of a kind).
        Kinds: "any opponent": both clusters with `deck` against all entrants with `opponent_deck`; rank-sum
        test (Fig. 9).
        "head to head": the cluster with `deck` against the other with `opponent_deck`, the scores of both,
        rank-sum test (Fig. 10); it includes the decks' strength, and both scores are of the same games, so
        its p-values are far too small. "decks exchanged": the cluster with `deck` against the other with
        `opponent_deck`, compared with the other with `deck` against the cluster; permutation test over
        individuals. Empty if there is one cluster.
    """
    won, played = score_cube(games)
    decks = [str(name) for name in games["first_deck"].cat.categories]
    labels = sorted(set(clusters.tolist()) - {0})
    rows = []
    for cluster, other in combinations(labels, 2):
        ours, theirs = np.flatnonzero(clusters == cluster), np.flatnonzero(clusters == other)
        among = np.ix_(ours, theirs), np.ix_(theirs, ours)
        for (a, deck), (b, opposed) in product(enumerate(decks), repeat=2):
            key = cluster, other, deck, opposed
            overall_scores = _scores_per_game(won[:, :, a, b], played[:, :, a, b])
            rows.append(("any opponent", *key, *_rank_sum_test(overall_scores[ours], overall_scores[theirs])))
            first_scores = _scores_per_game(won[:, :, a, b][among[0]], played[:, :, a, b][among[0]])
            second_scores = _scores_per_game(won[:, :, b, a][among[1]], played[:, :, b, a][among[1]])
            rows.append(("head to head", *key, *_rank_sum_test(first_scores, second_scores)))
            both = np.concatenate([ours, theirs])
            inner = np.ix_(both, both)
            exchanged = _exchange_test(won[:, :, a, b][inner], played[:, :, a, b][inner], len(ours))
            rows.append(("decks exchanged", *key, *exchanged))
    columns = ["kind", "group", "other", "deck", "opponent_deck", "score", "other_score", "p"]
    table = pd.DataFrame(rows, columns=columns).sort_values("kind", kind="stable").reset_index(drop=True)
    table["p_adjusted"] = np.nan
    for kind in table["kind"].unique():
        own = (table["kind"] == kind) & table["p"].notna()
        if own.any():
            table.loc[own, "p_adjusted"] = false_discovery_control(table.loc[own, "p"], method="bh")
    return table


def _scores_per_game(won: np.ndarray, played: np.ndarray) -> np.ndarray:
    """Score per game of each row of a matrix; nan for rows without games."""
    games = played.sum(axis=1)
    rates: np.ndarray = np.divide(won.sum(axis=1), games, out=np.full(len(games), np.nan), where=games > 0)
    return rates


def _exchange_test(won: np.ndarray, played: np.ndarray, n: int) -> tuple[float, float, float]:
    """Scores of two clusters against each other with exchanged decks, and a permutation test.

    Both score in the same games, so tests of independent samples do not apply: labels are permuted.

    Args:
        won: points of members of both clusters against each other, shape (members, members).
        played: games, the same shape.
        n: number of members of the first cluster, which come first.
    """
    pick = np.random.default_rng(1)
    labels = np.zeros((PERMUTATIONS + 1, len(won)))
    labels[0, :n] = 1
    for place in range(1, PERMUTATIONS + 1):
        labels[place] = pick.permutation(labels[0])
    rest = 1 - labels
    ours, theirs = ((a @ won * b).sum(axis=1) for a, b in ((labels, rest), (rest, labels)))
    games = (labels @ played * rest).sum(axis=1), (rest @ played * labels).sum(axis=1)
    if not (games[0].all() and games[1].all()):
        return float("nan"), float("nan"), float("nan")
    scores, others = ours / games[0], theirs / games[1]
    gap = np.abs(scores - others)
    return float(scores[0]), float(others[0]), float((gap >= gap[0] - 1e-12).mean())


def _rank_sum_test(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float, float]:
    """Means of two samples, and the p-value of the two-sided rank-sum test; nan if a sample is empty."""
    ours, theirs = ours[~np.isnan(ours)], theirs[~np.isnan(theirs)]
    if len(ours) == 0 or len(theirs) == 0:
        return float("nan"), float("nan"), float("nan")
    if np.ptp(np.concatenate([ours, theirs])) == 0:
        return float(ours.mean()), float(theirs.mean()), 1.0
    test = mannwhitneyu(ours, theirs, alternative="two-sided", method="asymptotic")
    return float(ours.mean()), float(theirs.mean()), float(test.pvalue)


STYLE_GAMES = 20


def style_table(clusters: Clusters, runs: Runs, games: int = STYLE_GAMES) -> pd.DataFrame:
    """Play statistics of each cluster's medoid in self-play, on the same deals for all.

    Args:
        clusters: clusters of the runs' populations.
        runs: the runs, for decks and rules.
        games: number per cluster and deck, in mirror matches.

    Returns:
        One row per cluster: group (its number), name, turns (rounds a game), and means per turn of a player:
        face_damage (attack on the hero), trades (attacks on minions), plays (cards played).
    """
    rows = []
    for cluster in clusters.summary.to_dict("records"):
        row = clusters.members.iloc[cluster["medoid"]]
        config = runs.configs[row["run"]]
        weights = row[weights_of(clusters.members)].to_numpy(float)
        counts = np.zeros(4)
        lengths = []
        for cards in config.found_decks:
            for seed in range(games):
                watch = _Counter()
                agents = agent_of(config.agent, weights), agent_of(config.agent, weights)
                result = play(*agents, (cards, cards), seed, ruleset=config.ruleset, watch=watch)
                counts += watch.counts
                lengths.append(result.turns)
        turns = counts[0] or 1.0
        rows.append(
            {
                "group": cluster["group"],
                "name": cluster["name"],
                "turns": float(np.mean(lengths)),
                "face_damage": counts[1] / turns,
                "trades": counts[2] / turns,
                "plays": counts[3] / turns,
            }
        )
    return pd.DataFrame(rows)


class _Counter:
    """Counter of turns, damage to heroes, attacks on minions and cards played in games."""

    def __init__(self) -> None:
        self.counts = np.zeros(4)
        self._turn = (-1, -1)

    def __call__(self, position: Position, action: Action) -> None:
        turn = int(position.state["turn"]), position.active
        self.counts[0] += turn != self._turn  # counts the last turn too, which a win ends
        self._turn = turn
        if action.kind == ActionKind.PLAY:
            self.counts[3] += 1
        elif action.kind == ActionKind.ATTACK and action.target == HERO:
            own = position.state["sides"][position.active]
            self.counts[1] += int(own["board"][action.source]["attack"])
        elif action.kind == ActionKind.ATTACK:
            self.counts[2] += 1
