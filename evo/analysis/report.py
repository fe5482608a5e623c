"""HTML report of a run or study, made of sections with figures and tables.

To add one, write a function here and add it to `SECTIONS`; docs/extending.md describes the steps.
"""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes

from engine import Deck
from engine.decks import coverage_sentence
from evo.analysis import sentences as say
from evo.analysis.clustering import Clusters, cluster_weights, compare_clusters, size_text, sizes_of
from evo.analysis.crossplay import clusters_of, crossplay
from evo.analysis.listing import solved_sentence, solved_turns
from evo.analysis.plots import (
    plot_ages,
    plot_comparison,
    plot_fitness,
    plot_lifespans,
    plot_lineage,
    plot_map,
    plot_newcomers,
    plot_progress,
    plot_sigmas,
    plot_tree,
    plot_weights,
)
from evo.analysis.progress import absolute_progress, pairings_affordable, validated_progress
from evo.analysis.tables import (
    Runs,
    ancestors,
    best_individuals,
    last_population,
    lifespans,
    long_sigmas,
    names_of,
    newcomers,
    read_pairings,
    read_validation,
    shares_of,
    sigmas_of,
    wins_by_decks,
)
from evo.config.benchmarks import SEVEN
from evo.config.run_config import RunConfig
from evo.evolution.validation import CENTRE, find_stop
from evo.figures.page import (
    MAX_HEAT_ROWS,
    Cell,
    Format,
    Section,
    heat_table,
    html_table,
    image,
    interval_cells,
    make_page,
    percentage_points,
)
from evo.figures.style import (
    NARROW_INCHES,
    WIDE_INCHES,
    draw_wide_and_narrow,
    grid,
    plot_scores,
    png_bytes,
)
from evo.play.games import PlayFunction
from evo.play.matchups import play_matchups
from evo.storage.champion import load_intact_champion
from evo.storage.run_folder import RunError
from evo.strategies import find_strategy
from ilp_agent import DEFAULT_BACKEND, shipped_profiles
from ilp_agent.backends import join_names
from ilp_agent.weights import WeightVector
from rivals import DEFAULT_AGENT, find_agent_profile, is_outside
from rivals.outside.permissions import allow_options

MOST_COMPARED = 3
"""Most clusters whose comparisons are drawn."""


def clusters_section(
    clusters: Clusters, vector: type[WeightVector], scores: Mapping[int, float] | None = None
) -> Section:
    """Section on clusters: tree, map, table, and silhouettes by number of clusters.

    Args:
        clusters: clusters of a population.
        vector: class of its weights.
        scores: score of each cluster, if known.
    """
    parts = []
    if len(clusters.members) > 1:
        parts.append(image(draw_wide_and_narrow(plot_tree, clusters, height=4), "Ward's tree"))
        parts.append(image(draw_wide_and_narrow(plot_map, clusters, height=4.4), "map of the weights"))
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


def weight_formats(vector: type[WeightVector], names: Iterable[str]) -> dict[str, Format]:
    """Column formats for the scale-free forms of named weights."""
    return {name: partial(vector.format_share, name) for name in names}


def _clusters_table(
    clusters: Clusters, vector: type[WeightVector], scores: Mapping[int, float] | None
) -> Markup:
    names = names_of(clusters.summary)
    alone = clusters.summary["size"] == 1
    columns = {"group": "cluster", "name": "set apart by"}
    columns |= dict(zip(shares_of(clusters.summary), names, strict=True))
    table = clusters.summary.drop(columns="medoid").rename(columns=columns)
    table["size"] = [Cell(size_text(size), size) for size in clusters.summary["size"]]
    table["silhouette"] = table["silhouette"].mask(alone)  # 0 by convention, without information
    if scores is not None:
        table.insert(3, "score", table["cluster"].map(scores))
    formats = weight_formats(vector, names) | {"score": "{:.1%}"}
    return html_table(table, formats | dict.fromkeys(("silhouette", "stability"), "{:.2f}"), "Clusters")


def comparisons_section(
    comparisons: pd.DataFrame, decks: list[str], sizes: Mapping[int, int], played: str
) -> Section:
    """Section that compares clusters by decks.

    Args:
        comparisons: from `evo.analysis.clustering.compare_clusters`.
        decks: names, in the order to draw.
        sizes: sizes of the clusters.
        played: a sentence about the games.
    """
    few = comparisons[(comparisons["group"] <= MOST_COMPARED) & (comparisons["other"] <= MOST_COMPARED)]
    parts = []
    cut = f" The figure shows the {MOST_COMPARED} largest clusters." if len(few) < len(comparisons) else ""
    if len(few):
        both = (
            _draw_comparisons(few, decks, sizes, columns=3),
            _draw_comparisons(few, decks, sizes, columns=1),
        )
        parts.append(image(both, "clusters compared by decks"))
        parts.append(_comparisons_table(comparisons))
    sentence = say.comparisons_sentence(comparisons, sizes)
    return Section(
        "Styles by decks",
        sentence,
        parts,
        f"{played} Numbers: the first cluster's score minus the second's, in points; depth of colour: the "
        f"corrected p-value; thick boxes: below 0.05.{cut}",
        say.comparisons_conclusion(comparisons),
    )


def _draw_comparisons(
    comparisons: pd.DataFrame, decks: list[str], sizes: Mapping[int, int], columns: int
) -> bytes:
    """Draw all comparisons in one figure, one row per pair of clusters."""
    pairs = list(comparisons.groupby(["group", "other", "kind"]))
    width = NARROW_INCHES if columns == 1 else max(2.9, 1.2 + 0.45 * len(decks))
    with grid(len(pairs), width, 1.05 * width, columns) as (drawn, cells):
        for axes, (_, pair) in zip(cells, pairs, strict=True):
            plot_comparison(axes, pair, decks, sizes)
        return png_bytes(drawn)


def _comparisons_table(comparisons: pd.DataFrame) -> Markup:
    columns = {"group": "cluster", "opponent_deck": "opponent's deck", "other_score": "other's score"}
    table = comparisons.rename(columns=columns)
    table.insert(table.columns.get_loc("p"), "difference, points", table["score"] - table["other's score"])
    table = table.rename(columns={"p_adjusted": "corrected p"})
    formats = dict.fromkeys(("score", "other's score"), "{:.1%}") | dict.fromkeys(
        ("p", "corrected p"), "{:.3f}"
    )
    return html_table(table, {**formats, "difference, points": percentage_points}, "Comparisons")


def crossplay_sections(
    clusters: Clusters,
    vector: type[WeightVector],
    comparisons: pd.DataFrame,
    scores: Mapping[int, float],
    decks: list[str],
    problems: tuple[str, ...] = (),
) -> list[Section]:
    """Sections of a crossplay's page, on the clusters of the individuals that played.

    Args:
        clusters: clusters of the population.
        vector: class of its weights.
        comparisons: comparisons of the clusters by these games.
        scores: score of each cluster over all its games.
        decks: names, in the order to draw.
        problems: unreadable parts of the runs, one sentence each.
    """
    sections = [clusters_section(clusters, vector, scores)]
    if len(clusters.summary) > 1:
        played = "All individuals against all."
        sections.append(comparisons_section(comparisons, decks, sizes_of(clusters), played))
    if problems:
        text = ". ".join(problems) + "."
        sections.insert(0, Section("What could not be read", text, conclusion=text))
    return sections


MOST_PLAYERS = 120
"""Most individuals in the round robin of a report; beyond it, only the best of each run play."""


@dataclass(frozen=True)
class ReportData:
    """Data of runs from which the sections of a report are made.

    Attributes:
        runs: from `evo.analysis.tables.read_runs`; all with the same decks and rules.
        paths: as the user named them.
        play: plays a schedule (`evo.play.pool.WorkerPool.play`).
    """

    runs: Runs
    paths: Sequence[Path]
    play: PlayFunction

    @property
    def individuals(self) -> pd.DataFrame:
        """All individuals of all generations."""
        return self.runs.individuals

    @cached_property
    def config(self) -> RunConfig:
        """Configuration of the first run, whose decks and rules all runs share."""
        return next(iter(self.runs.configs.values()))

    @cached_property
    def decks(self) -> list[str]:
        """Names of the decks, in the order of the configuration."""
        return self.config.deck_names

    @cached_property
    def all_decks(self) -> list[Deck]:
        """The decks of all runs, each once."""
        return list(
            dict.fromkeys(deck for config in self.runs.configs.values() for deck in config.found_decks)
        )

    @cached_property
    def population(self) -> pd.DataFrame:
        """The last populations of all runs."""
        return last_population(self.individuals)

    @property
    def survive(self) -> bool:
        """Whether parents may survive in one of these runs, so that individuals have ages and ancestors."""
        return any(find_strategy(config.strategy).SURVIVE for config in self.runs.configs.values())

    @cached_property
    def clusters(self) -> Clusters:
        """Clusters of the last populations."""
        return cluster_weights(self.population)


def runs_section(given: ReportData) -> list[Section]:
    """Section on the numbers of runs and games, with a table of the runs."""
    individuals, runs = given.individuals, given.runs
    games = int(individuals["games"].sum() / 2)
    if any(
        config.opponents.beside for config in runs.configs.values()
    ):  # those games count for one individual only
        games = int(read_pairings(runs, "games")[0]["games"].sum())
    last = individuals.groupby("run", observed=True)["generation"].max()
    finished = sum(
        int(last[name]) == config.generations for name, config in runs.configs.items() if name in last
    )
    text = (
        f"{_finished_runs(len(runs.folders), finished)}, {games:,} games of evolution. "
        f"{_opponents_sentence(given.config)} {coverage_sentence(given.all_decks)}"
    )
    solved = solved_sentence(solved_turns(runs.folders.values()))
    text += f" {solved[0].upper()}{solved[1:]}." if solved else ""
    return [Section("What was run", text, [_runs_table(runs)])]


def _opponents_sentence(config: RunConfig) -> str:
    """Sentence on the opponents and deals of a generation's games."""
    options = config.opponents
    opponents = ["each other"] if options.population or not options.fixed else []
    opponents += [f"{join_names(list(options.fixed), 'and')}"] if options.fixed else []
    opponents += ["bests of earlier generations"] if options.hall or options.nash else []
    deals = "common deals" if config.deals == "common" else "separate deals for each pairing"
    text = f"In every generation individuals play {', and '.join(opponents)}"
    text += f", with every ordered pair of decks, on {deals}"
    text += "".join(f", with {key} = {value} of an older version" for key, value in config.removed.items())
    return f"{text}."


def _finished_runs(n: int, finished: int) -> str:
    """Phrase for the number of runs, and of runs with all their generations."""
    if n == 1:
        return f"One run with {'all' if finished else 'not yet all of'} its generations"
    return f"{n} runs, {'all' if finished == n else f'{finished} of them'} with all their generations"


def _runs_table(runs: Runs) -> Markup:
    last = runs.individuals.groupby("run", observed=True)["generation"].max()
    rows = [
        {
            "run": name,
            "strategy": config.strategy,
            "individuals": find_strategy(config.strategy).sizes(config.mu, config.lambda_),
            "generation": f"{last.get(name, 'none')} of {config.generations}",
            "games a cell": config.games,
            "decks": ", ".join(config.deck_names),
            "ruleset": config.ruleset,
            "seed": str(config.seed),
        }
        for name, config in runs.configs.items()
    ]
    return html_table(pd.DataFrame(rows), title="Runs")


def champions(given: ReportData) -> list[Section]:
    """Section on the champions of the runs and their game records."""
    rows, benchmark = [], given.config.found_benchmark
    for name, folder in given.runs.folders.items():
        champion = load_intact_champion(folder)
        if champion is None:
            continue
        profile = champion
        names, provenance = profile.weights.names(), profile.provenance
        record = provenance.get(benchmark.record, {})
        rows.append(
            {"run": name, "champion": provenance.get("candidate", "")}
            | profile.weights.active(given.runs.inert_weights)
            | {
                benchmark.champion: record.get("win_rate"),
                "low": record.get("low"),
                "high": record.get("high"),
            }
        )
    if not rows:
        text = "No run is finished yet, so there is no champion."
        return [Section("Champions", text, conclusion=text)]
    table = pd.DataFrame(rows)
    text = "One champion." if len(rows) == 1 else f"{len(rows)} champions."
    if table[benchmark.champion].notna().any():
        best = table.loc[table[benchmark.champion].astype(float).idxmax()]
        bounds = f"(95% interval {best['low']:.1%} to {best['high']:.1%})"
        text = (
            f"Against {benchmark.title} the champion scores {best[benchmark.champion]:.1%} {bounds}."
            if len(rows) == 1
            else f"Against {benchmark.title} the champions score "
            f"{table[benchmark.champion].mean():.1%} on average; the best, of run {best['run']}, "
            f"{best[benchmark.champion]:.1%} {bounds}."
        )
    shown = table.drop(columns=["low", "high"])
    shown["95% interval"] = interval_cells(table, "low", "high", "{:.1%}")
    formats = weight_formats(given.runs.vector, names) | {benchmark.champion: "{:.1%}"}
    note = f"Weights as {profile.weights.SCALE}.{say.inert_sentence(given.runs.inert_weights)}"
    tables = [
        html_table(shown, formats, "Champions"),
        html_table(_meanings(given.runs.vector), title="Weights"),
    ]
    return [Section("Champions", text, tables, note, text)]


def _meanings(vector: type[WeightVector]) -> pd.DataFrame:
    """Table of the weights and what each means."""
    names = vector.names()
    return pd.DataFrame({"weight": names, "meaning": list(map(vector.meaning, names))})


def fitness(given: ReportData) -> list[Section]:
    """Section on the spread of fitness by generation."""
    drawn = _draw(plot_fitness, given.individuals, "fitness")
    chosen = any(config.opponents.beside for config in given.runs.configs.values())
    return [Section("Fitness by generation", say.fitness_sentence(given.individuals, chosen), [drawn])]


def progress(given: ReportData) -> list[Section]:
    """Section on absolute progress: scores of each generation's best against fixed opponents."""
    validated, benchmark = read_validation(given.runs), given.config.found_benchmark
    table = validated_progress(validated)
    if set(table["run"]) == set(given.runs.folders):
        centre = validated_progress(validated, CENTRE).rename(columns={"score": "centre"})
        table = table.merge(centre[["run", "generation", "centre"]], how="left", on=["run", "generation"])
        note = "From the runs' own validations, always on the same deals"
    else:
        table = absolute_progress(given.runs, given.config, given.play)
        games = table["games"].iloc[0]
        note = (
            f"The best of each generation against each of {benchmark.title}, {games} games for "
            f"each ordered pair of decks, the same deals for all, turns solved with {DEFAULT_BACKEND}"
        )
    plot = partial(plot_progress, opponents=benchmark.short)
    drawn = _draw(plot, table, f"score of each generation's best against {benchmark.title}")
    one = len(given.runs.folders) == 1
    note += f"; {'bars are 95% intervals of the games' if one else 'a band is the 95% interval over runs'}."
    text = say.progress_sentence(table, benchmark.title)
    conclusion = say.progress_conclusion(table, benchmark.title)
    stops = {name: find_stop(folder) for name, folder in given.runs.folders.items()}
    for name, stop in stops.items():
        if stop is not None and stop.generation == given.runs.folders[name].committed - 1:
            text += f" Run {name} {stop.sentence}."
    return [Section("Absolute progress", text, [drawn], note, conclusion)]


def ages(given: ReportData) -> list[Section]:
    """Section on ages and lifespans of individuals."""
    if not given.survive:
        return []
    spans = lifespans(given.individuals)
    parts = [
        _draw(plot_lifespans, spans, "lifespans", height=2.2),
        _draw(plot_ages, given.individuals, "ages"),
    ]
    return [Section("Ages", say.ages_sentence(given.individuals, spans), parts)]


def new_individuals(given: ReportData) -> list[Section]:
    """Section on the number of newcomers by generation."""
    if not given.survive:
        return []
    new = newcomers(given.individuals)
    parts = [_draw(plot_newcomers, new, "newcomers")] if len(new) else []
    return [Section("Newcomers", say.newcomers_sentence(new), parts)]


def weights(given: ReportData) -> list[Section]:
    """Section on the weights of the last populations."""
    agent, population, vector = given.config.agent, given.population, given.runs.vector
    marked = _profile_shares(agent, vector, given.runs.inert_weights)
    width = max(WIDE_INCHES, 0.35 * len(vector.names()))

    labels = {
        f"{what}_{name}": f"{what}_{vector.label(name)}"
        for what in ("share", "weight")
        for name in vector.names()
    }

    def plot(axes: Axes, table: pd.DataFrame) -> Axes:
        return plot_weights(axes, table, marked, vector.MEASURE)

    labelled = population.rename(columns=labels)
    parts = [_draw(plot, labelled, "weights", width=width, height=4.6), _weights_table(population, vector)]
    marks = f"; marks to the right: shipped profiles of {agent}" if marked else ""
    note = (
        f"Weights as {vector.SCALE}. Boxes: the last populations, quartiles and extremes{marks}."
        f"{say.inert_sentence(given.runs.inert_weights)}"
    )
    text, conclusion = (
        say.weights_sentence(population, vector),
        say.largest_weights_sentence(population, vector),
    )
    return [Section("Weights", text, parts, note, conclusion)]


def _weights_table(population: pd.DataFrame, vector: type[WeightVector]) -> Markup:
    points = "points" if vector.COMPARABLE else "% of the way between bounds"
    columns = {
        "quartile_1": "first quartile",
        "quartile_3": "third quartile",
        "between_runs": f"spread between runs, {points}",
        "within_runs": f"spread within runs, {points}",
    }
    table = say.weights_table(population).rename(columns=columns)
    formats: dict[str, Format] = {}
    for column in ("median", "first quartile", "third quartile"):
        named = zip(table["weight"], table[column], strict=True)
        table[column] = [Cell(vector.format_share(name, share), share) for name, share in named]
    spreads = dict.fromkeys(list(columns.values())[2:], lambda spread: f"{100 * spread:.1f}")
    return html_table(table, {**formats, **spreads}, "Weights of the last populations")


def step_sizes(given: ReportData) -> list[Section]:
    """Section on step sizes; none if the strategy has no step sizes."""
    if not sigmas_of(given.individuals):
        return []
    sigmas = long_sigmas(given.individuals)
    return [Section("Step sizes", say.sigmas_sentence(sigmas), [_draw(plot_sigmas, sigmas, "step sizes")])]


def decks(given: ReportData) -> list[Section]:
    """Section on scores by decks."""
    wins = wins_by_decks(given.population, given.decks)
    if len(wins) <= MAX_HEAT_ROWS:
        shown = heat_table(wins, "Scores by decks")
    else:
        shown = _draw(
            lambda axes, table: plot_scores(axes, table, "score"), wins, "scores by decks", height=8
        )
    deals = sum(config.games for config in given.runs.configs.values())
    said = f"{say.decks_sentence(wins)}{say.few_deals_warning(deals) if len(wins) > 1 else ''}"
    conclusion = say.best_deck_sentence(wins) if deals >= say.ENOUGH_DEALS else ""
    return [Section("Decks", said, [shown], conclusion=conclusion)]


def styles(given: ReportData) -> list[Section]:
    """Sections on the clusters of weights, and on the clusters' scores by decks."""
    sections = [clusters_section(given.clusters, given.runs.vector)]
    if len(given.clusters.summary) > 1:
        sections.append(_comparisons(given))
    return sections


def _comparisons(given: ReportData) -> Section:
    runs = given.runs
    most = min(MOST_PLAYERS, (1 + (1 + 8 * pairings_affordable(given.config)) ** 0.5) / 2)
    fewer = (
        max(2, int(most) // len(runs.folders))
        if most < MOST_PLAYERS
        else -(-MOST_PLAYERS // len(runs.folders))
    )
    tournament, population = crossplay(runs, given.paths, 2, most=fewer, backend=DEFAULT_BACKEND)
    games = play_matchups(tournament.roster, tournament.matchups, tournament.names, given.play)
    comparisons = compare_clusters(games, clusters_of(population, given.clusters.members))
    played = f"{len(population)} individuals, all against all, {len(games):,} games."
    return comparisons_section(comparisons, given.decks, sizes_of(given.clusters), played)


def lineage(given: ReportData) -> list[Section]:
    """Section on the ancestors of the best individual of the last generation."""
    if not given.survive:
        return []
    individuals = given.individuals
    best = best_individuals(individuals)
    last = best[best["generation"] == best["generation"].max()]
    row = last.loc[last["win_rate"].idxmax()]
    family = ancestors(individuals, row["run"], int(row["individual"]))
    height = 1.2 + 0.16 * min(len(family), 40)
    drawn = _draw(plot_lineage, family, "lineage", height=height)
    return [Section("Lineage", say.lineage_sentence(family, row["run"]), [drawn])]


SECTIONS: tuple[Callable[[ReportData], list[Section]], ...] = (
    runs_section,
    champions,
    fitness,
    progress,
    ages,
    new_individuals,
    weights,
    step_sizes,
    decks,
    styles,
    lineage,
)
"""Functions that make the sections, in the order of the page."""


def _profile_shares(agent: str, vector: type[WeightVector], inert: frozenset[str]) -> dict[str, np.ndarray]:
    """Weight shares of an agent's shipped profiles, by name, without inert weights."""
    if is_outside(agent):
        return {}
    owner = vector.AGENT
    names = tuple(SEVEN.opponents) if owner == DEFAULT_AGENT else shipped_profiles(owner)
    found = {name: find_agent_profile(agent, name).weights for name in names}
    vectors = {name: vector.from_array(one.full_array[: len(vector.names())]) for name, one in found.items()}
    return {name: np.array(list(vector.active(inert).values())) for name, vector in vectors.items()}


def _draw(
    plot: Callable[[Axes, Any], Axes], table: Any, text: str, width: float = WIDE_INCHES, height: float = 3.6
) -> Markup:
    return image(draw_wide_and_narrow(plot, table, width=width, height=height), text)


def _benchmark_option(config: RunConfig) -> str:
    """Option that repeats a run whose benchmark is not the default of its decks, as in older folders."""
    default = RunConfig().changed(decks=list(config.decks)).benchmark
    return "" if config.benchmark == default else f" --set benchmark={config.benchmark}"


def make_report(runs: Runs, paths: Sequence[Path], play: PlayFunction) -> bytes:
    """Make the HTML report on runs.

    Args:
        runs: from `evo.analysis.tables.read_runs`.
        paths: as the user named them.
        play: plays a schedule (`evo.play.pool.WorkerPool.play`).

    Raises:
        RunError: the runs were played with different decks, rules or benchmarks.
    """
    given = ReportData(runs, paths, play)
    for config in runs.configs.values():
        if (config.found_decks, config.ruleset) != (given.config.found_decks, given.config.ruleset):
            raise RunError("these runs have different decks or rulesets; write a report for each")
        if config.benchmark != given.config.benchmark:
            raise RunError(
                f'these runs have different benchmarks, "{given.config.benchmark}" and "{config.benchmark}"; '
                "write a report for each"
            )
    repeats = [
        f"manaforge evolve {shlex.quote(str(folder.path / 'config.toml'))} --out again/{shlex.quote(name)}"
        f"{_benchmark_option(folder.config)}{allow_options(folder.config.agent)}"
        for name, folder in runs.folders.items()
    ]
    folder_of_repeats = "again" if len(repeats) > 1 else f"again/{shlex.quote(next(iter(runs.folders)))}"
    allowed = allow_options(*(folder.config.agent for folder in runs.folders.values()))
    several = len(runs.folders) > 1
    return make_page(
        f"Coevolution of {len(runs.folders)} runs" if several else f"Run {next(iter(runs.folders))}",
        [section for make in SECTIONS for section in make(given)],
        "\n".join([*repeats, f"manaforge report {folder_of_repeats}{allowed}"]),
        [*runs.problems, *_unfinished_problems(runs), *_champion_problems(runs)],
        f"{_weights_note(runs)} To follow a run in a browser: manaforge serve.",
    )


def _weights_note(runs: Runs) -> str:
    """Sentence on the scale in which the page shows weights."""
    if not runs.vector.COMPARABLE:
        return "Parameters are shown as the values that the agent uses."
    return (
        "Weights are divided by their sum wherever they are compared or drawn, since a common factor "
        "changes no plan."
    )


def _unfinished_problems(runs: Runs) -> list[str]:
    """Problems of runs with fewer generations than others, whose last populations are not comparable."""
    last = runs.individuals.groupby("run", observed=True)["generation"].max()
    return [
        f"run {name} is at generation {value}, others at {last.max()}: its last population is not comparable"
        for name, value in last.items()
        if value < last.max()
    ]


def _champion_problems(runs: Runs) -> list[str]:
    """Problems of champions that do not match the current state of the champion's run."""
    return [
        f"run {name}: champion.toml is left out: it is damaged, or from another number of generations"
        for name, folder in runs.folders.items()
        if (folder.path / "champion.toml").exists() and load_intact_champion(folder) is None
    ]
