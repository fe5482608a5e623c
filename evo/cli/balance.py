"""The command balance: patches that make a field fair."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evo.cli.options import MOST_WORKERS, OUT_HELP, Address, AsJson, Overrides, PoolName
from evo.terminal.console import Column, FittingTable
from ilp_agent.shipped import configs_folder

if TYPE_CHECKING:
    import pandas as pd


BALANCE_COLUMNS = (
    Column("patch", right=True),
    Column("edits", folds=True),
    Column("played by", shortest=12),
    Column("distance", 1, right=True),
    Column("worst", 3, right=True),
    Column("within", right=True),
    Column("fair", 4, right=True),
    Column("unfair", 4, right=True),
)
"""Headings of the table; within: matchups whose score is fair; fair, unfair: whose interval surely is."""

BalanceConfigFile = Annotated[
    Path,
    typer.Argument(
        metavar="CONFIG", help="Configuration file, or balance (docs/balance.md).", show_default=False
    ),
]
SHIPPED = "balance"
"""Name of the shipped configuration."""

BalanceOut = Annotated[
    Path | None, typer.Option("--out", help=OUT_HELP.format("balance"), show_default=False)
]


def balance_command(
    config: BalanceConfigFile,
    out: BalanceOut = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=0,
            max=MOST_WORKERS,
            help="Workers; 0: one per processor. (default: the configuration's)",
        ),
    ] = None,
    pool: PoolName = "auto",
    address: Address = "",
    overrides: Overrides = None,
    as_data: AsJson = False,
) -> None:
    """Search the patches that make a field fair with few edits, and measure them on deals of their own."""
    from evo.config.files import read_config_as
    from evo.config.run_config import ConfigOptionError
    from evo.experiments.balance import (
        Balance,
        BalanceConfig,
        SearchGames,
        chosen_for_measurement,
        search_patches,
    )
    from evo.experiments.balance_report import (
        adaptation_config,
        balance_page,
        balance_sentences,
        kept_evolutions,
        measure_front,
        summarise,
    )
    from evo.play.entrants import find_entrant
    from evo.play.pools import pool_settings
    from evo.sessions.experiments import ExperimentGames, open_experiment_games, print_tables
    from evo.storage.files import csv_bytes

    shipped = configs_folder() / f"{config}.toml"
    file = shipped if str(config) == SHIPPED and not config.exists() else config
    if not file.is_file():
        raise ConfigOptionError(f"no configuration file {config}; {SHIPPED} is shipped (docs/balance.md)")
    sets = [*(overrides or ()), *([f"workers={workers}"] if workers is not None else [])]
    chosen = read_config_as(BalanceConfig, file, sets)
    place = pool_settings(pool, chosen.workers, address)
    balance = Balance.of(chosen)
    for keys in chosen.measure:
        if keys.adapt_games:
            adaptation_config(balance, balance.printed, keys)  # refused before the first game
    players = {text: find_entrant(text).player for text in chosen.entrants}
    definition = {
        "decks": [deck.identity for deck in balance.decks],
        "players": [[text, *one.identity(balance.decks)] for text, one in players.items()],
        "edits": [list(edit) for edit in balance.edits],
        "config": chosen.model_dump(mode="json", exclude={"workers", "decks", "edits"}),
    }
    games_of = ExperimentGames(
        "balance", definition, out, list(players.values()), balance.decks, balance.total
    )
    with open_experiment_games(games_of, place, as_data) as experiment:
        experiment.print(f"{len(balance.edits)} numbers may change; known matchups are not played again")
        folder, play, advance = experiment.folder, experiment.play, experiment.counter.advance
        front = search_patches(balance, SearchGames(balance, folder, play, advance).evaluate)
        genomes = chosen_for_measurement(balance, front)
        evolve = kept_evolutions(balance, folder, play, advance)
        measured, gains = measure_front(balance, genomes, experiment.cached_play, evolve)
        summary = summarise(measured, chosen.tolerance)
        command = ["manaforge", "balance", str(config), *(word for text in sets for word in ("--set", text))]
        page = balance_page(balance, measured, summary, gains, shlex.join(command))
        experiment.write("balance.html", page)
        for name, table in (("patches", summary), ("measured", measured), ("adapted", gains)):
            experiment.write(f"{name}.csv", csv_bytes(table))
        for number, genome in enumerate(genomes, 1):
            texts = json.dumps(balance.patch(genome).texts, ensure_ascii=False)
            folder.write(f"patches/{number}.toml", f"patches = {texts}\n".encode())
    sentences = balance_sentences(summary, chosen.tolerance)
    if as_data:
        tables = {"patches": summary, "matchups": measured, "adaptations": gains}
        print_tables({"verdict": " ".join(sentences)}, tables)
        return
    experiment.print(_balance_table(summary))
    for sentence in sentences:
        experiment.print(sentence)
    experiment.print_written()
    if genomes:
        experiment.print(f"play with a patch: --patch {folder.path}/patches/1.toml")


def _balance_table(summary: "pd.DataFrame") -> FittingTable:
    rows = [
        [
            str(row.patch),
            row.edits or "none",
            row.player,
            f"{row.distance:.1%}",
            f"{row.worst:.1%}",
            f"{row.within} of {row.matchups}",
            str(row.fair),
            str(row.unfair),
        ]
        for row in summary.itertuples()
    ]
    return FittingTable(BALANCE_COLUMNS, rows, "patches, on deals that the search never saw")
