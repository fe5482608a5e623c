"""The command `manaforge ladder`: deck against deck."""

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from engine.shipped import BALANCED
from evo.cli import completion
from evo.cli.options import (
    OUT_HELP,
    WHO_PLAYS,
    Address,
    AnyDeck,
    AsBodies,
    AsJson,
    DealSeed,
    DeckEdition,
    PoolName,
    Workers,
    chosen_decks,
    place_of,
)

DEFAULT_PLAYER = "ilp:value-trading"

DeckNames = Annotated[
    list[str],
    typer.Argument(
        metavar="DECK",
        help="Shipped decks, deck files or deck codes.",
        show_default=False,
        autocompletion=completion.decks,
    ),
]
LadderOut = Annotated[Path | None, typer.Option("--out", help=OUT_HELP.format("ladder"))]


def ladder_command(
    decks: DeckNames,
    players: str = typer.Option(
        DEFAULT_PLAYER,
        help=f"Who plays all decks against itself, separated by commas. {WHO_PLAYS}",
        autocompletion=completion.entrant_lists,
    ),
    games: int = typer.Option(
        400, min=2, max=10**8, help="Games for each player and ordered pair of decks; even."
    ),
    ruleset: str = typer.Option(
        BALANCED,
        help="Ruleset; in the default, going first counts least.",
        autocompletion=completion.rulesets_of,
    ),
    edition: DeckEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    out: LadderOut = None,
    seed: DealSeed = 1,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    as_data: AsJson = False,
) -> None:
    """Play deck against deck under one or more players: ratings of decks, and every pair's score."""
    from engine import find_deck, find_ruleset
    from engine.decks import coverage_of
    from evo.cli.consoles import output_console
    from evo.cli.decks import show_decks
    from evo.cli.playing import play_into
    from evo.configfiles import names_in
    from evo.play.entrants import find_entrants
    from evo.stats.standings import deck_standings
    from evo.storage.files import csv_bytes, replace_file
    from evo.tournament.folder import DefinitionError
    from evo.tournament.run import Tournament
    from rivals import refuse_decks

    place = place_of(pool, workers, address)
    if len(decks) < 2:
        raise DefinitionError(f"a ladder needs two decks, got {', '.join(decks)}")
    names = chosen_decks(decks, edition, bodies, any_deck)
    found, _ = find_entrants(names_in(players))
    options = ["--players", players, "--games", str(games), "--ruleset", ruleset]
    options += ["--seed", str(seed)] if seed != 1 else []
    found_decks = tuple(find_deck(name) for name in names)
    refuse_decks((entrant.player.sort for entrant in found), found_decks)
    tournament = Tournament(
        entrants=tuple(found),
        self_play=frozenset(entrant.text for entrant in found),
        decks=found_decks,
        deck_names=names,
        ruleset=find_ruleset(ruleset),
        games=games,
        style="self-play",
        seed=seed,
        origin=lambda names: shlex.join(["manaforge", "ladder", *names, *options]),
    )
    done = play_into(tournament, out, "ladder", place, output_console(stderr=as_data))
    read = deck_standings(done.games)
    ratings = read.ratings.rename(columns={"entrant": "deck"})
    ratings = ratings.drop(columns=["illegal_actions", "agent_errors"])  # of players, not of decks
    pairs = read.decks.drop(columns="entrant")
    for name, table in (("deck_ratings", ratings), ("deck_pairs", pairs)):
        replace_file(done.path / f"{name}.csv", csv_bytes(table), done.path / f"{name}.csv.tmp")
    if as_data:
        tables = {"ratings": ratings, "pairs": pairs}
        records = {name: json.loads(table.to_json(orient="records")) for name, table in tables.items()}
        print(json.dumps(records, indent=1))
        return
    show_decks(read, tournament.decks, done.console)
    done.console.print(coverage_of(tournament.decks), markup=False, highlight=False)
    files = f"{done.path}/tournament.html, deck_ratings.csv, deck_pairs.csv, games.parquet"
    done.console.print(f"written: {files}", markup=False, highlight=False)
