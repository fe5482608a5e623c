"""The one error root, and the helper that turns an unknown name into a suggestion."""

from collections.abc import Iterable
from difflib import get_close_matches

NEAREST = 5
"""Most names that an error lists."""

SHORTEST_PART = 3
"""Characters of a name that is looked for within others."""


class ManaforgeError(Exception):
    """Root of every error this project raises on purpose. Its message is written for the user.

    Attributes:
        exit_code: of a command that ends by it (docs/commands.md).
    """

    exit_code = 1


class WrongValueError(ManaforgeError):
    """A value of a command line that is wrong as it was typed, whatever is in files and folders.

    It is out of range, not of the known ones, in contradiction to another, or names a file or folder that is
    not there. Errors for such values derive from this too: they alone decide that a command ends with 2.
    """

    exit_code = 2


class UnknownNameError(WrongValueError, LookupError):
    """A card, deck, ruleset or agent that does not exist; the message lists the nearest names."""


class CardError(ManaforgeError, ValueError):
    """A minion's numbers are out of range, or a card cannot be used as asked."""


class ChanceError(ManaforgeError, ValueError):
    """An action draws at random, and nothing says what falls out."""


class DeckError(ManaforgeError, ValueError):
    """A deck file or deck code that cannot be played; the message says what is wrong and where."""


class DeckNameError(DeckError, WrongValueError):
    """A text that names no deck: a file that cannot be opened, or a damaged deck code."""


class RulesetError(ManaforgeError, ValueError):
    """A ruleset whose numbers are out of range; the message names the field."""


class NotationError(WrongValueError, ValueError):
    """A text that is not a position, an action or a recorded game."""


class IllegalActionError(ManaforgeError, ValueError):
    """An action the rules do not allow; the message carries the action and the position."""


class AgentError(ManaforgeError, TypeError):
    """An object passed as an agent cannot play."""


class KeepsError(ManaforgeError, TypeError):
    """It is not said by True or False whether an opening card is kept."""


class SeedError(ManaforgeError, ValueError):
    """A random stream's address holds something that is not an integer in range."""


def unknown_name(what: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """An error for an unknown name that lists the nearest known ones.

    Args:
        what: the kind of thing, such as "card" or "deck".
        name: the name that was asked for.
        known: all names that exist; compared without regard to case.
    """
    names = list(dict.fromkeys(known))
    near = nearest(name, names)
    if near:
        hint = f"nearest: {', '.join(near)}"
    elif len(names) <= 12:
        hint = f"known: {', '.join(names)}"
    else:
        hint = "nothing has a similar name"
    return UnknownNameError(f"unknown {what} {name!r}; {hint}")


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """At most five known names: those that begin with the name, that have it as a word, and similar ones.

    Args:
        name: the name that was asked for.
        known: all names that exist; compared without regard to case.
    """
    by_folded = {candidate.casefold(): candidate for candidate in known}
    folded = name.casefold()
    begin = [other for other in by_folded if len(folded) >= SHORTEST_PART and other.startswith(folded)]
    within = [other for other in by_folded if len(folded) >= SHORTEST_PART and folded in other.split()]
    similar = get_close_matches(folded, by_folded, n=NEAREST, cutoff=0.5)
    return [by_folded[other] for other in dict.fromkeys([*begin, *within, *similar])][:NEAREST]
