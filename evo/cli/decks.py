"""Decks against decks, shown as tables: ratings with card coverage and curve, and every pair."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from engine import Deck
from engine.tables import Column, FittingTable
from evo.analysis.tables import find_runs
from evo.configfiles import names_in
from evo.stats.standings import Standings
from evo.storage.opening import give_decks

DEAREST = 7
"""Cost from which cards are counted together in a curve."""

COLUMNS = (
    Column("deck"),
    Column("rating", right=True),
    Column("95% interval", 1, right=True),
    Column("games", 4, right=True),
    Column("score", 2, right=True),
    Column("exact", 3, right=True),
    Column("cards by cost, 0 to 7+", 5),
)
PAIR_COLUMNS = (
    Column("deck"),
    Column("against"),
    Column("games", 2, right=True),
    Column("score", right=True),
    Column("95% interval", 1, right=True),
)


def give_decks_to(runs: Sequence[Path], decks: str) -> None:
    """Put deck files into the folders of runs whose own are gone.

    Raises:
        RunError: none is gone, or the runs were not started with these.
    """
    for path in find_runs(runs).values() if decks else ():
        give_decks(path, names_in(decks))


def show_decks(read: Standings, decks: Sequence[Deck], console: Console) -> None:
    """Print ratings of decks and the score of every pair, from `evo.stats.standings.deck_standings`."""
    by_name = {deck.name: deck for deck in decks}
    rows = [
        [
            str(row.entrant),
            f"{row.rating:+.1f}",
            f"{row.low:+.1f} to {row.high:+.1f}",
            f"{row.games:,}",
            f"{row.score:.1%}",
            _exact(by_name[row.entrant]),
            curve_of(by_name[row.entrant]),
        ]
        for row in read.ratings.itertuples()
    ]
    console.print(FittingTable(COLUMNS, rows, "decks, rated in Elo"))
    order = list(read.ratings["entrant"])
    pairs = [
        [
            row.deck,
            row.opponent_deck,
            f"{row.games:,}",
            f"{row.score:.1%}",
            f"{row.low:.1%} to {row.high:.1%}",
        ]
        for row in read.decks.itertuples()
        if order.index(row.deck) < order.index(row.opponent_deck)
    ]
    console.print(FittingTable(PAIR_COLUMNS, pairs, "every pair of decks"))


def _exact(deck: Deck) -> str:
    return f"{deck.n_exact} of {'a pool of ' if deck.random else ''}{len(deck.cards)}"


def curve_of(deck: Deck) -> str:
    """How many cards cost 0, 1, ... and 7 or more."""
    costs = [min(card.spec.cost, DEAREST) for card in deck.cards]
    return " ".join(f"{costs.count(cost):>2}" for cost in range(DEAREST + 1))
