"""Parts of texts of positions: lists, words in a form, whole numbers in bounds."""

import re

from engine.errors import NotationError


def items_of(text: str) -> list[str]:
    """The parts of a list that semicolons separate."""
    return [item.strip() for item in text.split(";")] if text.strip() else []


def matched(pattern: re.Pattern[str], name: str, text: str, example: str) -> re.Match[str]:
    """The match of a pattern.

    Raises:
        NotationError: there is none; it names the field and an example.
    """
    match = pattern.match(text)
    if not match:
        raise NotationError(f"cannot read {name} {text!r}; write for example '{name} {example}'")
    return match


def bounded(name: str, number: str | int, low: int, high: int) -> int:
    """A whole number from `low` to `high`.

    Raises:
        NotationError: it is none, or is out of bounds.
    """
    if isinstance(number, str) and not re.fullmatch(r"-?\d{1,6}", number):
        raise NotationError(f"{name} must be a whole number, got {number!r}")
    if not low <= int(number) <= high:
        raise NotationError(f"{name} must be from {low} to {high}, got {number}")
    return int(number)
