"""Python API: evolve a run, play a tournament or arena, or write a report, each in one call.

`evo.evolve`, `evo.play_tournament`, `evo.play_arena` and `evo.write_report` do what the commands `evolve`,
`tournament`, `arena` and `report` do, in the same folders and with the same bytes, and return tables.
`quiet=True` prints no progress. Repeating a call with the same `out` continues it, or reads its results.
"""

import contextlib
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import typer
from rich.console import Console

from engine.compile_progress import silent_compilation
from evo.analysis.tables import last_population, read_runs, read_validation
from evo.cli.options import (
    PoolSettings,
    check_choice,
    ignored_address_note,
    pool_settings,
    with_pool_settings,
)
from evo.cli.progress import RunDisplay, default_folder, output_console
from evo.cli.run_summary import check_memory, confirm_long_runs
from evo.cli.sessions import evolve_to_end, open_run_pool, play_and_write, write_report_page
from evo.config.files import find_config, read_config, split_names
from evo.config.run_config import RunConfig
from evo.evolution.session import open_or_create
from evo.play.notation import OFFERED_FORMATS, SEATS
from evo.storage.champion import read_final
from evo.storage.run_folder import open_run_read_only
from evo.terminal.console import SafeConsole
from evo.tournament.arena import create_arena
from evo.tournament.report import fault_warnings
from evo.tournament.run import Tournament, create_tournament
from ilp_agent import Profile, WeightVector
from rivals import read_agent_profile


@dataclass(frozen=True)
class EvolvedRun:
    """A finished evolution run: champion and tables.

    Attributes:
        path: the run folder; `AGENT:path` is the champion as a tournament entrant.
        champion: the winner of the final, with its weights and record.
        individuals: one row per individual and generation (`evo.analysis.tables.read_runs`).
        final: the table of the final, as runs/README.md describes `final.parquet`.
        validation: scores of each generation's best against the thesis's seven profiles; empty if the
            configuration does not validate.
    """

    path: Path
    champion: Profile[WeightVector] = field(repr=False)
    individuals: pd.DataFrame = field(repr=False)
    final: pd.DataFrame = field(repr=False)
    validation: pd.DataFrame = field(repr=False)

    @property
    def weights(self) -> pd.DataFrame:
        """The champion's weights by name: raw value, and share of the sum (missing for inert weights)."""
        vector, config = self.champion.weights, open_run_read_only(self.path).config
        table = pd.DataFrame({"value": vector.written()}).rename_axis("weight")
        return table.assign(share=pd.Series(vector.active(config.inert_weights)))


@dataclass(frozen=True)
class PlayedTournament:
    """A finished tournament or arena as tables; docs/tournament.md describes the columns.

    Attributes:
        path: its folder, with the page `tournament.html`.
        ratings: one row per entrant, the best first.
        results: one row per ordered pair of entrants.
        meetings: one row per unordered pair of entrants.
        decks: one row per entrant and ordered pair of decks.
        games: one row per game.
        summary: everything else, as JSON values.
    """

    path: Path
    ratings: pd.DataFrame = field(repr=False)
    results: pd.DataFrame = field(repr=False)
    meetings: pd.DataFrame = field(repr=False)
    decks: pd.DataFrame = field(repr=False)
    games: pd.DataFrame = field(repr=False)
    summary: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class WrittenReport:
    """A written report on runs: path of the page, and tables.

    Attributes:
        path: the HTML page.
        individuals: one row per individual and generation, of all runs.
        population: the last population of each run.
        problems: unreadable parts of the runs, one sentence each.
    """

    path: Path
    individuals: pd.DataFrame = field(repr=False)
    population: pd.DataFrame = field(repr=False)
    problems: tuple[str, ...] = ()


def evolve(
    config: str | Path | RunConfig = "quickstart",
    *,
    out: str | Path | None = None,
    workers: int | None = None,
    pool: str | None = None,
    address: str | None = None,
    quiet: bool = False,
    **changes: Any,
) -> EvolvedRun:
    """Evolve weights into a run folder, and choose a champion.

    Args:
        config: a shipped configuration, a file, or a `RunConfig`.
        out: the run folder; None: `runs/<config>-<UTC time>`. A folder that holds this run is continued.
        workers: number of workers; 0: one per processor; None: the configuration's.
        pool: "auto", "local" or "ray"; None: the configuration's.
        address: address of a Ray cluster to join.
        quiet: print nothing.
        changes: configuration values by key, such as `generations=3` or `decks=["a.toml"]`; `lambda_`
            for lambda; a dict for a section: `final={"games": 4_000}`.

    Raises:
        ConfigError: a key or value is not allowed.
        RunError: the folder cannot be used, or holds another run.
        KeyboardInterrupt: a signal stopped the run; the same call continues it.
    """
    base = config if isinstance(config, RunConfig) else read_config(config, begins=True)
    chosen = with_pool_settings(_changed(base, changes), workers, pool, address)
    check_memory(chosen)
    name = "run" if isinstance(config, RunConfig) else config
    path = default_folder(name) if out is None else Path(out)
    display = RunDisplay(_console(quiet))
    if not isinstance(config, RunConfig):
        display.say(ignored_address_note(find_config(config), address, 'address="auto"'))
    with _session(quiet), open_run_pool(chosen, display) as players, open_or_create(path, chosen) as folder:
        if not folder.committed:
            confirm_long_runs(chosen, 1, players, display.console, sure=True)
        evolve_to_end(folder, players, display, chosen.address)
    runs, folder = read_runs([path]), open_run_read_only(path)
    champion = read_agent_profile(path / "champion.toml", folder.config.vector)
    return EvolvedRun(path, champion, runs.individuals, read_final(folder), read_validation(runs))


def play_tournament(
    *entrants: str,
    decks: str | Sequence[str],
    games: int = 200,
    style: str = OFFERED_FORMATS[0],
    ruleset: str = "thesis",
    seats: str = "paired",
    sprt: str = "",
    seed: int = 1,
    library: str | Path | None = None,
    out: str | Path | None = None,
    workers: int = 0,
    pool: str = "auto",
    address: str = "",
    quiet: bool = False,
) -> PlayedTournament:
    """Play a tournament between entrants on decks, and rate the entrants.

    Args:
        entrants: as the command `tournament` takes them: `ilp:keep-alive`, `ilp:runs/NAME`, `hearthsim`, ...
        decks: names, files or deck codes; one string may list several, separated by commas.
        games: number per pair of entrants and ordered pair of decks.
        style: tournament format, "round-robin" or "gauntlet".
        ruleset: name of the ruleset (docs/game.md).
        seats: "paired" or "fixed" (docs/tournament.md).
        sprt: a sequential test, such as "elo0=0 elo1=20"; "" for none.
        seed: seed of the deals.
        library: a folder of further decks for the deck prediction of entrants with hands=predicted.
        out: output folder; None: `runs/tournament-<hash>`.
        workers: number of workers; 0: one per processor.
        pool: "auto", "local" or "ray".
        address: address of a Ray cluster to join.
        quiet: print nothing.

    Raises:
        TournamentError, EntrantError, DeckError, UnknownNameError: an argument is not valid.
        KeyboardInterrupt: a signal stopped the tournament; the same call continues it.
    """
    names = split_names(decks) if isinstance(decks, str) else tuple(decks)
    wanted = create_tournament(
        entrants,
        names,
        ruleset,
        sprt,
        _path(library),
        games=games,
        seats=check_choice("seats", "kind of seats", seats, SEATS),
        style=check_choice("style", "format", style, OFFERED_FORMATS),
        seed=seed,
    )
    return _played(wanted, "tournament", _path(out), pool_settings(pool, workers, address), quiet)


def play_arena(
    config: str | Path = "arena",
    *,
    champion: str = "",
    games: int = 0,
    seed: int = 1,
    out: str | Path | None = None,
    workers: int = 0,
    pool: str = "auto",
    address: str = "",
    quiet: bool = False,
) -> PlayedTournament:
    """Play a round robin of a champion, the hand-made profiles and all rivals over all decks.

    Args:
        config: "arena", or an arena file.
        champion: an entrant in place of the file's champion; "" for the file's.
        games: least number per pairing; 0: as in the file.
        seed: seed of the deals.
        out: output folder; None: `runs/arena-<hash>`.
        workers: number of workers; 0: one per processor.
        pool: "auto", "local" or "ray".
        address: address of a Ray cluster to join.
        quiet: print nothing.

    Raises:
        ConfigError, EntrantError, UnknownNameError: the file or an entrant cannot be used.
        KeyboardInterrupt: a signal stopped the arena; the same call continues it.
    """
    wanted = create_arena(str(config), champion, games, seed)
    return _played(wanted, "arena", _path(out), pool_settings(pool, workers, address), quiet)


def write_report(
    *runs: str | Path, out: str | Path | None = None, workers: int = 0, quiet: bool = False
) -> WrittenReport:
    """Write an HTML report on runs: findings, figures and tables.

    Args:
        runs: run folders, or folders of studies.
        out: the page; None: `report.html` in the folder of the run or study; for several, in the current one.
        workers: number of workers for its games; 0: one per processor.
        quiet: print nothing.

    Raises:
        RunError: there is no such run, or these runs cannot be compared.
    """
    found = read_runs(runs)
    paths = [Path(run) for run in runs]
    console = _console(quiet)
    with _session(quiet):
        target = write_report_page(found, paths, _path(out), workers, console)
    return WrittenReport(target, found.individuals, last_population(found.individuals), found.problems)


def _changed(config: RunConfig, changes: Mapping[str, Any]) -> RunConfig:
    """Configuration with changed values; a dict changes values of one configuration section."""
    content = config.model_dump(by_alias=True)
    values = {name.removesuffix("_"): value for name, value in changes.items()}
    for name, value in values.items():
        if isinstance(value, Mapping) and isinstance(content.get(name), dict):
            values[name] = content[name] | dict(value)
    return config.changed(**values)


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _console(quiet: bool) -> Console:
    return SafeConsole(file=io.StringIO(), force_jupyter=False) if quiet else output_console()


def _played(
    wanted: Tournament, kind: str, out: Path | None, place: PoolSettings, quiet: bool
) -> PlayedTournament:
    """Play a tournament to the end, and return its result tables."""
    with _session(quiet):
        done = play_and_write(wanted, out, kind, place, _console(quiet))
    for warning in fault_warnings(done.summary):
        warnings.warn(warning, stacklevel=3)
    read = done.read
    tables = read.ratings, read.results, read.matchups, read.decks
    return PlayedTournament(done.path, *tables, done.games, done.summary)


@contextlib.contextmanager
def _session(quiet: bool) -> Iterator[None]:
    """Context that raises `KeyboardInterrupt` after a signal; if quiet, it hides notices of compilation."""
    try:
        with silent_compilation() if quiet else contextlib.nullcontext():
            yield
    except typer.Exit as stop:
        raise KeyboardInterrupt(f"stopped by signal {stop.exit_code - 128}") from None
