"""How many cards of an edition are played exactly: by set, by class, and what the others ask for."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engine.cards.facts import EXACT, SET_NAMES, CardFacts, every_card
from engine.cards.real import EDITIONS

OTHER_SETS = "all others"
"""Sets of which no card is exact, together."""


class Share(NamedTuple):
    """How many of some cards are played exactly.

    Attributes:
        name: of the set or class.
        exact: cards that do all that their text says.
        cards: all of them.
    """

    name: str
    exact: int
    cards: int


class Coverage(NamedTuple):
    """How far an edition is covered.

    Attributes:
        edition: its name.
        whole: of the whole edition.
        sets: by set, in the order in which sets appeared; those without an exact card are one, the last.
        classes: by class, neutral cards last.
        not_covered: kinds of things that cards ask for which are not exact, and how many do; the most first.
            A card may ask for several.
    """

    edition: str
    whole: Share
    sets: tuple[Share, ...]
    classes: tuple[Share, ...]
    not_covered: tuple[tuple[str, int], ...]


def coverage(edition_name: str) -> Coverage:
    """How far an edition is covered."""
    cards = every_card(edition_name)
    sets = _shares(cards, [card.set_name for card in cards])
    order = list(SET_NAMES.values())
    shown = [share for share in sets if share.exact]
    shown.sort(key=lambda share: (order.index(share.name) if share.name in order else len(order), share.name))
    rest = sum(share.cards for share in sets if not share.exact)
    classes = _shares(cards, [card.class_name for card in cards])
    kinds = Counter(kind for card in cards for kind in card.not_covered)
    return Coverage(
        edition_name,
        _share(edition_name, cards),
        (*shown, *([Share(OTHER_SETS, 0, rest)] if rest else [])),
        tuple(sorted(classes, key=lambda share: (share.name in ("neutral", "several classes"), share.name))),
        tuple(sorted(kinds.items(), key=lambda entry: (-entry[1], entry[0]))),
    )


def markdown() -> str:
    """The tables of docs/effects.md: exact cards by edition, set and class, and what is not covered."""
    parts = []
    for name in EDITIONS:
        found = coverage(name)
        whole = found.whole
        parts.append(f"Edition `{name}`: {whole.exact:,} of {whole.cards:,} collectible cards are exact.")
        parts.append(_table("set", [*found.sets]))
        parts.append(_table("class", [*found.classes]))
        rows = [f"| {kind} | {n:,} |" for kind, n in found.not_covered]
        parts.append("\n".join(["| not covered | cards that ask for it |", "| --- | --- |", *rows]))
    return "\n\n".join(parts) + "\n"


def _table(what: str, shares: Sequence[Share]) -> str:
    rows = [f"| {share.name} | {share.exact:,} | {share.cards:,} |" for share in shares]
    return "\n".join([f"| {what} | exact | of |", "| --- | --- | --- |", *rows])


def _shares(cards: Iterable[CardFacts], names: Iterable[str]) -> list[Share]:
    """The share of exact cards for each name that stands beside a card."""
    groups: dict[str, list[CardFacts]] = {}
    for card, name in zip(cards, names, strict=True):
        groups.setdefault(name, []).append(card)
    return [_share(name, group) for name, group in groups.items()]


def _share(name: str, cards: Sequence[CardFacts]) -> Share:
    return Share(name, sum(card.played == EXACT for card in cards), len(cards))
