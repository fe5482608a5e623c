"""Manaforge from Python: a run, a tournament, an arena or a report is one call, which returns tables.

`evo.evolve`, `evo.play_tournament`, `evo.play_arena` and `evo.write_report` do what the commands `evolve`,
`tournament`, `arena` and `report` do, in the same folders and with the same bytes. `quiet=True` prints no
progress. A call with the same `out` again continues what was stopped, or reads what is finished.
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

from engine.compile_progress import compiling_quietly
from evo.analysis.tables import last_population, read_runs, read_validation
from evo.cli.options import Place, one_of, place_of, placed, unfollowed_address
from evo.cli.progress import Display, default_folder, output_console
from evo.cli.run_summary import begin_or_refuse, refuse_without_memory
from evo.cli.sessions import carry_on, play_into, playing, write_page
from evo.config.files import find_config, names_in, read_config
from evo.config.run_config import RunConfig
from evo.evolution.session import open_or_create
from evo.play.notation import OFFERED_FORMATS, SEATS
from evo.storage.champion import read_final
from evo.storage.run_folder import peek_run
from evo.terminal.console import Screen
from evo.tournament.arena import arena_of
from evo.tournament.report import warnings_of
from evo.tournament.run import Tournament, tournament_of
from ilp_agent import Profile, WeightVector
from rivals import read_agent_profile


@dataclass(frozen=True)
class EvolvedRun:
    """A finished run.

    Attributes:
        path: its folder; play the champion as the entrant `AGENT:path`.
        champion: the winner of its final, with its weights and record.
        individuals: as `evo.analysis.tables.read_runs` gives them: one row an individual and generation.
        final: as runs/README.md describes `final.parquet`.
        validation: the bests against the thesis's seven, if the configuration asks for it; else empty.
    """

    path: Path
    champion: Profile[WeightVector] = field(repr=False)
    individuals: pd.DataFrame = field(repr=False)
    final: pd.DataFrame = field(repr=False)
    validation: pd.DataFrame = field(repr=False)

    @property
    def weights(self) -> pd.DataFrame:
        """The champion's weights by name: value as files have it, and share (missing where inert)."""
        vector, config = self.champion.weights, peek_run(self.path).config
        table = pd.DataFrame({"value": vector.written()}).rename_axis("weight")
        return table.assign(share=pd.Series(vector.active(config.inert_weights)))


@dataclass(frozen=True)
class PlayedTournament:
    """A finished tournament or arena. docs/tournament.md describes the columns.

    Attributes:
        path: its folder, with its page `tournament.html`.
        ratings: one row an entrant, the best first.
        results: one row an ordered pair of entrants.
        meetings: one row two entrants.
        decks: one row an entrant and an ordered pair of decks.
        games: one row a game.
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
    """A report of runs.

    Attributes:
        path: the page.
        individuals: one row an individual and generation, of all runs.
        population: the last populations.
        problems: what could not be read, one sentence each.
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
        out: the run folder; None: `runs/<config>-<UTC time>`. One that holds this run is continued.
        workers: 0 for one on each processor; None: the configuration's.
        pool: "auto", "local" or "ray"; None: the configuration's.
        address: Ray cluster to join.
        quiet: print nothing.
        changes: values of the configuration by key, such as `generations=3` or `decks=["a.toml"]`; `lambda_`
            for lambda; of a section a dict: `final={"games": 4_000}`.

    Raises:
        ConfigError: a key or value is not allowed.
        RunError: the folder cannot be used, or holds another run.
        KeyboardInterrupt: it was stopped; the same call continues.
    """
    base = config if isinstance(config, RunConfig) else read_config(config, begins=True)
    chosen = placed(_changed(base, changes), workers, pool, address)
    refuse_without_memory(chosen)
    name = "run" if isinstance(config, RunConfig) else config
    path = default_folder(name) if out is None else Path(out)
    display = Display(_console(quiet))
    if not isinstance(config, RunConfig):
        display.say(unfollowed_address(find_config(config), address, 'address="auto"'))
    with _session(quiet), playing(chosen, display) as players, open_or_create(path, chosen) as folder:
        if not folder.committed:
            begin_or_refuse(chosen, 1, players, display.console, sure=True)
        carry_on(folder, players, display, chosen.address)
    runs, folder = read_runs([path]), peek_run(path)
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
    """Play a tournament.

    Args:
        entrants: as the command `tournament` takes them: `ilp:keep-alive`, `ilp:runs/NAME`, `hearthsim`, ...
        decks: names, files or deck codes; one text may hold several, separated by commas.
        games: for each two entrants and ordered pair of decks.
        style: its format: "round-robin" or "gauntlet".
        ruleset: how games are set up (docs/game.md).
        seats: "paired" or "fixed" (docs/tournament.md).
        sprt: a sequential test, such as "elo0=0 elo1=20"; "" for none.
        seed: of the deals.
        library: a folder of decks, which entrants with hands=predicted know beside the shipped ones.
        out: its folder; None: `runs/tournament-<hash>`.
        workers: 0 for one on each processor.
        pool: "auto", "local" or "ray".
        address: Ray cluster to join.
        quiet: print nothing.

    Raises:
        TournamentError, EntrantError, DeckError, UnknownNameError: these do not define a tournament.
        KeyboardInterrupt: it was stopped; the same call continues.
    """
    names = names_in(decks) if isinstance(decks, str) else tuple(decks)
    wanted = tournament_of(
        entrants,
        names,
        ruleset,
        sprt,
        _path(library),
        games=games,
        seats=one_of("seats", "kind of seats", seats, SEATS),
        style=one_of("style", "format", style, OFFERED_FORMATS),
        seed=seed,
    )
    return _played(wanted, "tournament", _path(out), place_of(pool, workers, address), quiet)


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
    """Play a champion, the hand-made profiles and all rivals against each other over all decks.

    Args:
        config: "arena", or the file of an arena.
        champion: another champion, as an entrant is written; "" for the file's.
        games: games a pairing, at least; 0: as in the file.
        seed: of the deals.
        out: its folder; None: `runs/arena-<hash>`.
        workers: 0 for one on each processor.
        pool: "auto", "local" or "ray".
        address: Ray cluster to join.
        quiet: print nothing.

    Raises:
        ConfigError, EntrantError, UnknownNameError: the file or an entrant cannot be used.
        KeyboardInterrupt: it was stopped; the same call continues.
    """
    wanted = arena_of(str(config), champion, games, seed)
    return _played(wanted, "arena", _path(out), place_of(pool, workers, address), quiet)


def write_report(
    *runs: str | Path, out: str | Path | None = None, workers: int = 0, quiet: bool = False
) -> WrittenReport:
    """Write a page on runs: findings, figures, tables.

    Args:
        runs: run folders, or folders of studies.
        out: the page; None: `report.html` in the run's or study's folder; of several, here.
        workers: for the games it plays; 0: one for each processor.
        quiet: print nothing.

    Raises:
        RunError: there is no such run, or these runs cannot be compared.
    """
    found = read_runs(runs)
    paths = [Path(run) for run in runs]
    console = _console(quiet)
    with _session(quiet):
        target = write_page(found, paths, _path(out), workers, console)
    return WrittenReport(target, found.individuals, last_population(found.individuals), found.problems)


def _changed(config: RunConfig, changes: Mapping[str, Any]) -> RunConfig:
    """A configuration with other values; a dict changes values of a section."""
    content = config.model_dump(by_alias=True)
    values = {name.removesuffix("_"): value for name, value in changes.items()}
    for name, value in values.items():
        if isinstance(value, Mapping) and isinstance(content.get(name), dict):
            values[name] = content[name] | dict(value)
    return config.changed(**values)


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _console(quiet: bool) -> Console:
    return Screen(file=io.StringIO(), force_jupyter=False) if quiet else output_console()


def _played(wanted: Tournament, kind: str, out: Path | None, place: Place, quiet: bool) -> PlayedTournament:
    """A tournament played to its end, as tables."""
    with _session(quiet):
        done = play_into(wanted, out, kind, place, _console(quiet))
    for warning in warnings_of(done.summary):
        warnings.warn(warning, stacklevel=3)
    read = done.read
    tables = read.ratings, read.results, read.matchups, read.decks
    return PlayedTournament(done.path, *tables, done.games, done.summary)


@contextlib.contextmanager
def _session(quiet: bool) -> Iterator[None]:
    """A stop by a signal as Python's own exception, where a command would exit; if quiet, no notices."""
    try:
        with compiling_quietly() if quiet else contextlib.nullcontext():
            yield
    except typer.Exit as stop:
        raise KeyboardInterrupt(f"stopped by signal {stop.exit_code - 128}") from None
