"""What a strategy must not share while it computes: the threads of linear algebra, and random generators."""

import contextlib
import random
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

_LOCK = threading.RLock()
"""Held while a run computes alone: runs side by side would restore each other's settings."""


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra on one thread: the order of sums must not depend on the number of threads."""
    with _LOCK, threadpool_limits(1, "blas"):
        yield


class Generators:
    """The states of the process's random generators, `random` and numpy's, as one run has them.

    For packages that draw from these: each run draws its own numbers, and changes nobody else's.
    """

    def __init__(self, seed: int) -> None:
        self._states: tuple[Any, Any] = (
            random.Random(seed).getstate(),
            np.random.RandomState(seed).get_state(),
        )

    @contextlib.contextmanager
    def used(self, keep: bool = True) -> Iterator[None]:
        """Draw from the run's own states, alone; without `keep` they are afterwards as they were."""
        with _LOCK:
            before = random.getstate(), np.random.get_state()  # noqa: NPY002
            self._set(self._states)
            try:
                yield
            finally:
                if keep:
                    self._states = random.getstate(), np.random.get_state()  # noqa: NPY002
                self._set(before)

    @staticmethod
    def _set(states: tuple[Any, Any]) -> None:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
