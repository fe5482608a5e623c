"""A balance search from its configuration to its files, for the command and for Python."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from rich.console import Console

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
from evo.play.pools import PoolSettings
from evo.sessions.experiments import ExperimentGames, ExperimentSession, open_experiment_games
from evo.storage.files import csv_bytes
from ilp_agent.shipped import configs_folder, shipped_balance


@dataclass(frozen=True)
class BalanceResult:
    """What a search found.

    Attributes:
        session: the experiment, closed.
        patches: from `summarise`.
        matchups: from `measure_front`.
        adaptations: likewise.
        sentences: what they say.
        nearest: number of the patch that was nearest to the targets in the search; 0 if it found none.
    """

    session: ExperimentSession
    patches: pd.DataFrame
    matchups: pd.DataFrame
    adaptations: pd.DataFrame
    sentences: list[str]
    nearest: int


def read_balance_config(text: str | Path, overrides: Sequence[str] = ()) -> BalanceConfig:
    """Read a configuration file, or a shipped one by name.

    Raises:
        ConfigError: there is no such file, or a value is not allowed.
    """
    file = Path(text)
    if not file.is_file() and str(text) in shipped_balance():
        file = configs_folder() / f"{text}.toml"
    if not file.is_file():
        shipped = ", ".join(shipped_balance())
        raise ConfigOptionError(f"no configuration file {text}; {shipped} are shipped (docs/balance.md)")
    return read_config_as(BalanceConfig, file, overrides)


def run_balance(
    config: BalanceConfig, command: str, out: Path | None, place: PoolSettings, console: Console
) -> BalanceResult:
    """Search patches, measure the front, and write the files; continues a search that was stopped.

    Args:
        config: the search.
        command: command that repeats it.
        out: its folder; None: `runs/balance-HASH`.
        place: kind of pool, number of workers, and address.
        console: for texts to users.

    Raises:
        ConfigError: an agent with `adapt_games` has no weights that can evolve.
        ExperimentError: the folder cannot be used.
        SessionStopped: a signal stopped the games.
    """
    balance = Balance.of(config)
    for keys in config.measure:
        if keys.adapt_games:
            adaptation_config(balance, balance.printed, keys)  # refused before the first game
    definition = {
        "decks": [deck.identity for deck in balance.decks],
        "players": [[text, *one.identity(balance.decks)] for text, one in balance.players.items()],
        "edits": [list(edit) for edit in balance.edits],
        "config": config.model_dump(mode="json", exclude={"workers", "decks", "edits"}),
    }
    players = list(balance.players.values())
    games = ExperimentGames("balance", definition, out, players, balance.decks, balance.total)
    with open_experiment_games(games, place, console) as session:
        session.print(f"numbers that may change: {len(balance.edits)}; known matchups are not played again")
        folder, play, advance = session.folder, session.play, session.counter.advance
        front = search_patches(balance, SearchGames(balance, folder, play, advance).evaluate)
        genomes = chosen_for_measurement(balance, front)
        evolve = kept_evolutions(folder, play, advance)
        matchups, adaptations = measure_front(balance, genomes, session.cached_play, evolve)
        patches = summarise(matchups, config.tolerance)
        said = balance_sentences(patches, adaptations, len(genomes), config.tolerance)
        session.write("balance.html", balance_page(balance, matchups, patches, adaptations, said, command))
        for name, table in (("patches", patches), ("measured", matchups), ("adapted", adaptations)):
            session.write(f"{name}.csv", csv_bytes(table))
        for number, genome in enumerate(genomes, 1):
            texts = json.dumps(balance.patch(genome).texts, ensure_ascii=False)
            folder.write(f"patches/{number}.toml", f"patches = {texts}\n".encode())
    return BalanceResult(session, patches, matchups, adaptations, said, len(genomes))
