"""Decks from anywhere: the shipped ones, TOML files, and Hearthstone deck codes, by one notation."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from engine.cards import Card, find_card
from engine.cards.real import NEWEST_EDITION, edition, find_class
from engine.codes import DECK_SIZE, MAX_STAT
from engine.deckcodes import deck_from_code, looks_like_code
from engine.deckreading import NOTHING_SAID, Reading, amended, split_words
from engine.decks import COPIES, LEGENDARY_COPIES, Deck, check_class, check_counts
from engine.errors import DeckError, DeckNameError, ManaforgeError, UnknownNameError, unknown_name
from engine.minion import MinionSpec
from engine.received import is_one_line, parse_toml, read_text
from engine.shipped import DATA, shipped_decks


def find_deck(name: str | Path) -> Deck:
    """A deck by the one notation used everywhere: a shipped name, a path to a TOML file, or a deck code.

    In front of a file or a code may stand how it is read, such as `2018-07:` (`engine.deckreading`).

    Raises:
        DeckError: the file or code is not a deck we can play; the message says what and where.
        UnknownNameError: no shipped deck has this name; the message lists the nearest.
    """
    reading, name = split_words(str(name))
    if name in shipped_decks():
        if reading.text:
            raise DeckNameError(
                f"{reading.text}{name}: shipped decks are read in one way; write {name} alone"
            )
        return _shipped(name)
    if name.endswith(".toml"):
        return read_deck(Path(name), reading)
    if looks_like_code(name):
        try:
            return deck_from_code(name, reading)
        except DeckError as error:
            raise DeckNameError(str(error)) from None
    if "/" in name:
        return read_deck(Path(name), reading)
    unknown = unknown_name("deck", name, shipped_decks())
    raise UnknownNameError(f"{unknown} (and it is neither a path ending in .toml nor a deck code)")


def worded(names: Iterable[str], reading: Reading, elsewhere: bool = False) -> tuple[str, ...]:
    """Decks with what options of a command say in front of those that it is about.

    It is about deck codes, and about files that name a class; what stands in front of a deck already counts.

    Args:
        names: the decks.
        reading: what the options say.
        elsewhere: whether it is about something else as well, so that it need be about none of the decks.

    Raises:
        DeckNameError: something is said, and it is about none of them.
        DeckError: a file cannot be played at all.
    """
    names = tuple(names)
    if not reading.text:
        return names
    found, n_changed = [], 0
    for name in names:
        said, deck = split_words(name)
        is_file = deck.endswith(".toml") or ("/" in deck and not looks_like_code(deck))
        if looks_like_code(deck) or (is_file and _names_class(Path(deck))):
            found.append(f"{said.and_also(reading).text}{deck}")
            n_changed += 1
        else:
            found.append(name)
    if not n_changed and not elsewhere:
        raise DeckNameError(
            f"{reading.options} is about deck codes and deck files with a class, and none of these is one"
        )
    return tuple(found)


def _names_class(path: Path) -> bool:
    """Whether a file is a deck file with a class; what is wrong with it is said when it is read."""
    try:
        return bool(parse_toml(read_text(path)).get("class"))
    except (OSError, ValueError):
        return False


def read_deck(path: str | Path, reading: Reading = NOTHING_SAID) -> Deck:
    """Read a deck file (docs/decks.md describes the format).

    Args:
        path: of the file.
        reading: what is said of the deck beside the file; it comes before what the file says.

    Raises:
        DeckError: the file cannot be read, is not TOML, or is not a deck; the message names the place.
    """
    path = Path(path)
    try:
        text = read_text(path)
    except OSError as error:
        raise DeckNameError(f"cannot read deck file {path}: {error.strerror}") from None
    except ValueError as error:
        raise DeckError(f"cannot read deck file {path}: {error}") from None
    if reading.text:
        text = amended(text, reading)
    deck = replace(_parse_deck(text, str(path)), text=text)
    if reading.text and not deck.hero_class:
        raise DeckNameError(f"{path} names no class, so {reading.text.rstrip(':')} says nothing about it")
    return deck


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


def _one_line(text: str) -> str:
    if not is_one_line(text):
        raise ValueError("must be one line")
    return text


_Line = Annotated[str, AfterValidator(_one_line)]
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
    name: _Line
    description: str = ""
    source: str = ""
    hero_class: str = Field(default="", alias="class")
    edition: str = ""
    bodies: bool = False
    any_deck: bool = False
    size: _Count = DECK_SIZE
    copies: _Count = COPIES
    legendary_copies: _Count = LEGENDARY_COPIES
    cards: list[_CardLine] | None = None
    random: _RandomCards | None = None


@cache
def _shipped(name: str) -> Deck:
    file = DATA / "decks" / f"{name}.toml"
    return _parse_deck(file.read_text(encoding="utf-8"), f"{name}.toml")


def _parse_deck(text: str, where: str) -> Deck:
    try:
        content = _DeckFile.model_validate(parse_toml(text))
    except ValidationError as error:
        raise DeckError(f"{where}: {'; '.join(_problems(error))}") from None
    except ValueError as error:
        raise DeckError(f"{where} is not a TOML file: {error}") from None
    if (content.cards is None) == (content.random is None):
        raise DeckError(f"{where}: a deck has either [[cards]] or a [random] table")
    description = " ".join(content.description.split())
    if content.random is not None:
        return Deck(content.name, _pool(content.random, where), True, description, size=content.size)
    try:
        find = _finder(content)
    except UnknownNameError as error:
        raise DeckError(f"{where}: {error}") from None
    cards: list[Card] = []
    for place, line in enumerate(content.cards or ()):
        cards += [_card(line, f"{where}: cards[{place}]", find)] * line.count
    reading = Reading(content.edition, content.bodies, content.any_deck)
    copies, legends = content.copies, content.legendary_copies
    if reading.any_deck:
        copies = legends = DECK_SIZE
    check_counts(cards, where, copies, legends, content.size)
    hero = content.hero_class.lower()
    if hero:
        check_class(cards, hero, where, reading)
    return Deck(
        content.name,
        tuple(cards),
        description=description,
        hero_class=hero,
        edition=content.edition or NEWEST_EDITION if hero else "",
        size=content.size,
    )


def _finder(content: "_DeckFile") -> Callable[[str], Card]:
    """Where a deck file's cards are looked up: real ones for a deck with a class, bodies for one without."""
    if not content.hero_class:
        if content.edition:
            raise UnknownNameError("a deck that names an edition names its class, too: class = 'mage'")
        return find_card
    find_class(content.hero_class)
    return edition(content.edition or NEWEST_EDITION).for_deck


def _card(line: _CardLine, where: str, find: Callable[[str], Card]) -> Card:
    """One line of a deck file as a card, altered as the file asks."""
    try:
        card = find(line.id)
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
        raise DeckError(f"{where}: [random] must span 1 to {DECK_SIZE} bodies of health 1 or more, got {n}")
    return tuple(
        Card("", f"Minion {attack}/{health}", MinionSpec(attack, health, (attack + health) // 2))
        for attack in range(low_attack, high_attack + 1)
        for health in range(low_health, high_health + 1)
    )


def _problems(error: ValidationError) -> list[str]:
    """The faults of a deck file, each with its place; unknown keys with the nearest known one."""
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
