"""Message texts: durations and counts, and the option that an error quotes."""

from collections.abc import Mapping

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
    """Find the command-line option whose value or table an error message names; "" if it names none."""
    for key, option in given.items():
        if message.startswith(f"{key.partition('.')[0]}: "):
            return option
        values = option.partition("=")[2].strip("[]").split(",")
        if any(value.strip("\"' ") and value.strip("\"' ") in message for value in values):
            return option
    return ""
