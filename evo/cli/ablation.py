"""The command `manaforge ablate`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    import pandas as pd

AblateOut = Annotated[
    Path | None, typer.Option("--out", help="Its folder. (default: runs/ablate-<hash>)", show_default=False)
]
Decks = Annotated[str, typer.Option("--decks", help=DECKS_HELP, autocompletion=completion.decks)]

STOPPED = "the same command goes on"
"""Said where a signal stops the games."""

COLUMNS = (
    Column("weight"),
    Column("share", 3, right=True),
    Column("score against", 2, right=True),
    Column("worth, Elo", right=True),
    Column("95% interval", 1, right=True),
)
PAIR_COLUMNS = (
    Column("weights"),
    Column("worth, Elo", 2, right=True),
    Column("more than alone", right=True),
    Column("95% interval", 1, right=True),
)
MOST_PAIRS = 10
"""Pairs that the terminal shows; the page has all."""


def ablate_command(
    entrant: str = typer.Argument(
        help=f"Whose weights are left out, an entrant with a profile: {NOTATION}.",
        autocompletion=completion.entrants,
    ),
    decks: Decks = "thesis-paladin,thesis-warrior,hearthsim-basic",
    games: int = typer.Option(
        800, min=2, max=10**6, help="Games against every copy and ordered pair of decks; even."
    ),
    pairs: bool = typer.Option(False, "--pairs", help="Also leave out two weights together."),
    ruleset: RulesetName = "thesis",
    seed: DealSeed = 1,
    edition: DeckEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    out: AblateOut = None,
    workers: Workers = 0,
    pool: PoolName = "auto",
    address: Address = "",
) -> None:
    """Find what each weight of a profile is worth: it plays copies of itself without them."""
    from engine import find_deck, find_ruleset
    from evo.cli.consoles import output_console, print_problems
    from evo.cli.progress import Counter
    from evo.cli.sessions import pool_of
    from evo.configfiles import names_in
    from evo.experiments.ablation import Ablation, ablate
    from evo.experiments.ablation_page import ablation_figure, ablation_page
    from evo.experiments.folder import ExperimentOptionError, open_experiment
    from evo.play.entrants import find_entrant
    from evo.storage.files import csv_bytes, digest_of
    from rivals import refuse_decks

    place = place_of(pool, workers, address)
    if games % 2:
        raise ExperimentOptionError(f"--games must be even, games come in pairs, got {games}")
    names = chosen_decks(names_in(decks), edition, bodies, any_deck)
    found = tuple(find_deck(name) for name in names)
    player = find_entrant(entrant).player
    refuse_decks([player.sort], found)
    ablation = Ablation(player, found, find_ruleset(ruleset), games, pairs, seed)
    definition = {
        "entrant": [*player.played_as, *player.row],
        "decks": [deck.identity for deck in found],
        "ruleset": ruleset,
        "games": games,
        "pairs": pairs,
        "seed": seed,
    }
    total = ablation.total
    path = out or Path("runs") / f"ablate-{digest_of(definition)[:8]}"
    console = output_console()
    console.print(f"{path}: {total:,} games to play", markup=False, highlight=False)
    counter = Counter(console, total)
    with open_experiment(path, "ablate", definition) as folder:
        print_problems(console, folder.problems)
        with pool_of(place, [player], found, counter, STOPPED) as players:
            single, together = ablate(ablation, folder.playing(players, counter.advance))
        command = ["manaforge", "ablate", entrant, "--decks", ",".join(names), "--games", str(games)]
        command += [*(["--pairs"] if pairs else []), "--ruleset", ruleset, "--seed", str(seed)]
        folder.write("weights.csv", csv_bytes(single))
        if pairs:
            folder.write("pairs.csv", csv_bytes(together))
        folder.write("weights.png", ablation_figure(single))
        folder.write("ablation.html", ablation_page(entrant, ablation, single, together, shlex.join(command)))
    console.print(_table(single))
    if pairs:
        console.print(_pairs_table(together))
    files = ", ".join(["ablation.html", "weights.png", "weights.csv", *(["pairs.csv"] if pairs else [])])
    console.print(f"written: {path}/{files}", markup=False)


def _table(single: "pd.DataFrame") -> FittingTable:
    rows = [
        [
            row.weight,
            f"{row.share:.1%}",
            f"{row.score:.1%}",
            f"{row.elo:+.1f}",
            f"{row.low:+.1f} to {row.high:+.1f}",
        ]
        for row in single.itertuples()
    ]
    return FittingTable(COLUMNS, rows, "what each weight is worth: Elo that is lost without it")


def _pairs_table(pairs: "pd.DataFrame") -> FittingTable:
    rows = [
        [
            f"{row.weight} and {row.other}",
            f"{row.elo:+.1f}",
            f"{row.interaction:+.1f}",
            f"{row.interaction_low:+.1f} to {row.interaction_high:+.1f}",
        ]
        for row in pairs.head(MOST_PAIRS).itertuples()
    ]
    return FittingTable(PAIR_COLUMNS, rows, "pairs that are worth most more, or less, than their two alone")
