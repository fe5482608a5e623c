"""The command `manaforge predict`: which deck an opponent plays, by the cards seen."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evo.cli.options import AsJson, DealSeed, LibraryFolder

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from engine import Deck
    from evo.analysis.prediction import DeckLibrary

EXCHANGED = (0, 3, 6)
"""Cards of a deck that are exchanged where accuracy is measured."""

MOST_HOLDERS = 3
"""Decks that are named for a card."""

SHOWN = 15
"""Most cards of a table."""

Seen = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CARD", help="Cards seen, by name or id; a second copy once more.", show_default=False
    ),
]

FigureOut = Annotated[Path | None, typer.Option("--out", help="A PNG file for the figure of --accuracy.")]


def predict_command(
    cards: Seen = None,
    hero_class: str = typer.Option(
        "", "--class", metavar="CLASS", help="The opponent's class, or bodies for a deck without one."
    ),
    library: LibraryFolder = None,
    accuracy: bool = typer.Option(
        False, "--accuracy", help="Measure how well the library's decks are predicted."
    ),
    orders: int = typer.Option(20, min=1, max=10_000, help="Random orders of each deck, for --accuracy."),
    out: FigureOut = None,
    seed: DealSeed = 1,
    as_data: AsJson = False,
) -> None:
    """Predict an opponent's deck by the cards seen: the likeliest decks, and the cards left in them."""
    from evo.analysis.prediction import DeckLibrary, card_name, of_class
    from evo.cli.consoles import output_console
    from evo.decklibrary import shipped_and

    _check(cards, accuracy, out)
    every = shipped_and(library)
    decks = of_class(every, hero_class) if hero_class else every
    console = output_console()
    if accuracy:
        _measure(decks, orders, seed, out, as_data, console)
        return
    known = DeckLibrary(decks)
    seen = [card_name(text, known) for text in cards or ()]
    if as_data:
        print(json.dumps(_as_data(known, seen), indent=1))
    else:
        _show(known, seen, console)
        elsewhere = [name for name in sorted(set(seen) - set(known.names)) if _holders(name, every)]
        for name in elsewhere:
            said = f"in no {hero_class} deck of the library: {name} (it is in {_holders(name, every)})"
            console.print(said, markup=False, highlight=False)
        nowhere = sorted(set(seen) - set(known.names) - set(elsewhere))
        if nowhere:
            console.print(f"in no deck of the library: {', '.join(nowhere)}", markup=False, highlight=False)


def _holders(card: str, decks: "tuple[Deck, ...]") -> str:
    """Names of the first few decks that hold a card; "" where none does."""
    found = [deck.name for deck in decks if any(card == one.name for one in deck.cards)]
    return ", ".join(found[:MOST_HOLDERS]) + (", ..." if len(found) > MOST_HOLDERS else "")


def _check(cards: list[str] | None, accuracy: bool, out: Path | None) -> None:
    """Refuse lines whose parts do not belong together."""
    from engine import ManaforgeError
    from engine.codes import DECK_SIZE
    from evo.analysis.prediction import PredictionError
    from evo.storage.files import temporary_of, why_not_writable

    if accuracy and cards:
        raise PredictionError("--accuracy measures all decks of the library; leave the cards out")
    if out is not None and not accuracy:
        raise PredictionError("--out is the figure of --accuracy; add --accuracy, or leave it out")
    why = why_not_writable(out, temporary_of(out)) if out is not None else ""
    if why:
        raise ManaforgeError(f"cannot write {out}: {why}; choose another --out")
    if len(cards or ()) > DECK_SIZE:
        raise PredictionError(f"a deck has {DECK_SIZE} cards, got {len(cards or ())} that were seen")


def _as_data(library: "DeckLibrary", seen: list[str]) -> dict[str, object]:
    decks = [
        {"deck": deck.name, "class": deck.hero_class, "chance": chance}
        for deck, chance in library.likely_decks(seen)
    ]
    return {"seen": seen, "decks": decks, "cards": [card._asdict() for card in library.likely_cards(seen)]}


def _show(library: "DeckLibrary", seen: list[str], console: "Console") -> None:
    """Print the likeliest decks and cards."""
    from engine.tables import Column, FittingTable

    decks = [
        (deck.name, deck.hero_class, f"{chance:.1%}")
        for deck, chance in library.likely_decks(seen)
        if chance >= 0.001
    ]
    columns = Column("deck"), Column("class", 1), Column("chance", right=True)
    console.print(FittingTable(columns, decks))
    likely = library.likely_cards(seen)
    cards = [(card.name, f"{card.chance:.1%}", f"{card.copies:.2f}") for card in likely[:SHOWN]]
    columns = Column("card left"), Column("chance", right=True), Column("copies", 1, right=True)
    console.print(FittingTable(columns, cards))
    if len(likely) > SHOWN:
        console.print(f"and {len(likely) - SHOWN} more (--json lists all)", markup=False, highlight=False)


def _measure(
    decks: "tuple[Deck, ...]", orders: int, seed: int, out: Path | None, as_data: bool, console: "Console"
) -> None:
    """Print accuracy by cards seen, and write its figure."""
    from engine.tables import Column, FittingTable
    from evo.analysis.prediction import accuracy as measure

    table = measure(decks, orders, EXCHANGED, seed)
    if out is not None:
        _write_figure(table, out)
    if as_data:
        print(table.to_json(orient="records", indent=1))
        return
    some = table[table["seen"].isin((0, 1, 2, 3, 5, 10, 15, 20, 25, 29))]
    rows = [
        (str(seen), *(f"{row.right:.1%} ({row.low:.1%} to {row.high:.1%})" for row in group.itertuples()))
        for seen, group in some.groupby("seen")
    ]
    names = [f"{n} exchanged" if n else "as listed" for n in table["exchanged"].unique()]
    columns = Column("cards seen"), *(Column(name, place, right=True) for place, name in enumerate(names))
    console.print(FittingTable(columns, rows))
    counts = " to ".join(dict.fromkeys(str(n) for n in sorted({*table["decks"]})))
    said = f"cards left that are predicted right, mean of {counts} decks with 95% intervals"
    console.print(said, markup=False, highlight=False)
    if out is not None:
        console.print(f"written: {out}", markup=False, highlight=False)


def _write_figure(table: "pd.DataFrame", out: Path) -> None:
    from evo.analysis.plots_prediction import plot_accuracy
    from evo.figures.style import draw
    from evo.storage.files import replace_file, temporary_of

    replace_file(out, draw(plot_accuracy, table).png, temporary_of(out))
