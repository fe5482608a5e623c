"""Validation: every few generations the best meets the thesis's seven on fresh deals.

Fitness is relative to the generation; this score is not. It changes nothing else: its games have streams of
their own, and its tables are files of their own, `validation/NNNN.parquet`.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from evo.config import RunConfig
from evo.evolution.champion import FINAL_COLUMNS, THESIS_SEVEN, thesis_seven
from evo.play.games import Play, roster_of
from evo.play.matchups import Matchups, make_pairings, play_matchups
from evo.seeds import Stream
from evo.stats.standings import matchups_table, scores_table
from evo.storage.files import parquet_bytes
from evo.storage.schema import RUN_SCHEMA
from evo.storage.store import RunFolder

COLUMNS = {"generation": "int32", "individual": "int64"} | {
    name: kind for name, kind in FINAL_COLUMNS.items() if name not in ("stage", "rank", "candidate")
}

BEST_AGAINST_SEVEN = "best against the seven"
"""Name of the score of a generation's best against the thesis's seven."""


class Validation(NamedTuple):
    """Score per game, draws half, of a generation's best against the seven, with its 95% interval."""

    score: float
    low: float
    high: float


def is_due(config: RunConfig, generation: int) -> bool:
    """Whether the best of a generation is validated."""
    every = config.validation.every
    return every > 0 and generation % every == 0


def games_of_validation(config: RunConfig) -> int:
    """Games of one validation."""
    return len(THESIS_SEVEN) * len(config.decks) ** 2 * config.validation.games


def missing_validations(folder: RunFolder) -> list[int]:
    """Committed generations whose validation is due and is not on disk, or cannot be read."""
    due = (generation for generation in range(folder.committed) if is_due(folder.config, generation))
    return [generation for generation in due if folder.validation(generation) is None]


def validate(folder: RunFolder, generation: int, individuals: pd.DataFrame, play: Play) -> Validation:
    """Play the best of a generation against the thesis's seven and write its table.

    Args:
        folder: of the run.
        generation: its number, committed.
        individuals: its table, as in `generations/`.
        play: plays a schedule (`evo.play.pool.Pool.play`).

    Raises:
        RunError: the disk is full or fails.
        InterruptedRunError: `play` asked to stop; nothing is written.
    """
    table = _play_best(folder.config, generation, individuals, play)
    folder.write_validation(generation, parquet_bytes(table, RUN_SCHEMA))
    score, low, high = table.loc[table["opponent"].isna(), ["score", "low", "high"]].iloc[0]
    return Validation(float(score), float(low), float(high))


def _play_best(config: RunConfig, generation: int, individuals: pd.DataFrame, play: Play) -> pd.DataFrame:
    """The table of a validation: a row of the best against all, then one for each of the seven."""
    best = individuals[individuals["rank"] == 1].iloc[0]
    weights = best[[name for name in individuals.columns if name.startswith("weight_")]].to_numpy(np.float64)
    roster = roster_of(config, [tuple(map(float, weights))], thesis_seven(config.backend))
    pairings = make_pairings(len(roster.players), "gauntlet", ())
    address = (Stream.VALIDATION, generation)
    matchups = Matchups(pairings, len(roster.decks), config.validation.games, config.seed, address)
    games = play_matchups(roster, matchups, ["best", *THESIS_SEVEN], play)
    whole = scores_table(games).rename(columns={"score_low": "low", "score_high": "high"})
    table = pd.concat([whole[whole["entrant"] == "best"], matchups_table(games)])
    table = table.assign(generation=generation, individual=int(best["individual"]))
    return table.reindex(columns=list(COLUMNS)).astype(COLUMNS).reset_index(drop=True)
