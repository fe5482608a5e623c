"""Hearthstone deck codes, as players copy them from the game, to checked decks.

The package `hearthstone` decodes them; it accepts junk and duplicates, so its answer is checked here. It is
imported when the first code is read, since loading its card enums takes 0.1 s.
"""

import base64
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engine.cards import Card, catalogue
from engine.cards.real import (
    EDITIONS,
    NEWEST_EDITION,
    Edition,
    class_of_hero,
    edition,
    find_class,
    hero_classes,
)
from engine.codes import DECK_SIZE
from engine.deckreading import NOTHING_SAID, Reading
from engine.decks import COPIES, LEGENDARY_COPIES, Deck, check_counts, class_problems, count_problems
from engine.errors import DeckError
from engine.vocabulary import CardKind

_CODE = re.compile(r"AA[A-Za-z0-9+/]{14,}={0,2}")
"""A code begins with AA: byte 0, then version 1."""

HERO_OF_BODIES = 7
"""The hero in the code of a deck without a class: Garrosh Hellscream."""

NEUTRAL = "neutral"


class _Content(NamedTuple):
    """What a deck code names: cards as number and count, and heroes by number."""

    counts: list[tuple[int, int]]
    heroes: list[int]


def looks_like_code(text: str) -> bool:
    """Whether a text is a deck code, or the block of lines that the game copies, rather than a name."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return any(line.startswith("#") or _CODE.fullmatch(line) for line in lines)


def deck_from_code(text: str, reading: Reading = NOTHING_SAID) -> Deck:
    """A deck from a deck code, with or without the comment lines the game puts around it.

    A code of minions alone is a deck of bodies, unless `reading` names an edition. Any other is a deck of the
    class of its hero, with the cards of that edition, of the newest where none is named.

    Raises:
        DeckError: the code is cut or corrupted, names cards that are not played or do not exist, or is not a
            legal list of 30; the message lists all such cards.
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
    return Deck(name, tuple(cards), description="from a deck code")


def _class_deck(content: "_Content", name: str, where: str, reading: Reading) -> Deck:
    """The deck of a code with real cards."""
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
        problems += counts if legal else [f"{'; '.join(counts)} ({Reading(any_deck=True).said}, allows more)"]
    if problems:
        raise DeckError(f"{where}, {_a(hero_class)} of edition {chosen.name}: {'; '.join(problems)}")
    return Deck(
        name, tuple(cards), description="from a deck code", hero_class=hero_class, edition=chosen.name
    )


def _class_of(heroes: Sequence[int], cards: Iterable[Card], where: str) -> str:
    """The class of a code's hero; of a hero that is not known, the one class of its cards.

    Raises:
        DeckError: it is none of the nine, or cannot be told.
    """
    known = class_of_hero()
    found = {known[hero] for hero in heroes if hero in known}
    found = found or {card.class_name for card in cards} - {NEUTRAL}
    playable = ", ".join(hero_classes())
    if len(found) != 1:
        told = f"has cards of {', '.join(sorted(found))}" if found else "has cards of no class"
        numbers = ", ".join(map(str, heroes)) or "none"
        raise DeckError(
            f"{where}: its class cannot be told: its hero (number {numbers}) is not known, and it {told}; "
            f"a deck file names its class: {playable}"
        )
    hero_class = found.pop()
    if hero_class not in hero_classes():
        raise DeckError(
            f"{where}: its hero is {_a(hero_class)}, a class that is not played; the classes are {playable}. "
            "Of other classes minions alone can be played, as bodies: in a deck file without a class"
        )
    return hero_class


def _missing_problems(missing: Sequence[int], chosen: Edition) -> list[str]:
    """What to say of numbers that are no card of an edition: their names, and where they are played."""
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
    there = [other.by_dbf_id[number] for number in missing if number in other.by_dbf_id]
    bodies = [card for card in there if not card.exact and card.kind == CardKind.MINION]
    for way_out, cards in (
        (Reading(other.name), [card for card in there if card.exact]),
        (Reading(other.name, bodies=True), bodies),
    ):
        whom = "all of them" if len(cards) == len(missing) > 1 else ", ".join(card.name for card in cards)
        problems += [f"{way_out.said}, plays {whom}"] if cards else []
    return problems


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def code_of(deck: Deck) -> str:
    """The deck code of a deck; it loses what a deck file changed in its cards.

    It names the first hero of the deck's class, and of a deck of bodies Garrosh Hellscream. A code has no
    edition: to be read back as it was, that of a deck with a class needs its edition in front of it.

    Raises:
        DeckError: the deck is random, or holds a minion that is not in the catalogue.
    """
    from hearthstone.deckstrings import write_deckstring  # noqa: PLC0415 - 0.1 s
    from hearthstone.enums import FormatType  # noqa: PLC0415

    cards = deck.cards
    if deck.random or not all(card.dbf_id for card in cards):
        raise DeckError(f"deck {deck.name!r} has no deck code: it is not a list of catalogue cards")
    counts = [
        (number, sum(card.dbf_id == number for card in cards)) for number in {card.dbf_id for card in cards}
    ]
    hero = find_class(deck.hero_class).hero if deck.hero_class else HERO_OF_BODIES
    return str(write_deckstring(sorted(counts), [hero], FormatType.FT_WILD))


def _code_line(text: str) -> tuple[str, str]:
    """The code and the deck's title in the block of lines that the game copies."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    codes = [line for line in lines if not line.startswith("#")]
    titles = [line.removeprefix("###").strip() for line in lines if line.startswith("###")]
    if len(codes) != 1:
        raise DeckError(
            f"a deck code is one line of letters and digits, and this text has {len(codes)} such lines"
        )
    return codes[0], titles[0] if titles else ""


def _decode(code: str) -> _Content:
    """What a code names; refuses one that is cut, corrupted or ambiguous."""
    from hearthstone.deckstrings import parse_deckstring, write_deckstring  # noqa: PLC0415 - 0.1 s

    try:
        padded = code.rstrip("=") + "=" * (-len(code.rstrip("=")) % 4)
        data = base64.b64decode(padded, validate=True)
    except ValueError as error:  # binascii.Error is one; letters beyond ASCII raise one too
        raise DeckError(f"deck code {_short(code)} is cut or corrupted: {error}") from None
    try:
        cards, heroes, form, sideboards = parse_deckstring(padded)
        size = len(base64.b64decode(write_deckstring(cards, heroes, form, sideboards)))
    except TypeError:  # raised by the package when the bytes run out
        raise DeckError(
            f"deck code {_short(code)} is cut or corrupted: it ends before its lists do"
        ) from None
    except ValueError as error:
        raise DeckError(f"deck code {_short(code)} is corrupted: {error}") from None
    numbers = [number for number, _ in cards]
    # Codes from before sideboards existed end one byte earlier.
    if len(data) not in (size, size - 1 + bool(sideboards)) or len(set(numbers)) < len(numbers):
        raise DeckError(
            f"deck code {_short(code)} is corrupted: it lists a card twice, or has bytes after its end"
        )
    too_many = [n for _, n in cards if n > DECK_SIZE]
    if too_many:
        raise DeckError(
            f"deck code {_short(code)} is corrupted: it asks for {max(too_many)} copies of a card"
        )
    if sideboards:
        raise DeckError(f"deck code {_short(code)} has a sideboard, which needs a card that is not supported")
    return _Content([(int(number), int(n)) for number, n in cards], [int(hero) for hero in heroes])


def _short(code: str) -> str:
    return code if len(code) <= 24 else f"{code[:12]}...{code[-8:]}"
