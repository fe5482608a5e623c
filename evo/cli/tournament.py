"""The command `manaforge tournament`."""

import contextlib
import json
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, cast

import pandas as pd
import typer
from rich.console import Console

from engine import find_deck, find_ruleset
from evo.cli import completion
from evo.cli.decks import show_decks
from evo.cli.options import (
    DECKS_HELP,
    OUT_HELP,
    WHO_PLAYS,
    Address,
    AsJson,
    DealSeed,
    Place,
    PoolName,
    RulesetName,
    Workers,
    one_of,
    place_of,
)
from evo.cli.progress import Counter, output_console
from evo.cli.sessions import pool_of
from evo.config import names_in
from evo.play.entrants import find_entrants
from evo.play.local import LocalPool
from evo.play.matchups import FORMATS, Seats, games_table
from evo.play.pool import InterruptedRunError
from evo.stats.sequential import Verdict, parse_sprt
from evo.stats.standings import Standings, deck_standings, standings
from evo.tournament.folder import TournamentFolder, open_tournament
from evo.tournament.output import show, summary_of, warnings_of, write_files
from evo.tournament.run import Tournament, find_faults, play_tournament

SPRT_WORD = re.compile(r"(elo0|elo1|alpha|beta|model)=")

OFFERED_FORMATS = tuple(name for name, style in FORMATS.items() if style.summary)
DEFAULT_FORMAT = OFFERED_FORMATS[0]
FORMATS_HELP = f"{'; '.join(f'{name}: {FORMATS[name].summary}' for name in OFFERED_FORMATS)}."

Entrants = Annotated[
    list[str],
    typer.Argument(
        metavar="ENTRANT",
        help=f"{WHO_PLAYS} Globs expand; an entrant named twice also plays itself.",
        show_default=False,
        autocompletion=completion.entrants,
    ),
]
Out = Annotated[Path | None, typer.Option(help=OUT_HELP.format("tournament"), show_default=False)]


def tournament_command(
    entrants: Entrants,
    decks: str = typer.Option("", help=DECKS_HELP, autocompletion=completion.decks),
    games: int = typer.Option(
        200,
        min=1,
        max=10**9,
        help="Games for each matchup and ordered pair of decks; even with paired seats.",
    ),
    style: str = typer.Option(DEFAULT_FORMAT, "--format", help=FORMATS_HELP),
    ruleset: RulesetName = "thesis",
    seats: str = typer.Option(
        "paired",
        help="paired: every deal twice, entrants exchanged, over all pairs of decks; fixed: every ordered "
        "pair of entrants, self-play included, with the first deck for the entrant that goes first.",
    ),
    out: Out = None,
    sprt: str = typer.Option(
        "",
        metavar="KEY=VALUE...",
        help="Stop as soon as the games show which is better: elo0=0 elo1=20 alpha=.05 beta=.05 "
        "(model=normalized). For two entrants; --games is then the maximum.",
    ),
    seed: DealSeed = 1,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    as_data: AsJson = False,
) -> None:
    """Play a tournament: ratings with intervals, scores, and how sure they are."""
    place = place_of(pool, workers, address)
    words = [word for word in entrants if sprt and SPRT_WORD.match(word)]
    found, twice = find_entrants([text for text in entrants if text not in words])
    deck_names = names_in(decks)
    tournament = Tournament(
        entrants=tuple(found),
        self_play=frozenset(twice),
        decks=tuple(find_deck(name) for name in deck_names),
        deck_names=deck_names,
        words=tuple(text for text in entrants if text not in words),
        ruleset=find_ruleset(ruleset),
        ruleset_name=ruleset,
        games=games,
        seats=cast(Seats, one_of("--seats", "kind of seats", seats, ("paired", "fixed"))),
        style=one_of("--format", "format", style, OFFERED_FORMATS),
        seed=seed,
        sprt=parse_sprt(" ".join([sprt, *words])) if sprt else None,
    )
    finish = play_into(tournament, out, "tournament", place, as_data)
    if as_data:
        print_json(finish.summary)
        return
    show(tournament, finish.read, finish.summary, finish.console)
    if not len(finish.read.matchups) and len(tournament.decks) > 1:
        show_decks(deck_standings(finish.games), tournament.decks, finish.console)
    finish.print_written()


@dataclass(frozen=True)
class Finished:
    """A tournament that was played and written."""

    path: Path
    games: pd.DataFrame
    read: Standings
    summary: dict[str, Any]
    console: Console

    def print_written(self) -> None:
        """Say where its files are."""
        files = f"{self.path}/tournament.html, results.csv, ratings.csv, games.parquet"
        self.console.print(f"written: {files}", markup=False)


def print_json(summary: dict[str, Any]) -> None:
    """Print a summary for programs, and its warnings on standard error."""
    print(json.dumps(summary, indent=1, allow_nan=False))
    print_warnings(summary)


def print_warnings(summary: dict[str, Any]) -> None:
    """Print the warnings of a summary on standard error."""
    for warning in warnings_of(summary):
        print(f"warning: {warning}", file=sys.stderr)


def play_into(tournament: Tournament, out: Path | None, kind: str, place: Place, quiet: bool) -> Finished:
    """Play a tournament in its folder, show its progress, and write all its files.

    Args:
        tournament: its definition.
        out: its folder; None: `runs/KIND-HASH`.
        kind: its name in messages, such as "sweep".
        place: where the games are played.
        quiet: whether progress goes to standard error, so that standard output stays empty.

    Raises:
        TournamentError, PoolError: the folder or the pool cannot be used.
    """
    with played(tournament, out, kind, place, quiet) as (folder, verdict, console):
        named = zip(tournament.deck_names, tournament.decks, strict=True)
        decks = tuple(str(folder.deck_files.get(deck.name, text)) for text, deck in named)
        tournament = replace(tournament, deck_names=decks)  # for the command that repeats it
        names = [deck.name for deck in tournament.decks]
        table = games_table(tournament.matchups, folder.played, tournament.names, names)
        read = standings(table)
        summary = summary_of(tournament, read, find_faults(tournament, folder.played), verdict)
        folder.finish(table)
        write_files(tournament, folder, read, summary)
    return Finished(folder.path, table, read, summary, console)


@contextlib.contextmanager
def played(
    tournament: Tournament, out: Path | None, kind: str, place: Place, quiet: bool
) -> Iterator[tuple[TournamentFolder, Verdict, Console]]:
    """Play all games of a tournament; yields its folder, verdict and console. Arguments as of `play_into`."""
    path = out or Path("runs") / f"{kind}-{tournament.digest[:8]}"
    console = output_console(stderr=quiet)
    with open_tournament(path, tournament.definition) as folder:
        folder.keep_decks(tournament.decks)
        left = len(tournament.matchups) - len(folder.played)
        for problem in folder.problems:
            console.print(f"warning: {problem}", markup=False)
        known = f", {len(folder.played):,} of them played before" if len(folder.played) else ""
        heading = f"{kind} {path}: {len(tournament.matchups):,} games{known}"
        console.print(heading, markup=False, highlight=False)
        counter = Counter(console, max(left, 0))
        chosen = [entrant.player for entrant in tournament.entrants]
        if left == 0:  # no workers are needed
            verdict = play_tournament(tournament, folder, LocalPool(1), counter.advance)
        else:
            with pool_of(place, chosen, counter) as players:
                try:
                    verdict = play_tournament(tournament, folder, players, counter.advance)
                except InterruptedRunError as error:
                    _print_stop(error, folder, counter)
                    raise
        yield folder, verdict, console


def _print_stop(error: InterruptedRunError, folder: TournamentFolder, counter: Counter) -> None:
    counter.close()
    name = signal.Signals(error.signal).name
    print(
        f"stopped by {name}: {len(folder.played):,} games are safe in {folder.path}. "
        "To continue: the same command again",
        file=sys.stderr,
    )
