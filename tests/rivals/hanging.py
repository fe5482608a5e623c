"""Agents from outside that never answer, and when they have begun not to."""

from rivals.outside.agent import processes
from tests.data.bots.faulty import HANGS


def some_hangs() -> bool:
    """Whether `tests/data/bots/faulty.py` hangs in a game of this process."""
    return any(HANGS.encode() in one._errors for one in list(processes._busy))
