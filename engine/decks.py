"""Decks: TOML files, Hearthstone deck codes and the shipped ones, checked and ready to deal."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.cards import Card, CardTable, find_card
from engine.codes import DECK_SIZE, MAX_STAT
from engine.errors import DeckError, ManaforgeError, UnknownNameError, unknown_name
from engine.minion import MinionSpec
from engine.state import DECK

COPIES = 2
LEGENDARY_COPIES = 1


@dataclass(frozen=True)
class Deck:
    """Thirty cards, or a pool from which thirty are drawn afresh for each game and player.

    Attributes:
        name: as commands and results write it.
        cards: the 30 cards in the order of the list (dealing shuffles them); of a random deck, its pool.
        random: whether `cards` is a pool.
        description: one line for listings.

    Raises:
        DeckError: there are not 30 cards, or not 1 to 30 in a pool.
    """

    name: str
    cards: tuple[Card, ...]
    random: bool = False
    description: str = ""

    def __post_init__(self) -> None:
        least = 1 if self.random else DECK_SIZE
        if not least <= len(self.cards) <= DECK_SIZE:
            kind = "a pool of 1 to 30" if self.random else "30"
            raise DeckError(f"deck {self.name!r} must have {kind} cards, got {len(self.cards)}")

    def __hash__(self) -> int:
        return hash(self.name)  # of thirty cards it would take longer than comparing them

    def record(self, table: CardTable) -> np.void:
        """The deck as a record of dtype `engine.state.DECK`, by the numbers of `table`."""
        record: np.void = np.zeros(1, DECK)[0]
        record["cards"][: len(self.cards)] = [table.number[card.key] for card in self.cards]
        record["pool"] = len(self.cards) if self.random else 0
        return record

    @property
    def identity(self) -> list[Any]:
        """Name, whether it is random, and the text of each card: what hashes of configurations count."""
        return [self.name, self.random, *(card.identity for card in self.cards)]

    def counts(self) -> list[tuple[Card, int]]:
        """Each different card with its count, by cost and name; of a random deck, its pool."""
        found = Counter(self.cards)
        return sorted(found.items(), key=lambda entry: (entry[0].spec.cost, entry[0].name))


def table_of(decks: Iterable[Deck]) -> CardTable:
    """One card table for several decks, in their order; cards that play and read alike share one number."""
    found: dict[object, Card] = {}
    for deck in decks:
        for card in deck.cards:
            found.setdefault(card.key, card)
    return CardTable(list(found.values()))


@lru_cache(maxsize=64)
def tables_of(decks: tuple[Deck, ...]) -> tuple[CardTable, np.ndarray]:
    """Card table of some decks, and their records for kernels; made once, and not to be changed."""
    table = table_of(decks)
    return table, deck_records(decks, table)


def deck_records(decks: Sequence[Deck], table: CardTable) -> np.ndarray:
    """Decks for kernels: shape (decks,), dtype `engine.state.DECK`."""
    return np.array([deck.record(table) for deck in decks], DECK)


def shipped_decks() -> list[str]:
    """Names of the decks that come with the package."""
    folder = resources.files("engine") / "data" / "decks"
    return sorted(
        entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")
    )


def find_deck(name: str | Path) -> Deck:
    """A deck by the one notation used everywhere: a shipped name, a path to a TOML file, or a deck code.

    Raises:
        DeckError: the file or code is not a deck we can play; the message says what and where.
        UnknownNameError: no shipped deck has this name; the message lists the nearest.
    """
    from engine.deckcodes import deck_from_code, looks_like_code  # noqa: PLC0415 - loads the card enums

    name = str(name)
    if name in shipped_decks():
        return _shipped(name)
    if name.endswith(".toml"):
        return read_deck(Path(name))
    if looks_like_code(name):
        return deck_from_code(name)
    if "/" in name:
        return read_deck(Path(name))
    error = unknown_name("deck", name, shipped_decks())
    raise UnknownNameError(f"{error} (and it is neither a path ending in .toml nor a deck code)")


def read_deck(path: str | Path) -> Deck:
    """Read a deck file (docs/decks.md describes the format).

    Raises:
        DeckError: the file cannot be read, is not TOML, or is not a deck; the message names the place.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # a zero character in the name is a ValueError
        undecoded = isinstance(error, UnicodeDecodeError)
        reason = (
            error.strerror if isinstance(error, OSError) else "it is not UTF-8 text" if undecoded else error
        )
        raise DeckError(f"cannot read deck file {path}: {reason}") from None
    return _parse_deck(text, str(path))


def check_counts(
    cards: Sequence[Card], where: str, copies: int = COPIES, legendary: int = LEGENDARY_COPIES
) -> None:
    """Refuse a list that is not 30 cards or holds too many copies; reprints count as one card.

    Raises:
        DeckError: with all that is wrong in one message.
    """
    problems = []
    if len(cards) != DECK_SIZE:
        problems.append(f"{len(cards)} cards instead of {DECK_SIZE}")
    rarity = {card.name: card.rarity for card in cards}
    for name, n in Counter(card.name for card in cards).items():
        most = legendary if rarity[name] == "LEGENDARY" else copies
        if n > most:
            kind = "legendary " if rarity[name] == "LEGENDARY" else ""
            problems.append(f"{n} copies of {kind}{name} (at most {most})")
    if problems:
        raise DeckError(f"{where}: {'; '.join(problems)}")


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


_Count = Annotated[int, Field(ge=1, le=DECK_SIZE)]
_Stat = Annotated[int, Field(ge=0, le=MAX_STAT)]
_Range = Annotated[list[_Stat], Field(min_length=2, max_length=2)]


class _CardLine(_Model):
    id: str
    name: str | None = None
    count: _Count = 1
    cost: _Stat | None = None
    attack: _Stat | None = None
    health: _Stat | None = None
    keywords: list[str] | None = None
    value: Annotated[float, Field(ge=0, le=MAX_STAT)] | None = None


class _RandomCards(_Model):
    attack: _Range
    health: _Range


class _DeckFile(_Model):
    schema_version: Literal[1] = Field(alias="schema")
    name: str
    description: str = ""
    source: str = ""
    copies: _Count = COPIES
    legendary_copies: _Count = LEGENDARY_COPIES
    cards: list[_CardLine] | None = None
    random: _RandomCards | None = None


@cache
def _shipped(name: str) -> Deck:
    file = resources.files("engine") / "data" / "decks" / f"{name}.toml"
    return _parse_deck(file.read_text(encoding="utf-8"), f"{name}.toml")


def _parse_deck(text: str, where: str) -> Deck:
    try:
        content = _DeckFile.model_validate(tomllib.loads(text))
    except ValidationError as error:
        raise DeckError(f"{where}: {'; '.join(_problems(error))}") from None
    except (ValueError, RecursionError) as error:  # also of numbers and nesting beyond Python's limits
        raise DeckError(f"{where} is not a TOML file: {error}") from None
    if (content.cards is None) == (content.random is None):
        raise DeckError(f"{where}: a deck has either [[cards]] or a [random] table")
    if content.random is not None:
        return Deck(content.name, _pool(content.random, where), True, content.description)
    cards: list[Card] = []
    for place, line in enumerate(content.cards or ()):
        cards += [_card(line, f"{where}: cards[{place}]")] * line.count
    check_counts(cards, where, content.copies, content.legendary_copies)
    return Deck(content.name, tuple(cards), description=content.description)


def _card(line: _CardLine, where: str) -> Card:
    """One line of a deck file as a card, altered as the file asks."""
    try:
        card = find_card(line.id)
        if card.id != line.id:
            raise DeckError(
                f"{line.id!r} is a name; write the id {card.id!r}, which a new catalogue cannot change"
            )
        if line.name is not None and line.name != card.name:
            raise DeckError(f"id {line.id!r} is {card.name!r}, not {line.name!r}")
        changes = line.model_dump(include={"cost", "attack", "health", "value"}, exclude_none=True)
        return card.altered(line.keywords, **changes)
    except ManaforgeError as error:
        raise DeckError(f"{where}: {error}") from None


def _pool(ranges: _RandomCards, where: str) -> tuple[Card, ...]:
    """Every minion a random deck may hold: attack and health in their ranges, mana (attack + health) // 2."""
    (low_attack, high_attack), (low_health, high_health) = ranges.attack, ranges.health
    n = max(0, high_attack - low_attack + 1) * max(0, high_health - low_health + 1)
    if not 1 <= n <= DECK_SIZE or low_health < 1:
        raise DeckError(
            f"{where}: [random] must span 1 to {DECK_SIZE} bodies of health 1 or more, and spans {n}"
        )
    return tuple(
        Card("", f"Minion {attack}/{health}", MinionSpec(attack, health, (attack + health) // 2))
        for attack in range(low_attack, high_attack + 1)
        for health in range(low_health, high_health + 1)
    )


def _problems(error: ValidationError) -> list[str]:
    """What a deck file has wrong, each with its place; unknown keys with the nearest known one."""
    models: dict[str, type[_Model]] = {"cards": _CardLine, "random": _RandomCards}
    texts = []
    for problem in error.errors():
        *path, last = problem["loc"]
        place = "".join(
            f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"]
        ).lstrip(".")
        if problem["type"] == "extra_forbidden":
            model = models.get(str(path[0]), _DeckFile) if path else _DeckFile
            known = [field.alias or name for name, field in model.model_fields.items()]
            texts.append(str(unknown_name("key", place if not path else str(last), known)) + f" (at {place})")
        else:
            got = f", got {problem['input']!r}" if not isinstance(problem["input"], dict) else ""
            texts.append(f"{place}: {problem['msg']}{got}")
    return texts
