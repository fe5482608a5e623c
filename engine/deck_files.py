"""Find and read decks: shipped decks, TOML files and Hearthstone deck codes.

The package `hearthstone` decodes deck codes; it accepts junk and duplicates, so its result is validated here.
It is imported for the first code, since loading its card enums takes 0.1 s.
"""

import base64
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import tomli_w
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from engine.cards import Card, catalogue, find_card
from engine.cards.patches import NO_PATCH, Patch, parse_patch, printed_numbers
from engine.cards.real import (
    EDITIONS,
    NEWEST_EDITION,
    Edition,
    class_of_hero,
    edition,
    find_class,
    hero_classes,
)
from engine.codes import DECK_SIZE, MAX_STAT
from engine.decks import (
    COPIES,
    LEGENDARY_COPIES,
    NO_DECK_OPTIONS,
    Deck,
    DeckOptions,
    cards_of_games,
    check_class,
    check_counts,
    class_problems,
    count_problems,
    split_deck_prefix,
    write_deck_options,
)
from engine.effect_codes import CardKind
from engine.errors import (
    DeckError,
    DeckNameError,
    ManaforgeError,
    UnknownNameError,
    WrongValueError,
    constraint_text,
    unknown_name,
)
from engine.minion import MinionSpec, keyword_names
from engine.safe_files import is_one_line, parse_toml, read_text
from engine.shipped import DATA, shipped_decks

_CODE = re.compile(r"AA[A-Za-z0-9+/]{14,}={0,2}")
"""A deck code begins with AA: byte 0, then version 1."""

CLASSLESS_HERO = 7
"""Hero in the deck code of a deck without a class: Garrosh Hellscream."""

NEUTRAL = "neutral"


class _Content(NamedTuple):
    """Decoded deck code: (card number, count) pairs, and hero numbers."""

    counts: list[tuple[int, int]]
    heroes: list[int]


def looks_like_code(text: str) -> bool:
    """Whether a text is a deck code, or the block of lines that the game's client copies, not a name."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return any(line.startswith("#") or _CODE.fullmatch(line) for line in lines)


def deck_from_code(text: str, reading: DeckOptions = NO_DECK_OPTIONS) -> Deck:
    """Read a deck code, with or without the comment lines that the game's client puts around it.

    A code of minions alone is a deck of bodies, unless `reading` names an edition. Any other is a deck of its
    hero's class, with the cards of that edition, by default the newest.

    Raises:
        DeckError: the code is truncated or corrupted, names cards that are not supported or do not exist, or
            is not a legal list of 30; the message lists all such cards.
    """
    code, title = _code_line(text)
    content = _decode(code)
    where = f"deck code {_short(code)}"
    name = title or reading.text + code
    minions, others = catalogue().by_dbf_id, catalogue().others
    if reading.edition or any(number in others for number, _ in content.counts):
        return _class_deck(content, name, where, reading)
    unknown = [str(number) for number, _ in content.counts if number not in minions]
    if unknown:
        raise DeckError(f"{where}: no collectible card has number {', '.join(unknown)}")
    cards = [minions[number] for number, n in content.counts for _ in range(n)]
    most = DECK_SIZE if reading.any_deck else 0
    check_counts(cards, where, most or COPIES, most or LEGENDARY_COPIES)
    return Deck(name, tuple(cards), description="from a deck code").patched(reading.patch)


def _class_deck(content: "_Content", name: str, where: str, reading: DeckOptions) -> Deck:
    """Build a class deck with real cards from a decoded deck code."""
    chosen = edition(reading.edition or NEWEST_EDITION)
    cards: list[Card] = []
    missing = []
    for number, n in content.counts:
        if number in chosen.by_dbf_id:
            cards += [chosen.by_dbf_id[number]] * n
        else:
            missing.append(number)
    hero_class = _class_of(content.heroes, cards, where)
    problems = _missing_problems(missing, chosen)
    problems += class_problems(cards, hero_class, reading)
    if not missing:
        most = DECK_SIZE if reading.any_deck else 0
        counts = count_problems(cards, most or COPIES, most or LEGENDARY_COPIES)
        legal = all("copies of" not in problem for problem in counts)
        problems += (
            counts if legal else [f"{'; '.join(counts)} (allowed with {DeckOptions(any_deck=True).hint})"]
        )
    if problems:
        raise DeckError(f"{where}, {_a(hero_class)} of edition {chosen.name}: {'; '.join(problems)}")
    return Deck(
        name, tuple(cards), description="from a deck code", hero_class=hero_class, edition=chosen.name
    ).patched(reading.patch)


def _class_of(heroes: Sequence[int], cards: Iterable[Card], where: str) -> str:
    """The class of a deck code's hero; for an unknown hero, the only class among the cards.

    Raises:
        DeckError: the class is not one of the nine, or cannot be determined.
    """
    known = class_of_hero()
    found = {known[hero] for hero in heroes if hero in known}
    found = found or {card.class_name for card in cards} - {NEUTRAL}
    playable = ", ".join(hero_classes())
    if len(found) != 1:
        cards_text = f"cards of the classes {', '.join(sorted(found))}" if found else "no class cards"
        numbers = ", ".join(map(str, heroes)) or "none"
        raise DeckError(
            f"{where}: cannot determine the class: the hero (number {numbers}) is unknown, and the deck has "
            f"{cards_text}; write a deck file with a class: {playable}"
        )
    hero_class = found.pop()
    if hero_class not in hero_classes():
        raise DeckError(
            f"{where}: its hero is {_a(hero_class)}, a class that is not supported; the classes are "
            f"{playable}. Minions of other classes can be played as bodies, in a deck file without a class"
        )
    return hero_class


def _missing_problems(missing: Sequence[int], chosen: Edition) -> list[str]:
    """Error texts for cards missing in an edition (deck-code numbers): names, and editions that have them."""
    if not missing:
        return []
    other = next(edition(name) for name in EDITIONS if name != chosen.name)
    named, uncovered, unknown = [], [], []
    for number in missing:
        if number in chosen.others:
            uncovered.append(f"{chosen.others[number].name} ({chosen.others[number].kind})")
        elif number in other.by_dbf_id or number in other.others:
            named.append((other.by_dbf_id.get(number) or other.others[number]).name)
        else:
            unknown.append(str(number))
    problems = []
    if uncovered:
        problems.append(f"not covered by edition {chosen.name}: {', '.join(uncovered)}")
    if named:
        problems.append(f"not in edition {chosen.name}: {', '.join(named)}")
    if unknown:
        problems.append(f"no collectible card has number {', '.join(unknown)}")
    available = [other.by_dbf_id[number] for number in missing if number in other.by_dbf_id]
    bodies = [card for card in available if not card.exact and card.kind == CardKind.MINION]
    for way_out, cards in (
        (DeckOptions(other.name), [card for card in available if card.exact]),
        (DeckOptions(other.name, bodies=True), bodies),
    ):
        names = "all of them" if len(cards) == len(missing) > 1 else ", ".join(card.name for card in cards)
        problems += [f"{names}: playable with {way_out.hint}"] if cards else []
    return problems


def _a(noun: str) -> str:
    """A noun with its indefinite article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def deck_code_of(deck: Deck) -> str:
    """The deck code of a deck, without the changes that a deck file makes to its cards.

    Its hero is the first of the deck's class, or Garrosh Hellscream for a deck of bodies. A code contains no
    edition: to read a class deck back, put its edition in front of the code.

    Raises:
        DeckError: the deck is random, or has a card that is not in the catalogue.
    """
    from hearthstone.deckstrings import write_deckstring  # noqa: PLC0415 - 0.1 s
    from hearthstone.enums import FormatType  # noqa: PLC0415

    cards = deck.cards
    if deck.random or not all(card.dbf_id for card in cards):
        raise DeckError(f"deck {deck.name!r} has no deck code: it is not a list of catalogue cards")
    counts = [
        (number, sum(card.dbf_id == number for card in cards)) for number in {card.dbf_id for card in cards}
    ]
    hero = find_class(deck.hero_class).hero if deck.hero_class else CLASSLESS_HERO
    return str(write_deckstring(sorted(counts), [hero], FormatType.FT_WILD))


def deck_toml(deck: Deck, name: str = "") -> str:
    """Text of a deck file with a deck's cards, as `read_deck` reads it.

    Args:
        deck: a list of cards, not a random deck.
        name: name of the new deck; "": the deck's own.

    Raises:
        DeckError: the deck is random, or the name is not one line.
    """
    name = name or deck.name
    if deck.random:
        raise DeckError(f"deck {deck.name!r} draws random cards, so it has no list; copy its file instead")
    if not is_one_line(name) or not name:
        raise DeckError(f"a deck's name must be one line, got {name!r}")
    counts = Counter(deck.cards)
    inexact = bool(deck.hero_class) and not all(card.exact for card in deck.cards)
    reading = DeckOptions(bodies=inexact)
    free = bool(deck.hero_class) and bool(class_problems(deck.cards, deck.hero_class, reading))
    most = max(Counter(card.name for card in deck.cards).values())
    legendary = Counter(card.name for card in deck.cards if card.rarity == "LEGENDARY")
    legends = max(legendary.values(), default=0)
    keys: dict[str, Any] = {
        "schema": 1,
        "name": name,
        "description": deck.description,
        "class": deck.hero_class,
        "edition": deck.edition,
        "size": deck.size if deck.size != DECK_SIZE else 0,
        "bodies": inexact,
        "any_deck": free,
        "copies": most if most > COPIES else 0,
        "legendary_copies": legends if legends > LEGENDARY_COPIES else 0,
        "patches": deck.patch.texts,
    }
    find = edition(deck.edition).printed if deck.hero_class else _printed_body
    entries = [_entry(card, deck.patch.apply(find(card)), n) for card, n in counts.items()]
    return tomli_w.dumps({key: value for key, value in keys.items() if value} | {"cards": entries})


def write_deck(path: Path, deck: Deck, name: str = "") -> None:
    """Write a deck to a new deck file (`deck_toml`).

    Raises:
        DeckNameError: the file exists, does not end in .toml, or cannot be written.
        DeckError: the deck is random, or the name is not one line.
    """
    if path.suffix != ".toml":
        raise DeckNameError(f"a deck file ends in .toml, got {path}")
    text = deck_toml(deck, name)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise DeckNameError(f"{path} exists; choose another file") from None
    except OSError as error:
        raise DeckNameError(f"cannot write deck file {path}: {error.strerror}") from None


def _printed_body(card: Card) -> Card:
    """The catalogue's card of this id; the card itself if there is none."""
    return catalogue().by_id.get(card.id, card)


def _entry(card: Card, printed: Card, n: int) -> dict[str, Any]:
    """Entry of a deck file for `n` copies of a card, with its differences from the printed card."""
    changes: dict[str, Any] = {
        field: getattr(card.spec, field)
        for field in ("cost", "attack", "health", "value")
        if getattr(card.spec, field) != getattr(printed.spec, field)
    }
    if card.spec.keywords != printed.spec.keywords:
        changes["keywords"] = [word.lower() for word in keyword_names(card.spec.keywords)]
    count = {"count": n} if n > 1 else {}
    return {"id": card.id, "name": card.name, **count, **changes}


def _code_line(text: str) -> tuple[str, str]:
    """Extract deck code and title from the block of lines that the game's client copies."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    codes = [line for line in lines if not line.startswith("#")]
    titles = [line.removeprefix("###").strip() for line in lines if line.startswith("###")]
    if len(codes) != 1:
        raise DeckError(
            f"a deck code is one line of letters and digits; this text has {len(codes)} such lines"
        )
    return codes[0], titles[0] if titles else ""


def _decode(code: str) -> _Content:
    """Decode a deck code; refuse one that is truncated, corrupted or ambiguous."""
    from hearthstone.deckstrings import parse_deckstring, write_deckstring  # noqa: PLC0415 - 0.1 s

    try:
        padded = code.rstrip("=") + "=" * (-len(code.rstrip("=")) % 4)
        data = base64.b64decode(padded, validate=True)
    except ValueError as error:  # binascii.Error, or letters beyond ASCII
        raise DeckError(f"deck code {_short(code)} is cut or corrupted: {error}; copy it again") from None
    try:
        cards, heroes, form, sideboards = parse_deckstring(padded)
        size = len(base64.b64decode(write_deckstring(cards, heroes, form, sideboards)))
    except TypeError:  # raised by the package when the bytes run out
        raise DeckError(
            f"deck code {_short(code)} is cut or corrupted: its card lists are incomplete; copy it again"
        ) from None
    except ValueError as error:
        raise DeckError(f"deck code {_short(code)} is cut or corrupted: {error}; copy it again") from None
    numbers = [number for number, _ in cards]
    # Codes from before sideboards existed end one byte earlier.
    if len(data) not in (size, size - 1 + bool(sideboards)) or len(set(numbers)) < len(numbers):
        raise DeckError(
            f"deck code {_short(code)} is corrupted: it lists a card twice, or has bytes after its end; "
            "copy it again"
        )
    too_many = [n for _, n in cards if n > DECK_SIZE]
    if too_many:
        raise DeckError(
            f"deck code {_short(code)} is corrupted: it has {max(too_many)} copies of a card; copy it again"
        )
    if sideboards:
        raise DeckError(f"deck code {_short(code)} has a sideboard; sideboards are not supported")
    return _Content([(int(number), int(n)) for number, n in cards], [int(hero) for hero in heroes])


def _short(code: str) -> str:
    """A deck code shortened for messages."""
    return code if len(code) <= 24 else f"{code[:12]}...{code[-8:]}"


def find_deck(name: str | Path) -> Deck:
    """Find a deck by shipped name, path of a TOML file, or deck code.

    A file or code may have a prefix of reading options, such as `2018-07:` (`engine.decks`).

    Raises:
        DeckError: the file or code is not a playable deck; the message names the place.
        UnknownNameError: no shipped deck has this name; the message lists the nearest.
    """
    reading, name = split_deck_prefix(str(name))
    if name in shipped_decks():
        if replace(reading, patch=NO_PATCH).text:
            raise DeckNameError(f"{reading.text}{name}: shipped decks take only patches; write {name}")
        return _shipped(name, reading.patch)
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


def add_deck_options(names: Iterable[str], reading: DeckOptions, elsewhere: bool = False) -> tuple[str, ...]:
    """Add a command's reading options as prefixes to the decks to which the options apply.

    They apply to deck codes and to files with a class, patches to all decks; a prefix that a deck already has
    takes precedence.

    Args:
        names: the decks.
        reading: the reading options.
        elsewhere: whether the options also apply to other arguments, so that no deck needs to match.

    Raises:
        DeckNameError: there are options, and they apply to none of the decks, or a patch to none of their
            cards.
        DeckError: a file is not a playable deck.
    """
    names, patch = tuple(names), reading.patch
    if not reading.text:
        return names
    reading = replace(reading, patch=NO_PATCH)
    found, n_changed = [], 0
    for name in names:
        own_reading, deck = split_deck_prefix(name)
        is_file = deck.endswith(".toml") or ("/" in deck and not looks_like_code(deck))
        if reading.text and (looks_like_code(deck) or (is_file and _names_class(Path(deck)))):
            own_reading = own_reading.merged_with(reading)
            n_changed += 1
        own_reading = own_reading.merged_with(DeckOptions(patch=patch))
        found.append(f"{own_reading.text}{deck}" if reading.text or patch else name)
    if reading.text and not n_changed and not elsewhere:
        raise DeckNameError(
            f"{reading.options} applies only to deck codes and deck files with a class, and no such deck is "
            "given; leave it out"
        )
    if patch and not found:
        raise DeckNameError("--patch: no decks are named; name those that it changes with --decks")
    if patch:
        refuse_unused_patch(patch, map(find_deck, found))
    return tuple(found)


def refuse_unused_patch(patch: Patch, decks: Iterable[Deck]) -> None:
    """Refuse a patch of a card that the decks do not play, and that no card of theirs creates.

    Raises:
        DeckNameError: there is such a card.
        DeckError: the decks have different patches.
    """
    decks = list(decks)
    cards = {card.id: card for card in cards_of_games(decks)}
    for changed in patch.cards:
        held = [cards[name] for name in changed.ids if name in cards]
        # A number may be gone from the patched card: 0 is no overload.
        printed = (changed.card if card.real else card for card in held)
        numbers = {number.name for card in printed for number in printed_numbers(card)}
        without = [name for name, _ in changed.changes if name not in numbers]
        if held and without:
            raise DeckNameError(
                f"--patch: {changed.card.name} is played as a body here, without {' and '.join(without)}; "
                f"it has {', '.join(sorted(numbers))}"
            )
        if not held:
            names = ", ".join(deck.name for deck in decks)
            raise DeckNameError(
                f"--patch: {changed.card.name} [{changed.card.id}] is in none of the decks {names}, and none "
                "of their cards creates it; leave it out"
            )


def _names_class(path: Path) -> bool:
    """Whether a file is a deck file with a class; errors are reported when it is read."""
    try:
        return bool(parse_toml(read_text(path)).get("class"))
    except (OSError, ValueError):
        return False


def read_deck(path: str | Path, reading: DeckOptions = NO_DECK_OPTIONS) -> Deck:
    """Read a deck file (docs/decks.md describes the format).

    Args:
        path: the deck file.
        reading: reading options; they take precedence over those in the file.

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
    unpatched = replace(reading, patch=NO_PATCH)
    if unpatched.text:
        text = write_deck_options(text, unpatched)
    deck = replace(_parse_deck(text, str(path)), text=text)
    if reading.patch:
        deck = deck.patched(reading.patch)
        deck = replace(deck, text=write_deck_options(text, DeckOptions(patch=deck.patch)))
        try:
            parse_toml(deck.text)
        except ValueError:
            raise DeckError(f"{path}: write its key patches as one list of texts without comments") from None
    if unpatched.text and not deck.hero_class:
        raise DeckNameError(
            f"{path} names no class, so {unpatched.text.rstrip(':')} does not apply to it; leave it out"
        )
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
    id: str | None = None
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
    patches: list[str] = []
    copies: _Count = COPIES
    legendary_copies: _Count = LEGENDARY_COPIES
    cards: list[_CardLine] | None = None
    random: _RandomCards | None = None


@lru_cache(maxsize=1024)
def _shipped(name: str, patch: Patch = NO_PATCH) -> Deck:
    text = (DATA / "decks" / f"{name}.toml").read_text(encoding="utf-8")
    if not patch:
        return _parse_deck(text, f"{name}.toml")
    text = write_deck_options(text, DeckOptions(patch=patch))
    return replace(_parse_deck(text, f"{name}.toml"), text=text)


def _parse_deck(text: str, where: str) -> Deck:
    try:
        written = parse_toml(text)
        content = _DeckFile.model_validate(written)
    except ValidationError as error:
        raise DeckError(f"{where}: {'; '.join(_problems(error, written))}") from None
    except ValueError as error:
        raise DeckError(f"{where} is not a TOML file: {error}") from None
    if (content.cards is None) == (content.random is None):
        got = "neither" if content.cards is None else "both"
        raise DeckError(f"{where}: a deck has either [[cards]] or a [random] table, got {got}")
    description = " ".join(content.description.split())
    try:
        patch, find = parse_patch(content.patches), _finder(content)
    except WrongValueError as error:
        raise DeckError(f"{where}: {error}") from None
    if content.random is not None:
        pool = _pool(content.random, where)
        return Deck(content.name, pool, True, description, size=content.size).patched(patch)
    reading = DeckOptions(content.edition, content.bodies, content.any_deck)
    keeps_text = bool(content.hero_class) and not reading.bodies
    cards: list[Card] = []
    for place, line in enumerate(content.cards or ()):
        place_text = _place_of_card(place, line.name or line.id)
        cards += [_card(line, f"{where}: {place_text}", find, keeps_text)] * line.count
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
    ).patched(patch)


def _finder(content: "_DeckFile") -> Callable[[str], Card]:
    """Card lookup of a deck file: real cards for a deck with a class, bodies for one without."""
    if not content.hero_class:
        if content.edition:
            raise UnknownNameError("a deck with an edition also needs a class, such as class = 'mage'")
        return find_card
    find_class(content.hero_class)
    return edition(content.edition or NEWEST_EDITION).for_deck


def _card(line: _CardLine, where: str, find: Callable[[str], Card], keeps_text: bool) -> Card:
    """The card of a deck file's entry, with the changes that the entry makes.

    Args:
        line: the entry.
        where: the file and the place in it, for messages.
        find: finds a card by id or name.
        keeps_text: whether a changed minion stays `exact`, as other cards do; otherwise it counts as a body.
    """
    try:
        given = line.name if line.id is None else line.id
        if given is None:
            raise DeckError("needs the card's name or its id")
        card = find(given)
        if line.id is not None and card.id != line.id:
            raise DeckError(f"id = {line.id!r} is a name; write name = {card.name!r} or id = {card.id!r}")
        if line.id is None and card.id == given:
            raise DeckError(f"name = {given!r} is an id; write name = {card.name!r} or id = {card.id!r}")
        if line.id is not None and line.name is not None and line.name != card.name:
            raise DeckError(f"id {line.id!r} is {card.name!r}, not {line.name!r}")
        changes = line.model_dump(include={"cost", "attack", "health", "value"}, exclude_none=True)
        _check_changes(card, [*changes, *(["keywords"] if line.keywords is not None else [])])
        changed = card.altered(line.keywords, **changes)
        return replace(changed, exact=card.exact) if keeps_text or card.kind != CardKind.MINION else changed
    except ManaforgeError as error:
        raise DeckError(f"{where}: {error}") from None


_CHANGEABLE = {
    CardKind.SPELL: ("cost", "value"),
    CardKind.WEAPON: ("cost", "attack", "health", "value"),
    CardKind.MINION: ("cost", "attack", "health", "keywords", "value"),
}
"""Keys of a deck file's entry that change a card, by kind of card."""


def _check_changes(card: Card, keys: Iterable[str]) -> None:
    """Refuse changes that a card of this kind cannot have, such as the attack of a spell.

    Raises:
        DeckError: a key does not apply; the message names the keys that do.
    """
    known = _CHANGEABLE[card.kind]
    wrong = [key for key in keys if key not in known]
    if wrong:
        noun = card.kind.name.lower()
        raise DeckError(
            f"{card.name} is a {noun}, so {' and '.join(wrong)} cannot be set; a {noun} has "
            f"{', '.join(known[:-1])} and {known[-1]}"
        )


def _pool(ranges: _RandomCards, where: str) -> tuple[Card, ...]:
    """The card pool of a random deck: attack and health in their ranges, cost (attack + health) // 2."""
    (low_attack, high_attack), (low_health, high_health) = ranges.attack, ranges.health
    n = max(0, high_attack - low_attack + 1) * max(0, high_health - low_health + 1)
    if not 1 <= n <= DECK_SIZE or low_health < 1:
        raise DeckError(
            f"{where}: [random]: health must begin at 1 or more, got {low_health}, and attack and health "
            f"must have 1 to {DECK_SIZE} combinations, got {n}"
        )
    return tuple(
        Card("", f"Minion {attack}/{health}", MinionSpec(attack, health, (attack + health) // 2))
        for attack in range(low_attack, high_attack + 1)
        for health in range(low_health, high_health + 1)
    )


def _place_of_card(place: int, given: object) -> str:
    """Place of an entry of `cards` in messages, by its number from 1 and its name or id."""
    return f'card {place + 1} "{given}"' if isinstance(given, str) else f"card {place + 1}"


def _problems(error: ValidationError, written: dict[str, Any]) -> list[str]:
    """Error texts for a deck file, each with its place; unknown keys with the known ones.

    Args:
        error: of the file.
        written: its content.
    """
    models: dict[str, type[_Model]] = {"cards": _CardLine, "random": _RandomCards}
    texts = []
    for problem in error.errors():
        first, *rest = problem["loc"]
        model = models.get(str(first), _DeckFile) if rest else _DeckFile
        where = ""
        if first == "cards" and rest:
            index, *rest = rest
            line = written["cards"][index]
            given = line.get("name", line.get("id")) if isinstance(line, dict) else None
            where = f"{_place_of_card(int(index), given)}: "
        elif rest:
            where = f"[{first}]: "
        key = "".join(f"[{part}]" if isinstance(part, int) else str(part) for part in rest or [first])
        if problem["type"] == "extra_forbidden":
            known = [field.alias or name for name, field in model.model_fields.items()]
            texts.append(f"{where}unknown key {key!r}; the keys are {', '.join(known)}")
        else:
            plain = problem["type"] != "missing" and not isinstance(problem["input"], dict)
            got = f", got {problem['input']!r}" if plain else ""
            texts.append(f"{where}{key} {constraint_text(problem)}{got}")
    return texts
