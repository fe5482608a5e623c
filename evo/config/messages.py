"""Message texts: durations, counts, and validation errors of configuration values."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import ErrorDetails

MINUTE, HOUR, DAY = 60, 3_600, 86_400
"""Seconds."""


def duration(seconds: float) -> str:
    """Format a duration in at most two units: "95 s", "12 min", "11 h 58 min", "2 days 12 h"."""
    if round(seconds) < 2 * MINUTE:
        return f"{seconds:.0f} s"
    minutes = round(seconds / MINUTE)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
    days, hours = divmod(round(seconds / HOUR), 24)
    return f"{days:,} day{'s' if days > 1 else ''}" + (f" {hours} h" if hours else "")


def counted(n: int, what: str) -> str:
    """Format a count with its noun: "1 run", "2,000 runs"."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def option_in_message(message: str, given: Mapping[str, str]) -> str:
    """Find the command-line option whose value an error message quotes; "" if it quotes none."""
    for option in given.values():
        values = option.partition("=")[2].strip("[]").split(",")
        if any(value.strip("\"' ") and value.strip("\"' ") in message for value in values):
            return option
    return ""


def constraint_text(problem: ErrorDetails) -> str:
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
        return kinds[problem["type"]].format(**limits)
    return problem["msg"].removeprefix("Value error, ")
