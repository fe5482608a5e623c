"""Commands that compare players and decks: tournament, ladder, sweep, arena."""

import itertools
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, cast

import typer

from engine.errors import check_choice
from engine.shipped import BALANCED_RULESET, EDITION_NAMES
from evo.cli import options
from evo.cli.options import (
    DECKS_HELP,
    ENTRANT_HELP,
    OUT_HELP,
    Address,
    AllowAgent,
    AnyDeck,
    AsBodies,
    AsJson,
    DealSeed,
    DeckEdition,
    LibraryFolder,
    Patches,
    PoolName,
    RulesetName,
    Workers,
    decks_with_options,
)
from evo.play.notation import FORMATS, NOTATION, OFFERED_FORMATS, SEATS, Seats
from evo.terminal.console import Column, FittingTable

if TYPE_CHECKING:
    from engine import Deck
    from evo.tournament.sweep import Variants


DEFAULT_FORMAT = OFFERED_FORMATS[0]
FORMATS_HELP = f"{'; '.join(f'{name}: {FORMATS[name].summary}' for name in OFFERED_FORMATS)}."

Entrants = Annotated[
    list[str],
    typer.Argument(
        metavar="ENTRANT",
        help=f"{ENTRANT_HELP} Globs expand; an entrant named twice also plays itself.",
        show_default=False,
        autocompletion=options.complete_entrants,
    ),
]
Out = Annotated[Path | None, typer.Option(help=OUT_HELP.format("tournament"), show_default=False)]


def tournament_command(
    entrants: Entrants,
    decks: str = typer.Option(..., help=DECKS_HELP, autocompletion=options.complete_decks),
    edition: DeckEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    patch: Patches = None,
    games: int = typer.Option(
        200,
        min=1,
        max=10**9,
        help="Games per matchup and ordered pair of decks; even with paired seats.",
    ),
    style: str = typer.Option(
        DEFAULT_FORMAT, "--format", help=FORMATS_HELP, autocompletion=options.complete_formats
    ),
    ruleset: RulesetName = "",
    seats: str = typer.Option(
        "paired",
        help="paired: every deal twice with entrants swapped, over all pairs of decks; fixed: every ordered "
        "pair of entrants, self-play included, with the first deck for the entrant that goes first.",
        autocompletion=options.complete_seats,
    ),
    library: LibraryFolder = None,
    out: Out = None,
    sprt: str = typer.Option(
        "",
        metavar="KEY=VALUE...",
        help="Stop by a sequential test (SPRT) of which is better: elo0=0 elo1=20 alpha=.05 beta=.05 "
        "(model=normalized). For two entrants; --games is then the maximum.",
    ),
    actions: bool = typer.Option(
        False,
        "--actions",
        help="Write every action to the folder, as rows of Parquet files in actions/.",
    ),
    seed: DealSeed = 1,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    as_data: AsJson = False,
) -> None:
    """Play a tournament: Elo ratings and scores, with confidence intervals."""
    from evo.cli.tables import show_decks
    from evo.config.files import split_names
    from evo.play.pools import pool_settings
    from evo.sessions.progress import output_console
    from evo.sessions.session import play_and_write, print_json
    from evo.stats.standings import deck_standings
    from evo.tournament.report import print_tournament
    from evo.tournament.run import create_tournament

    place = pool_settings(pool, workers, address)
    tournament = create_tournament(
        entrants,
        decks_with_options(split_names(decks), edition, bodies, any_deck, patch),
        ruleset,
        sprt,
        library,
        games=games,
        actions=actions,
        seats=check_choice("--seats", "kind of seats", seats, SEATS),
        style=check_choice("--format", "format", style, OFFERED_FORMATS),
        seed=seed,
    )
    finish = play_and_write(tournament, out, "tournament", place, output_console(stderr=as_data))
    if as_data:
        print_json(finish.summary)
        return
    print_tournament(tournament, finish.read, finish.summary, finish.console)
    if not len(finish.read.matchups) and len(tournament.decks) > 1:
        show_decks(deck_standings(finish.games), tournament.decks, finish.console)
    finish.print_written()


MINION_PLAYER, CARD_PLAYER = "ilp:value-trading", "hearthsim:standard"
"""Players of a ladder of minions, and of one with a class deck, where docs/eva-2018.md rates them."""

DeckNames = Annotated[
    list[str],
    typer.Argument(
        metavar="DECK",
        help="Shipped decks, deck files or deck codes.",
        show_default=False,
        autocompletion=options.complete_decks,
    ),
]
LadderOut = Annotated[Path | None, typer.Option("--out", help=OUT_HELP.format("ladder"))]


def ladder_command(
    decks: DeckNames,
    players: str = typer.Option(
        "",
        help=f"Players, separated by commas; each plays all decks against itself. {ENTRANT_HELP} (default: "
        f"{MINION_PLAYER}; {CARD_PLAYER} if a deck has a class)",
        show_default=False,
        autocompletion=options.complete_entrant_lists,
    ),
    games: int = typer.Option(
        400, min=2, max=10**8, help="Games per player and ordered pair of decks; even."
    ),
    ruleset: str = typer.Option(
        BALANCED_RULESET,
        help="Ruleset; the default minimises the advantage of going first.",
        autocompletion=options.complete_rulesets,
    ),
    edition: DeckEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    patch: Patches = None,
    out: LadderOut = None,
    seed: DealSeed = 1,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    as_data: AsJson = False,
) -> None:
    """Compare decks in self-play of one or more agents: deck ratings, and the score of every pair."""
    from engine import find_deck, find_ruleset
    from engine.decks import coverage_sentence
    from evo.cli.tables import show_decks
    from evo.config.files import split_names
    from evo.play.entrants import find_entrants
    from evo.play.pools import pool_settings
    from evo.sessions.progress import output_console
    from evo.sessions.session import play_and_write
    from evo.stats.standings import deck_standings
    from evo.storage.files import csv_bytes, write_atomically
    from evo.tournament.folder import DefinitionError
    from evo.tournament.report import best_deck_sentence
    from evo.tournament.run import Tournament
    from rivals import refuse_decks

    place = pool_settings(pool, workers, address)
    if len(decks) < 2:
        raise DefinitionError(f"a ladder needs at least two decks, got {', '.join(decks)}")
    names = decks_with_options(decks, edition, bodies, any_deck, patch)
    found_decks = tuple(find_deck(name) for name in names)
    players = players or (CARD_PLAYER if any(deck.hero_class for deck in found_decks) else MINION_PLAYER)
    found, _ = find_entrants(split_names(players))
    options = ["--players", players, "--games", str(games), "--ruleset", ruleset]
    options += ["--seed", str(seed)] if seed != 1 else []
    refuse_decks((entrant.player.kind_and_backend for entrant in found), found_decks)
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
    done = play_and_write(tournament, out, "ladder", place, output_console(stderr=as_data))
    read = deck_standings(done.games)
    ratings = read.ratings.rename(columns={"entrant": "deck"})
    ratings = ratings.drop(columns=["illegal_actions", "agent_errors"])  # facts about players, not decks
    pairs = read.decks.drop(columns="entrant")
    for name, table in (("deck_ratings", ratings), ("deck_pairs", pairs)):
        write_atomically(done.path / f"{name}.csv", csv_bytes(table), done.path / f"{name}.csv.tmp")
    if as_data:
        tables = {"ratings": ratings, "pairs": pairs}
        records = {name: json.loads(table.to_json(orient="records")) for name, table in tables.items()}
        print(json.dumps(records, indent=1))
        return
    show_decks(read, tournament.decks, done.console)
    done.console.print(best_deck_sentence(read).rstrip("."), markup=False, highlight=False)
    done.console.print(coverage_sentence(tournament.decks), markup=False, highlight=False)
    files = f"{done.path}/tournament.html, deck_ratings.csv, deck_pairs.csv, games.parquet"
    done.console.print(f"written: {files}", markup=False, highlight=False)


ARENA_COLUMNS = (
    Column(""),
    Column("games", 3, right=True),
    Column("score", right=True),
    Column("95% interval", 2, right=True),
    Column("", 1),
)

SweepEdition = Annotated[
    str,
    typer.Option(
        "--edition",
        help=f"Edition of deck codes, deck files with a class, and the card: {' or '.join(EDITION_NAMES)}.",
        metavar="NAME",
        autocompletion=options.complete_editions,
    ),
]
SweepOut = Annotated[Path | None, typer.Option("--out", help=OUT_HELP.format("sweep"))]
ArenaOut = Annotated[Path | None, typer.Option("--out", help=OUT_HELP.format("arena"))]


class SweepOptions(NamedTuple):
    """Options of a sweep, which varies exactly one of weight, copies or number of a card, and keyword."""

    entrant: str
    weight: str
    card: str
    attribute: str
    keyword: str
    values: str

    @property
    def words(self) -> list[str]:
        """Command-line words of the varied option."""
        given = {"--weight": self.weight, "--card": self.card, "--keyword": self.keyword}
        words = [word for option, text in given.items() if text for word in (option, text)]
        return [*words, "--attribute", self.attribute] if self.attribute else words

    def find(
        self,
        decks: str,
        edition: str,
        bodies: bool,
        any_deck: bool,
        patch: list[str] | None,
        is_fixed: bool,
    ) -> "tuple[tuple[str, ...], tuple[Deck, ...], Variants]":
        """Find the deck names, the decks, and the variants of the entrant, one per value.

        Raises:
            SweepError: none or several things are varied, the thing is unknown, or a value is not allowed.
            DeckError, UnknownNameError: a deck cannot be played, or is unknown.
        """
        from engine import find_deck
        from evo.config.files import split_names
        from evo.play.entrants import find_entrant
        from evo.tournament.sweep import (
            SweepError,
            parse_values,
            vary_attribute,
            vary_card,
            vary_keyword,
            vary_weight,
        )

        if self.attribute and not self.card:
            raise SweepError("--attribute is a number of a card; add --card NAME")
        if len(self.words) != (4 if self.attribute else 2):
            got = " and ".join(self.words[::2]) or "none of them"
            raise SweepError(f"a sweep needs exactly one of --weight, --card and --keyword; got {got}")
        varied_entrant, values = find_entrant(self.entrant), parse_values(self.values)
        varied = vary_weight(varied_entrant, self.weight, values) if self.weight else None
        names = decks_with_options(split_names(decks), edition, bodies, any_deck, patch, bool(self.card))
        found = tuple(find_deck(name) for name in names)
        n_held = 1 if is_fixed else len(found)
        if self.attribute:
            varied = vary_attribute(varied_entrant, self.card, self.attribute, values, found, n_held)
        elif self.card:
            varied = vary_card(varied_entrant, self.card, values, found, n_held, edition)
        return names, found, varied or vary_keyword(varied_entrant, self.keyword, values, found, n_held)


def sweep_command(
    entrant: str = typer.Argument(
        help=f"Entrant to vary: {NOTATION}.", autocompletion=options.complete_entrants
    ),
    weight: str = typer.Option(
        "",
        help="Vary this weight (hearthsim also has aggressiveness).",
        autocompletion=options.complete_weights,
        show_default=False,
    ),
    card: str = typer.Option(
        "",
        help="Vary the copies of this card, by name or id, in the entrant's deck; each game replaces others.",
        show_default=False,
    ),
    attribute: str = typer.Option(
        "",
        help="With --card: vary this number of the card in the entrant's deck instead, such as cost; "
        "manaforge card NAME lists them.",
        show_default=False,
    ),
    keyword: str = typer.Option(
        "",
        help="Vary how many minions of the entrant's deck, drawn for each game, have this keyword, as taunt.",
        autocompletion=options.complete_keywords,
        show_default=False,
    ),
    values: str = typer.Option(
        ...,
        help="FIRST:LAST:STEP, such as 0:2:0.1, or values separated by commas; whole numbers for cards and "
        "keywords.",
    ),
    against: str = typer.Option(..., help="Opponent, an entrant.", autocompletion=options.complete_entrants),
    decks: str = typer.Option(..., help=DECKS_HELP, autocompletion=options.complete_decks),
    edition: SweepEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    patch: Patches = None,
    games: int = typer.Option(
        10_000,
        min=1,
        max=10**9,
        help="Games per value and ordered pair of decks; even with paired seats.",
    ),
    ruleset: RulesetName = "",
    seats: str = typer.Option(
        "paired",
        help="paired: every deal twice with entrants swapped, over all pairs of decks; fixed: the entrant "
        "goes first, with the first deck.",
        autocompletion=options.complete_seats,
    ),
    seed: int = typer.Option(
        1, min=0, max=2**64 - 1, help="Seed of the deals, which all values share (common random numbers)."
    ),
    out: SweepOut = None,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    as_data: bool = typer.Option(False, "--json", help="Print the curve as JSON for machines."),
) -> None:
    """Measure win rate by the value of one weight, or by copies of a card or keyword in the deck."""
    from engine import find_ruleset
    from engine.decks import coverage_sentence, default_ruleset
    from evo.cli.tables import show_curve, sweep_figure
    from evo.play.entrants import find_entrant
    from evo.play.matchups import games_table
    from evo.play.pools import pool_settings
    from evo.sessions.progress import output_console
    from evo.sessions.session import play_in_folder, print_json, print_warnings, with_saved_decks
    from evo.storage.files import csv_bytes
    from evo.tournament.run import Tournament
    from evo.tournament.sweep import (
        added_cards,
        body_card_notes,
        compare_with_best,
        sweep_summary,
        sweep_table,
    )
    from rivals import refuse_decks

    place = pool_settings(pool, workers, address)
    seating = check_choice("--seats", "kind of seats", seats, SEATS)
    swept = SweepOptions(entrant, weight, card, attribute, keyword, values)
    deck_names, found_decks, variants = swept.find(
        decks, edition, bodies, any_deck, patch, is_fixed=seating == "fixed"
    )
    words = ["manaforge", "sweep", entrant, *swept.words, "--values", values, "--against", against]
    ruleset = ruleset or default_ruleset(found_decks)
    options = ["--games", str(games), "--ruleset", ruleset, "--seats", seats]
    options += ["--seed", str(seed)] if seed != 1 else []
    options += ["--edition", edition] if edition and card else []
    opponent = find_entrant(against)
    everyone = (*variants.entrants, opponent)
    own_decks = (*variants.decks, ()) if variants.decks else ()
    refuse_decks(
        (one.player.kind_and_backend for one in everyone), (*found_decks, *itertools.chain(*own_decks))
    )
    tournament = Tournament(
        entrants=everyone,
        self_play=frozenset(),
        decks=found_decks,
        deck_names=deck_names,
        ruleset=find_ruleset(ruleset),
        games=games,
        seats=cast(Seats, "first" if seating == "fixed" else seating),
        style="sweep",
        seed=seed,
        origin=lambda names: shlex.join([*words, "--decks", ",".join(names), *options]),
        own_decks=own_decks,
    )
    console = output_console(stderr=as_data)
    for note in body_card_notes(variants):
        console.print(f"note: {note}", markup=False, highlight=False)
    with play_in_folder(tournament, out, "sweep", place, console) as (folder, _):
        curve = sweep_table(variants, tournament, folder.played)
        curve["against_best"] = compare_with_best(variants, tournament, folder.played)
        summary = sweep_summary(variants, with_saved_decks(tournament, folder), folder.played, curve)
        summary["cards"] = added_cards(variants)
        names = [deck.name for deck in tournament.decks]
        folder.finish(games_table(tournament.matchups, folder.played, tournament.names, names))
        columns = curve.drop(columns="against_best")
        folder.write("sweep.csv", csv_bytes(columns))
        folder.write("sweep.png", sweep_figure(curve, variants, against))
    if as_data:
        print_json(summary)
        return
    show_curve(curve, variants.usual, summary["unproven_turns"], console)
    console.print(coverage_sentence(tournament.decks), markup=False, highlight=False)
    console.print(f"written: {folder.path}/sweep.csv, sweep.png, games.parquet", markup=False)
    print_warnings(summary)


def arena_command(
    config: str = typer.Argument(
        "arena", help="Arena file; by default configs/arena.toml.", show_default=False
    ),
    champion: str = typer.Option(
        "", help=f"Champion to play instead: {NOTATION}.", autocompletion=options.complete_entrants
    ),
    decks: str = typer.Option(
        "",
        help="Decks to play instead of the arena file's (of the shipped file: four decks of minions), under "
        "their default ruleset, separated by commas.",
        autocompletion=options.complete_decks,
    ),
    edition: DeckEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    patch: Patches = None,
    games: int = typer.Option(
        0,
        min=0,
        max=10**9,
        help="Games per pairing, rounded up to both seats of each ordered pair of decks; 0: the file's.",
    ),
    seed: DealSeed = 1,
    out: ArenaOut = None,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    as_data: AsJson = False,
    _agents: AllowAgent = None,
) -> None:
    """Play a round robin of a champion, the hand-made profiles and all rivals over the file's decks."""
    from evo.config.files import split_names
    from evo.play.pools import pool_settings
    from evo.sessions.progress import output_console
    from evo.sessions.session import play_and_write, print_json
    from evo.stats.ratings import verdict_of
    from evo.tournament.arena import create_arena
    from evo.tournament.report import print_tournament

    place = pool_settings(pool, workers, address)
    names = decks_with_options(split_names(decks) if decks else (), edition, bodies, any_deck, patch)
    tournament = create_arena(config, champion, games, seed, names)
    console = output_console(stderr=as_data)
    played, cells = ", ".join(deck.name for deck in tournament.decks), len(tournament.decks) ** 2
    console.print(f"decks: {played}; --decks takes others", markup=False, highlight=False)
    if games and games != tournament.games * cells:
        console.print(
            f"{tournament.games * cells:,} games a pairing instead of {games:,}: both seats of each of the "
            f"{cells} ordered pairs of decks",
            highlight=False,
        )
    done = play_and_write(tournament, out, "arena", place, console)
    if as_data:
        print_json(done.summary)
        return
    print_tournament(tournament, done.read, done.summary, done.console)
    own = done.read.matchups[done.read.matchups["entrant"] == tournament.names[0]]
    rows = []
    for row in own.sort_values("score").itertuples():
        interval = f"{row.low:.1%} to {row.high:.1%}"
        verdict = verdict_of(row.low, row.high)
        rows.append([str(row.opponent), f"{row.games:,}", f"{row.score:.1%}", interval, verdict])
    done.console.print(FittingTable(ARENA_COLUMNS, rows, f"{tournament.names[0]} against"))
    done.console.print(f"beats {int((own['low'] > 0.5).sum())} of {len(own)}", style="bold", highlight=False)
    done.print_written()
