"""The ask-and-tell protocol of strategies, and the protocol's records: individuals, generations, candidates.

A strategy proposes individuals and updates itself from their fitness. It plays no games and accesses no
files. To add one, write a class in this package, add it to `evo.strategies.STRATEGIES`, and run
`tests/contracts/test_strategies.py`; docs/extending.md describes the steps.
"""

import contextlib
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import pandas as pd
from deap import base
from pydantic import BaseModel, ConfigDict
from threadpoolctl import threadpool_limits

from engine import ManaforgeError
from ilp_agent import WeightVector

HALL_SIZE = 20
"""Maximum number of individuals in the hall of fame."""


class StrategyError(ManaforgeError, RuntimeError):
    """ask() and tell() out of order, an invalid fitness, a missing package, or a history that differs."""


class StrategyOptions(BaseModel):
    """Base class of a strategy's options, which are a section of the configuration."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Fitness(base.Fitness):  # type: ignore[misc]
    """Fitness in DEAP's sense: games won, draws half; maximised."""

    weights = (1.0,)


class Individual(list[float]):
    """An individual: a list of weights in [0, 1] (fixed ones apart), with step sizes and parents.

    Attributes:
        sigmas: step sizes, one per weight.
        number: unique in a run, counted from 0 in the order of creation.
        parents: numbers of its parents; () if it has none.
        birth: generation in which it was created.
        fitness: DEAP fitness.
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
class GenerationResult:
    """Evaluated individuals of a generation and their survival, as returned by `Strategy.tell`.

    Attributes:
        generation: its number.
        individuals: all individuals, in the order of `ask`.
        fitness: shape (individuals,).
        survived: shape (individuals,), whether each is a parent of the next generation.
    """

    generation: int
    individuals: list[Individual]
    fitness: np.ndarray
    survived: np.ndarray


@dataclass(frozen=True)
class Candidate:
    """A candidate for champion, which plays the final.

    Attributes:
        name: such as "individual N" or "centroid".
        weights: as evolved, or scale-free for the centroid; shape (weights,).
        birth: generation of its creation.
    """

    name: str
    weights: tuple[float, ...]
    birth: int


@dataclass(frozen=True)
class Parameters:
    """Constructor arguments of a strategy.

    Attributes:
        seed: of the run.
        mu: number of parents.
        lambda_: number of children per generation.
        vector: class of the evolved weights; individuals have one number in [0, 1] for each weight.
        options: the strategy's section of the configuration; None if it has none.
        games: maps a generation's number to the maximum number of games of an individual.
        fixed: weights that do not evolve, by name: all individuals have these values.
        initial: initial values of weights by name, for a strategy that starts from a point.
    """

    seed: int
    mu: int
    lambda_: int
    vector: type[WeightVector]
    options: Any = None
    games: Callable[[int], int] = lambda generation: 0  # noqa: ARG005
    fixed: Mapping[str, float] = field(default_factory=dict)
    initial: Mapping[str, float] = field(default_factory=dict)

    def initial_point(self, mean: float) -> np.ndarray:
        """The initial values of the weights, and `mean` for those without one; shape (weights,)."""
        return np.array([self.initial.get(name, mean) for name in self.vector.names()])

    def with_fixed(self, weights: Sequence[float]) -> list[float]:
        """The weights of an individual, with the values of the fixed ones."""
        return [
            self.fixed.get(name, weight) for name, weight in zip(self.vector.names(), weights, strict=True)
        ]


class Strategy(Protocol):
    """Protocol of strategies; reproducible bit for bit from parameters and fitness.

    Attributes:
        NAME: its name in configurations.
        SUMMARY: one line for listings.
        OPTIONS: model of its section of the configuration; None if it has none.
        LIBRARIES: distributions it depends on; a run's manifest records their versions.
        SURVIVE: whether parents compete with their children (plus selection), so that age and ancestry apply.
        parameters: its constructor arguments.
        generation: number of the current generation, to be asked for or awaiting `tell`.
        parents: survivors of the last completed generation, best first.
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
        """Refuse population sizes that the strategy does not support.

        Raises:
            ValueError: the strategy does not support them; the message gives the reason.
        """
        ...

    @classmethod
    def default_sizes(cls, mu: int) -> tuple[int, int]:
        """Default mu and lambda that correspond to a (mu + lambda) strategy with mu = lambda."""
        ...

    @classmethod
    def sizes(cls, mu: int, lambda_: int) -> str:
        """Format the population sizes for progress displays and reports, such as "8 + 8"."""
        ...

    @classmethod
    def count_evaluated(cls, mu: int, lambda_: int, generation: int) -> int:
        """Number of individuals evaluated in a generation."""
        ...

    @classmethod
    def columns(cls, weights: Sequence[str]) -> list[str]:
        """Names of the strategy's own columns in `generations/NNNN.parquet`, all float64.

        They follow the columns of the weights. Reports plot columns `sigma_NAME` as step sizes.
        """
        ...

    def values(self, individual: Individual) -> Sequence[float]:
        """An individual's values of the strategy's own columns, finite; see `columns`."""
        ...

    @classmethod
    def schedule(cls, generations: int, lambda_: int, games: int) -> Mapping[str, Any]:
        """Options that fit the strategy's schedule to a number of generations; {} without a schedule.

        Args:
            generations: their number, from generation 0 on.
            lambda_: individuals per generation.
            games: games of an individual in all these generations.
        """
        ...

    def ask(self) -> list[Individual]:
        """Propose the individuals of the next generation.

        Raises:
            StrategyError: `ask` was already called without `tell`.
        """
        ...

    def tell(self, fitness: np.ndarray) -> GenerationResult:
        """Update the strategy with the fitness of the individuals of `ask`; move to the next generation.

        Args:
            fitness: finite, shape (individuals,), in the order of `ask`; maximised.

        Raises:
            StrategyError: `ask` was not called, or `fitness` has another shape or is not finite.
        """
        ...

    def restore(self, generations: Iterable[pd.DataFrame]) -> None:
        """Restore a new strategy to its state after the given generations.

        Args:
            generations: committed tables of `generations/`, in order.

        Raises:
            StrategyError: the strategy does not reproduce these generations.
        """
        ...

    def candidates(self) -> list[Candidate]:
        """Candidates for champion after the last generation, without duplicate weights."""
        ...

    def centre(self) -> Candidate | None:
        """Centre: the mean of the strategy's distribution or parents, less noisy than any individual.

        None if there is no mean.
        """
        ...

    def hall_of_fame(self) -> list[Individual]:
        """Best individuals of previous generations, without duplicates, latest first."""
        ...

    def step_size(self) -> float:
        """Step size of the next children as one number, defined after the first generation."""
        ...


_LOCK = threading.RLock()
"""Serialises changes of global state: concurrent runs would restore each other's settings."""


@contextlib.contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Context manager that limits BLAS to one thread, so that the order of sums is reproducible."""
    with _LOCK, threadpool_limits(1, "blas"):
        yield


class GlobalRandomState:
    """States of the global random generators `random` and `numpy.random` that belong to one run.

    For packages that draw from the global generators: each run has its own reproducible sequence.
    """

    def __init__(self, seed: int) -> None:
        self._states: tuple[Any, Any] = (
            random.Random(seed).getstate(),
            np.random.RandomState(seed).get_state(),
        )

    @contextlib.contextmanager
    def used(self, keep: bool = True) -> Iterator[None]:
        """Context that installs the run's generator states; without `keep`, draws in it are undone."""
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
