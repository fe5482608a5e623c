"""The loop of a run: ask, play, tell, commit; then the final. And how many games and bytes a run needs.

Source: "Optimizing Hearthstone agents using an evolutionary algorithm" (EVA), Algorithm 2, for any strategy.
"""

import time
from typing import Protocol

import numpy as np
import pandas as pd

from evo.config.run_config import RunConfig
from evo.evolution.champion import THESIS_SEVEN, games_of_panel, play_final, play_panel
from evo.evolution.fitness import Generation, Tally, play_generation
from evo.evolution.records import individuals_table, new_strategy, pairings_table
from evo.evolution.validation import (
    Stop,
    Validation,
    end_by_rule,
    games_of_validation,
    is_due,
    missing_validations,
    validate,
)
from evo.play.games import Roster, Schedule
from evo.play.opponents import read_opponents
from evo.play.pool import Pool
from evo.storage.champion import whole_champion, write_champion
from evo.storage.run_folder import RunFolder
from evo.strategies import Individual, Strategy, Told

GENERATION_BYTES, FINAL_BYTES = 100, 260
"""Memory of the driver for a game of a generation and for one of the final (docs/performance.md)."""


class Reporter(Protocol):
    """Shows the progress of a run; raises to stop it."""

    def begin(self, folder: RunFolder, games: int) -> None:
        """A run starts or is resumed; `games` are left to play, the final included."""

    def advance(self, games: int) -> None:
        """`games` more games were finished; also called with 0 while waiting."""

    def stopped(self, stop: Stop) -> None:
        """The stop rule ends the run."""

    def generation(
        self, told: Told, strategy: Strategy, tally: Tally, seconds: float, validation: Validation | None
    ) -> None:
        """A generation was committed, and validated if that was due."""

    def final(self) -> None:
        """The final starts."""


def evolve(folder: RunFolder, pool: Pool, reporter: Reporter) -> None:
    """Evolve from the last committed generation to the configured end, and choose the champion.

    Args:
        folder: new or opened; generations are committed to it.
        pool: plays the games.
        reporter: shows the progress.

    Raises:
        RunError: the folder cannot be written.
        InterruptedRunError: the reporter asked to stop; nothing finished is lost.
    """
    missing = missing_validations(folder)
    if not missing and is_finished(folder):
        reporter.begin(folder, 0)
        return
    run = _Run(folder, pool, reporter)
    run.restore(missing)
    run.apply_stop_rule()
    if is_ended(folder):
        return
    strategy = run.strategy
    while run.goes_on:
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
    """A run between its last committed generation and its champion: the steps of `evolve`.

    Args:
        folder: new or opened.
        pool: plays the games.
        reporter: shows the progress.

    Attributes:
        strategy: after `restore`, in its state after the last committed generation.
    """

    def __init__(self, folder: RunFolder, pool: Pool, reporter: Reporter) -> None:
        self._folder, self._pool, self._reporter = folder, pool, reporter
        self.strategy = new_strategy(folder.config)
        self._fixed = read_opponents(folder.path, folder.config)
        self._decks = folder.config.deck_names
        self._games_played = 0
        self._scores: dict[int, np.ndarray] = {}
        self._stop: Stop | None = None

    @property
    def goes_on(self) -> bool:
        """Whether another generation follows."""
        return self._stop is None and self.strategy.generation <= self._folder.config.generations

    def restore(self, missing: list[int]) -> None:
        """Bring the strategy to its state after the committed generations; play missing validations."""
        folder, config = self._folder, self._folder.config
        left = 0 if is_ended(folder) else games_to_play(config, folder.committed)
        self._reporter.begin(folder, left + len(missing) * games_of_validation(config))
        for generation, individuals in enumerate(folder.tables("generations")):
            self.strategy.restore([individuals])
            if generation in missing:
                validate(folder, generation, individuals, self.strategy.centre(), self._play)

    def play_generation(self, asked: list[Individual]) -> Generation:
        """Play the games of a generation."""
        config, before = self._folder.config, self._games_played
        planned = games_of_generation(config, self.strategy.generation)
        games = play_generation(config, self.strategy, asked, self._fixed, self._play)
        self._reporter.advance(planned - (self._games_played - before))  # fewer opponents than planned
        return games

    def commit(self, told: Told, games: Generation) -> pd.DataFrame:
        """Write the tables of a generation; returns that of its individuals."""
        numbers = [individual.number for individual in told.individuals]
        opponents = games.opponents if self._folder.config.opponents.beside else None
        individuals = individuals_table(told, self.strategy, games.tally, self._decks)
        pairings = pairings_table(told.generation, numbers, games.tally, self._decks, opponents)
        self._folder.commit(told.generation, individuals, pairings)
        return individuals

    def log_generation(self, told: Told, games: Generation, began: float) -> float:
        """Write a generation's seconds since `began` and its solved turns to the log; returns the seconds."""
        seconds = time.perf_counter() - began
        self._folder.note(
            event="generation",
            generation=told.generation,
            seconds=round(seconds, 3),
            solved=dict(games.tally.solved),
        )
        return seconds

    def validate_if_due(self, generation: int, individuals: pd.DataFrame) -> Validation | None:
        """Validate a committed generation where that is due."""
        if not is_due(self._folder.config, generation):
            return None
        return validate(self._folder, generation, individuals, self.strategy.centre(), self._play)

    def apply_stop_rule(self) -> None:
        """End the run where the stop rule says so."""
        self._stop = end_by_rule(self._folder, self._scores)
        if self._stop is not None:
            self._reporter.stopped(self._stop)

    def choose_champion(self) -> None:
        """Play the final and the panel, and write the champion."""
        self._reporter.final()
        began, config = time.perf_counter(), self._folder.config
        champion = play_final(self.strategy, config, self._play, self._fixed)
        panel = play_panel(tuple(champion.profile.weights.array), config, self._play)
        write_champion(self._folder, champion.profile, champion.table, panel)
        self._folder.note(event="final", seconds=round(time.perf_counter() - began, 3))

    def _play(self, roster: Roster, games: Schedule) -> np.ndarray:
        self._games_played += len(games)
        return self._pool.play(roster, games, self._reporter.advance, self._note_worker)

    def _note_worker(self, what: str) -> None:
        self._folder.note(event="worker", what=what)


def is_finished(folder: RunFolder) -> bool:
    """Whether a run with all its validations has nothing left to do; its stop rule may end it here."""
    end_by_rule(folder)
    return is_ended(folder)


def is_ended(folder: RunFolder) -> bool:
    """Whether all generations are committed and the champion is chosen."""
    return folder.committed == folder.config.generations + 1 and whole_champion(folder) is not None


def games_of_generation(config: RunConfig, generation: int) -> int:
    """Most games of a generation: all pairings with all ordered deck pairs, and those of a Nash mixture.

    There are fewer where bests of earlier generations are still among the individuals.
    """
    n, others = config.individuals_in(generation), config.opponents_in(generation)
    options = config.opponents
    games = n * (n - 1) // 2 * config.games_in(generation) if options.population else 0
    mixture = others * (others - 1) // 2 if options.nash else 0
    games += (n * others + mixture) * config.opponent_games_in(generation)
    return games * len(config.decks) ** 2


def games_to_play(config: RunConfig, committed: int) -> int:
    """Games left after `committed` generations, with validations and panel; for the final, its budget."""
    numbers = range(committed, config.generations + 1)
    left = sum(games_of_generation(config, number) for number in numbers)
    left += sum(is_due(config, number) for number in numbers) * games_of_validation(config)
    return (
        left + config.final.games + len(THESIS_SEVEN) * config.final.benchmark_games + games_of_panel(config)
    )


def memory_of(config: RunConfig) -> int:
    """About the most bytes that the driver needs: those of a generation's games, or of the final's."""
    last = games_of_generation(config, max(1, config.generations))
    final = max(
        config.final.games,
        len(THESIS_SEVEN) * config.final.benchmark_games,
        games_of_panel(config),
        games_of_validation(config),
    )
    return max(last * GENERATION_BYTES, final * FINAL_BYTES)
