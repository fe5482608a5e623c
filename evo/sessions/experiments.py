"""Sessions of experiments: a folder that resumes, a pool, progress, and what was written."""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console, RenderableType

from engine import Deck
from evo.experiments.folder import ExperimentFolder, open_experiment
from evo.play.games import Player, PlayFunction, Roster, Schedule
from evo.play.pool import WorkerPool
from evo.play.pools import PoolSettings
from evo.sessions.progress import GameCounter, print_problems
from evo.sessions.session import open_session_pool, print_json
from evo.storage.files import json_digest

CONTINUE = "repeat the command to continue"
"""Message after a signal has stopped the games."""


@dataclass(frozen=True)
class ExperimentGames:
    """What an experiment plays.

    Attributes:
        kind: name of the command.
        definition: everything that determines the results, as JSON values.
        out: its folder; None: `runs/KIND-HASH`.
        players: the players.
        decks: the decks.
        total: number of games, at most.
    """

    kind: str
    definition: dict[str, Any]
    out: Path | None
    players: Sequence[Player]
    decks: Sequence[Deck]
    total: int

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.out or Path("runs") / f"{self.kind}-{json_digest(self.definition)[:8]}"


@dataclass
class ExperimentSession:
    """An experiment in progress; see `open_experiment_games`.

    Attributes:
        folder: open while the games are played.
        counter: of games.
        console: for texts to users.
        pool: plays games.
        written: names of the files written, in this order.
    """

    folder: ExperimentFolder
    counter: GameCounter
    console: Console
    pool: WorkerPool
    written: list[str] = field(default_factory=list)

    @cached_property
    def cached_play(self) -> PlayFunction:
        """Plays schedules, and keeps results in the folder (`ExperimentFolder.caching_play`)."""
        return self.folder.caching_play(self.pool, self.counter.advance)

    def play(self, roster: Roster, games: Schedule) -> np.ndarray:
        """Play a schedule; results are not kept."""
        return self.pool.play(roster, games, self.counter.advance)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of results in the folder."""
        self.folder.write(name, content)
        self.written.append(name)

    def print(self, said: RenderableType) -> None:
        """Print a text or a table for users."""
        self.console.print(said, markup=False, highlight=False)

    def print_written(self) -> None:
        """Print the names of the files written."""
        self.console.print(f"written: {self.folder.path}/{', '.join(self.written)}", markup=False)


@contextlib.contextmanager
def open_experiment_games(
    games: ExperimentGames, place: PoolSettings, console: Console
) -> Iterator[ExperimentSession]:
    """Context with the folder and the pool of an experiment; tells how many games it plays.

    Args:
        games: what it plays.
        place: kind of pool, number of workers, and address.
        console: for texts to users.

    Raises:
        ExperimentError: the folder cannot be used.
        SessionStopped: a signal stopped the games.
        PoolError: the workers cannot start.
    """
    console.print(f"{games.path}: {games.total:,} games to play", markup=False, highlight=False)
    counter = GameCounter(console, games.total)
    with open_experiment(games.path, games.kind, games.definition) as folder:
        print_problems(console, folder.problems)
        with open_session_pool(place, games.players, games.decks, counter, CONTINUE) as pool:
            yield ExperimentSession(folder, counter, console, pool)


def print_tables(facts: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> None:
    """Print facts and tables as one JSON object."""
    records = {name: json.loads(table.to_json(orient="records")) for name, table in tables.items()}
    print_json({**facts, **records})
