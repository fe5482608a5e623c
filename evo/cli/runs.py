"""Commands about evolution runs: evolve, resume, study, runs, export, config."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as RichTable

from evo.cli import options
from evo.cli.options import (
    AllowAgent,
    ConfigName,
    Overrides,
    Patches,
    RunAddress,
    RunDecks,
    RunPool,
    RunWorkers,
    Tensorboard,
    set_patches,
)
from evo.terminal.console import Column, FittingTable
from ilp_agent.shipped import shipped_configs

EXPORT_COLUMNS = (
    Column("run", 4),
    Column("profile", folds=True),
    Column("candidate", 2),
    Column("final", 1, right=True),
    Column("95% interval", 3, right=True),
    Column("file", folds=True),
)
CLUSTER_COLUMNS = (
    Column("profile", folds=True),
    Column("individual", 2),
    Column("stands for", 1),
    Column("file", folds=True),
)

Out = Annotated[
    Path | None, typer.Option(help="The run folder. (default: runs/<config>-<UTC time>)", show_default=False)
]
StudyOut = Annotated[
    Path | None, typer.Option("--out", help="The study's folder. (default: runs/<config>-study)")
]
Run = Annotated[Path, typer.Argument(help="A run folder.", autocompletion=options.complete_runs)]
RunOrStudy = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", help="A run folder, or the folder of a study.", autocompletion=options.complete_runs
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Start without asking, even if it takes more than a day.")]
Root = Annotated[Path, typer.Argument(help="The folder of run folders.")]
ProfilesOut = Annotated[Path, typer.Option("--out", help="The folder to write profile files into.")]


def evolve_command(
    config: ConfigName,
    out: Out = None,
    workers: RunWorkers = None,
    pool: RunPool = None,
    address: RunAddress = None,
    overrides: Overrides = None,
    patch: Patches = None,
    tensorboard: Tensorboard = False,
    resume: bool = typer.Option(
        False,
        "--resume",
        help="Continue the run if --out already holds it, for jobs that a cluster restarts.",
    ),
    yes: Yes = False,
    _agents: AllowAgent = None,
) -> None:
    """Evolve weights by coevolution in a new run folder (or resume one), and choose a champion."""
    from evo.cli.run_summary import confirm_long_runs, show_champion
    from evo.config.files import find_config, read_config, read_toml
    from evo.evolution.session import open_or_create
    from evo.play.pools import ignored_address_note, with_pool_settings
    from evo.sessions.estimates import check_memory
    from evo.sessions.progress import RunDisplay, default_folder, output_console
    from evo.sessions.session import evolve_to_end, open_run_pool
    from evo.storage.run_folder import RunNameError, check_empty

    sets = set_patches(overrides, patch)
    chosen = with_pool_settings(read_config(config, sets, begins=True), workers, pool, address)
    check_memory(chosen)
    path = out or default_folder(config)
    if resume and out is None:
        raise RunNameError("--resume needs --out, the run folder to create or continue")
    if not resume:
        check_empty(path)
    display = RunDisplay(output_console(), tensorboard)
    if not read_toml(find_config(config), "configuration"):
        display.say(f"{config} is empty: every value is its default (manaforge config show)")
    display.say(ignored_address_note(find_config(config), address))
    with open_run_pool(chosen, display) as players:
        if not (resume or chosen.address):
            confirm_long_runs(chosen, 1, players, display.console, yes)
        with open_or_create(path, chosen) as folder:
            evolve_to_end(folder, players, display, chosen.address)
    show_champion(path, display.console)


def resume_command(
    run: Run,
    generations: int = typer.Option(None, min=0, help="New total of generations after the first."),
    decks: RunDecks = "",
    workers: RunWorkers = None,
    pool: RunPool = None,
    address: RunAddress = None,
    tensorboard: Tensorboard = False,
    _agents: AllowAgent = None,
) -> None:
    """Continue a stopped run; the result is the same as without the stop."""
    from evo.cli.run_summary import show_champion
    from evo.cli.tables import restore_decks
    from evo.play.opponents import read_opponents
    from evo.play.pools import ignored_address_note, with_pool_settings
    from evo.sessions.progress import RunDisplay, output_console
    from evo.sessions.session import evolve_to_end, open_run_pool
    from evo.storage.run_folder import open_run, resolve_run_path

    display = RunDisplay(output_console(), tensorboard)
    run = resolve_run_path(run)
    restore_decks([run], decks)
    with open_run(run) as folder:
        display.say(ignored_address_note(run / "config.toml", address))
        chosen = with_pool_settings(folder.config, workers, pool, address)
        with open_run_pool(chosen, display, read_opponents(run, folder.config)) as players:
            evolve_to_end(folder, players, display, chosen.address, generations)
    show_champion(run, display.console)


def study_command(
    config: ConfigName,
    runs: int = typer.Option(..., min=1, max=10_000, help="Number of runs, each with its own seed."),
    out: StudyOut = None,
    workers: RunWorkers = None,
    pool: RunPool = None,
    address: RunAddress = None,
    overrides: Overrides = None,
    patch: Patches = None,
    tensorboard: Tensorboard = False,
    parallel: int = typer.Option(
        0, min=0, help="Runs at a time; 0: one, or as many as keep the nodes of a cluster busy."
    ),
    yes: Yes = False,
    _agents: AllowAgent = None,
) -> None:
    """Evolve several runs of one configuration, in folders 00, 01, ...; the same command continues them."""
    from engine import ManaforgeError
    from evo.analysis.listing import runs_below
    from evo.cli.run_summary import confirm_long_runs
    from evo.cli.tables import show_runs
    from evo.config.files import find_config, read_config
    from evo.evolution.session import concurrent_runs, open_study_run, run_concurrently
    from evo.play.pool import InterruptedRunError
    from evo.play.pools import ignored_address_note, with_pool_settings
    from evo.sessions.estimates import check_memory
    from evo.sessions.progress import RunDisplay, output_console
    from evo.sessions.session import evolve_to_end, open_run_pool
    from evo.storage.run_folder import RunError

    sets = set_patches(overrides, patch)
    chosen = with_pool_settings(read_config(config, sets, begins=True), workers, pool, address)
    check_memory(chosen)
    study = out or Path("runs") / f"{Path(config).stem}-study"
    if study.is_dir() and (study / "config.toml").exists():
        raise RunError(f"{study} is a single run; choose another --out for the study")
    display = RunDisplay(output_console(), tensorboard)
    display.say(ignored_address_note(find_config(config), address))
    with open_run_pool(chosen, display) as players:
        if not (study.exists() or chosen.address):
            confirm_long_runs(chosen, runs, players, display.console, yes)
        side_by_side = parallel or (concurrent_runs(players.workers) if chosen.address else 1)

        def evolve_run(number: int) -> None:
            own_display = display if side_by_side == 1 else display.of_run(f"{number:02d}")
            try:
                with open_study_run(study / f"{number:02d}", chosen, number) as folder:
                    evolve_to_end(folder, players, own_display, chosen.address)
            except ManaforgeError as error:
                if side_by_side > 1 and not isinstance(error, InterruptedRunError):
                    message = f"run {number:02d} failed: {error}; runs already started finish first"
                    display.console.print(message, markup=False, style="bold red")
                raise

        run_concurrently(evolve_run, runs, side_by_side)
    show_runs(runs_below(study), display.console)


def runs_command(
    root: Root = Path("runs"),
    as_data: bool = typer.Option(False, "--json", help="Print the list as JSON for machines."),
) -> None:
    """List run folders, tournaments, learning runs and experiments, with the state of each."""
    from evo.analysis.listing import learnings_and_experiments_below, runs_below, tournaments_below
    from evo.cli.tables import show_folders
    from evo.sessions.progress import output_console
    from evo.storage.run_folder import RunNameError

    if not root.is_dir():
        raise RunNameError(f"{root} is not a folder; manaforge evolve quickstart creates one with a run")
    if as_data:
        found = {
            "runs": runs_below(root),
            "tournaments": tournaments_below(root),
            "others": learnings_and_experiments_below(root),
        }
        print(json.dumps(found, indent=1))
        return
    show_folders(root, output_console())


def export_command(
    run: RunOrStudy,
    out: ProfilesOut,
    top: int = typer.Option(1, min=1, help="Number of candidates, from the best of the final down."),
    clusters: bool = typer.Option(
        False,
        help="Export instead the medoid of each cluster of the last population (of a study: of all).",
    ),
    decks: RunDecks = "",
) -> None:
    """Export the champion of a run, or its best candidates, as profile files; of a study, of every run."""
    from evo.analysis.export import cluster_profiles, study_profiles, write_profiles
    from evo.cli.tables import restore_decks
    from evo.sessions.progress import output_console

    restore_decks([run], decks)
    if clusters:
        rows = []
        for exported in write_profiles(cluster_profiles([run]), out):
            provenance = exported.profile.provenance
            cluster = provenance["cluster"]
            origin = "1 run" if cluster["runs"] == 1 else f"{cluster['runs']} runs"
            size = f"{cluster['size']} of {cluster['of']}, {origin}"
            if cluster["size"] == 1:
                size = f"itself, a single individual of {cluster['of']}"
            individual = f"{provenance['run']}, {provenance['candidate']}"
            rows.append([exported.profile.name, individual, size, str(exported.path)])
        output_console().print(FittingTable(CLUSTER_COLUMNS, rows))
        return
    rows = []
    for exported in write_profiles(study_profiles(run, top), out):
        provenance = exported.profile.provenance
        final = provenance.get("final")
        score = (
            [f"{final['win_rate']:.1%}", f"{final['low']:.1%} to {final['high']:.1%}"] if final else ["", ""]
        )
        own = [str(provenance["run"]), exported.profile.name, provenance["candidate"]]
        rows.append([*own, *score, str(exported.path)])
    output_console().print(FittingTable(EXPORT_COLUMNS, rows))


def show_config(
    config: str = typer.Argument(
        "",
        help=f"A file, or one of {', '.join(shipped_configs())}; without one, the defaults.",
        autocompletion=options.complete_configs,
    ),
    overrides: Overrides = None,
    as_toml: bool = typer.Option(False, "--toml", help="Print the complete configuration as TOML."),
    _agents: AllowAgent = None,
) -> None:
    """Print every value of a configuration with its unit and meaning."""
    from evo.config.files import escape_control_characters, read_config
    from evo.config.run_config import key_descriptions
    from evo.sessions.progress import output_console

    chosen = read_config(config, overrides or (), begins=True)
    if as_toml:
        print(escape_control_characters(chosen.to_toml()), end="")
        return
    table = RichTable("key", "value", "meaning")
    values = chosen.model_dump(mode="json", by_alias=True)
    for key, meaning in key_descriptions():
        section, _, name = key.rpartition(".")
        value = (values[section] if section else values)[name]
        text = ", ".join(map(_shown, value)) if isinstance(value, list) else str(value)
        if isinstance(value, bool) or value == "":
            text = json.dumps(value)  # in TOML notation
        table.add_row(key, text, meaning)
    output_console().print(table)


def _shown(item: object) -> str:
    """Text of an item of a configuration list: the item itself, or the values of a table."""
    return " ".join(map(str, item.values())) if isinstance(item, dict) else str(item)


def print_schema() -> None:
    """Print the JSON schema of run configurations, for editors."""
    from evo.config.run_config import json_schema

    print(json.dumps(json_schema(), indent=1))
