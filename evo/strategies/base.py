"""The protocol of evolution strategies, ask() and tell(), and the base class that most of them share.

A strategy proposes individuals to evaluate and learns from their fitness. It plays no games and touches no
files. To add one, write a class in this package, add it to `evo.strategies.STRATEGIES`, and run
`tests/contracts/test_strategies.py`; docs/extending.md describes the steps.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import pandas as pd
from deap import base, tools
from pydantic import BaseModel, ConfigDict

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


class HallOfFame(tools.HallOfFame):  # type: ignore[misc]
    """The best individual of each generation, each once, the latest first; at most `HALL_SIZE`.

    DEAP's compares fitness across generations, which is meaningless for fitness relative to the opponents.
    """

    def update(self, population: Sequence[Individual]) -> None:
        """Add the best of a generation's survivors, which are sorted best first."""
        best = population[0]
        known = [item for item in self if item.number != best.number]
        self.items: list[Individual] = [best, *known][: self.maxsize]
        self.keys = [item.fitness for item in reversed(self.items)]


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


class PopulationStrategy:
    """Base of strategies that keep survivors, a hall of fame and DEAP's logbook.

    A subclass defines `NAME` and `SUMMARY`, how many individuals a generation has (`evaluated`), how they are
    proposed (`_propose`) and which survive (`_select`); often `OPTIONS`, `check` and `sizes`.

    Attributes:
        hall: `HallOfFame`.
        logbook: DEAP's, one record a generation.
    """

    NAME: ClassVar[str]
    SUMMARY: ClassVar[str]
    OPTIONS: ClassVar[type[StrategyOptions] | None] = None
    LIBRARIES: ClassVar[tuple[str, ...]] = ("deap",)
    SURVIVE: ClassVar[bool] = False

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.n_weights = len(parameters.vector.names())
        self.generation = 0
        self.parents: list[Individual] = []
        self.hall = HallOfFame(HALL_SIZE)
        self.logbook = tools.Logbook()
        self._asked: list[Individual] | None = None

    @classmethod
    def check(cls, mu: int, lambda_: int) -> None:
        """Accept all sizes; see `Strategy`."""

    @classmethod
    def usual(cls, mu: int) -> tuple[int, int]:
        """As many children as parents; see `Strategy`."""
        return mu, mu

    @classmethod
    def sizes(cls, mu: int, lambda_: int) -> str:
        """Parents and children; see `Strategy`."""
        return f"{mu} + {lambda_}"

    @classmethod
    def evaluated(cls, mu: int, lambda_: int, generation: int) -> int:
        """Number of individuals in a generation; see `Strategy`."""
        raise NotImplementedError

    @classmethod
    def columns(cls, weights: Sequence[str]) -> list[str]:
        """A step size for each weight; see `Strategy`."""
        return [f"sigma_{name}" for name in weights]

    @classmethod
    def schedule(cls, generations: int, lambda_: int, games: int) -> Mapping[str, Any]:  # noqa: ARG003
        """No schedule; see `Strategy`."""
        return {}

    def values(self, individual: Individual) -> Sequence[float]:
        """Its step sizes; see `Strategy`."""
        return individual.sigmas

    def ask(self) -> list[Individual]:
        """The individuals to evaluate; see `Strategy`."""
        if self._asked is not None:
            raise StrategyError(f"ask() again before tell() of generation {self.generation}")
        self._asked = self._propose()
        return list(self._asked)

    def tell(self, fitness: np.ndarray) -> Told:
        """Take the fitness of the individuals asked for and select; see `Strategy`."""
        if self._asked is None:
            raise StrategyError(f"tell() before ask() of generation {self.generation}")
        values = np.asarray(fitness, np.float64)
        if values.shape != (len(self._asked),) or not np.isfinite(values).all():
            raise StrategyError(f"fitness must be {len(self._asked)} finite numbers, got {fitness!r}")
        for individual, value in zip(self._asked, values, strict=True):
            individual.fitness.values = (float(value),)
        chosen = self._select(self._asked)
        survivors = {individual.number for individual in chosen}
        told = Told(
            self.generation,
            self._asked,
            values,
            np.array([individual.number in survivors for individual in self._asked]),
        )
        self._advance(chosen)
        return told

    def restore(self, generations: Iterable[pd.DataFrame]) -> None:
        """Take the survivors of each generation; see `Strategy`."""
        for table in generations:
            self._advance(survivors_of(table, self.parameters.vector.names()))

    def candidates(self) -> list[Candidate]:
        """Parents, centroid and hall of fame; see `Strategy`."""
        centre, found = self.centre(), dict[tuple[float, ...], Candidate]()
        for candidate in (
            *map(_candidate, self.parents),
            *([] if centre is None else [centre]),
            *map(_candidate, self.hall),
        ):
            found.setdefault(candidate.weights, candidate)
        return list(found.values())

    def centre(self) -> Candidate | None:
        """The centroid of the parents' scale-free weights; None where all their weights are zero."""
        shares = self.parameters.vector.scale_free(np.array(self.parents))
        shares = shares[~np.isnan(shares).any(axis=1)]
        if not len(shares):
            return None
        centroid = tuple(float(value) for value in np.mean(shares, axis=0))
        return Candidate("centroid", centroid, self.generation - 1)

    def hall_of_fame(self) -> list[Individual]:
        """Bests of the latest generations; see `Strategy`."""
        return list(self.hall)

    def step_size(self) -> float:
        """Median step size of the parents."""
        return float(np.median([individual.sigmas for individual in self.parents]))

    def _advance(self, parents: Sequence[Individual]) -> None:
        """Make these the parents of the next generation, best first."""
        self.parents = list(parents)
        self.hall.update(self.parents)
        self.logbook.record(
            generation=self.generation,
            best=self.parents[0].fitness.values[0],
            new=sum(individual.birth == self.generation for individual in self.parents),
        )
        self.generation += 1
        self._asked = None

    def _propose(self) -> list[Individual]:
        """The individuals of this generation."""
        raise NotImplementedError

    def _select(self, asked: Sequence[Individual]) -> list[Individual]:
        """The survivors among the evaluated individuals, the best first."""
        raise NotImplementedError


def _candidate(individual: Individual) -> Candidate:
    weights = tuple(individual)
    return Candidate(f"individual {individual.number}", weights, individual.birth)


def survivors_of(table: pd.DataFrame, weights: Sequence[str]) -> list[Individual]:
    """The individuals of a committed generation that survived, the best first.

    Args:
        table: of `generations/`, with columns sigma_NAME.
        weights: names of the weights.
    """
    rows = table[table["survived"]].sort_values("rank").to_dict("records")
    return [_individual_of(row, weights) for row in rows]


def _individual_of(row: dict[Any, Any], weights: Sequence[str]) -> Individual:
    parents = tuple(int(row[key]) for key in ("parent_a", "parent_b") if not pd.isna(row[key]))
    individual = Individual(
        [float(row[f"weight_{name}"]) for name in weights],
        [float(row[f"sigma_{name}"]) for name in weights],
        int(row["individual"]),
        parents,
        int(row["birth"]),
    )
    individual.fitness.values = (float(row["fitness"]),)
    return individual
