"""Exception classes of the project, and errors for unknown names that suggest similar ones."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

NEAREST = 5
"""Largest number of suggestions in an error."""

SHORTEST_PART = 3
"""Shortest name, in characters, that matches a part of another name."""


class ManaforgeError(Exception):
    """Base class of the project's errors; its message is meant for the user.

    Attributes:
        exit_code: exit code of a command that fails with it (docs/commands.md).
    """

    exit_code = 1


class WrongValueError(ManaforgeError):
    """An invalid value on the command line, for which a command exits with code 2.

    It is out of range, unknown, in contradiction to another value, or names a missing file or folder.
    """

    exit_code = 2


class UnknownNameError(WrongValueError, LookupError):
    """An unknown card, deck, ruleset or agent; the message lists the nearest names."""


class CardError(ManaforgeError, ValueError):
    """A minion's numbers are out of range, or a card cannot be used as requested."""


class ChanceError(ManaforgeError, ValueError):
    """An action has a random outcome, and no outcome or random stream is given."""


class DeckError(ManaforgeError, ValueError):
    """An invalid deck file or deck code; the message names the problem and its place."""


class DeckNameError(DeckError, WrongValueError):
    """A deck argument that names no deck: a file that cannot be opened, or a damaged deck code."""


class RulesetError(ManaforgeError, ValueError):
    """A ruleset number out of range; the message names the field."""


class NotationError(WrongValueError, ValueError):
    """An invalid notation of a position, an action or a recorded game."""


class IllegalActionError(ManaforgeError, ValueError):
    """An illegal action; the message contains the action and the position."""


class AgentError(ManaforgeError, TypeError):
    """An object that is not an agent was passed as one."""


class MulliganChoiceError(ManaforgeError, TypeError):
    """A mulligan choice that is not True (keep) or False (replace)."""


class SeedError(ManaforgeError, ValueError):
    """A part of a random stream's address is not an integer in range."""


def unknown_name(what: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """Build the error for an unknown name, with the nearest known names.

    Args:
        what: the noun for the message, such as "card" or "deck".
        name: the unknown name.
        known: all names that exist; compared without regard to case.
    """
    names = list(dict.fromkeys(known))
    near = nearest_names(name, names)
    if near:
        hint = f"nearest: {', '.join(near)}"
    elif len(names) <= 12:
        hint = f"known: {', '.join(names)}"
    else:
        hint = "nothing has a similar name"
    return UnknownNameError(f"unknown {what} {name!r}; {hint}")


def nearest_names(name: str, known: Iterable[str]) -> list[str]:
    """At most five known names that begin with a name, contain it as a word, or are similar to it.

    Args:
        name: the unknown name.
        known: all names that exist; compared without regard to case.
    """
    by_folded = {candidate.casefold(): candidate for candidate in known}
    folded = name.casefold()
    begin = [other for other in by_folded if len(folded) >= SHORTEST_PART and other.startswith(folded)]
    within = [other for other in by_folded if len(folded) >= SHORTEST_PART and folded in other.split()]
    similar = get_close_matches(folded, by_folded, n=NEAREST, cutoff=0.5)
    return [by_folded[other] for other in dict.fromkeys([*begin, *within, *similar])][:NEAREST]


def check_choice(option: str, what: str, text: str, known: Sequence[str]) -> str:
    """Check that the text of an option is one of its known values, and return it.

    Raises:
        WrongValueError: it is not; the message suggests the nearest.
    """
    if text not in known:
        raise WrongValueError(f"{option}: {unknown_name(what, text, known)}")
    return text


def constraint_text(problem: "ErrorDetails") -> str:
    """Describe the constraint that an invalid value violates: "must be at least 2"."""
    limits: dict[str, Any] = dict(problem.get("ctx", {}))
    kinds = {
        "int_type": "must be a whole number",
        "int_from_float": "must be a whole number",
        "float_type": "must be a number",
        "finite_number": "must be a finite number",
        "bool_type": "must be true or false",
        "string_type": "must be text",
        "tuple_type": 'must be a list, such as ["a", "b"]',
        "model_type": "must be a table",
        "missing": "is missing",
        "list_type": "must be a list",
        "greater_than_equal": "must be at least {ge}",
        "greater_than": "must be more than {gt}",
        "less_than_equal": "must be at most {le}",
        "less_than": "must be less than {lt}",
        "multiple_of": "must be a multiple of {multiple_of}",
        "literal_error": "must be {expected}",
        "too_short": "must have at least {min_length} entries",
        "too_long": "must have at most {max_length} entries",
    }
    if problem["type"] == "too_short" and not problem["input"]:
        return "must not be empty"
    if problem["type"] in kinds:
        plain = {name: f"{limit:g}" if isinstance(limit, float) else limit for name, limit in limits.items()}
        return kinds[problem["type"]].format(**plain)
    return problem["msg"].removeprefix("Value error, ")
