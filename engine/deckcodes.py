"""Hearthstone deck codes, as players copy them from the game, to checked decks.

The package `hearthstone` decodes them; it accepts junk and duplicates, so its answer is checked here. It is
imported when the first code is read, since loading its card enums takes 0.1 s.
"""

import base64
import re

from engine.cards import Card, catalogue
from engine.codes import DECK_SIZE
from engine.decks import Deck, check_counts
from engine.errors import DeckError

_CODE = re.compile(r"AA[A-Za-z0-9+/]{14,}={0,2}")
"""A code begins with AA: byte 0, then version 1."""


def looks_like_code(text: str) -> bool:
    """Whether a text is a deck code, or the block of lines that the game copies, rather than a name."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return any(line.startswith("#") or _CODE.fullmatch(line) for line in lines)


def deck_from_code(text: str) -> Deck:
    """A deck from a deck code, with or without the comment lines the game puts around it.

    Raises:
        DeckError: the code is cut or corrupted, names cards that are not minions or do not exist, or
            is not a legal list of 30; the message lists all such cards.
    """
    code, title = _code_line(text)
    counts = _decode(code)
    where = f"deck code {_short(code)}"
    minions = catalogue().by_dbf_id
    unplayable, unknown = [], []
    cards: list[Card] = []
    for number, n in counts:
        if number in minions:
            cards += [minions[number]] * n
        elif number in catalogue().others:
            other = catalogue().others[number]
            unplayable.append(f"{other.name} ({other.kind})")
        else:
            unknown.append(str(number))
    problems = [f"only minions can be played yet, not {', '.join(unplayable)}"] if unplayable else []
    problems += [f"no collectible card has number {', '.join(unknown)}"] if unknown else []
    if problems:
        raise DeckError(f"{where}: {'; '.join(problems)}")
    check_counts(cards, where)
    return Deck(title or code, tuple(cards), description="from a deck code")


def code_of(deck: Deck, hero: int = 7) -> str:
    """The deck code of a deck; it loses what a deck file changed in its cards.

    Args:
        deck: a deck of catalogue cards.
        hero: a hero's number in deck codes; 7 is Garrosh Hellscream.

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


def _decode(code: str) -> list[tuple[int, int]]:
    """Card numbers and counts of a code; refuses one that is cut, corrupted or ambiguous."""
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
    return [(int(number), int(n)) for number, n in cards]


def _short(code: str) -> str:
    return code if len(code) <= 24 else f"{code[:12]}...{code[-8:]}"
