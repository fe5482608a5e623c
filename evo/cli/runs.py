"""The commands around runs: evolve, resume, study, export."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from engine import ManaforgeError
from evo.analysis.export import best_profiles, cluster_profiles, write_profiles
from evo.analysis.tables import find_runs
from evo.cli import completion
from evo.cli.decks import give_decks_to
from evo.cli.estimate import begin_or_refuse
from evo.cli.listing import show_runs
from evo.cli.options import (
    ConfigName,
    Overrides,
    RunAddress,
    RunDecks,
    RunPool,
    RunWorkers,
    Tensorboard,
    placed,
)
from evo.cli.progress import Display, default_folder, output_console
from evo.cli.sessions import carry_on, playing
from evo.config import find_config, read_config, read_toml
from evo.evolution.champion import THESIS_SEVEN
from evo.evolution.panel import panel_sentence
from evo.evolution.study import open_member, open_or_create, run_side_by_side, runs_at_a_time
from evo.play.pool import InterruptedRunError
from evo.storage.store import RunError, check_vacant, open_run, peek_run, run_path
from ilp_agent import WeightVector
from rivals import read_agent_profile

MOST_COLUMNS = 8
"""Most weights whose table fits a terminal with a column each."""

Out = Annotated[
    Path | None, typer.Option(help="The run folder. (default: runs/<config>-<UTC time>)", show_default=False)
]
StudyOut = Annotated[
    Path | None, typer.Option("--out", help="The study's folder. (default: runs/<config>-study)")
]
Run = Annotated[Path, typer.Argument(help="A run folder.", autocompletion=completion.runs)]
RunOrStudy = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", help="A run folder, or the folder of a study.", autocompletion=completion.runs
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Begin without asking, even if it takes more than a day.")]
ProfilesOut = Annotated[Path, typer.Option("--out", help="The folder to write profile files into.")]


def evolve_command(
    config: ConfigName,
    out: Out = None,
    workers: RunWorkers = None,
    pool: RunPool = None,
    address: RunAddress = None,
    overrides: Overrides = None,
    tensorboard: Tensorboard = False,
    resume: bool = typer.Option(
        False,
        "--resume",
        help="Continue the run if --out holds it already: for jobs that a cluster restarts.",
    ),
    yes: Yes = False,
) -> None:
    """Evolve weights by coevolution into a new run folder, and choose a champion."""
    chosen = placed(read_config(config, overrides or ()), workers, pool, address)
    path = out or default_folder(config)
    if resume and out is None:
        raise RunError("--resume needs --out: the folder that all starts share")
    if not resume:
        check_vacant(path)
    display = Display(output_console(), tensorboard)
    if not read_toml(find_config(config), "configuration"):
        note = f"{config} is empty: every value is its default (manaforge config show)"
        display.console.print(note, markup=False, highlight=False)
    with playing(chosen, display) as players:
        if not (resume or chosen.address):
            begin_or_refuse(chosen, 1, players, display.console, yes)
        with open_or_create(path, chosen) as folder:
            carry_on(folder, players, display, chosen.address)
    show_champion(path, display.console)


def resume_command(
    run: Run,
    generations: int = typer.Option(None, min=0, help="New total of generations after the first."),
    decks: RunDecks = "",
    workers: RunWorkers = None,
    pool: RunPool = None,
    address: RunAddress = None,
    tensorboard: Tensorboard = False,
) -> None:
    """Continue a run where it stopped; the result is the same as without the stop."""
    display = Display(output_console(), tensorboard)
    run = run_path(run)
    give_decks_to([run], decks)
    with open_run(run) as folder:
        chosen = placed(folder.config, workers, pool, address)
        with playing(chosen, display) as players:
            carry_on(folder, players, display, chosen.address, generations)
    show_champion(run, display.console)


def study_command(
    config: ConfigName,
    runs: int = typer.Option(..., min=1, max=10_000, help="Number of runs, each with its own seed."),
    out: StudyOut = None,
    workers: RunWorkers = None,
    pool: RunPool = None,
    address: RunAddress = None,
    overrides: Overrides = None,
    tensorboard: Tensorboard = False,
    parallel: int = typer.Option(
        0, min=0, help="Runs at a time; 0: one, or on a cluster as many as keep its nodes busy."
    ),
    yes: Yes = False,
) -> None:
    """Evolve several runs of one configuration, in folders 00, 01, ...; the same command again continues."""
    chosen = placed(read_config(config, overrides or ()), workers, pool, address)
    study = out or Path("runs") / f"{Path(config).stem}-study"
    if study.is_dir() and (study / "config.toml").exists():
        raise RunError(f"{study} is a single run; choose another --out for the study")
    display = Display(output_console(), tensorboard)
    with playing(chosen, display) as players:
        if not (study.exists() or chosen.address):
            begin_or_refuse(chosen, runs, players, display.console, yes)
        side_by_side = parallel or (runs_at_a_time(players.workers) if chosen.address else 1)

        def evolve_run(number: int) -> None:
            own_display = display if side_by_side == 1 else display.of_run(f"{number:02d}")
            try:
                with open_member(study / f"{number:02d}", chosen, number) as folder:
                    carry_on(folder, players, own_display, chosen.address)
            except ManaforgeError as error:
                if side_by_side > 1 and not isinstance(error, InterruptedRunError):
                    message = f"run {number:02d} failed: {error}; runs already started finish first"
                    display.console.print(message, markup=False, style="bold red")
                raise

        run_side_by_side(evolve_run, runs, side_by_side)
    show_runs(study, display.console)


def export_command(
    run: RunOrStudy,
    out: ProfilesOut,
    top: int = typer.Option(1, min=1, help="Number of candidates, from the best of the final on."),
    clusters: bool = typer.Option(
        False,
        help="Instead the medoid of each cluster of the last population, or of a study's last populations.",
    ),
    decks: RunDecks = "",
) -> None:
    """Write the champion of a run, or its best candidates, as profiles; of a study, those of every run."""
    give_decks_to([run], decks)
    if clusters:
        table = RichTable("profile", "individual", "of cluster", "file")
        for exported in write_profiles(cluster_profiles([run]), out):
            provenance = exported.profile.provenance
            cluster = provenance["group"]
            size = f"{cluster['size']} of {cluster['of']}, {cluster['runs']} runs"
            individual = Text(f"{provenance['run']}, {provenance['candidate']}")
            table.add_row(exported.profile.name, individual, size, Text(str(exported.path)))
        output_console().print(table)
        return
    table = RichTable("profile", "candidate", "final", "95% interval", "file")
    best = [profile for path in find_runs([run]).values() for profile in best_profiles(path, top)]
    for exported in write_profiles(best, out):
        provenance = exported.profile.provenance
        final = provenance.get("final")
        score = (
            [f"{final['win_rate']:.1%}", f"{final['low']:.1%} to {final['high']:.1%}"] if final else ["", ""]
        )
        table.add_row(exported.profile.name, provenance["candidate"], *score, Text(str(exported.path)))
    output_console().print(table)


def show_champion(path: Path, console: Console) -> None:
    """Print the champion's weights, its record, and its games against the thesis's seven."""
    profile = read_agent_profile(path / "champion.toml")
    provenance: Mapping[str, Any] = profile.provenance
    config = peek_run(path).config
    title = f"champion: {provenance.get('candidate', '')}"
    console.print(_weights_table(profile.weights, config.inert_weights, title))
    final = provenance.get("final")
    if isinstance(final, dict):
        console.print(
            f"final: {final['win_rate']:.1%} of {final['games']:,} games against the other candidates "
            f"(95% interval {final['low']:.1%} to {final['high']:.1%})",
            highlight=False,
        )
    games = pd.read_parquet(path / "final.parquet")
    rows = games[games["stage"] == "thesis"]
    if len(rows):
        table = RichTable("against", "games", "won", "drawn", "lost", "win rate", "95% interval", "")
        for row in rows.itertuples():
            verdict = verdict_of(row.low, row.high)
            interval = f"{row.low:.1%} to {row.high:.1%}"
            counts = [f"{count:,}" for count in (row.games, row.wins, row.draws, row.losses)]
            table.add_row(row.opponent, *counts, f"{row.score:.1%}", interval, verdict)
        console.print(table)
        beaten = int((rows["low"] > 0.5).sum())
        console.print(f"beats {beaten} of the thesis's {len(THESIS_SEVEN)}", style="bold", highlight=False)
        panel = peek_run(path).manifest().get("panel")
        sentence = panel_sentence(panel) if isinstance(panel, dict) else ""
        if sentence:
            console.print(sentence, highlight=False)
    console.print(
        f"profile: {path / 'champion.toml'}; play it as {config.agent}:{path}",
        soft_wrap=True,
        markup=False,
    )


def verdict_of(low: float, high: float) -> str:
    """The verdict on an opponent, from the interval of the score per game against it."""
    return "beaten" if low > 0.5 else "lost to" if high < 0.5 else "undecided"


def _weights_table(vector: WeightVector, inert: frozenset[str], title: str) -> RichTable:
    """Weights as evolved and scale-free: a column each if they fit a terminal, else a row each."""
    names, active = vector.names(), vector.active(inert)
    values = [f"{value:.3f}" for value in vector.array]
    shares = [f"{active[name]:.1%}" if name in active else "inert" for name in names]
    if len(names) <= MOST_COLUMNS:
        table = RichTable("weight", *names, title=title, title_justify="left")
        table.add_row("as evolved", *values)
        table.add_row("share of sum", *shares)
        return table
    table = RichTable("weight", "as evolved", "scale-free", "for", title=title, title_justify="left")
    for row in zip(names, values, shares, vector.MEANINGS, strict=True):
        table.add_row(*row)
    return table
