"""The command `manaforge tournament`."""

from pathlib import Path
from typing import Annotated

import typer

from evo.cli import completion
from evo.cli.options import (
    DECKS_HELP,
    OUT_HELP,
    WHO_PLAYS,
    Address,
    AnyDeck,
    AsBodies,
    AsJson,
    DealSeed,
    DeckEdition,
    LibraryFolder,
    PoolName,
    RulesetName,
    Workers,
    chosen_decks,
    one_of,
    place_of,
)
from evo.play.formats import FORMATS, OFFERED_FORMATS, SEATS

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
    decks: str = typer.Option(..., help=DECKS_HELP, autocompletion=completion.decks),
    edition: DeckEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    games: int = typer.Option(
        200,
        min=1,
        max=10**9,
        help="Games for each matchup and ordered pair of decks; even with paired seats.",
    ),
    style: str = typer.Option(
        DEFAULT_FORMAT, "--format", help=FORMATS_HELP, autocompletion=completion.formats
    ),
    ruleset: RulesetName = "thesis",
    seats: str = typer.Option(
        "paired",
        help="paired: every deal twice, entrants exchanged, over all pairs of decks; fixed: every ordered "
        "pair of entrants, self-play included, with the first deck for the entrant that goes first.",
        autocompletion=completion.seats,
    ),
    library: LibraryFolder = None,
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
    from evo.cli.consoles import output_console
    from evo.cli.decks import show_decks
    from evo.cli.playing import play_into, print_json
    from evo.configfiles import names_in
    from evo.stats.standings import deck_standings
    from evo.tournament.output import show
    from evo.tournament.words import tournament_of

    place = place_of(pool, workers, address)
    tournament = tournament_of(
        entrants,
        chosen_decks(names_in(decks), edition, bodies, any_deck),
        ruleset,
        sprt,
        library,
        games=games,
        seats=one_of("--seats", "kind of seats", seats, SEATS),
        style=one_of("--format", "format", style, OFFERED_FORMATS),
        seed=seed,
    )
    finish = play_into(tournament, out, "tournament", place, output_console(stderr=as_data))
    if as_data:
        print_json(finish.summary)
        return
    show(tournament, finish.read, finish.summary, finish.console)
    if not len(finish.read.matchups) and len(tournament.decks) > 1:
        show_decks(deck_standings(finish.games), tournament.decks, finish.console)
    finish.print_written()
