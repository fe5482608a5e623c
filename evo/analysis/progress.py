"""Absolute progress: scores of each generation's best against fixed opponents; fitness is only relative."""

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
PROGRESS_GAMES = 10


def absolute_progress(
    runs: Runs,
    config: RunConfig,
    play: PlayFunction,
    generations: int = PROGRESS_GENERATIONS,
    games: int = PROGRESS_GAMES,
) -> pd.DataFrame:
    """Play the best individuals of several generations against the benchmark, on the same deals.

    Args:
        runs: the runs whose best individuals play.
        config: decks, rules and benchmark.
        play: plays a schedule.
        generations: approximate number of generations of each run, including the first and the last.
        games: number per opponent and ordered pair of decks, even.

    Returns:
        One row per run and generation: run, generation, individual, score, low, high (95% interval).
    """
    best = best_individuals(runs.individuals)
    last = best.groupby("run", observed=True)["generation"].transform("max")
    step = max(1, int(last.min()) // generations)  # the same for all runs
    best = best[(best["generation"] % step == 0) | (best["generation"] == last)].reset_index(drop=True)
    different = best.drop_duplicates(["run", "individual"])
    benchmark = config.found_benchmark
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
    return found


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
