"""A run's champion, shown at its end."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleRenderable
from rich.table import Table as RichTable

from engine.tables import Column, FittingTable
from evo.analysis.running import solved_sentence, solved_turns
from evo.config import RunConfig
from evo.evolution.champion import CHAMPION_AGAINST_SEVEN, THESIS_SEVEN
from evo.evolution.panel import panel_sentence
from evo.play.notation import entrant_text
from evo.stats.ratings import verdict_of
from evo.storage.champion import read_final
from evo.storage.opening import peek_run
from ilp_agent import WeightVector
from rivals import read_agent_profile

MOST_COLUMNS, WIDE = 8, 90
"""Most weights whose table has a column each, and the width that it needs."""

SHARES = "share of sum"
"""What weights are called that are divided by their sum, at any width."""

WEIGHT_COLUMNS = (
    Column("weight"),
    Column("as evolved", 2, right=True),
    Column(SHARES, 1, right=True),
    Column("for", 3),
)
OPPONENT_COLUMNS = (
    Column("against"),
    Column("games", 3, right=True),
    Column("won", 4, right=True),
    Column("drawn", 6, right=True),
    Column("lost", 5, right=True),
    Column("win rate", right=True),
    Column("95% interval", 2, right=True),
    Column("", 1),
)


def _whom(config: RunConfig, games: int) -> str:
    """What a champion's score in the final is of."""
    options = config.opponents
    if not options.fixed:
        return f"of {games:,} games against the other candidates"
    whom = "fixed opponents and the other candidates" if options.population else "the fixed opponents"
    return f"in {games:,} games against {whom}, by their shares"


def show_champion(path: Path, console: Console) -> None:
    """Print the champion's weights, its record, and its games against the thesis's seven."""
    config = peek_run(path).config
    profile = read_agent_profile(path / "champion.toml", config.vector)
    provenance: Mapping[str, Any] = profile.provenance
    title = f"champion: {provenance.get('candidate', '')}"
    console.print(_weights_table(profile.weights, config.inert_weights, title, console.width))
    final = provenance.get("final")
    if isinstance(final, dict):
        console.print(
            f"final: {final['win_rate']:.1%} {_whom(config, int(final['games']))} "
            f"(95% interval {final['low']:.1%} to {final['high']:.1%})",
            highlight=False,
        )
    games = read_final(peek_run(path))
    rows = games[games["stage"] == "thesis"]
    if len(rows):
        table = []
        for row in rows.itertuples():
            verdict = verdict_of(row.low, row.high)
            interval = f"{row.low:.1%} to {row.high:.1%}"
            counts = [f"{count:,}" for count in (row.games, row.wins, row.draws, row.losses)]
            table.append([row.opponent, *counts, f"{row.score:.1%}", interval, verdict])
        console.print(FittingTable(OPPONENT_COLUMNS, table))
        seven = provenance.get("against_thesis_seven")
        if isinstance(seven, dict):
            console.print(
                f"{CHAMPION_AGAINST_SEVEN}: {seven['win_rate']:.1%} of {rows['games'].sum():,} games "
                f"(95% interval {seven['low']:.1%} to {seven['high']:.1%})",
                highlight=False,
            )
        beaten = int((rows["low"] > 0.5).sum())
        console.print(f"beats {beaten} of the thesis's {len(THESIS_SEVEN)}", style="bold", highlight=False)
        panel = peek_run(path).manifest().get("panel")
        sentence = panel_sentence(panel) if isinstance(panel, dict) else ""
        if sentence:
            console.print(sentence, highlight=False)
    solved = solved_sentence(solved_turns([peek_run(path)]))
    if solved:
        console.print(solved, highlight=False)
    entrant = entrant_text(config.agent, path, config.options)
    console.print(
        f"profile: {path / 'champion.toml'}; play it as {shlex.quote(entrant)}",
        soft_wrap=True,
        markup=False,
    )


def _weights_table(vector: WeightVector, inert: frozenset[str], title: str, width: int) -> ConsoleRenderable:
    """Weights as evolved and scale-free: a column each if they fit a terminal, else a row each.

    Parameters of an outside agent are shown as it has them.
    """
    names, active = vector.names(), vector.active(inert)
    if not vector.COMPARABLE:
        named = zip(names, vector.array, vector.MEANINGS, strict=True)
        values_of = [(name, vector.shown(name, share), bounds) for name, share, bounds in named]
        return FittingTable(
            (Column("parameter"), Column("value", right=True), Column("bounds")), values_of, title
        )
    values = [f"{getattr(vector, name):.3f}" for name in names]
    shares = [f"{active[name]:.1%}" if name in active else "inert" for name in names]
    if len(names) <= MOST_COLUMNS and width >= WIDE:
        table = RichTable("weight", *names, title=title, title_justify="left")
        table.add_row("as evolved", *values)
        table.add_row(SHARES, *shares)
        return table
    rows = list(zip(names, values, shares, vector.MEANINGS[: len(names)], strict=True))
    return FittingTable(WEIGHT_COLUMNS, rows, title)
