"""Crossplay: a round robin of the last populations of runs, and the mean score of each cluster in it."""

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from engine import Deck
from evo.analysis.tables import Runs, last_population, weights_of
from evo.play.entrants import Entrant
from evo.play.games import roster_of
from evo.storage.run_folder import RunError
from evo.tournament.run import Tournament


def crossplay(
    runs: Runs, paths: Sequence[Path], games: int, most: int | None = None, backend: str | None = None
) -> tuple[Tournament, pd.DataFrame]:
    """Define a round robin of all individuals of the runs' last populations; returns also their table.

    Args:
        runs: from `evo.analysis.tables.read_runs`.
        paths: as the user named them, for the command that repeats it.
        games: number per pair of individuals and ordered pair of decks, even.
        most: number of the best individuals of each run; None: all.
        backend: solver for all; None: the runs' own.

    Returns:
        The tournament, and the population in the order of its entrants.

    Raises:
        RunError: the runs were played with different decks, rulesets or solvers.
    """
    configs = list(runs.configs.values())
    _check_same_decks(runs)
    for what in ("ruleset", *(() if backend else ("backend",))):
        values = {getattr(config, what) for config in configs}
        if len(values) > 1:
            raise RunError(
                f"these runs have a different {what} ({'; '.join(map(str, values))}); give only runs of one"
            )
    for what in ("option_values", "found_library"):
        if any(getattr(config, what) != getattr(configs[0], what) for config in configs):
            said = "different options of the agent" if what == "option_values" else "a different library"
            raise RunError(f"these runs have {said}; give only runs with the same")
    population = last_population(runs.individuals)
    if most is not None:
        population = population.groupby("run", observed=True).head(most).reset_index(drop=True)
    config = configs[0]
    roster = roster_of(config, population[weights_of(population)].to_numpy(), backend=backend)
    names = [f"{run}:{number}" for run, number in population[["run", "individual"]].itertuples(index=False)]
    tournament = Tournament(
        entrants=tuple(map(Entrant, names, roster.players)),
        self_play=frozenset(),
        decks=roster.decks,
        deck_names=config.decks,
        ruleset=roster.ruleset,
        games=games,
        library=roster.library,
        origin=lambda _: f"manaforge crossplay {shlex.join(map(str, paths))} --games {games}",
    )
    return tournament, population


def _check_same_decks(runs: Runs) -> None:
    """Reject runs with different decks.

    Raises:
        RunError: two runs differ; the message says how.
    """
    (one, first), *others = runs.configs.items()
    for other, config in others:
        if config.deck_names != first.deck_names:
            mine, theirs = (", ".join(own.deck_names) for own in (first, config))
            raise RunError(f"these runs have different decks: {one} has {mine}; {other} has {theirs}")
        for deck, same in zip(first.found_decks, config.found_decks, strict=True):
            if deck != same:
                raise RunError(
                    f"these runs have different decks: {deck.name} of {one} and {deck.name} of {other} have "
                    f"{_difference(deck, same)}"
                )


def _difference(mine: Deck, theirs: Deck) -> str:
    """Difference of two decks of the same name, in words."""
    more, fewer = Counter(card.name for card in mine.cards), Counter(card.name for card in theirs.cards)
    parts = [", ".join(sorted(names)) for names in (more - fewer, fewer - more) if names]
    if not parts:
        return "the same cards with different stats or keywords"
    return f"different cards ({' against '.join(parts)})"


def clusters_of(population: pd.DataFrame, members: pd.DataFrame) -> np.ndarray:
    """Cluster number of each individual of a population; 0 for individuals without a cluster."""
    known = members.set_index(["run", "individual"])["group"]
    keys = pd.MultiIndex.from_frame(population[["run", "individual"]])
    clusters: np.ndarray = known.reindex(keys).fillna(0).to_numpy(int)
    return clusters


def cluster_scores(ratings: pd.DataFrame, names: Sequence[str], clusters: np.ndarray) -> dict[int, float]:
    """Mean score per cluster number, over all games of the cluster's individuals.

    Args:
        ratings: ratings of the round robin (`evo.stats.standings.Standings`).
        names: its entrants.
        clusters: cluster of each entrant, from `clusters_of`.
    """
    scores = ratings.set_index("entrant")["score"].reindex(names).to_numpy()
    return {int(one): float(scores[clusters == one].mean()) for one in np.unique(clusters) if one}
