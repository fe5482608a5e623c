"""The one error root, and the helper that turns an unknown name into a suggestion."""

from collections.abc import Iterable
from difflib import get_close_matches

NEAREST = 5
"""Most names that an error lists."""

SHORTEST_PART = 3
"""Characters of a name that is looked for within others."""


class ManaforgeError(Exception):
    """Root of every error this project raises on purpose. Its message is written for the user."""


class UnknownNameError(ManaforgeError, LookupError):
    """A card, deck, ruleset or agent that does not exist; the message lists the nearest names."""


class CardError(ManaforgeError, ValueError):
    """A minion's numbers are out of range, or a card cannot be used as asked."""


class DeckError(ManaforgeError, ValueError):
    """A deck file or deck code that cannot be played; the message says what is wrong and where."""


class RulesetError(ManaforgeError, ValueError):
    """A ruleset whose numbers are out of range; the message names the field."""


class NotationError(ManaforgeError, ValueError):
    """A text that is not a position, an action or a recorded game."""


class IllegalActionError(ManaforgeError, ValueError):
    """An action the rules do not allow; the message carries the action and the position."""


class AgentError(ManaforgeError, TypeError):
    """An object passed as an agent cannot play."""


class SeedError(ManaforgeError, ValueError):
    """A random stream's address holds something that is not an integer in range."""


def unknown_name(what: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """An error for an unknown name that lists the nearest known ones.

    Args:
        what: the kind of thing, such as "card" or "deck".
        name: the name that was asked for.
        known: all names that exist; compared without regard to case.
    """
    by_folded = {candidate.casefold(): candidate for candidate in known}
    near = _nearest(name.casefold(), list(by_folded))
    if near:
        hint = "nearest: " + ", ".join(by_folded[folded] for folded in near)
    elif len(by_folded) <= 12:
        hint = "known: " + ", ".join(by_folded.values())
    else:
        hint = "nothing has a similar name"
    return UnknownNameError(f"unknown {what} {name!r}; {hint}")


def _nearest(name: str, known: list[str]) -> list[str]:
    """At most five known names: those that begin with the name, that have it as a word, and similar ones."""
    begin = [other for other in known if len(name) >= SHORTEST_PART and other.startswith(name)]
    within = [other for other in known if len(name) >= SHORTEST_PART and name in other.split()]
    similar = get_close_matches(name, known, n=NEAREST, cutoff=0.5)
    return list(dict.fromkeys([*begin, *within, *similar]))[:NEAREST]
