"""The command `manaforge mulligan`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.tables import Column, FittingTable
from evo.cli import completion
from evo.cli.options import (
    DECKS_HELP,
    Address,
    AnyDeck,
    AsBodies,
    DealSeed,
    DeckEdition,
    PoolName,
    RulesetName,
    Workers,
    chosen_decks,
    place_of,
)
from evo.play.notation import NOTATION

if TYPE_CHECKING:
    from evo.cli.options import Place
    from evo.cli.progress import Counter
    from evo.experiments.folder import ExperimentFolder
    from evo.learning.keeping import CardRow
    from evo.learning.mulligan import Lesson
    from ilp_agent.mulligan import SeatValues

Learner = Annotated[
    str,
    typer.Argument(
        help=f"Whose mulligan is learned, an entrant with a profile: {NOTATION}.",
        autocompletion=completion.entrants,
    ),
]
LearnedDecks = Annotated[str, typer.Option("--decks", help=DECKS_HELP, autocompletion=completion.decks)]
Opponents = Annotated[
    list[str],
    typer.Option("--against", help="An opponent; may repeat.", autocompletion=completion.entrants),
]
ProfileOut = Annotated[
    Path,
    typer.Option(
        "--out", help="File of the profile that is written, NAME.toml; its games are kept in NAME.mulligan."
    ),
]

STOPPED = "no profile was written; the same command goes on"
"""Said where a signal stops the games."""

COLUMNS = (
    Column("card"),
    Column("cost", 3, right=True),
    Column("value", right=True),
    Column("95% interval", 2, right=True),
    Column("", 0),
    Column("rule", 1),
)
"""Of a deck in one seat; the column without a heading says what the profile does."""


def mulligan_command(
    entrant: Learner,
    decks: LearnedDecks,
    against: Opponents,
    out: ProfileOut,
    games: int = typer.Option(
        20_000, min=1, max=10**7, help="Games for each deck, seat and round, about: deals are whole."
    ),
    rounds: int = typer.Option(
        2, min=1, max=100, help="Each learns under the mulligan that the one before found."
    ),
    ruleset: RulesetName = "standard",
    seed: DealSeed = 1,
    edition: DeckEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
    as_data: bool = typer.Option(False, "--json", help="Print the keep values as JSON for machines."),
) -> None:
    """Learn from games which opening cards to keep, and write a profile that keeps them."""
    from engine import find_deck, find_ruleset
    from evo.cli.consoles import output_console, print_problems
    from evo.cli.progress import Counter
    from evo.configfiles import names_in
    from evo.experiments.folder import open_experiment
    from evo.learning.keeping import check_out, learned_profile, rows_of, write_learned
    from evo.learning.mulligan import Lesson
    from evo.play.entrants import find_entrant, profile_of_entrant
    from evo.wording import counted
    from rivals import refuse_decks

    place = place_of(pool, workers, address)
    player, profile = find_entrant(entrant).player, profile_of_entrant(entrant)
    opponents = tuple(find_entrant(text).player for text in against)
    found = tuple(find_deck(name) for name in chosen_decks(names_in(decks), edition, bodies, any_deck))
    refuse_decks((one.sort for one in (player, *opponents)), found)
    lesson = Lesson(player, opponents, found, find_ruleset(ruleset), games, rounds, seed)
    check_out(out)
    path, console = out.with_suffix(".mulligan"), output_console(stderr=as_data)
    heading = f"mulligan of {entrant}: {lesson.total:,} games in {counted(rounds, 'round')}, kept in {path}"
    with open_experiment(path, "mulligan", lesson.definition) as folder:
        console.print(heading, markup=False, highlight=False, soft_wrap=True)
        print_problems(console, folder.problems)
        values = _played(lesson, folder, place, Counter(console, lesson.total))
        learned = learned_profile(profile, lesson, values, out.stem, against)
        folder.write("profile.toml", learned.to_toml().encode())
        write_learned(learned, out)
    tables = [(one, rows_of(one, found[number // 2], lesson.ruleset)) for number, one in enumerate(values)]
    if as_data:
        print(json.dumps(_as_json(entrant, lesson, tables), indent=1, allow_nan=False))
        return
    for one, rows in tables:
        console.print(_table(one, rows))
    console.print(f"written: {out}; play it as {player.kind}:{out}", markup=False, soft_wrap=True)
    console.print(f"with --ruleset {ruleset}, which has a mulligan", markup=False)


def _played(
    lesson: "Lesson", folder: "ExperimentFolder", place: "Place", counter: "Counter"
) -> "tuple[SeatValues, ...]":
    """Play all games of a lesson that are not kept; the keep values of the last round."""
    from evo.cli.sessions import pool_of
    from evo.learning.mulligan import learn_keeps

    values: tuple[SeatValues, ...] = ()
    with pool_of(place, (lesson.player, *lesson.opponents), lesson.decks, counter, STOPPED) as players:
        for found in learn_keeps(lesson, folder.playing(players, counter.advance)):
            values = found
    return values


def _table(values: "SeatValues", rows: "list[CardRow]") -> FittingTable:
    """The cards of a deck in one seat."""
    from ilp_agent.mulligan import SEATS

    does = {True: "keep", False: "replace"}
    cells = [
        [
            row.name,
            str(row.cost),
            f"{row.value:+.1%}",
            f"{row.low:+.1%} to {row.high:+.1%}",
            does[row.keep],
            does[row.rule],
        ]
        for row in rows
    ]
    return FittingTable(COLUMNS, cells, f"{values.deck}, going {SEATS[values.seat]}")


def _as_json(
    entrant: str, lesson: "Lesson", tables: "list[tuple[SeatValues, list[CardRow]]]"
) -> dict[str, Any]:
    """The keep values as JSON values."""
    from ilp_agent.mulligan import SEATS

    return {
        "entrant": entrant,
        "ruleset": lesson.ruleset.name,
        "games": lesson.total,
        "rounds": lesson.rounds,
        "seed": lesson.seed,
        "mulligan": [
            {"deck": one.deck, "seat": SEATS[one.seat], "cards": [row._asdict() for row in rows]}
            for one, rows in tables
        ],
    }
