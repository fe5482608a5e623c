"""Tournaments of every command: played in their folders with progress, and written."""

import contextlib
import json
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from engine.compilation import removed_if_abandoned
from engine.screen import say_error
from evo.cli.consoles import print_problems
from evo.cli.options import Place
from evo.cli.progress import Counter
from evo.cli.sessions import pool_of
from evo.figures.page import Section
from evo.play.local import LocalPool
from evo.play.matchups import games_table
from evo.play.pool import InterruptedRunError
from evo.play.results import PoolLostError
from evo.stats.sequential import Verdict
from evo.stats.standings import Standings, standings
from evo.tournament.folder import TournamentFolder, open_tournament
from evo.tournament.output import summary_of, warnings_of, write_files
from evo.tournament.run import Tournament, find_faults, play_missing

More = Callable[[pd.DataFrame, Standings], Sequence[Section]]


@dataclass(frozen=True)
class Finished:
    """A tournament that was played and written."""

    path: Path
    games: pd.DataFrame
    read: Standings
    summary: dict[str, Any]
    console: Console

    def print_written(self) -> None:
        """Say where its files are."""
        files = f"{self.path}/tournament.html, results.csv, ratings.csv, games.parquet"
        self.console.print(f"written: {files}", markup=False)


def print_json(summary: dict[str, Any]) -> None:
    """Print a summary for programs, and its warnings on standard error."""
    print(json.dumps(summary, indent=1, allow_nan=False))
    print_warnings(summary)


def print_warnings(summary: dict[str, Any]) -> None:
    """Print the warnings of a summary on standard error."""
    for warning in warnings_of(summary):
        say_error(f"warning: {warning}")


def no_sections(_games: pd.DataFrame, _read: Standings) -> list[Section]:
    """The page of a plain tournament has no sections of its own."""
    return []


def play_into(
    tournament: Tournament,
    out: Path | None,
    kind: str,
    place: Place,
    console: Console,
    more: More = no_sections,
) -> Finished:
    """Play a tournament in its folder, show its progress, and write all its files.

    Args:
        tournament: its definition.
        out: its folder; None: `runs/KIND-HASH`.
        kind: its name in messages, such as "sweep".
        place: where the games are played.
        console: for progress.
        more: sections that the page shows first, from the games and their tables.

    Raises:
        TournamentError, PoolError: the folder or the pool cannot be used.
    """
    with played(tournament, out, kind, place, console) as (folder, verdict):
        tournament = with_kept_decks(tournament, folder)
        names = [deck.name for deck in tournament.decks]
        table = games_table(tournament.matchups, folder.played, tournament.names, names)
        read = standings(table)
        summary = summary_of(tournament, read, find_faults(tournament, folder.played), verdict)
        folder.finish(table)
        write_files(tournament, folder, table, read, summary, kind, more(table, read))
    return Finished(folder.path, table, read, summary, console)


def with_kept_decks(tournament: Tournament, folder: TournamentFolder) -> Tournament:
    """The tournament with decks and library named as its folder keeps them, for the command to repeat it."""
    named = zip(tournament.deck_names, tournament.decks, strict=True)
    decks = tuple(str(folder.deck_files.get(deck.name, text)) for text, deck in named)
    library = tournament.library_folder if folder.library is None else str(folder.library)
    return replace(tournament, deck_names=decks, library_folder=library)


@contextlib.contextmanager
def played(
    tournament: Tournament, out: Path | None, kind: str, place: Place, console: Console
) -> Iterator[tuple[TournamentFolder, Verdict]]:
    """Play all games of a tournament; yields its folder and verdict. Arguments as of `play_into`."""
    path = out or Path("runs") / f"{kind}-{tournament.digest[:8]}"
    is_new = not path.exists()
    with (
        open_tournament(
            path, tournament.definition, tournament.ruleset, len(tournament.matchups), tournament.decks
        ) as folder,
        removed_if_abandoned(path) as keep,
    ):
        if not is_new or len(folder.played):
            keep()
        folder.keep_decks(tournament.decks)
        if tournament.library_folder:
            folder.keep_library(Path(tournament.library_folder))
        left = len(tournament.matchups) - len(folder.played)
        print_problems(console, folder.problems)
        known = f", {len(folder.played):,} of them played before" if len(folder.played) else ""
        heading = f"{kind} {path}: {len(tournament.matchups):,} games{known}"
        console.print(heading, markup=False, highlight=False)
        counter = Counter(console, max(left, 0))
        chosen = [entrant.player for entrant in tournament.entrants]
        if left == 0:  # no workers are needed
            keep()
            verdict = play_missing(tournament, folder, LocalPool(1), counter.advance)
        else:
            with pool_of(place, chosen, tournament.roster.decks, counter) as players:
                keep()
                try:
                    verdict = play_missing(tournament, folder, players, counter.advance)
                except InterruptedRunError as error:
                    counter.close()
                    name = signal.Signals(error.signal).name
                    say_error(f"stopped by {name}: {_how_to_continue(folder)}")
                    raise
                except PoolLostError as error:
                    raise PoolLostError(f"{error}; {_how_to_continue(folder)}") from None
        yield folder, verdict


def _how_to_continue(folder: TournamentFolder) -> str:
    return f"{len(folder.played):,} games are safe in {folder.path}. To continue: the same command again"
