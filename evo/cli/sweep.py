"""The commands `manaforge sweep` and `manaforge arena`."""

import itertools
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, cast

import typer

from engine.shipped import EDITION_NAMES
from engine.tables import Column, FittingTable
from evo.cli import completion
from evo.cli.options import (
    DECKS_HELP,
    OUT_HELP,
    Address,
    AllowAgent,
    AnyDeck,
    AsBodies,
    AsJson,
    DealSeed,
    PoolName,
    RulesetName,
    Workers,
    chosen_decks,
    one_of,
    place_of,
)
from evo.play.formats import SEATS, Seats
from evo.play.notation import NOTATION

if TYPE_CHECKING:
    from engine import Deck
    from evo.tournament.sweep import Variants

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
        autocompletion=completion.editions,
    ),
]
SweepOut = Annotated[Path | None, typer.Option("--out", help=OUT_HELP.format("sweep"))]
ArenaOut = Annotated[Path | None, typer.Option("--out", help=OUT_HELP.format("arena"))]


class Swept(NamedTuple):
    """What a sweep varies, as typed: one of a weight, a card and a keyword."""

    entrant: str
    weight: str
    card: str
    keyword: str
    values: str

    @property
    def words(self) -> list[str]:
        """The option that says what is varied, as words of a command."""
        given = {"--weight": self.weight, "--card": self.card, "--keyword": self.keyword}
        return [word for option, text in given.items() if text for word in (option, text)]

    def find(
        self, decks: str, edition: str, bodies: bool, any_deck: bool, is_fixed: bool
    ) -> "tuple[tuple[str, ...], tuple[Deck, ...], Variants]":
        """Names of the decks, the decks, and the entrant with each of the values.

        Raises:
            SweepError: not one thing is varied, it is not there, or a value is not allowed.
            DeckError, UnknownNameError: a deck cannot be played, or is not there.
        """
        from engine import find_deck
        from evo.configfiles import names_in
        from evo.play.entrants import find_entrant
        from evo.tournament.decksweep import vary_card, vary_keyword
        from evo.tournament.sweep import SweepError, parse_values, vary

        if len(self.words) != 2:
            got = " and ".join(self.words[::2]) or "none of them"
            raise SweepError(f"a sweep varies one thing: --weight, --card or --keyword; got {got}")
        who, values = find_entrant(self.entrant), parse_values(self.values)
        varied = vary(who, self.weight, values) if self.weight else None
        names = chosen_decks(names_in(decks), edition, bodies, any_deck, bool(self.card))
        found = tuple(find_deck(name) for name in names)
        n_held = 1 if is_fixed else len(found)
        if self.card:
            varied = vary_card(who, self.card, values, found, n_held, edition)
        return names, found, varied or vary_keyword(who, self.keyword, values, found, n_held)


def sweep_command(
    entrant: str = typer.Argument(
        help=f"The entrant of which something is varied: {NOTATION}.", autocompletion=completion.entrants
    ),
    weight: str = typer.Option(
        "",
        help="Vary this weight; of hearthsim also aggressiveness.",
        autocompletion=completion.weights,
        show_default=False,
    ),
    card: str = typer.Option(
        "",
        help="Vary the copies of this card in its deck, by name or id; each game replaces others.",
        show_default=False,
    ),
    keyword: str = typer.Option(
        "",
        help="Vary how many minions of its deck have this keyword, such as taunt; each game others.",
        autocompletion=completion.keywords,
        show_default=False,
    ),
    values: str = typer.Option(
        ...,
        help="FIRST:LAST:STEP, such as 0:2:0.1, or values separated by commas; of cards whole numbers to 30.",
    ),
    against: str = typer.Option(..., help="The opponent, an entrant.", autocompletion=completion.entrants),
    decks: str = typer.Option(..., help=DECKS_HELP, autocompletion=completion.decks),
    edition: SweepEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    games: int = typer.Option(
        10_000,
        min=1,
        max=10**9,
        help="Games for each value and ordered pair of decks; even with paired seats.",
    ),
    ruleset: RulesetName = "thesis",
    seats: str = typer.Option(
        "paired",
        help="paired: every deal twice, entrants exchanged, over all pairs of decks; fixed: the entrant goes "
        "first, with the first deck.",
        autocompletion=completion.seats,
    ),
    seed: int = typer.Option(
        1, min=0, max=2**64 - 1, help="Seed of the deals, which are the same for all values."
    ),
    out: SweepOut = None,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    as_data: bool = typer.Option(False, "--json", help="Print the curve as JSON for machines."),
) -> None:
    """Play the curve of one weight, or of a card or keyword in the deck: win rate by value."""
    from engine import find_ruleset
    from engine.decks import coverage_of
    from evo.cli.consoles import output_console
    from evo.cli.curve import show_curve, sweep_figure
    from evo.cli.playing import played, print_json, print_warnings, with_kept_decks
    from evo.play.entrants import find_entrant
    from evo.play.matchups import games_table
    from evo.storage.files import csv_bytes
    from evo.tournament.decksweep import body_notes, put_in
    from evo.tournament.run import Tournament
    from evo.tournament.sweep import against_best, sweep_summary, sweep_table
    from rivals import refuse_decks

    place = place_of(pool, workers, address)
    seating = one_of("--seats", "kind of seats", seats, SEATS)
    swept = Swept(entrant, weight, card, keyword, values)
    deck_names, found_decks, variants = swept.find(
        decks, edition, bodies, any_deck, is_fixed=seating == "fixed"
    )
    words = ["manaforge", "sweep", entrant, *swept.words, "--values", values, "--against", against]
    options = ["--games", str(games), "--ruleset", ruleset, "--seats", seats]
    options += ["--seed", str(seed)] if seed != 1 else []
    options += ["--edition", edition] if edition and card else []
    opponent = find_entrant(against)
    everyone = (*variants.entrants, opponent)
    own_decks = (*variants.decks, ()) if variants.decks else ()
    refuse_decks((one.player.sort for one in everyone), (*found_decks, *itertools.chain(*own_decks)))
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
    for note in body_notes(variants):
        console.print(f"note: {note}", markup=False, highlight=False)
    with played(tournament, out, "sweep", place, console) as (folder, _):
        curve = sweep_table(variants, tournament, folder.played)
        curve["against_best"] = against_best(variants, tournament, folder.played)
        summary = sweep_summary(variants, with_kept_decks(tournament, folder), folder.played, curve)
        summary["cards"] = put_in(variants)
        names = [deck.name for deck in tournament.decks]
        folder.finish(games_table(tournament.matchups, folder.played, tournament.names, names))
        columns = curve.drop(columns="against_best")
        folder.write("sweep.csv", csv_bytes(columns))
        folder.write("sweep.png", sweep_figure(curve, variants, against))
    if as_data:
        print_json(summary)
        return
    show_curve(curve, variants.usual, summary["unproven_turns"], console)
    console.print(coverage_of(tournament.decks), markup=False, highlight=False)
    console.print(f"written: {folder.path}/sweep.csv, sweep.png, games.parquet", markup=False)
    print_warnings(summary)


def arena_command(
    config: str = typer.Argument(
        "arena", help="File of an arena; by default configs/arena.toml.", show_default=False
    ),
    champion: str = typer.Option(
        "", help=f"Another champion: {NOTATION}.", autocompletion=completion.entrants
    ),
    games: int = typer.Option(0, min=0, max=10**9, help="Games a pairing, at least; 0: as in the file."),
    seed: DealSeed = 1,
    out: ArenaOut = None,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    as_data: AsJson = False,
    _agents: AllowAgent = None,
) -> None:
    """Play a champion, the hand-made profiles and all rivals against each other over all decks."""
    from evo.cli.consoles import output_console
    from evo.cli.playing import play_into, print_json
    from evo.stats.ratings import verdict_of
    from evo.tournament.arena import arena_of
    from evo.tournament.output import show

    place = place_of(pool, workers, address)
    tournament = arena_of(config, champion, games, seed)
    done = play_into(tournament, out, "arena", place, output_console(stderr=as_data))
    if as_data:
        print_json(done.summary)
        return
    show(tournament, done.read, done.summary, done.console)
    own = done.read.matchups[done.read.matchups["entrant"] == tournament.names[0]]
    rows = []
    for row in own.sort_values("score").itertuples():
        interval = f"{row.low:.1%} to {row.high:.1%}"
        verdict = verdict_of(row.low, row.high)
        rows.append([str(row.opponent), f"{row.games:,}", f"{row.score:.1%}", interval, verdict])
    done.console.print(FittingTable(ARENA_COLUMNS, rows, f"{tournament.names[0]} against"))
    done.console.print(f"beats {int((own['low'] > 0.5).sum())} of {len(own)}", style="bold", highlight=False)
    done.print_written()
