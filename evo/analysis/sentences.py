"""Report sentences, computed from the tables of runs by pure functions."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd

from evo.analysis.clustering import Clusters, cluster_label, size_text
from evo.analysis.tables import names_of, shares_of
from evo.config.benchmarks import SEVEN
from evo.config.messages import counted
from evo.figures.page import percentage_points
from evo.stats.run_statistics import mean_over_runs
from ilp_agent.weights import Weights, WeightVector

STABILITY_THRESHOLD = 0.75
"""Stability above which a cluster is stable."""

ENOUGH_DEALS = 20
"""Deals per ordered pair of decks (EVA's number) from which a report names the best deck."""


def _over_runs(low: float, high: float, form: Callable[[float], str]) -> str:
    if np.isnan(low):
        return "one run, no interval"
    return f"95% interval over runs {form(low)} to {form(high)}"


def fitness_sentence(individuals: pd.DataFrame, chosen: bool = False) -> str:
    """Sentence on the spread of fitness, first and last generation; `chosen`: fitness from opponents, too."""
    against = "its opponents" if chosen else "its own generation"
    spread = individuals.groupby("generation")["win_rate"].agg(
        lambda scores: scores.quantile(0.75) - scores.quantile(0.25)
    )
    first, last = spread.index.min(), spread.index.max()
    best = individuals[individuals["generation"] == last].groupby("run", observed=True)["win_rate"].max()
    return (
        f"The interquartile range of fitness is {100 * spread[first]:.1f} points of score in generation "
        f"{first} and {100 * spread[last]:.1f} in generation {last}, whose best scores {best.mean():.1%} "
        f"against {against}. Relative fitness says nothing about absolute strength; absolute progress does."
    )


def progress_conclusion(progress: pd.DataFrame, opponents: str = SEVEN.title) -> str:
    """Sentence on the best individual's gain against fixed opponents; "" for one generation.

    Args:
        progress: from `evo.analysis.progress`.
        opponents: whom they played, in words.
    """
    by_run = _by_generation(progress)
    if by_run.shape[1] < 2:
        return ""
    first, last = by_run.columns[0], by_run.columns[-1]
    gain, low, high = _gain(progress, first, last)
    sure = low > 0 or high < 0
    return (
        f"From generation {first} to {last} the best changed by {percentage_points(gain)} points of score "
        f"against {opponents} ({_gain_interval(by_run, low, high)})"
        + ("." if sure else ", which may be chance.")
    )


def _by_generation(progress: pd.DataFrame) -> pd.DataFrame:
    """Scores by run (rows) and generation (columns), of the generations that all runs have."""
    by_run = progress.pivot_table(index="run", columns="generation", values="score", observed=True)
    return by_run.dropna(axis=1)


def _gain(progress: pd.DataFrame, first: int, last: int) -> tuple[float, float, float]:
    """Gain in score of the best individual between two generations, and the gain's 95% interval.

    The interval is over runs; for one run it is over the games of both, as if the deals were independent, and
    nan if the table has no intervals.
    """
    by_run = _by_generation(progress)
    gain = mean_over_runs(by_run[last] - by_run[first])
    if len(by_run) > 1 or not {"low", "high"} <= set(progress.columns):
        return gain
    ends = progress.set_index("generation").loc[[first, last]]
    half = float(np.hypot.reduce((ends["high"] - ends["low"]) / 2))
    return gain[0], gain[0] - half, gain[0] + half


def _gain_interval(by_run: pd.DataFrame, low: float, high: float) -> str:
    """Interval of a gain in words: over runs, or over the games of one run."""
    if len(by_run) > 1 or np.isnan(low):
        return _over_runs(low, high, percentage_points)
    return f"95% interval of the games {percentage_points(low)} to {percentage_points(high)}"


def progress_sentence(progress: pd.DataFrame, opponents: str = SEVEN.title) -> str:
    """Sentences on the best individuals' progress against fixed opponents, overall and in the second half.

    Args:
        progress: from `evo.analysis.progress`.
        opponents: whom they played, in words.
    """
    by_run = _by_generation(progress)
    if by_run.shape[1] < 2:
        return "There is only one generation, so nothing to compare."
    first, last = by_run.columns[0], by_run.columns[-1]
    half = by_run.columns[np.abs(by_run.columns - (first + last) / 2).argmin()]
    gain, late = (_gain(progress, start, last) for start in (first, half))
    one = len(by_run) == 1
    mean = "" if one else f" in the mean of {counted(len(by_run), 'run')}"
    text = (
        f"Against {opponents} the best of generation {first} scores {by_run[first].mean():.1%}{mean} "
        f"and the best of generation {last} {by_run[last].mean():.1%}: a gain of "
        f"{percentage_points(gain[0])} points "
        f"({_gain_interval(by_run, *gain[1:])})"
    )
    if half > first:
        text += (
            f". Of this, {percentage_points(late[0])} points ({_gain_interval(by_run, *late[1:])}) came "
            "after "
            f"generation {half}"
        )
    if np.isnan(late[1]):
        return f"{text}; one run without intervals cannot distinguish this from chance."
    if half > first:
        text += ": it still improved" if late[1] > 0 else "; further improvement is not significant"
    elif late[1] <= 0 <= late[2]:
        text += ", which may be chance"
    return text + (". Other seeds may gain more or less: this is one run." if one else ".")


def inert_sentence(inert: Collection[str]) -> str:
    """Sentence on weights that figures leave out, with a leading space; "" if there are none."""
    if not inert:
        return ""
    return f" Left out, since fixed or without effect with these decks: {', '.join(sorted(inert))}."


def ages_sentence(individuals: pd.DataFrame, spans: pd.DataFrame) -> str:
    """Sentences on the lifespans and ages of individuals."""
    lived = spans[spans["lifespan"] > 0]
    if lived.empty:
        return "No individual has survived a generation yet."
    low, high = lived["birth"].quantile([0.25, 0.75])
    survivors = individuals[individuals["survived"]]
    last = survivors["generation"].max()
    age = survivors.loc[survivors["generation"] == last, "age"].median()
    median = counted(round(lived["lifespan"].median()), "generation")
    return (
        f"{len(lived):,} of {len(spans):,} individuals survived at least one generation; their lifespan is "
        f"{median} in the median and at most {lived['lifespan'].max():.0f}; {lived['alive'].sum():,} "
        f"of them are still alive. Half of them were born between generations {low:.0f} and {high:.0f}. "
        f"The survivors of generation {last} have a median age of {age:.0f}."
    )


def newcomers_sentence(new: pd.DataFrame) -> str:
    """Sentence on the mean number of newcomers in early and late generations."""
    if new.empty:
        return "There are no newcomers before generation 1."
    ends = new.groupby("run", observed=True)["generation"].transform("max")
    early = mean_over_runs(new[new["generation"] <= 10].groupby("run", observed=True)["newcomers"].mean())
    text = (
        f"On average {early[0]:.1f} newcomers enter the population in each of generations 1 to "
        f"{min(10, ends.max())} ({_over_runs(early[1], early[2], '{:.1f}'.format)})"
    )
    if ends.min() < 20:
        return text + "."
    late = mean_over_runs(
        new[new["generation"] > ends - 10].groupby("run", observed=True)["newcomers"].mean()
    )
    return (
        text
        + f", and {late[0]:.1f} in each of the last ten ({_over_runs(late[1], late[2], '{:.1f}'.format)})."
    )


def largest_weights_sentence(population: pd.DataFrame, vector: type[WeightVector] = Weights) -> str:
    """Sentence on the four weights with the largest median share; "" if all weights are 0.

    For parameters that cannot be compared, the first four and their medians.
    """
    shares = population[shares_of(population)].dropna()
    if shares.empty:
        return ""
    middle = shares.median().set_axis(names_of(population))
    if vector.COMPARABLE:
        middle = middle.sort_values(ascending=False, kind="stable")
    large = ", ".join(
        f"{name} {vector.format_share(str(name), share)}" for name, share in middle.iloc[:4].items()
    )
    if not vector.COMPARABLE:
        return f"Median of {counted(len(shares), 'individual')}: {large}{', ...' if len(middle) > 4 else ''}."
    return f"Largest in the median of {counted(len(shares), 'individual')}: {large}."


def weights_sentence(population: pd.DataFrame, vector: type[WeightVector] = Weights) -> str:
    """Sentences on the largest, smallest, most and least variable weights."""
    names = names_of(population)
    shares = population[shares_of(population)].dropna()
    if shares.empty:
        return "Every weight of every individual is 0."
    middle = shares.median().to_numpy()
    width = (shares.quantile(0.75) - shares.quantile(0.25)).to_numpy()
    order = np.argsort(-middle)
    wide, narrow = int(width.argmax()), int(width.argmin())
    if not vector.COMPARABLE:
        return (
            f"{largest_weights_sentence(population, vector)} The most variable is {names[wide]}, with an "
            f"interquartile range of {width[wide]:.0%} of the way between its bounds; the least variable is "
            f"{names[narrow]}, with {width[narrow]:.0%}."
        )
    small = ", ".join(f"{names[i]} {middle[i]:.1%}" for i in order[::-1] if middle[i] < 0.05)
    return (
        f"{largest_weights_sentence(population, vector)} "
        + (f"Under 5%: {small}. " if small else "")
        + f"The most variable is {names[wide]}, with an interquartile range of {100 * width[wide]:.1f} "
        f"points; the least variable is {names[narrow]}, with {100 * width[narrow]:.1f}."
    )


def weights_table(population: pd.DataFrame) -> pd.DataFrame:
    """Table with one row per weight: median share, quartiles, and spread between and within runs.

    Columns weight, median, quartile_1, quartile_3, between_runs (standard deviation of the runs' means) and
    within_runs (mean standard deviation within a run): a weight without selection pressure varies within a
    population as much as between runs.
    """
    columns = shares_of(population)
    shares = population[["run", *columns]].dropna()
    by_run = shares.groupby("run", observed=True)[columns]
    return pd.DataFrame(
        {
            "weight": names_of(population),
            "median": shares[columns].median().to_numpy(),
            "quartile_1": shares[columns].quantile(0.25).to_numpy(),
            "quartile_3": shares[columns].quantile(0.75).to_numpy(),
            "between_runs": by_run.mean().std().to_numpy(),
            "within_runs": by_run.std().mean().to_numpy(),
        }
    )


def sigmas_sentence(sigmas: pd.DataFrame) -> str:
    """Sentence on the median step size, and on the weights with the smallest step sizes."""
    middle = (
        sigmas[sigmas["survived"]]
        .groupby(["generation", "weight"], observed=True)["sigma"]
        .median()
        .unstack()
    )
    first, last = middle.iloc[0], middle.iloc[-1]
    small = ", ".join(f"{name} {last[name]:.3f}" for name in last.sort_values().index[:3])
    return (
        f"The median step size over all weights went from {first.median():.2f} to {last.median():.2f}; "
        f"smallest at the end: {small}."
    )


def decks_sentence(scores: pd.DataFrame) -> str:
    """Sentences on the best deck, and on the hardest deck to play against."""
    if len(scores) == 1:
        return f"One deck was played: {scores.index[0]}."
    hardest = scores.mean(axis=0).idxmin()
    return (
        f"{best_deck_sentence(scores)} {hardest} is hardest to play against: others score "
        f"{scores[hardest].mean():.1%} against it. Games against individuals that did not survive count too, "
        "so mirrors need not show 50%."
    )


def few_deals_warning(deals: int) -> str:
    """Warning about scores by decks from few deals; "" if there are enough."""
    if deals >= ENOUGH_DEALS:
        return ""
    return (
        f" All pairings of a generation share {deals} deals per ordered pair of decks, so chance moves these "
        "scores by tens of points. manaforge ladder compares decks on more deals."
    )


def best_deck_sentence(scores: pd.DataFrame) -> str:
    """Sentence on the deck that scores best; "" if there is only one deck."""
    if len(scores) == 1:
        return ""
    best = scores.mean(axis=1).idxmax()
    return f"{best} scores best, with {scores.loc[best].mean():.1%} over all opponents."


def clusters_sentence(clusters: Clusters) -> str:
    """Sentences on the number of clusters and their stability."""
    text = clusters_conclusion(clusters)
    if len(clusters.summary) < 2:
        return text
    known = int(clusters.summary["stability"].notna().sum())
    stable = int((clusters.summary["stability"] > STABILITY_THRESHOLD).sum())
    if known == 1:
        count = f"The stability of one cluster can be estimated: it is{'' if stable else ' not'} stable"
    elif known:
        are = "is" if stable == 1 else "are"
        count = (
            f"Of the {known} clusters that are large enough to estimate it, {stable or 'none'} {are} stable"
        )
    else:
        count = "No cluster is large enough to estimate its stability"
    return f"{text} {count}. {'; '.join(map(_cluster_description, clusters.summary.itertuples()))}."


def clusters_conclusion(clusters: Clusters) -> str:
    """Sentences on how clear the clusters are, and how many clusters have one individual."""
    notes = [note[0].upper() + note[1:] for note in clusters.notes]
    k = len(clusters.summary)
    alone = int((clusters.summary["size"] == 1).sum())
    if alone and k > 1:
        notes.append(f"{alone} of the {k} clusters {'is' if alone == 1 else 'are'} of one individual")
    return ". ".join(notes or [f"There are {k} clusters"]) + "."


def _cluster_description(cluster: Any) -> str:
    """Description of a cluster, from a row of `Clusters.summary`."""
    start = f"{cluster.group} ({cluster.name}): {size_text(cluster.size)} of {counted(cluster.runs, 'run')}"
    if cluster.size == 1:
        return start
    if pd.isna(cluster.stability):
        return f"{start}, too small to estimate its stability"
    return f"{start}, stability {cluster.stability:.2f}"


def comparisons_conclusion(comparisons: pd.DataFrame) -> str:
    """Sentence on the number of significant differences between clusters; "" for one cluster."""
    if comparisons.empty:
        return ""
    beyond = comparisons.assign(beyond=comparisons["p_adjusted"] < 0.05).groupby("kind")["beyond"]
    found, total = beyond.sum(), beyond.size()
    any_opponent, exchanged = (
        f"{found[kind]} of {total[kind]}" for kind in ("any opponent", "decks exchanged")
    )
    return (
        f"Scores of clusters differ significantly in {any_opponent} comparisons by decks against all "
        f"opponents, and in {exchanged} against each other with exchanged decks."
    )


def comparisons_sentence(comparisons: pd.DataFrame, sizes: Mapping[int, int] | None = None) -> str:
    """Sentences on the number of significant differences between clusters, and on the largest difference.

    Args:
        comparisons: from `evo.analysis.clustering.compare_clusters`.
        sizes: sizes of the clusters, to mark those of one individual.
    """
    if comparisons.empty:
        return "With one cluster there is nothing to compare."

    parts = []
    for kind in ("any opponent", "decks exchanged"):
        rows = comparisons[comparisons["kind"] == kind]
        beyond = rows[rows["p_adjusted"] < 0.05]
        text = f"{kind}: {len(beyond)} of {len(rows)} differ at 0.05 after correction"
        text += f" ({int((rows['p'] < 0.05).sum())} before it)"
        if len(beyond):
            row = beyond.loc[(beyond["score"] - beyond["other_score"]).abs().idxmax()]
            one, other = (cluster_label(row[name], sizes) for name in ("group", "other"))
            text += (
                f", the largest between cluster {one} and {other} with {row['deck']} against "
                f"{row['opponent_deck']}: {row['score']:.1%} to {row['other_score']:.1%}"
            )
        parts.append(text)
    text = "; ".join(parts)
    return (
        f"{text[0].upper()}{text[1:]}. Head to head, as in EVA's Fig. 10, the strength of the decks "
        "counts too and the p-values are too small; with decks exchanged only the weights differ."
    )


def lineage_sentence(family: pd.DataFrame, run: str) -> str:
    """Sentence on the birth and ancestors of the last generation's best individual."""
    best = family[["individual", "birth"]].iloc[-1].astype(int)
    n, oldest = len(family) - 1, family["birth"].min()
    ancestry = counted(n, "ancestor") if n else "no ancestors"
    ancestry += f", born in generation {oldest}" if n == 1 else ""
    ancestry += f", the oldest born in generation {oldest}" if n > 1 else ""
    return (
        f"Individual {best['individual']}, the best of the last generation of run {run}, was born in "
        f"generation {best['birth']} and has {ancestry}."
    )
