"""The command balance: patches that make a field fair."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evo.cli.experiments import STOP_MESSAGE
from evo.cli.options import MOST_WORKERS, OUT_HELP, AsJson, Overrides
from evo.terminal.console import Column, FittingTable
from ilp_agent.shipped import configs_folder

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from evo.experiments.balance import Genome

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
            help="Threads; 0: one per processor. (default: the configuration's)",
        ),
    ] = None,
    overrides: Overrides = None,
    as_data: AsJson = False,
) -> None:
    """Search the patches that make a field fair with few edits, and measure them on deals of their own."""
    from evo.config.files import read_config_as
    from evo.config.run_config import ConfigOptionError
    from evo.experiments.balance import (
        Balance,
        BalanceConfig,
        balance_page,
        balance_sentence,
        chosen_for_measurement,
        measure_front,
        search_patches,
        summarise,
    )
    from evo.experiments.folder import open_experiment
    from evo.play.entrants import find_entrant
    from evo.play.pools import PoolSettings
    from evo.sessions.progress import GameCounter, output_console, print_problems
    from evo.sessions.session import open_session_pool, print_json
    from evo.storage.files import csv_bytes, json_digest

    shipped = configs_folder() / f"{config}.toml"
    file = shipped if str(config) == SHIPPED and not config.exists() else config
    if not file.is_file():
        raise ConfigOptionError(f"no configuration file {config}; {SHIPPED} is shipped (docs/balance.md)")
    sets = [*(overrides or ()), *([f"workers={workers}"] if workers is not None else [])]
    chosen = read_config_as(BalanceConfig, file, sets)
    balance = Balance.of(chosen)
    players = {text: find_entrant(text).player for text in dict.fromkeys((chosen.pilot, *chosen.measure))}
    definition = {
        "decks": [deck.identity for deck in balance.decks],
        "players": [
            [text, *one.versioned_kind(balance.decks), *one.row, *one.beside_row]
            for text, one in players.items()
        ],
        "edits": [list(edit) for edit in balance.edits],
        "config": chosen.model_dump(mode="json", exclude={"workers", "decks", "edits"}),
    }
    path = out or Path("runs") / f"balance-{json_digest(definition)[:8]}"
    console = output_console(stderr=as_data)
    a_candidate = len(balance.pairs) * chosen.games
    a_generation = chosen.population * a_candidate
    measuring = (1 + chosen.most_measured) * len(chosen.measure) * len(balance.pairs) * chosen.measure_games
    total = (1 + chosen.generations) * a_generation + measuring
    said = f"{path}: {len(balance.edits)} numbers may change, at most {total:,} games to play"
    console.print(said, markup=False, highlight=False)
    counter = GameCounter(console, total)
    place = PoolSettings("local", chosen.workers, "")
    with (
        open_experiment(path, "balance", definition) as folder,
        open_session_pool(place, list(players.values()), balance.decks, counter, STOP_MESSAGE) as pool,
    ):
        print_problems(console, folder.problems)
        generation = 0

        def evaluate(genomes: "Sequence[Genome]") -> "dict[Genome, np.ndarray]":
            """Scores of a generation's new candidates, from the folder if it has them."""
            nonlocal generation
            name, generation = f"points/{generation:04d}.json", generation + 1
            known = folder.read_json_file(name)
            if known.get("candidates") != [list(genome) for genome in genomes]:
                scores = [
                    balance.points(
                        genome,
                        players[chosen.pilot],
                        0,
                        chosen.games,
                        lambda roster, games: pool.play(roster, games, counter.advance),
                    ).mean(axis=1)
                    for genome in genomes
                ]
                known = {
                    "candidates": [list(genome) for genome in genomes],
                    "scores": [list(one) for one in scores],
                }
                folder.commit_file(name, f"{json.dumps(known)}\n".encode())
                counter.advance(a_generation - len(genomes) * a_candidate)
            else:
                counter.advance(a_generation)
            return dict(zip(genomes, map(_array, known["scores"]), strict=True))

        front = search_patches(balance, evaluate)
        genomes = chosen_for_measurement(balance, front)
        measured = measure_front(balance, genomes, folder.caching_play(pool, counter.advance))
        summary = summarise(measured, chosen.tolerance)
        command = ["manaforge", "balance", str(config), *(word for text in sets for word in ("--set", text))]
        folder.write("measured.csv", csv_bytes(measured))
        folder.write("patches.csv", csv_bytes(summary))
        for number, genome in enumerate(genomes, 1):
            texts = json.dumps(balance.patch(genome).texts, ensure_ascii=False)
            folder.write(f"patches/{number}.toml", f"patches = {texts}\n".encode())
        folder.write("balance.html", balance_page(balance, measured, summary, shlex.join(command)))
    sentence = balance_sentence(summary, chosen.tolerance)
    if as_data:
        tables = {
            name: json.loads(table.to_json(orient="records"))
            for name, table in (("patches", summary), ("matchups", measured))
        }
        print_json({"verdict": sentence, **tables})
        return
    console.print(_balance_table(summary))
    console.print(sentence, markup=False, highlight=False)
    files = "balance.html, patches.csv, measured.csv, patches/NUMBER.toml for --patch"
    console.print(f"written: {path}/{files}", markup=False, highlight=False)


def _array(scores: Sequence[float]) -> "np.ndarray":
    import numpy as np

    return np.array(scores)


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
