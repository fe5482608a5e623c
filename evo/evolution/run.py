"""The loop of an evolution run: ask, play, tell, commit, then the final; estimates of games and memory.

Source: "Optimizing Hearthstone agents using an evolutionary algorithm" (EVA), Algorithm 2, for any strategy.
"""

import time
from typing import Protocol

import numpy as np
import pandas as pd

from evo.config.run_config import RunConfig
from evo.evolution.benchmark import count_baseline_games, count_benchmark_games, play_baselines
from evo.evolution.champion import play_final
from evo.evolution.fitness import GenerationGames, Tally, play_generation
from evo.evolution.records import individuals_table, new_strategy, pairings_table
from evo.evolution.validation import (
    StopDecision,
    Validation,
    count_validation_games,
    end_if_stopped,
    is_validation_due,
    missing_validations,
    validate,
)
from evo.play.games import Roster, Schedule
from evo.play.opponents import read_opponents
from evo.play.pool import WorkerPool
from evo.storage.champion import load_intact_champion, write_champion
from evo.storage.run_folder import RunFolder
from evo.strategies import GenerationResult, Individual, Strategy

GENERATION_BYTES, FINAL_BYTES = 100, 260
"""Bytes of driver memory per game of a generation and per game of the final (docs/performance.md)."""


class Reporter(Protocol):
    """Protocol of progress displays of a run; the methods may raise an exception to interrupt the run."""

    def begin(self, folder: RunFolder, games: int) -> None:
        """Report the start or resumption of a run, with `games` left to play, including the final."""

    def advance(self, games: int) -> None:
        """Report `games` more finished games; also called with 0 while waiting."""

    def stopped(self, stop: StopDecision) -> None:
        """Report that the stop rule ended the run."""

    def generation(
        self,
        told: GenerationResult,
        strategy: Strategy,
        tally: Tally,
        seconds: float,
        validation: Validation | None,
    ) -> None:
        """Report a committed generation, and the generation's validation if one was due."""

    def final(self) -> None:
        """Report the start of the final."""


def evolve(folder: RunFolder, pool: WorkerPool, reporter: Reporter) -> None:
    """Evolve from the last committed generation to the configured end, and choose the champion.

    Args:
        folder: run folder, new or opened; generations are committed to it.
        pool: worker pool.
        reporter: progress display.

    Raises:
        RunError: the folder cannot be written.
        InterruptedRunError: the reporter interrupted the run; committed generations are safe.
    """
    missing = missing_validations(folder)
    if not missing and finish_by_stop_rule(folder):
        reporter.begin(folder, 0)
        return
    run = _Run(folder, pool, reporter)
    run.restore(missing)
    run.apply_stop_rule()
    if is_complete(folder):
        return
    strategy = run.strategy
    while run.continues:
        began = time.perf_counter()
        asked = strategy.ask()
        games = run.play_generation(asked)
        told = strategy.tell(games.fitness)
        individuals = run.commit(told, games)
        seconds = run.log_generation(told, games, began)
        validation = run.validate_if_due(told.generation, individuals)
        reporter.generation(told, strategy, games.tally, seconds, validation)
        if validation is not None:
            run.apply_stop_rule()
    run.choose_champion()


class _Run:
    """Steps of `evolve`, with the state that the steps share.

    Args:
        folder: run folder, new or opened.
        pool: worker pool.
        reporter: progress display.

    Attributes:
        strategy: after `restore`, in its state after the last committed generation.
    """

    def __init__(self, folder: RunFolder, pool: WorkerPool, reporter: Reporter) -> None:
        self._folder, self._pool, self._reporter = folder, pool, reporter
        self.strategy = new_strategy(folder.config)
        self._fixed = read_opponents(folder.path, folder.config)
        self._decks = folder.config.deck_names
        self._games_played = 0
        self._scores: dict[int, np.ndarray] = {}
        self._stop: StopDecision | None = None

    @property
    def continues(self) -> bool:
        """Whether another generation is to be played."""
        return self._stop is None and self.strategy.generation <= self._folder.config.generations

    def restore(self, missing: list[int]) -> None:
        """Replay the committed generations into the strategy, and play missing validations."""
        folder, config = self._folder, self._folder.config
        left = 0 if is_complete(folder) else remaining_games(config, folder.committed)
        self._reporter.begin(folder, left + len(missing) * count_validation_games(config))
        for generation, individuals in enumerate(folder.tables("generations")):
            self.strategy.restore([individuals])
            if generation in missing:
                validate(folder, generation, individuals, self.strategy.centre(), self._play)

    def play_generation(self, asked: list[Individual]) -> GenerationGames:
        """Play the games of a generation."""
        config, before = self._folder.config, self._games_played
        planned = max_games_of_generation(config, self.strategy.generation)
        games = play_generation(config, self.strategy, asked, self._fixed, self._play)
        self._reporter.advance(planned - (self._games_played - before))  # fewer opponents than planned
        return games

    def commit(self, told: GenerationResult, games: GenerationGames) -> pd.DataFrame:
        """Write the tables of a generation; return the table of its individuals."""
        numbers = [individual.number for individual in told.individuals]
        opponents = games.opponents if self._folder.config.opponents.beside else None
        individuals = individuals_table(told, self.strategy, games.tally, self._decks)
        pairings = pairings_table(told.generation, numbers, games.tally, self._decks, opponents)
        self._folder.commit(told.generation, individuals, pairings)
        return individuals

    def log_generation(self, told: GenerationResult, games: GenerationGames, began: float) -> float:
        """Log a generation's seconds since `began` and its solved turns; return the seconds."""
        seconds = time.perf_counter() - began
        self._folder.note(
            event="generation",
            generation=told.generation,
            seconds=round(seconds, 3),
            solved=dict(games.tally.solved),
        )
        return seconds

    def validate_if_due(self, generation: int, individuals: pd.DataFrame) -> Validation | None:
        """Validate a committed generation if a validation is due."""
        if not is_validation_due(self._folder.config, generation):
            return None
        return validate(self._folder, generation, individuals, self.strategy.centre(), self._play)

    def apply_stop_rule(self) -> None:
        """End the run if the stop rule applies."""
        self._stop = end_if_stopped(self._folder, self._scores)
        if self._stop is not None:
            self._reporter.stopped(self._stop)

    def choose_champion(self) -> None:
        """Play the final and the baselines, and write the champion to the folder."""
        self._reporter.final()
        began, config = time.perf_counter(), self._folder.config
        champion = play_final(self.strategy, config, self._play, self._fixed)
        baselines = play_baselines(tuple(champion.profile.weights.array), config, self._play)
        write_champion(self._folder, champion.profile, champion.table, baselines)
        self._folder.note(event="final", seconds=round(time.perf_counter() - began, 3))

    def _play(self, roster: Roster, games: Schedule) -> np.ndarray:
        self._games_played += len(games)
        return self._pool.play(roster, games, self._reporter.advance, self._note_worker)

    def _note_worker(self, what: str) -> None:
        self._folder.note(event="worker", what=what)


def finish_by_stop_rule(folder: RunFolder) -> bool:
    """Apply the stop rule; return whether the run is then complete, champion included."""
    end_if_stopped(folder)
    return is_complete(folder)


def is_complete(folder: RunFolder) -> bool:
    """Whether all generations of a run are committed and the champion is written."""
    return folder.committed == folder.config.generations + 1 and load_intact_champion(folder) is not None


def max_games_of_generation(config: RunConfig, generation: int) -> int:
    """Upper bound of games in a generation, with opponents and Nash mixture, over all ordered deck pairs.

    The actual number is lower if members of the hall of fame are among the individuals.
    """
    n, others = config.count_individuals(generation), config.max_opponents(generation)
    options = config.opponents
    games = n * (n - 1) // 2 * config.games_per_pairing(generation) if options.population else 0
    mixture = others * (others - 1) // 2 if options.nash else 0
    games += (n * others + mixture) * config.games_per_opponent(generation)
    return games * len(config.decks) ** 2


def remaining_games(config: RunConfig, committed: int) -> int:
    """Number of games left after `committed` generations, with validations, final and baselines."""
    numbers = range(committed, config.generations + 1)
    left = sum(max_games_of_generation(config, number) for number in numbers)
    left += sum(is_validation_due(config, number) for number in numbers) * count_validation_games(config)
    return left + config.final.games + count_benchmark_games(config) + count_baseline_games(config)


def estimate_memory(config: RunConfig) -> int:
    """Estimated peak memory of the driver in bytes, for games of a generation or of the final."""
    last = max_games_of_generation(config, max(1, config.generations))
    final = max(
        config.final.games,
        count_benchmark_games(config),
        count_baseline_games(config),
        count_validation_games(config),
    )
    return max(last * GENERATION_BYTES, final * FINAL_BYTES)
