"""A run, or a study, as one HTML page: each question of a researcher, a figure and a computed sentence."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes

from engine import RULES_VERSION, find_deck
from evo.analysis import sentences as say
from evo.analysis.clustering import Clusters, cluster_weights, compare_clusters
from evo.analysis.crossplay import clusters_of, crossplay
from evo.analysis.plots import (
    plot_ages,
    plot_fitness,
    plot_lifespans,
    plot_lineage,
    plot_newcomers,
    plot_progress,
    plot_sigmas,
    plot_weights,
)
from evo.analysis.plots_clusters import plot_comparison, plot_map, plot_tree
from evo.analysis.tables import (
    Runs,
    ancestors,
    best_individuals,
    last_population,
    lifespans,
    long_sigmas,
    names_of,
    newcomers,
    shares_of,
    weights_of,
    wins_by_decks,
)
from evo.config import RunConfig
from evo.evolution.champion import THESIS_SEVEN, thesis_seven
from evo.figures.page import html_table, image, render
from evo.figures.style import draw, grid, plot_scores, png
from evo.play.games import Play, roster_of
from evo.play.matchups import Matchups, play_matchups
from evo.seeds import Stream
from evo.stats.standings import scores_table
from evo.storage.champion import whole_champion
from evo.storage.store import RunError
from ilp_agent import find_profile, shipped_profiles
from rivals import WEIGHTS_OF, find_agent_profile

PROGRESS_GENERATIONS = 20
PROGRESS_GAMES = 10
MOST_PLAYERS = 120
"""Individuals in the round robin of a report; of more, the best of each run."""

MOST_NAMES = 10
"""Weights that fit a figure of the usual width."""

MOST_COMPARED = 4
"""Clusters whose comparisons are drawn."""


@dataclass(frozen=True)
class Section:
    """One question: its title, the answer in words, figures and tables, a note."""

    title: str
    text: str
    parts: Sequence[Markup] = ()
    note: str = ""


def make_report(runs: Runs, paths: Sequence[Path], play: Play) -> bytes:
    """The page.

    Args:
        runs: as `evo.analysis.tables.read_runs` gives them.
        paths: as the user named them.
        play: plays a schedule (`evo.play.pool.Pool.play`).

    Raises:
        RunError: the runs were played with different decks or rules.
    """
    individuals = runs.individuals
    config = next(iter(runs.configs.values()))
    for one in runs.configs.values():
        if (one.decks, one.ruleset) != (config.decks, config.ruleset):
            raise RunError("these runs have different decks or rulesets; report on them one by one")
    population = last_population(individuals)
    clusters = cluster_weights(population)
    progress = absolute_progress(runs, config, play)
    names = [find_deck(deck).name for deck in config.decks]
    spans, new, sigmas = lifespans(individuals), newcomers(individuals), long_sigmas(individuals)
    wins = wins_by_decks(population, names)
    marked = _marked(config.agent)
    vector = WEIGHTS_OF[config.agent]
    broad = 0.35 * len(vector.names()) if len(vector.names()) > MOST_NAMES else 6.2
    wide = 3 + 0.6 * len(names)
    sections = [
        Section("What was run", _what(runs), [_runs_table(runs)]),
        _champions(runs),
        Section(
            "Fitness by generation",
            say.fitness_sentence(individuals),
            [_draw(plot_fitness, individuals, "fitness")],
        ),
        Section(
            "Absolute progress",
            say.progress_sentence(progress),
            [_draw(plot_progress, progress, "score of each generation's best against the thesis's seven")],
            f"The best of each generation against each of the thesis's seven, {PROGRESS_GAMES} games for "
            "each ordered pair of decks, the same deals for all, solved with exact; a band is the 95% "
            "interval over runs.",
        ),
        Section(
            "Ages",
            say.ages_sentence(individuals, spans),
            [_draw(plot_lifespans, spans, "lifespans", height=2), _draw(plot_ages, individuals, "ages")],
        ),
        Section(
            "Newcomers",
            say.newcomers_sentence(new),
            [_draw(plot_newcomers, new, "newcomers")] if len(new) else [],
        ),
        Section(
            "Weights",
            say.weights_sentence(population),
            [
                _draw(
                    lambda axes, table: plot_weights(axes, table, marked),
                    population,
                    "weights",
                    width=broad,
                    height=4.4,
                ),
                html_table(
                    say.weights_table(population),
                    dict.fromkeys(
                        ("median", "quartile_1", "quartile_3", "between_runs", "within_runs"), "{:.1%}"
                    ),
                ),
            ],
            f"Weights as {vector.SCALE}. Boxes: the last populations, quartiles and extremes; marks to the "
            f"right: profiles of {config.agent} that come with this.",
        ),
        Section("Step sizes", say.sigmas_sentence(sigmas), [_draw(plot_sigmas, sigmas, "step sizes")]),
        Section(
            "Decks",
            say.decks_sentence(wins),
            [
                _draw(
                    lambda axes, table: plot_scores(axes, table, "score"),
                    wins,
                    "scores by decks",
                    wide,
                    wide - 1,
                )
            ],
        ),
        *_cluster_sections(clusters, runs, paths, play, names),
        _lineage(individuals),
    ]
    again = [
        f"manaforge evolve {shlex.quote(str(folder.path / 'config.toml'))} --out again/{shlex.quote(name)}"
        for name, folder in runs.folders.items()
    ]
    anew = "again" if len(again) > 1 else again[0].split()[-1]
    return render(
        "report.html",
        title=f"Coevolution of {len(runs.folders)} runs"
        if len(runs.folders) > 1
        else f"Run {next(iter(runs.folders))}",
        warnings=[*runs.problems, *_younger(runs), *_broken_champions(runs)],
        sections=sections,
        commands="\n".join([*again, f"manaforge report {anew}"]),
        version=version("manaforge"),
        rules=RULES_VERSION,
    )


def _marked(agent: str) -> dict[str, np.ndarray]:
    """Shares of the profiles of an agent that come with this, by name."""
    if WEIGHTS_OF[agent].AGENT == "ilp":
        return {name: find_profile(name).weights.shares for name in THESIS_SEVEN}
    return {name: find_agent_profile(agent, name).weights.shares for name in shipped_profiles(agent)}


def absolute_progress(
    runs: Runs,
    config: RunConfig,
    play: Play,
    generations: int = PROGRESS_GENERATIONS,
    games: int = PROGRESS_GAMES,
) -> pd.DataFrame:
    """Score of the best of some generations against the thesis's seven, on the same deals for all.

    Args:
        runs: whose best.
        config: decks and rules.
        play: plays a schedule.
        generations: about so many of each run, the first and the last among them.
        games: for each opponent and ordered pair of decks, even.

    Returns:
        One row a run and generation: run, generation, individual, score, low, high (95% interval).
    """
    best = best_individuals(runs.individuals)
    last = best.groupby("run", observed=True)["generation"].transform("max")
    step = max(1, int(last.min()) // generations)  # the same for all runs
    best = best[(best["generation"] % step == 0) | (best["generation"] == last)].reset_index(drop=True)
    different = best.drop_duplicates(["run", "individual"])
    pairings = np.array(
        [(i, len(different) + j) for i in range(len(different)) for j in range(len(THESIS_SEVEN))]
    )
    roster = roster_of(config, different[weights_of(different)].to_numpy(), thesis_seven(), "exact")
    matchups = Matchups(pairings, len(roster.decks), games, 1, (Stream.TOURNAMENT,))
    texts = [f"{run}:{one}" for run, one in different[["run", "individual"]].itertuples(index=False)]
    scores = scores_table(play_matchups(roster, matchups, [*texts, *THESIS_SEVEN], play)).set_index("entrant")
    own = scores.loc[[f"{run}:{one}" for run, one in best[["run", "individual"]].itertuples(index=False)]]
    found = best[["run", "generation", "individual"]].copy()
    found["score"], found["low"], found["high"] = own[["score", "score_low", "score_high"]].to_numpy().T
    return found


def _draw(
    plot: Callable[[Axes, Any], Axes], table: Any, text: str, width: float = 6.2, height: float = 3.4
) -> Markup:
    return image(draw(plot, table, width=width, height=height).png, text)


def _what(runs: Runs) -> str:
    individuals = runs.individuals
    games = int(individuals["games"].sum() / 2)
    last = individuals.groupby("run", observed=True)["generation"].max()
    finished = sum(
        int(last[name]) == config.generations for name, config in runs.configs.items() if name in last
    )
    many = f"{len(runs.folders)} run{'s' if len(runs.folders) > 1 else ''}"
    return (
        f"{many}, {finished} of them with all their generations, {games:,} games of evolution. Every "
        "generation plays all pairings with every ordered pair of decks on common deals."
    )


def _younger(runs: Runs) -> list[str]:
    """Runs that did not get as far as the others: their populations are younger, and no like beside like."""
    last = runs.individuals.groupby("run", observed=True)["generation"].max()
    return [
        f"run {name} stands at generation {value}, others at {last.max()}: its last population is younger"
        for name, value in last.items()
        if value < last.max()
    ]


def _broken_champions(runs: Runs) -> list[str]:
    """Champions that are there and are not those of their runs as they stand."""
    return [
        f"run {name}: champion.toml is left out: it is damaged, or of another length of the run"
        for name, folder in runs.folders.items()
        if (folder.path / "champion.toml").exists() and whole_champion(folder) is None
    ]


def _runs_table(runs: Runs) -> Markup:
    last = runs.individuals.groupby("run", observed=True)["generation"].max()
    rows = [
        {
            "run": name,
            "strategy": config.strategy,
            "mu + lambda": f"{config.mu} + {config.lambda_}",
            "generation": f"{last.get(name, 'none')} of {config.generations}",
            "games a cell": config.games,
            "decks": ", ".join(config.decks),
            "ruleset": config.ruleset,
            "seed": str(config.seed),
        }
        for name, config in runs.configs.items()
    ]
    return html_table(pd.DataFrame(rows))


def _champions(runs: Runs) -> Section:
    """The champions with their records."""
    rows = []
    for name, folder in runs.folders.items():
        champion = whole_champion(folder)
        if champion is None:
            continue
        profile = champion
        names, said = profile.weights.names(), profile.provenance
        seven = said.get("against_thesis_seven", {})
        rows.append(
            {"run": name, "champion": said.get("candidate", "")}
            | dict(zip(names, profile.weights.shares, strict=True))
            | {"against the seven": seven.get("win_rate"), "low": seven.get("low"), "high": seven.get("high")}
        )
    if not rows:
        return Section("Champions", "No run is finished yet, so there is no champion.")
    table = pd.DataFrame(rows)
    text = f"{len(rows)} champions."
    if table["against the seven"].notna().any():
        best = table.loc[table["against the seven"].astype(float).idxmax()]
        text = (
            f"Against the thesis's seven the champions score {table['against the seven'].mean():.1%} in "
            f"the mean; the best, of run {best['run']}, {best['against the seven']:.1%} (95% interval "
            f"{best['low']:.1%} to {best['high']:.1%})."
        )
    formats = dict.fromkeys((*names, "against the seven", "low", "high"), "{:.1%}")
    note = f"Weights as {profile.weights.SCALE}."
    return Section("Champions", text, [html_table(table, formats)], note)


def _cluster_sections(
    clusters: Clusters, runs: Runs, paths: Sequence[Path], play: Play, decks: list[str]
) -> list[Section]:
    """The clusters, their tree and map, and how they fare by decks."""
    parts = []
    if len(clusters.members) > 1:
        parts.append(_draw(plot_tree, clusters, "Ward's tree", height=3.8))
        parts.append(_draw(plot_map, clusters, "map of the weights", height=4))
    shown = clusters.summary.drop(columns="medoid").rename(
        columns=dict(zip(shares_of(clusters.summary), names_of(clusters.summary), strict=True))
        | {"name": "set apart by"}
    )
    formats = dict.fromkeys(names_of(clusters.summary), "{:.1%}") | dict.fromkeys(
        ("silhouette", "stability"), "{:.2f}"
    )
    parts.append(html_table(shown, formats))
    if len(clusters.levels):
        levels = clusters.levels.rename(columns={"silhouette": "mean silhouette"})
        parts.append(html_table(levels, {"mean silhouette": "{:.2f}"}))
    sections = [
        Section(
            "Styles", say.clusters_sentence(clusters), parts, "Ward's method on shares; rings mark medoids."
        )
    ]
    if len(clusters.summary) > 1:
        sections.append(_comparisons(clusters, runs, paths, play, decks))
    return sections


def _comparisons(
    clusters: Clusters, runs: Runs, paths: Sequence[Path], play: Play, decks: list[str]
) -> Section:
    fewer = -(-MOST_PLAYERS // len(runs.folders))
    tournament, population = crossplay(runs, paths, 2, most=fewer, backend="exact")
    games = play_matchups(tournament.roster, tournament.matchups, tournament.names, play)
    comparisons = compare_clusters(games, clusters_of(population, clusters.members))
    few = comparisons[(comparisons["group"] <= MOST_COMPARED) & (comparisons["other"] <= MOST_COMPARED)]
    parts = []
    for kind, rows in few.groupby("kind", sort=False):
        pairs = list(rows.groupby(["group", "other"]))
        with grid(len(pairs), 2.9, 2.6) as (drawn, many):
            for axes, (_, pair) in zip(many, pairs, strict=True):
                plot_comparison(axes, pair, decks)
            drawn.suptitle(str(kind), fontsize=10)
            parts.append(image(png(drawn), f"clusters by decks, {kind}"))
    return Section(
        "Styles by decks",
        say.comparisons_sentence(comparisons),
        parts,
        f"{len(population)} individuals, everybody against everybody, {len(games):,} games. Numbers: the "
        "first cluster's score less the second's; depth of colour: the corrected p-value; thick boxes: "
        "below 0.05.",
    )


def _lineage(individuals: pd.DataFrame) -> Section:
    """Of the run whose best scores most against its own generation, among those that got farthest."""
    best = best_individuals(individuals)
    last = best[best["generation"] == best["generation"].max()]
    row = last.loc[last["win_rate"].idxmax()]
    family = ancestors(individuals, row["run"], int(row["individual"]))
    height = 1.2 + 0.16 * min(len(family), 40)
    return Section(
        "Lineage",
        say.lineage_sentence(family, row["run"]),
        [_draw(plot_lineage, family, "lineage", height=height)],
    )
