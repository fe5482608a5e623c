"""Cards drawn for the terminal: one with all that it does, and listings of an edition."""

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.text import Text

from engine.cards.coverage import Coverage, Share
from engine.cards.facts import EXACT, CardFacts
from engine.tables import Column, FittingTable

LIST_COLUMNS = (
    Column("cost", 2, right=True),
    Column("name"),
    Column("body", 3),
    Column("kind", 5),
    Column("class", 4),
    Column("set", 7),
    Column("id", 8),
    Column("played", 1),
    Column("not covered", 6, folds=True),
)


def card_lines(printings: Sequence[CardFacts], width: int) -> list[str]:
    """A card, what is played of it, and its other printings, as lines of at most so many characters.

    Args:
        printings: as `engine.cards.facts.find_facts` has them; of each edition the first is told whole.
        width: of a line.
    """
    lines: list[str] = []
    told: list[str] = []
    for facts in printings:
        if facts.edition in told:
            text = f"also {facts.title}, set {facts.set_name}, {facts.played}"
            lines.append(fill(text, width, initial_indent="  ", subsequent_indent="       "))
            continue
        told.append(facts.edition)
        lines.append(fill(facts.title, width, subsequent_indent="  "))
        for text in (facts.describes, facts.played_how):
            lines.append(fill(text, width, initial_indent="  ", subsequent_indent="  "))
        lines += [fill(text, width, initial_indent="  - ", subsequent_indent="    ") for text in facts.does]
    return lines


def card_as_json(facts: CardFacts) -> dict[str, Any]:
    """A card for machines."""
    return {
        "id": facts.id,
        "name": facts.name,
        "edition": facts.edition,
        "kind": facts.kind,
        "class": facts.class_name,
        "set": facts.set_name,
        "rarity": facts.rarity,
        "cost": facts.cost,
        "body": facts.body,
        "race": facts.race,
        "keywords": list(facts.keywords),
        "collectible": facts.collectible,
        "played": facts.played,
        "does": list(facts.does),
        "not_covered": list(facts.not_covered),
    }


def coverage_as_json(coverage: Coverage) -> dict[str, Any]:
    """The coverage of an edition for machines."""
    return {
        "edition": coverage.edition,
        "exact": coverage.whole.exact,
        "cards": coverage.whole.cards,
        "sets": [share._asdict() for share in coverage.sets],
        "classes": [share._asdict() for share in coverage.classes],
        "not_covered": [{"kind": kind, "cards": n} for kind, n in coverage.not_covered],
    }


def draw_coverage(coverage: Coverage) -> ConsoleRenderable:
    """How many cards of an edition are exact, by set and class, and what the others ask for."""
    whole = coverage.whole
    numbers = f"{whole.exact:,} of {whole.cards:,} collectible cards are played exactly"
    asked = Column("not covered"), Column("cards that ask for it", 1, right=True)
    kinds = [(kind, f"{n:,}") for kind, n in coverage.not_covered]
    return Group(
        Text(f"Edition {coverage.edition}: {numbers}."),
        _share_table("set", coverage.sets),
        _share_table("class", coverage.classes),
        FittingTable(asked, kinds, caption="A card may ask for several of these."),
    )


def draw_cards(cards: Sequence[CardFacts]) -> ConsoleRenderable:
    """A listing of cards, with what is not covered of each."""
    rows = [
        (
            str(card.cost),
            card.name,
            card.body,
            card.kind,
            card.class_name,
            card.set_name,
            card.id,
            card.played,
            ", ".join(card.not_covered),
        )
        for card in cards
    ]
    n_exact = sum(card.played == EXACT for card in cards)
    return FittingTable(LIST_COLUMNS, rows, caption=f"{n_exact:,} of {len(cards):,} are played exactly.")


def _share_table(what: str, shares: Sequence[Share]) -> ConsoleRenderable:
    columns = Column(what), Column("exact", 1, right=True), Column("of", 2, right=True)
    return FittingTable(columns, [(share.name, f"{share.exact:,}", f"{share.cards:,}") for share in shares])
