"""Commands that read runs: crossplay, report, watch, serve."""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evo.cli import options
from evo.cli.options import (
    OUT_HELP,
    Address,
    AllowAgent,
    Patches,
    PoolName,
    RunDecks,
    Workers,
    decks_with_options,
)
from evo.terminal.console import Column, FittingTable

if TYPE_CHECKING:
    import pandas as pd

    from evo.figures.page import Section
    from evo.stats.standings import Standings


CLUSTER_COLUMNS = (
    Column("cluster", 1, right=True),
    Column("name"),
    Column("size", 3, right=True),
    Column("runs", 4, right=True),
    Column("silhouette", 5, right=True),
    Column("stability", 6, right=True),
    Column("score", 2, right=True),
)

RunPaths = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        help="Run folders, or folders of studies.",
        show_default=False,
        autocompletion=options.complete_runs,
    ),
]
CrossplayOut = Annotated[Path | None, typer.Option("--out", help=OUT_HELP.format("crossplay"))]
ReportOut = Annotated[
    Path | None,
    typer.Option(
        "--out", help="HTML file. (default: report.html in the folder of the run or study; for several, here)"
    ),
]


def crossplay_command(
    runs: RunPaths,
    games: int = typer.Option(2, min=2, help="Games per pairing and ordered pair of decks; even."),
    out: CrossplayOut = None,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    decks: RunDecks = "",
    _agents: AllowAgent = None,
) -> None:
    """Play a round robin of the runs' last populations, and compare clusters of individuals by decks."""
    import numpy as np

    from engine.decks import coverage_sentence
    from evo.analysis.clustering import cluster_weights, compare_clusters, size_text, sizes_of
    from evo.analysis.crossplay import cluster_scores, clusters_of, crossplay
    from evo.analysis.report import crossplay_sections
    from evo.analysis.sentences import comparisons_sentence
    from evo.cli.run_summary import read_runs_without_warnings
    from evo.cli.tables import restore_decks
    from evo.play.entrants import check_parameters_unchanged
    from evo.play.pools import pool_settings
    from evo.sessions.progress import output_console, print_problems
    from evo.sessions.session import play_and_write
    from evo.storage.files import csv_bytes, write_atomically

    restore_decks(runs, decks)
    place = pool_settings(pool, workers, address)
    found = read_runs_without_warnings(runs)
    for name, config in found.configs.items():
        check_parameters_unchanged(config, name)
    tournament, population = crossplay(found, runs, games)
    clusters = cluster_weights(population)
    labels = clusters_of(population, clusters.members)
    compared: dict[str, pd.DataFrame] = {}

    def sections(games: "pd.DataFrame", read: "Standings") -> list["Section"]:
        compared["table"] = compare_clusters(games, labels)
        scores = cluster_scores(read.ratings, tournament.names, labels)
        decks = [deck.name for deck in tournament.decks]
        return crossplay_sections(clusters, found.vector, compared["table"], scores, decks, found.problems)

    done = play_and_write(tournament, out, "crossplay", place, output_console(), sections)
    comparisons = compared["table"]
    renamed = {"group": "cluster", "other": "other_cluster"}
    for name, table in (("clusters", clusters.summary), ("comparisons", comparisons)):
        content = csv_bytes(table.rename(columns=renamed))
        write_atomically(done.path / f"{name}.csv", content, done.path / f"{name}.csv.tmp")
    print_problems(done.console, found.problems)
    summary = []
    scores = cluster_scores(done.read.ratings, tournament.names, labels)
    for cluster in clusters.summary.itertuples():
        known = (cluster.silhouette if cluster.size > 1 else np.nan), cluster.stability
        numbers = *("" if np.isnan(one) else f"{one:.2f}" for one in known), f"{scores[cluster.group]:.1%}"
        size = size_text(cluster.size) if cluster.size == 1 else str(cluster.size)
        summary.append([str(cluster.group), cluster.name, size, str(cluster.runs), *numbers])
    done.console.print(FittingTable(CLUSTER_COLUMNS, summary))
    for note in clusters.notes:
        done.console.print(note, markup=False, highlight=False)
    done.console.print(comparisons_sentence(comparisons, sizes_of(clusters)), markup=False, highlight=False)
    done.console.print(coverage_sentence(tournament.decks), markup=False, highlight=False)
    done.console.print(f"written: {done.path}/tournament.html, clusters.csv, comparisons.csv", markup=False)


def report_command(
    runs: RunPaths,
    out: ReportOut = None,
    workers: Workers = 0,
    decks: RunDecks = "",
    _agents: AllowAgent = None,
) -> None:
    """Write an HTML report on runs: findings, figures, tables, and the commands that repeat the runs."""
    from evo.cli.run_summary import read_runs_without_warnings
    from evo.cli.tables import restore_decks
    from evo.sessions.progress import output_console
    from evo.sessions.session import write_report_page

    restore_decks(runs, decks)
    write_report_page(read_runs_without_warnings(runs), runs, out, workers, output_console())


def watch_command(
    runs: RunPaths,
    every: float = typer.Option(2.0, min=0.1, help="Seconds between updates."),
    once: bool = typer.Option(False, help="Print the state once and exit (the default without a terminal)."),
) -> None:
    """Watch runs live: time left, fitness, ages, step sizes and weights by generation; q quits."""
    from evo.cli.run_summary import full_views, read_run_views, watch_runs
    from evo.sessions.progress import output_console

    console = output_console()
    if once or not console.is_terminal:
        console.print(full_views(*read_run_views(runs)))
        return
    watch_runs(console, runs, every)


LOOPBACK = ("127.0.0.1", "localhost", "::1")

Root = Annotated[
    Path, typer.Argument(metavar="RUNS", help="Folder with runs and tournaments.", show_default=True)
]
Opponents = Annotated[
    list[str] | None,
    typer.Option(
        "--opponent",
        metavar="ENTRANT",
        help="Another agent to play against, with --play; may repeat.",
        autocompletion=options.complete_entrants,
    ),
]

PlayedDecks = Annotated[
    str,
    typer.Option(
        "--decks",
        metavar="DECKS",
        help="Decks to offer first, with --play, separated by commas: files or deck codes.",
        autocompletion=options.complete_decks,
    ),
]

PuzzleFile = Annotated[
    Path | None,
    typer.Option(
        "--puzzles",
        metavar="FILE",
        help="With --play: lethal puzzles, a file of manaforge solve --puzzles. (default: shipped ones)",
        show_default=False,
    ),
]


def serve_command(
    root: Root = Path("runs"),
    host: str = typer.Option(
        "127.0.0.1", help="Address to listen on; the default accepts connections from this machine only."
    ),
    port: int = typer.Option(8000, min=0, max=65_535, help="Port; 0: any free one."),
    play: bool = typer.Option(
        False, "--play", help="Also offer games against agents: shipped ones, and the champions of RUNS."
    ),
    opponents: Opponents = None,
    decks: PlayedDecks = "",
    puzzles: PuzzleFile = None,
    patch: Patches = None,
    _agents: AllowAgent = None,
) -> None:
    """Show runs, tournaments and games live in a browser; read-only.

    The printed address contains a token; requests without it are refused.
    """
    import socket

    from engine.errors import WrongValueError
    from evo.config.files import split_names
    from evo.play.entrants import find_entrant
    from evo.serving.app import make_app, make_server
    from evo.sessions.progress import output_console

    if not root.is_dir():
        raise WrongValueError(f"{root} is not a folder; manaforge evolve quickstart creates one with a run")
    if not host:
        raise WrongValueError("--host needs an address, such as 0.0.0.0 for all interfaces")
    if opponents and not play:
        raise WrongValueError("--opponent needs --play")
    if decks and not play:
        raise WrongValueError("--decks needs --play")
    if puzzles is not None and not play:
        raise WrongValueError("--puzzles needs --play")
    if patch and not play:
        raise WrongValueError("--patch needs --play")
    for text in opponents or ():
        find_entrant(text)
    token = secrets.token_urlsafe(24)
    names = frozenset(LOOPBACK) if host in LOOPBACK else frozenset()
    offered = _patched_decks(split_names(decks), patch) if patch else split_names(decks)
    app = make_app(root, token, names, (opponents or []) if play else None, offered, puzzles)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # connections are possible once the address is printed
    except (OSError, UnicodeError) as error:
        listener.close()
        said = getattr(error, "strerror", None) or error
        raise WrongValueError(
            f"cannot listen on {host}, port {port}: {said}; choose another --port or --host"
        ) from None
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/?token={token}"
    screen = output_console()
    screen.print(f"serving {root}; press Ctrl-C to stop. The address, with its token:", markup=False)
    screen.print(address, markup=False, soft_wrap=True)
    with listener:
        make_server(app).run([listener])


def _patched_decks(given: Sequence[str], patch: Sequence[str]) -> tuple[str, ...]:
    """The given decks, then the shipped ones, all of them patched.

    Raises:
        PatchError, UnknownNameError, DeckError: as of `evo.cli.options.decks_with_options`.
    """
    from engine import find_deck, shipped_decks
    from evo.serving.playpages import DEFAULT_DECKS

    own = {find_deck(text).name for text in given}
    shipped = dict.fromkeys((*DEFAULT_DECKS, *shipped_decks()))
    return decks_with_options([*given, *(name for name in shipped if name not in own)], patches=patch)
