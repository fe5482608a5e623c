"""The protocol of evolution strategies, ask() and tell(), and its records.

A strategy proposes individuals to evaluate and learns from their fitness. It plays no games and touches no
files. To add one, write a class in this package, add it to `evo.strategies.STRATEGIES`, and run
`tests/contracts/test_strategies.py`; docs/extending.md describes the steps.
"""

import contextlib
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import pandas as pd
from deap import base
from pydantic import BaseModel, ConfigDict
from threadpoolctl import threadpool_limits

from engine import ManaforgeError
from ilp_agent import WeightVector

HALL_SIZE = 20
"""Individuals kept in the hall of fame."""


class StrategyError(ManaforgeError, RuntimeError):
    """ask() and tell() out of order, a fitness that cannot be used, or a history that does not fit."""


class StrategyOptions(BaseModel):
    """Options of one strategy: the section of the configuration with the strategy's name."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Fitness(base.Fitness):  # type: ignore[misc]
    """Games won, draws half; more is better."""

    weights = (1.0,)


class Individual(list[float]):
    """An individual: the list of its weights in [0, 1], with step sizes and origin.

    Attributes:
        sigmas: step sizes, one for each weight.
        number: unique in a run, counted from 0 in the order of birth.
        parents: numbers of its parents; () where it has none.
        birth: generation it was born in.
        fitness: DEAP's.
    """

    def __init__(
        self,
        weights: Sequence[float],
        sigmas: Sequence[float],
        number: int,
        parents: tuple[int, ...],
        birth: int,
    ) -> None:
        super().__init__(weights)
        self.sigmas = list(sigmas)
        self.number = number
        self.parents = parents
        self.birth = birth
        self.fitness = Fitness()


@dataclass(frozen=True)
class Told:
    """The result of a generation.

    Attributes:
        generation: its number.
        individuals: all evaluated, in the order of `ask`.
        fitness: shape (individuals,).
        survived: shape (individuals,), whether each is a parent of the next generation.
    """

    generation: int
    individuals: list[Individual]
    fitness: np.ndarray
    survived: np.ndarray


@dataclass(frozen=True)
class Candidate:
    """Candidate for champion.

    Attributes:
        name: such as "individual N" or "centroid".
        weights: as evolved, or in their scale-free form for the centroid; shape (weights,).
        birth: generation it comes from.
    """

    name: str
    weights: tuple[float, ...]
    birth: int


@dataclass(frozen=True)
class Parameters:
    """What a strategy is created from.

    Attributes:
        seed: of the run.
        mu: parents.
        lambda_: children of a generation.
        vector: the kind of weights that evolve; individuals have one number in [0, 1] for each.
        options: the strategy's own section of the configuration; None where it has none.
        games: of an individual in a generation, by its number; the most that it may have.
    """

    seed: int
    mu: int
    lambda_: int
    vector: type[WeightVector]
    options: Any = None
    games: Callable[[int], int] = lambda generation: 0  # noqa: ARG005


class Strategy(Protocol):
    """A strategy. The same parameters and fitness give the same individuals, bit for bit.

    Attributes:
        NAME: as configurations write it.
        SUMMARY: one line for listings.
        OPTIONS: the model of its own section of the configuration; None without one.
        LIBRARIES: distributions it computes with, whose versions a run writes down.
        SURVIVE: whether parents compete with their children, so that ages and ancestors mean something.
        parameters: what it was created from.
        generation: number of the generation that `ask` gives next, or that waits for `tell`.
        parents: survivors of the last finished generation, the best first.
    """

    NAME: ClassVar[str]
    SUMMARY: ClassVar[str]
    OPTIONS: ClassVar[type[StrategyOptions] | None]
    LIBRARIES: ClassVar[tuple[str, ...]]
    SURVIVE: ClassVar[bool]
    parameters: Parameters
    generation: int
    parents: list[Individual]

    def __init__(self, parameters: Parameters) -> None: ...

    @classmethod
    def check(cls, mu: int, lambda_: int) -> None:
        """Refuse population sizes the strategy cannot use.

        Raises:
            ValueError: with the reason.
        """
        ...

    @classmethod
    def usual(cls, mu: int) -> tuple[int, int]:
        """The usual mu and lambda where a (mu + lambda) strategy has this mu and as many children."""
        ...

    @classmethod
    def sizes(cls, mu: int, lambda_: int) -> str:
        """How progress and reports write its sizes, such as "8 + 8"."""
        ...

    @classmethod
    def evaluated(cls, mu: int, lambda_: int, generation: int) -> int:
        """Number of individuals evaluated in a generation, which determines its number of games."""
        ...

    @classmethod
    def columns(cls, weights: Sequence[str]) -> list[str]:
        """Names of its own columns of `generations/NNNN.parquet`, all float64, after those of the weights.

        `sigma_NAME` for every weight are its step sizes, which reports then draw.
        """
        ...

    def values(self, individual: Individual) -> Sequence[float]:
        """An individual's values in these columns, finite."""
        ...

    @classmethod
    def schedule(cls, generations: int, lambda_: int, games: int) -> Mapping[str, Any]:
        """Options that make a schedule of steps end with these generations; {} where it has no schedule.

        Args:
            generations: from generation 0 on.
            lambda_: individuals of a generation.
            games: of an individual in all of these.
        """
        ...

    def ask(self) -> list[Individual]:
        """The individuals to evaluate.

        Raises:
            StrategyError: `ask` was called before, without `tell`.
        """
        ...

    def tell(self, fitness: np.ndarray) -> Told:
        """Take the fitness of the individuals asked for, and move to the next generation.

        Args:
            fitness: finite, shape (individuals,), in the order of `ask`; more is better.

        Raises:
            StrategyError: `ask` was not called, or `fitness` has another shape or is not finite.
        """
        ...

    def restore(self, generations: Iterable[pd.DataFrame]) -> None:
        """Bring a new strategy to its state after the last of these generations.

        Args:
            generations: committed tables of `generations/`, in their order.

        Raises:
            StrategyError: this strategy cannot have produced them.
        """
        ...

    def candidates(self) -> list[Candidate]:
        """The candidates of the final, after the last generation; equal weights once."""
        ...

    def centre(self) -> Candidate | None:
        """Where it stands after the last finished generation, less noisy than any individual.

        None where there is nothing to take the mean of.
        """
        ...

    def hall_of_fame(self) -> list[Individual]:
        """Bests of the generations so far, each once, the latest first."""
        ...

    def step_size(self) -> float:
        """One number for the distance of the next children from their parents; after the first generation."""
        ...


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
