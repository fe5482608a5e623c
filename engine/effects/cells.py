"""What a cell of the effect table says: words, bits of words, words with what they compare with, numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

from engine.codes import Keyword
from engine.errors import CardError, unknown_name
from engine.vocabulary import CardFilter, Gang, HeroName, Race

ARGS: Mapping[int, type[IntEnum]] = {
    CardFilter.RACE: Race,
    CardFilter.KEYWORD: Keyword,
    CardFilter.CLASS: HeroName,
    CardFilter.GANG: Gang,
}
"""What the args of these words of a card filter are named by; the others are numbers."""

SMALLEST, LARGEST = -(2**15), 2**15 - 1
"""What a field of `EFFECT` holds."""

Word = TypeVar("Word", bound=IntEnum)


class Asked(NamedTuple):
    """Whose event, or which cards.

    Attributes:
        side: bits of OWN, ENEMY, ITSELF_ALONE and OTHERS_ALONE; of events alone.
        kind: bits of kinds of cards or characters; 0 for any.
        filter: bits of `CardFilter`.
        arg: what that compares with.
    """

    side: int = 0
    kind: int = 0
    filter: int = 0
    arg: int = 0


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one row of the table.

    Attributes:
        row: their texts by column.
        where: of the row, for messages: "effects.csv line 7".
    """

    row: Mapping[str, str]
    where: str

    def fail(self, column: str, reason: str) -> CardError:
        """What is wrong with a cell."""
        return CardError(f"{self.where}, column {column}: {reason}, got {self.row[column]!r}")

    def word(self, column: str, words: type[Word], default: Word) -> Word:
        """The word of a cell; `default` where it is empty."""
        text = self.row[column]
        return words(self.number_of(column, text, words)) if text else default

    def bits(self, column: str, words: Mapping[str, int] | type[IntEnum]) -> int:
        """The bits of all words of a cell."""
        return sum({self.number_of(column, item, words) for item in self.row[column].split()})

    def argued(
        self, column: str, text: str, words: type[Word], names: Mapping[int, type[IntEnum]]
    ) -> tuple[Word, int]:
        """A word and what it compares with, of a text such as "race:pirate" or "cost:3"; 0 without.

        Args:
            column: whose text it is a part of.
            text: that part.
            words: what the word may be.
            names: what names the args of words whose args are no numbers.
        """
        name, _, arg = text.partition(":")
        member = words(self.number_of(column, name, words))
        if arg and member in names:
            return member, self.number_of(column, arg, names[member])
        if arg and not arg.isdecimal():
            raise self.fail(column, "what follows ':' must be a number")
        return member, int(arg or 0)

    def asked_of(self, column: str, sides: Mapping[str, int], kinds: Mapping[str, int]) -> Asked:
        """Whose event, or which cards, a cell names."""
        side = kind = found = arg = 0
        for item in self.row[column].split():
            if item in sides:
                side |= sides[item]
            elif item in kinds:
                kind |= kinds[item]
            else:
                bit, compared = self.argued(column, item, CardFilter, ARGS)
                found |= bit
                arg = compared or arg
        return Asked(side, kind, found, arg)

    def number(self, column: str, default: int = 0) -> int:
        """The integer of a cell; `default` where it is empty."""
        if not self.row[column]:
            return default
        try:
            value = int(self.row[column])
        except ValueError:
            raise self.fail(column, "must be an integer") from None
        if not SMALLEST <= value <= LARGEST:
            raise self.fail(column, f"must be from {SMALLEST} to {LARGEST}")
        return value

    def number_of(self, column: str, name: str, words: Mapping[str, int] | type[IntEnum]) -> int:
        """The number of a word; an unknown one is an error that lists the nearest."""
        known: dict[str, Any] = (
            {member.name.lower(): member for member in words} if isinstance(words, type) else dict(words)
        )
        if name not in known:
            raise unknown_name(f"word ({self.where}, column {column})", name, known)
        return int(known[name])
