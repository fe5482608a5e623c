"""Absolute progress: scores of each generation's best against fixed opponents; fitness is only relative."""

import math

import numpy as np
import pandas as pd

from evo.analysis.tables import Runs, best_individuals, weights_of
from evo.config.run_config import RunConfig
from evo.evolution.benchmark import benchmark_players
from evo.evolution.validation import BEST
from evo.play.games import PlayFunction, roster_of
from evo.play.matchups import Matchups, play_matchups
from evo.seeds import Stream
from evo.stats.standings import scores_table
from ilp_agent import DEFAULT_BACKEND

PROGRESS_GENERATIONS = 20
"""Approximate number of generations of each run that play, including the first and the last."""

PROGRESS_GAMES = 10
"""Games per individual, opponent and ordered pair of decks."""

MOST_CARD_GAMES = 3_000
"""Most games of one section of a report on real cards, whose games take a hundred times as long."""


def games_affordable(config: RunConfig, pairings: int) -> int:
    """Games per pairing and ordered pair of decks in a section of a report: even, 2 to `PROGRESS_GAMES`."""
    if not any(deck.effects for deck in config.found_decks):
        return PROGRESS_GAMES
    return min(PROGRESS_GAMES, max(2, MOST_CARD_GAMES // (pairings * len(config.decks) ** 2) // 2 * 2))


def pairings_affordable(config: RunConfig) -> float:
    """Most pairings, of two games for each ordered pair of decks, in a section of a report."""
    bodies = not any(deck.effects for deck in config.found_decks)
    return math.inf if bodies else MOST_CARD_GAMES // (2 * len(config.decks) ** 2)


def absolute_progress(runs: Runs, config: RunConfig, play: PlayFunction) -> pd.DataFrame:
    """Play the best individuals of several generations against the benchmark, on the same deals.

    On real cards fewer generations and games, within `MOST_CARD_GAMES`; at least the first and the last
    generation, two games per opponent and ordered pair of decks.

    Args:
        runs: the runs whose best individuals play.
        config: decks, rules and benchmark.
        play: plays a schedule.

    Returns:
        One row per run and generation: run, generation, individual, score, low, high (95% interval), and
        games (for each opponent and ordered pair of decks).
    """
    benchmark = config.found_benchmark
    best = best_individuals(runs.individuals)
    last = best.groupby("run", observed=True)["generation"].transform("max")
    most = max(1, pairings_affordable(config) / (len(benchmark.opponents) * len(runs.folders)) - 2)
    final = int(last.min())
    step = max(1, final // PROGRESS_GENERATIONS, math.ceil(final / most))  # the same for all runs
    best = best[(best["generation"] % step == 0) | (best["generation"] == last)].reset_index(drop=True)
    different = best.drop_duplicates(["run", "individual"])
    games = games_affordable(config, len(different) * len(benchmark.opponents))
    pairings = np.array(
        [(i, len(different) + j) for i in range(len(different)) for j in range(len(benchmark.opponents))]
    )
    weights = different[weights_of(different)].to_numpy()
    roster = roster_of(config, weights, benchmark_players(benchmark), DEFAULT_BACKEND)
    matchups = Matchups(pairings, len(roster.decks), games, 1, (Stream.TOURNAMENT,))
    texts = _names(different)
    played = play_matchups(roster, matchups, [*texts, *benchmark.opponents], play)
    scores = scores_table(played).set_index("entrant")
    own = scores.loc[_names(best)]
    found = best[["run", "generation", "individual"]].copy()
    found["score"], found["low"], found["high"] = own[["score", "score_low", "score_high"]].to_numpy().T
    return found.assign(games=games)


def _names(individuals: pd.DataFrame) -> list[str]:
    keys = individuals[["run", "individual"]].itertuples(index=False)
    return [f"{run}:{number}" for run, number in keys]


def validated_progress(table: pd.DataFrame, who: str = BEST) -> pd.DataFrame:
    """Scores of the best individuals, or of the strategies' centres, in the validations of the runs.

    The columns are those of `absolute_progress`. All validations of a run use the same deals.

    Args:
        table: from `evo.analysis.tables.read_validation`.
        who: `BEST` or `CENTRE`.
    """
    whole = table["opponent"].isna() & (table["who"] == who)
    return table.loc[whole, ["run", "generation", "individual", "score", "low", "high"]]
