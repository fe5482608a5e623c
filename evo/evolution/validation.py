"""Validation against the benchmark's fixed opponents, on the same deals each time, and the stop rule.

Fitness is relative to the generation; validation scores are absolute. All validations of a run play the same
deals (common random numbers), so differences between them are paired. Validation does not influence the
evolution: its games have their own random streams and its tables their own files, `validation/NNNN.parquet`.

The stop rule is a sequential test. After every validation it compares, deal by deal, the mean scores of the
two halves of the last `window` validations. The j-th test has error probability
(1 - confidence) / (j (j + 1)); these sum to 1 - confidence. The rule uses committed tables only.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from evo.config.keys import MAX_STORED_DEALS
from evo.config.run_config import RunConfig
from evo.evolution.benchmark import benchmark_players
from evo.evolution.champion import FINAL_COLUMNS
from evo.play.games import PlayFunction, roster_of
from evo.play.matchups import Matchups, play_matchups
from evo.seeds import Stream
from evo.stats.ratings import outcome_codes, points_of_first
from evo.stats.run_statistics import EloGain, estimate_gain
from evo.stats.standings import matchups_table, scores_table
from evo.storage.files import parquet_bytes
from evo.storage.run_folder import RunFolder
from evo.storage.schema import RUN_SCHEMA
from evo.strategies import Candidate

BEST, CENTRE = "best", "centre"
"""Values of the column `who`: the best of a generation, and the strategy's mean after it."""

COLUMNS = {"generation": "int32", "individual": "int64", "who": str} | {
    **{name: kind for name, kind in FINAL_COLUMNS.items() if name not in ("stage", "rank", "candidate")},
    "pairs": str,
}


class Validation(NamedTuple):
    """A generation's best against the benchmark: score per game (draws half) with 95% interval.

    `centre` is the score of the strategy's centre; None if it has none.
    """

    score: float
    low: float
    high: float
    centre: float | None = None


def is_validation_due(config: RunConfig, generation: int) -> bool:
    """Whether a validation is due after this generation."""
    every = config.validation.every
    return every > 0 and generation % every == 0


def count_validation_games(config: RunConfig) -> int:
    """Number of games in one validation, of the best individual and of the centre."""
    return 2 * len(config.found_benchmark.opponents) * len(config.decks) ** 2 * config.validation.games


def missing_validations(folder: RunFolder) -> list[int]:
    """Committed generations whose due validation is missing or damaged."""
    due = (
        generation for generation in range(folder.committed) if is_validation_due(folder.config, generation)
    )
    return [generation for generation in due if folder.validation(generation) is None]


def validate(
    folder: RunFolder,
    generation: int,
    individuals: pd.DataFrame,
    centre: Candidate | None,
    play: PlayFunction,
) -> Validation:
    """Play a generation's best and the centre against the benchmark, and write the table of scores.

    Args:
        folder: of the run.
        generation: number of a committed generation.
        individuals: its table, as in `generations/`.
        centre: the strategy's centre after it; None if it has none.
        play: plays a schedule (`evo.play.pool.WorkerPool.play`).

    Raises:
        RunError: the disk is full or fails.
        InterruptedRunError: `play` was interrupted; nothing is written.
    """
    table = play_validation(folder.config, generation, individuals, centre, play)
    folder.write_validation(generation, parquet_bytes(table, RUN_SCHEMA))
    whole = table[table["opponent"].isna()].set_index("who")
    score, low, high = (float(whole.loc[BEST, name]) for name in ("score", "low", "high"))
    return Validation(score, low, high, None if centre is None else float(whole.loc[CENTRE, "score"]))


def play_validation(
    config: RunConfig,
    generation: int,
    individuals: pd.DataFrame,
    centre: Candidate | None,
    play: PlayFunction,
) -> pd.DataFrame:
    """Play a validation; returns the scores against all and each opponent: the best, then the centre."""
    best = individuals[individuals["rank"] == 1].iloc[0]
    weights = best[[name for name in individuals.columns if name.startswith("weight_")]].to_numpy(np.float64)
    playing = {BEST: tuple(map(float, weights))} | ({} if centre is None else {CENTRE: centre.weights})
    benchmark = config.found_benchmark
    roster = roster_of(config, list(playing.values()), benchmark_players(benchmark, config.backend))
    pairings = np.array(
        [(i, len(playing) + j) for i in range(len(playing)) for j in range(len(benchmark.opponents))]
    )
    matchups = Matchups(
        pairings, len(roster.decks), config.validation.games, config.seed, (Stream.VALIDATION, 0)
    )
    games = play_matchups(roster, matchups, [*playing, *benchmark.opponents], play)
    whole = scores_table(games).rename(columns={"score_low": "low", "score_high": "high"})
    each = matchups_table(games)
    each["pairs"] = _pairs_of(games, len(playing), each)
    parts = [table[table["entrant"] == who].assign(who=who) for who in playing for table in (whole, each)]
    table = pd.concat(parts).assign(generation=generation, individual=int(best["individual"]))
    table["pairs"] = table["pairs"].fillna("")
    return table.reindex(columns=list(COLUMNS)).astype(COLUMNS).reset_index(drop=True)


def _pairs_of(games: pd.DataFrame, n: int, each: pd.DataFrame) -> list[str]:
    """Half points won in each deal's two games, as one string of digits 0 to 4 for each matchup.

    Args:
        games: games of the validated players, the first `n` names, against the benchmark.
        n: number of validated players.
        each: matchups, columns entrant and opponent.
    """
    setups = int(games["setup"].max()) + 1
    if setups > MAX_STORED_DEALS:
        return [""] * len(each)
    names = list(games["first"].cat.categories)
    first, second = (games[name].cat.codes.to_numpy(np.int64) for name in ("first", "second"))
    points = points_of_first(outcome_codes(games["outcome"].to_numpy(object)))
    goes_first = first < n
    own = np.where(goes_first, first, second) * len(names) + np.where(goes_first, second, first)
    halves = (2 * np.where(goes_first, points, 1 - points)).astype(np.int64)
    sums = np.bincount(own * setups + games["setup"].to_numpy(np.int64), halves, len(names) ** 2 * setups)
    digits = sums.reshape(len(names), len(names), setups).astype(np.int64)
    places = [(names.index(row.entrant), names.index(row.opponent)) for row in each.itertuples()]
    return ["".join(map(str, digits[place])) for place in places]


def scores_by_deal(table: pd.DataFrame) -> np.ndarray:
    """Score per game of the centre (or the best) against the benchmark on every deal; shape (deals,).

    Empty for a table of an older version without scores by deal.

    Args:
        table: of a validation; without a centre, the best's scores are returned.
    """
    rows = table["who"] == (CENTRE if (table["who"] == CENTRE).any() else BEST)
    texts = table.loc[rows & table["opponent"].notna(), "pairs"]
    if len({len(text) for text in texts}) != 1:
        return np.zeros(0)
    halves = np.array([[int(digit) for digit in text] for text in texts], np.float64)
    return np.asarray(halves.mean(axis=0) / 4)


class StopDecision(NamedTuple):
    """Decision of the stop rule to end a run.

    Attributes:
        generation: last generation of the run.
        first: generation of the first validation in the window.
        gain: Elo gain within the window.
        sure: probability that the gain is below the threshold.
        threshold: in Elo.
    """

    generation: int
    first: int
    gain: EloGain
    sure: float
    threshold: float

    @property
    def sentence(self) -> str:
        """The stop decision as a sentence: gain, interval, threshold and probability."""
        gain = self.gain
        return (
            f"ended after generation {self.generation}: from the first half of generations {self.first} to "
            f"{self.generation} to the second half the centre gained {gain.elo:+.1f} Elo ({gain.low:+.1f} to "
            f"{gain.high:+.1f}), below {self.threshold:g} with probability {self.sure:.2%}"
        )


def find_stop(folder: RunFolder, known: dict[int, np.ndarray] | None = None) -> StopDecision | None:
    """Apply the stop rule to the committed validations of a run; None if the run continues.

    Args:
        folder: of the run.
        known: cache of the centre's scores by deal, by generation; extended in place.
    """
    config, scores = folder.config, {} if known is None else known
    if not config.validation.stop_when_gain_below:
        return None
    due = [
        number
        for number in range(config.validation.stop_from, folder.committed)
        if is_validation_due(config, number)
    ]
    for number in due:
        if number not in scores and (table := folder.validation(number)) is not None:
            scores[number] = scores_by_deal(table)
    return stop_from_scores(config, [(number, scores[number]) for number in due if number in scores])


def stop_from_scores(config: RunConfig, validations: Sequence[tuple[int, np.ndarray]]) -> StopDecision | None:
    """Find the first window of validations whose test ends the run; None if there is none.

    Args:
        config: of the run.
        validations: generation and the centre's scores by deal, in order; validations with another number of
            deals than the last one (older versions wrote none) are ignored.
    """
    options, games_per_deal = config.validation, 2 * len(config.found_benchmark.opponents)
    usable = [item for item in validations if len(item[1]) > 1 and len(item[1]) == len(validations[-1][1])]
    for look in range(1, len(usable) - options.window + 2):
        window = usable[look - 1 : look - 1 + options.window]
        gain = estimate_gain(np.array([scores for _, scores in window]), 1 / games_per_deal)
        probability = gain.below(options.stop_when_gain_below)
        if probability >= 1 - (1 - options.confidence) / (look * (look + 1)):
            return StopDecision(window[-1][0], window[0][0], gain, probability, options.stop_when_gain_below)
    return None


def end_if_stopped(folder: RunFolder, known: dict[int, np.ndarray] | None = None) -> StopDecision | None:
    """End a run if the stop rule applies: set the configured generations to the number played.

    Args:
        folder: of the run.
        known: see `find_stop`.

    Returns:
        The decision; None if the run continues.
    """
    stop = find_stop(folder, known)
    if stop is not None and folder.config.generations >= folder.committed:
        folder.config = folder.config.changed(generations=folder.committed - 1)
        folder.write_config()
        folder.note(event="stop rule", what=stop.sentence)
    return stop
