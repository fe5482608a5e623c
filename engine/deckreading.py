"""How the text of a deck is read: its edition, as bodies or not, and whether it must be a legal deck.

In front of a deck code or a deck file may stand words, joined by `+`, and a colon: `2018-07:CODE`,
`bodies:FILE`, `2018-07+any-deck:CODE`. The options `--edition`, `--bodies` and `--any-deck` of commands put
them there, so that what a run or tournament keeps of its decks says how they were read.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from engine.cards.real import EDITIONS
from engine.errors import DeckNameError, unknown_name

BODIES = "bodies"
ANY_DECK = "any-deck"
WORDS = (*EDITIONS, BODIES, ANY_DECK)
"""The words that may stand in front of a deck."""

_AHEAD = re.compile(r"(?P<words>[\w.+-]+):(?P<deck>.+)", re.S)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the words in front of a deck say.

    Attributes:
        edition: of its cards; "" where nothing is said.
        bodies: minions that are not played exactly are played as bodies with their keywords.
        any_deck: cards of other classes, and more copies than a player may have, are allowed.
    """

    edition: str = ""
    bodies: bool = False
    any_deck: bool = False

    @property
    def text(self) -> str:
        """The words and the colon; "" where nothing is said."""
        words = [self.edition] * bool(self.edition) + [BODIES] * self.bodies + [ANY_DECK] * self.any_deck
        return f"{'+'.join(words)}:" if words else ""

    @property
    def options(self) -> str:
        """The same as options of a command."""
        words = [f"--edition {self.edition}"] * bool(self.edition)
        return " ".join([*words, *["--bodies"] * self.bodies, *["--any-deck"] * self.any_deck])

    @property
    def said(self) -> str:
        """How to say so: "--bodies, or bodies: in front of the deck"."""
        return f"{self.options}, or {self.text} in front of the deck"

    def and_also(self, other: "Reading") -> "Reading":
        """Both together; the edition is the other's where this names none."""
        return Reading(
            self.edition or other.edition, self.bodies or other.bodies, self.any_deck or other.any_deck
        )


NOTHING_SAID = Reading()


def reading_of(edition: str = "", bodies: bool = False, any_deck: bool = False) -> Reading:
    """What options of a command say of its decks.

    Raises:
        UnknownNameError: there is no such edition.
    """
    if edition and edition not in EDITIONS:
        raise unknown_name("edition", edition, EDITIONS)
    return Reading(edition, bodies, any_deck)


class Worded(NamedTuple):
    """A deck as it was typed: what stands in front of it, and the deck itself."""

    reading: Reading
    deck: str


def split_words(text: str) -> Worded:
    """Part a deck from the words in front of it.

    Raises:
        UnknownNameError: words stand there, and one of them is not known; the message lists them.
        DeckNameError: two editions stand there.
    """
    ahead = _AHEAD.fullmatch(text)
    if ahead is None:
        return Worded(NOTHING_SAID, text)
    words = ahead["words"].split("+")
    unknown = [word for word in words if word not in WORDS]
    if len(unknown) == len(words) and (len(words) > 1 or not _looks_meant(words[0])):
        return Worded(NOTHING_SAID, text)  # a name or a path with a colon
    if unknown:
        raise unknown_name("word in front of a deck", unknown[0], WORDS)
    editions = [word for word in words if word in EDITIONS]
    if len(editions) > 1:
        raise DeckNameError(f"a deck is of one edition, got {'+'.join(words)}:")
    return Worded(Reading("".join(editions), BODIES in words, ANY_DECK in words), ahead["deck"].strip())


def _looks_meant(word: str) -> bool:
    """Whether a word looks like an edition, such as "2019-04"."""
    return bool(re.fullmatch(r"\d{4}(-\d{1,2})?", word))


_KEYS = {"edition": "edition", "bodies": "bodies", "any_deck": "any_deck"}


def amended(text: str, reading: Reading) -> str:
    """The text of a deck file with lines that say what a reading says, so that a copy stands alone."""
    for key in _KEYS:
        value = getattr(reading, key)
        if not value:
            continue
        line = f"{key} = {'true' if value is True else repr(value)}".replace("'", '"')
        head, table, rest = text.partition("\n[")
        found = re.compile(rf"^{key}[ \t]*=.*$", re.M)
        head = found.sub(lambda _, line=line: line, head) if found.search(head) else f"{line}\n{head}"  # type: ignore[misc]
        text = f"{head}{table}{rest}"
    return text
