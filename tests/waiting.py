"""What tests wait for: for something to happen, however long a busy machine takes, or for no real time at all."""

import time
from collections.abc import Callable

from rivals.registry import SECONDS

HANG = 1800.0
"""Seconds after which a test that waits has failed: far more than any machine needs, even one that compiles all
kernels meanwhile; it only ends a hang."""


def wait_until(happened: Callable[[], object], what: str, every: float = 0.01) -> None:
    """Look again and again until something has happened.

    Args:
        happened: whether it has.
        what: said if it never does.
        every: seconds between two looks.
    """
    until = time.monotonic() + HANG
    while not happened():
        assert time.monotonic() < until, f"{what}: not in {HANG:.0f} s"
        time.sleep(every)


def give_agents_an_hour() -> None:
    """For each decision of an agent from outside, where a test does not say: it loses no game because others work."""
    object.__setattr__(SECONDS, "default", SECONDS.most)


class Clock:
    """In place of the module `time`: nothing but sleeping takes time."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """The time."""
        return self.now

    def perf_counter(self) -> float:
        """The time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let this much time pass; other threads go on meanwhile."""
        self.now += seconds
        time.sleep(0)
