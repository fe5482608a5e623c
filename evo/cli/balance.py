"""The command balance: patches that make a field fair."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evo.cli.options import MOST_WORKERS, OUT_HELP, Address, AllowAgent, AsJson, Overrides, PoolName
from evo.terminal.console import Column, FittingTable

if TYPE_CHECKING:
    import pandas as pd


BALANCE_COLUMNS = (
    Column("patch", right=True),
    Column("edits", folds=True),
    Column("played by", folds=True),
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
        metavar="CONFIG",
        help="Configuration file, or a shipped one, such as balance (docs/balance.md).",
        show_default=False,
    ),
]

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
    _agents: AllowAgent = None,
) -> None:
    """Search the patches that make a field fair with few edits, and measure them on deals of their own."""
    from evo.play.pools import pool_settings
    from evo.sessions.balance import read_balance_config, run_balance
    from evo.sessions.experiments import print_tables
    from evo.sessions.progress import output_console

    sets = [*(overrides or ()), *([f"workers={workers}"] if workers is not None else [])]
    chosen = read_balance_config(config, sets)
    place = pool_settings(pool, chosen.workers, address)
    command = ["manaforge", "balance", str(config)]
    command += [word for text in overrides or () for word in ("--set", text)]
    result = run_balance(chosen, shlex.join(command), out, place, output_console(stderr=as_data))
    if as_data:
        tables = {"patches": result.patches, "matchups": result.matchups, "adaptations": result.adaptations}
        print_tables({"verdict": " ".join(result.sentences)}, tables)
        return
    result.session.print(_balance_table(result.patches))
    for sentence in result.sentences:
        result.session.print(sentence)
    result.session.print_written()
    if result.nearest:
        file = f"{result.session.folder.path}/patches/{result.nearest}.toml"
        result.session.print(f"play with the nearest patch: --patch {file}")


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
