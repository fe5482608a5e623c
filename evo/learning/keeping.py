"""What keep values become: a profile with its file, and rows of a table."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from engine import RULES_VERSION, Deck, ManaforgeError, Ruleset
from engine.keeps import card_word
from evo.learning.mulligan import Lesson, LessonError, keeps_by_rule
from evo.storage.files import replace_file, temporary_of, why_not_writable, why_unusable
from ilp_agent import Profile, WeightVector
from ilp_agent.mulligan import SeatValues


class LearnedFileError(ManaforgeError, ValueError):
    """The file of a profile that cannot be written; the message names the way out."""


class CardRow(NamedTuple):
    """A card of a deck as a table shows it.

    Attributes:
        card: its id, or its name where it has none.
        name: its name.
        cost: in mana.
        value: of keeping it, in points a game.
        low: lower end of the 95% interval.
        high: upper end.
        keep: whether the mulligan keeps it.
        rule: whether the ruleset's rule does.
    """

    card: str
    name: str
    cost: int
    value: float
    low: float
    high: float
    keep: bool
    rule: bool


def rows_of(values: SeatValues, deck: Deck, ruleset: Ruleset) -> list[CardRow]:
    """The cards of a deck that have a value, the best to keep first."""
    cards = {card_word(card): card for card in deck.cards}
    rule = keeps_by_rule(deck, ruleset)
    rows = []
    for word, (value, half) in values.cards.items():
        spec = cards[word].spec
        low, high = round(value - half, 6), round(value + half, 6)
        name = cards[word].name
        rows.append(CardRow(word, name, spec.cost, value, low, high, value >= 0, rule[word]))
    return sorted(rows, key=lambda row: (-row.value, row.cost, row.name))


def check_out(path: Path) -> None:
    """Refuse a file for the profile before games are played for it.

    Raises:
        LessonError: its name is none of a profile.
        LearnedFileError: it is there already, or cannot be written.
    """
    if path.suffix != ".toml" or not path.stem.isprintable():
        raise LessonError(f"--out is the file of a profile, NAME.toml, got {str(path)!r}")
    if path.exists():
        raise LearnedFileError(f"{path} exists; choose another --out")
    with contextlib.suppress(OSError):  # whose reason is told below
        path.parent.mkdir(parents=True, exist_ok=True)
    why = why_not_writable(path, temporary_of(path))
    if why:
        raise LearnedFileError(f"cannot write {path}: {why}; choose another --out")


def learned_profile(
    profile: Profile[WeightVector],
    lesson: Lesson,
    values: Sequence[SeatValues],
    name: str,
    against: Sequence[str],
) -> Profile[WeightVector]:
    """A profile with its keep values; those of other decks stay.

    Args:
        profile: the weights, and where they come from.
        lesson: what was learned.
        values: what came out.
        name: of the new profile.
        against: the opponents as typed.
    """
    kept = {one[:2]: one for one in (*profile.mulligan, *values)}
    learned = {
        "from": profile.name,
        "decks": [deck.name for deck in lesson.decks],
        "against": list(against),
        "ruleset": lesson.ruleset.name,
        "games": lesson.games,
        "rounds": lesson.rounds,
        "seed": lesson.seed,
        "manaforge": version("manaforge"),
        "rules": RULES_VERSION,
    }
    return replace(
        profile,
        name=name,
        provenance={**profile.provenance, "mulligan": learned},
        mulligan=tuple(kept[key] for key in sorted(kept)),
    )


def write_learned(profile: Profile[WeightVector], path: Path) -> None:
    """Write a profile's file, all or nothing.

    Raises:
        LearnedFileError: its folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, profile.to_toml().encode(), path.parent / f".{path.name}.tmp")
    except OSError as error:
        raise LearnedFileError(
            f"{why_unusable(error, path.parent, 'write to')}; choose another --out"
        ) from None
