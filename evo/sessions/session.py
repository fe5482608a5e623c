"""Sessions of commands that play games: worker pool, signals, progress, and the message after a stop."""

import contextlib
import json
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from engine import Deck
from engine.compile_progress import removed_on_exit
from engine.terminal import print_error
from evo.analysis.report import make_report
from evo.analysis.tables import Runs
from evo.config.messages import counted
from evo.config.run_config import RunConfig
from evo.evolution.fitness import find_opponents
from evo.evolution.run import evolve
from evo.evolution.session import begin_session, extend_run
from evo.figures.page import Section
from evo.play.entrants import check_parameters_unchanged
from evo.play.games import Player, Roster, Schedule, compile_games
from evo.play.matchups import games_table
from evo.play.pool import InterruptedRunError, LocalPool, WorkerPool
from evo.play.pools import PoolSettings, open_pool
from evo.play.results import PoolLostError
from evo.sessions.progress import GameCounter, RunDisplay, print_problems, stop_on_signals
from evo.stats.sequential import Verdict
from evo.stats.standings import Standings, standings
from evo.storage.files import temporary_path, write_atomically, write_error_text
from evo.storage.run_folder import RunError, RunFolder, resolve_run_path
from evo.tournament.folder import TournamentFolder, open_tournament
from evo.tournament.report import fault_warnings, tournament_summary, write_files
from evo.tournament.run import Tournament, find_faults, play_missing
from rivals import find_kind, is_outside
from rivals.outside.agent import check_starts
from rivals.outside.permissions import allow_options


class SessionStopped(SystemExit):
    """A signal stopped the games; a command then exits with 128 plus the signal's number.

    Attributes:
        signal: its number.
    """

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.signal = number


@contextlib.contextmanager
def open_run_pool(
    config: RunConfig, display: RunDisplay, opponents: Sequence[Player] | None = None
) -> Iterator[WorkerPool]:
    """Context with a worker pool for the games of a run.

    Args:
        config: configuration of the run.
        display: shows the progress.
        opponents: the fixed opponents; None: find those that the configuration names.
    """
    check_parameters_unchanged(config)
    players = [Player((1.0,) * len(config.vector.names()), config.backend, config.agent)]
    if config.final.benchmark_games:
        players.append(Player(backend=config.backend))
    players += find_opponents(config).values() if opponents is None else opponents
    place = PoolSettings(config.pool, config.workers, config.address)
    with open_session_pool(place, players, config.found_decks, display) as pool:
        yield pool


@contextlib.contextmanager
def open_session_pool(
    place: PoolSettings,
    players: Sequence[Player],
    decks: Iterable[Deck],
    display: RunDisplay | GameCounter,
    if_stopped: str = "",
) -> Iterator[WorkerPool]:
    """Context with a worker pool and signal handlers.

    After a signal the games in play end, the workers close, and the process exits with 130 or 143.

    Args:
        place: kind of pool, number of workers, and address.
        players: the players of the games.
        decks: the decks of the games.
        display: shows the progress.
        if_stopped: message after a stop, for standard error; "" if the caller prints it.

    Raises:
        SessionStopped: a signal stopped the games.
        PoolError: the workers cannot start.
    """
    for player in players:
        if is_outside(player.kind):
            check_starts(player.kind)
    compiled = all(player.compiled for player in players)
    short = isinstance(display, GameCounter) and display.total <= min_games_for_ray(players)
    stopped: InterruptedRunError | None = None
    ready = False
    with stop_on_signals(display):
        try:
            with open_pool(*place, compiled, display.raise_if_stopped, short=short) as (pool, reason):
                display.console.print(reason, markup=False, highlight=False)
                slow = uncompiled_agents(players)
                if slow and any(player.compiled for player in players):
                    names = ", ".join(slow)
                    note = f"games of {names} are not compiled, so they are much slower than the others"
                    display.console.print(note, markup=False, highlight=False)
                display.stops_immediately = True
                compile_games(players, decks)
                display.stops_immediately = False
                display.raise_if_stopped()
                ready = True
                yield pool
        except (InterruptedRunError, KeyboardInterrupt) as error:
            if not display.stopping:
                raise
            stopped = (
                error if isinstance(error, InterruptedRunError) else InterruptedRunError(display.stopping)
            )
            name = signal.Signals(stopped.signal).name
            if not ready:
                print_error(f"stopped by {name} before the first game")
            elif if_stopped:
                display.close()
                print_error(f"stopped by {name}: {if_stopped}")
        finally:
            display.close()
    if stopped is not None:
        raise SessionStopped(stopped.signal)


def min_games_for_ray(players: Sequence[Player]) -> int:
    """Minimum number of uncompiled games for which starting Ray pays; lower if the players use a solver."""
    by_solver = any(find_kind(player.kind).takes_backend and not player.compiled for player in players)
    return 50 if by_solver else 10_000


def uncompiled_agents(players: Sequence[Player]) -> list[str]:
    """Names of the agents whose games are not compiled, with the backend if that is the cause."""
    names = (
        f"{player.kind} with {player.backend}" if find_kind(player.kind).takes_backend else player.kind
        for player in players
        if not player.compiled
    )
    return list(dict.fromkeys(names))


def evolve_to_end(
    folder: RunFolder,
    pool: WorkerPool,
    display: RunDisplay,
    address: str,
    generations: int | None = None,
    again: str = "",
) -> None:
    """Evolve a run to its end; if it is stopped, print how to resume it.

    Args:
        folder: the run folder.
        pool: plays the games.
        display: shows the progress.
        address: of the cluster; "" without one.
        generations: new total of generations; None: as before.
        again: how to continue; "" for `manaforge resume`.
    """
    begin_session(folder, pool)
    if generations is not None:
        extend_run(folder, generations)
    try:
        evolve(folder, pool, display)
    except InterruptedRunError as error:
        display.close()
        name = signal.Signals(error.signal).name
        folder.note(event="stopped", signal=name)
        print_error(f"stopped by {name}: {_how_to_continue(folder, address, again)}")
        raise
    except PoolLostError as error:
        folder.note(event="stopped", error=str(error))
        raise PoolLostError(f"{error}; {_how_to_continue(folder, address, again)}") from None
    finally:
        display.close()


def _how_to_continue(folder: RunFolder, address: str, again: str) -> str:
    safe = f"{counted(folder.committed, 'generation')} {'is' if folder.committed == 1 else 'are'} safe"
    kept = safe if folder.committed else "no generation was finished"
    config = folder.config
    command = f"manaforge resume {folder.path}" + (f" --address {address}" if address else "")
    command += allow_options(config.agent, *config.opponents.fixed)
    return f"{kept}. To continue: {again or command}"


ExtraSections = Callable[[pd.DataFrame, Standings], Sequence[Section]]


@dataclass(frozen=True)
class FinishedTournament:
    """A finished tournament, with folder and result tables."""

    path: Path
    games: pd.DataFrame
    read: Standings
    summary: dict[str, Any]
    console: Console

    def print_written(self) -> None:
        """Print where the tournament's files are."""
        files = f"{self.path}/tournament.html, results.csv, ratings.csv, games.parquet"
        self.console.print(f"written: {files}", markup=False)


def print_json(summary: dict[str, Any]) -> None:
    """Print a tournament summary as JSON, and the summary's warnings on standard error."""
    print(json.dumps(summary, indent=1, allow_nan=False))
    print_warnings(summary)


def print_warnings(summary: dict[str, Any]) -> None:
    """Print the warnings of a tournament summary on standard error."""
    for warning in fault_warnings(summary):
        print_error(f"warning: {warning}")


def no_extra_sections(_games: pd.DataFrame, _read: Standings) -> list[Section]:
    """No extra sections, for the page of a plain tournament."""
    return []


def play_and_write(
    tournament: Tournament,
    out: Path | None,
    kind: str,
    place: PoolSettings,
    console: Console,
    more: ExtraSections = no_extra_sections,
) -> FinishedTournament:
    """Play a tournament in its folder, with a progress display, and write all result files.

    Args:
        tournament: the definition.
        out: the folder; None: `runs/KIND-HASH`.
        kind: name in messages, such as "sweep".
        place: options of the worker pool.
        console: for progress.
        more: makes extra first sections of the page, from games and standings.

    Raises:
        TournamentError, PoolError: the folder or the pool cannot be used.
    """
    with play_in_folder(tournament, out, kind, place, console) as (folder, verdict):
        tournament = with_saved_decks(tournament, folder)
        names = [deck.name for deck in tournament.decks]
        table = games_table(tournament.matchups, folder.played, tournament.names, names)
        read = standings(table)
        summary = tournament_summary(tournament, read, find_faults(tournament, folder.played), verdict)
        folder.finish(table)
        write_files(tournament, folder, table, read, summary, kind, more(table, read))
    return FinishedTournament(folder.path, table, read, summary, console)


def with_saved_decks(tournament: Tournament, folder: TournamentFolder) -> Tournament:
    """Tournament that refers to the decks and library saved in its folder, so that it can be repeated."""
    named = zip(tournament.deck_names, tournament.decks, strict=True)
    decks = tuple(str(folder.deck_files.get(deck.name, text)) for text, deck in named)
    library = tournament.library_folder if folder.library is None else str(folder.library)
    return replace(tournament, deck_names=decks, library_folder=library)


@contextlib.contextmanager
def play_in_folder(
    tournament: Tournament, out: Path | None, kind: str, place: PoolSettings, console: Console
) -> Iterator[tuple[TournamentFolder, Verdict]]:
    """Play all games of a tournament; yield its folder and verdict. Arguments as in `play_and_write`."""
    path = out or Path("runs") / f"{kind}-{tournament.digest[:8]}"
    is_new = not path.exists()
    with (
        open_tournament(
            path, tournament.definition, tournament.ruleset, len(tournament.matchups), tournament.decks
        ) as folder,
        removed_on_exit(path) as keep,
    ):
        if not is_new or len(folder.played):
            keep()
        folder.copy_decks(tournament.decks)
        if tournament.library_folder:
            folder.copy_library(Path(tournament.library_folder))
        left = len(tournament.matchups) - len(folder.played)
        print_problems(console, folder.problems)
        known = f", {len(folder.played):,} of them already played" if len(folder.played) else ""
        heading = f"{kind} {path}: {len(tournament.matchups):,} games{known}"
        console.print(heading, markup=False, highlight=False)
        counter = GameCounter(console, max(left, 0))
        chosen = [entrant.player for entrant in tournament.entrants]
        if left == 0:  # no workers are needed
            keep()
            verdict = play_missing(tournament, folder, LocalPool(1), counter.advance)
        else:
            with open_session_pool(place, chosen, tournament.roster.decks, counter) as players:
                keep()
                try:
                    verdict = play_missing(tournament, folder, players, counter.advance)
                except InterruptedRunError as error:
                    counter.close()
                    name = signal.Signals(error.signal).name
                    print_error(f"stopped by {name}: {_how_to_continue_tournament(folder)}")
                    raise
                except PoolLostError as error:
                    raise PoolLostError(f"{error}; {_how_to_continue_tournament(folder)}") from None
        yield folder, verdict


def _how_to_continue_tournament(folder: TournamentFolder) -> str:
    return f"{len(folder.played):,} games are safe in {folder.path}. To continue: repeat the command"


def write_report_page(
    found: Runs, runs: list[Path], out: Path | None, workers: int, console: Console
) -> Path:
    """Write the HTML report on runs; return its path.

    Args:
        found: the runs, read from `runs`.
        runs: paths as the user gave them.
        out: the page; None: `report.html` in the folder of the run or study; for several, in the current one.
        workers: number of workers for its games; 0: one per processor.
        console: for progress and problems.

    Raises:
        RunError: the page cannot be written, or the runs cannot be compared.
    """
    target = out or (resolve_run_path(runs[0]) / "report.html" if len(runs) == 1 else Path("report.html"))
    temporary = temporary_path(target)
    why = write_error_text(target, temporary)
    if why:
        raise RunError(f"cannot write {target}: {why}; choose another --out")
    for name, config in found.configs.items():
        check_parameters_unchanged(config, name)
    counter = GameCounter(console, 0)
    players = [Player(), *(Player(kind=config.agent) for config in found.configs.values())]
    decks = [deck for config in found.configs.values() for deck in config.found_decks]
    with open_session_pool(PoolSettings("local", workers, ""), players, decks, counter) as pool:

        def play(roster: Roster, games: Schedule) -> np.ndarray:
            counter.begin(len(games))
            return pool.play(roster, games, counter.advance)

        page = make_report(found, runs, play)
    write_atomically(target, page, temporary)
    print_problems(console, found.problems)
    console.print(f"report: {target} ({len(page) / 1e6:.1f} MB)", markup=False, highlight=False)
    return target
