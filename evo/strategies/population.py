"""Base classes of strategies: survivors, hall of fame, logbook, and restoring a strategy by replay."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from deap import tools

from evo.strategies.base import (
    HALL_SIZE,
    Candidate,
    GenerationResult,
    Individual,
    Parameters,
    Strategy,
    StrategyError,
    StrategyOptions,
)


class HallOfFame(tools.HallOfFame):  # type: ignore[misc]
    """Hall of fame: the best individual of each generation, without duplicates, latest first.

    DEAP's own compares fitness across generations, which is meaningless for fitness relative to opponents.
    """

    def update(self, population: Sequence[Individual]) -> None:
        """Add the best of a generation's survivors, which are sorted best first."""
        best = population[0]
        known = [item for item in self if item.number != best.number]
        self.items: list[Individual] = [best, *known][: self.maxsize]
        self.keys = [item.fitness for item in reversed(self.items)]


class PopulationStrategy:
    """Base of strategies with survivors, a hall of fame and DEAP's logbook.

    A subclass defines `NAME`, `SUMMARY`, the number of individuals (`count_evaluated`), their proposal
    (`_propose`) and selection (`_select`); often also `OPTIONS`, `check` and `sizes`.

    Attributes:
        hall: `HallOfFame`.
        logbook: DEAP's logbook, one record per generation.
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
        """Accept all sizes; see `evo.strategies.base.Strategy`."""

    @classmethod
    def default_sizes(cls, mu: int) -> tuple[int, int]:
        """As many children as parents; see `evo.strategies.base.Strategy`."""
        return mu, mu

    @classmethod
    def sizes(cls, mu: int, lambda_: int) -> str:
        """Parents and children; see `evo.strategies.base.Strategy`."""
        return f"{mu} + {lambda_}"

    @classmethod
    def count_evaluated(cls, mu: int, lambda_: int, generation: int) -> int:
        """Number of individuals evaluated in a generation; see `evo.strategies.base.Strategy`."""
        raise NotImplementedError

    @classmethod
    def columns(cls, weights: Sequence[str]) -> list[str]:
        """A column of step sizes for each weight; see `evo.strategies.base.Strategy`."""
        return [f"sigma_{name}" for name in weights]

    @classmethod
    def schedule(cls, generations: int, lambda_: int, games: int) -> Mapping[str, Any]:  # noqa: ARG003
        """No schedule; see `evo.strategies.base.Strategy`."""
        return {}

    def values(self, individual: Individual) -> Sequence[float]:
        """An individual's step sizes; see `evo.strategies.base.Strategy`."""
        return individual.sigmas

    def ask(self) -> list[Individual]:
        """The individuals to evaluate; see `evo.strategies.base.Strategy`."""
        if self._asked is not None:
            raise StrategyError(f"ask() again before tell() of generation {self.generation}")
        self._asked = self._propose()
        for individual in self._asked:
            individual[:] = self.parameters.with_fixed(individual)
        return list(self._asked)

    def tell(self, fitness: np.ndarray) -> GenerationResult:
        """Assign the fitness and select survivors; see `evo.strategies.base.Strategy`."""
        if self._asked is None:
            raise StrategyError(f"tell() before ask() of generation {self.generation}")
        values = np.asarray(fitness, np.float64)
        if values.shape != (len(self._asked),) or not np.isfinite(values).all():
            raise StrategyError(f"fitness must be {len(self._asked)} finite numbers, got {fitness!r}")
        for individual, value in zip(self._asked, values, strict=True):
            individual.fitness.values = (float(value),)
        chosen = self._select(self._asked)
        survivors = {individual.number for individual in chosen}
        told = GenerationResult(
            self.generation,
            self._asked,
            values,
            np.array([individual.number in survivors for individual in self._asked]),
        )
        self._advance(chosen)
        return told

    def restore(self, generations: Iterable[pd.DataFrame]) -> None:
        """Restore the survivors of each generation; see `evo.strategies.base.Strategy`."""
        for table in generations:
            self._advance(survivors_of(table, self.parameters.vector.names()))

    def candidates(self) -> list[Candidate]:
        """Parents, centroid and hall of fame; see `evo.strategies.base.Strategy`."""
        centre, found = self.centre(), dict[tuple[float, ...], Candidate]()
        for candidate in (
            *map(_candidate, self.parents),
            *([] if centre is None else [centre]),
            *map(_candidate, self.hall),
        ):
            found.setdefault(candidate.weights, candidate)
        return list(found.values())

    def centre(self) -> Candidate | None:
        """Centroid of the parents' scale-free weights; None if all weights of the parents are zero.

        With fixed weights it is scaled to have these.
        """
        shares = self.parameters.vector.scale_free(np.array(self.parents))
        shares = shares[~np.isnan(shares).any(axis=1)]
        if not len(shares):
            return None
        centroid = np.mean(shares, axis=0)
        fixed = self.parameters.fixed
        largest = max(fixed, key=lambda name: abs(fixed[name])) if any(fixed.values()) else ""
        if largest:  # another scale, at which it has the fixed weights
            centroid *= fixed[largest] / centroid[self.parameters.vector.names().index(largest)]
            centroid = self.parameters.with_fixed(centroid.tolist())
        return Candidate("centroid", tuple(map(float, centroid)), self.generation - 1)

    def hall_of_fame(self) -> list[Individual]:
        """Best individuals of the latest generations; see `evo.strategies.base.Strategy`."""
        return list(self.hall)

    def step_size(self) -> float:
        """Median step size of the parents."""
        return float(np.median([individual.sigmas for individual in self.parents]))

    def _advance(self, parents: Sequence[Individual]) -> None:
        """Start the next generation with these parents, best first."""
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
        """Propose the individuals of this generation."""
        raise NotImplementedError

    def _select(self, asked: Sequence[Individual]) -> list[Individual]:
        """Select the survivors among the evaluated individuals, best first."""
        raise NotImplementedError


def _candidate(individual: Individual) -> Candidate:
    weights = tuple(individual)
    return Candidate(f"individual {individual.number}", weights, individual.birth)


def survivors_of(table: pd.DataFrame, weights: Sequence[str]) -> list[Individual]:
    """Survivors of a committed generation, best first.

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


class SamplingStrategy(PopulationStrategy):
    """Base of strategies that sample lambda new individuals per generation, from the first on.

    The best mu of them are called parents.
    """

    @classmethod
    def sizes(cls, mu: int, lambda_: int) -> str:
        """The best mu of lambda; see `evo.strategies.base.Strategy`."""
        return f"{mu} of {lambda_}"

    @classmethod
    def count_evaluated(cls, mu: int, lambda_: int, generation: int) -> int:  # noqa: ARG003
        """All lambda, in every generation; see `evo.strategies.base.Strategy`."""
        return lambda_

    def restore(self, generations: Iterable[pd.DataFrame]) -> None:
        """Replay ask() and tell() of every committed generation; see `evo.strategies.base.Strategy`."""
        replay_generations(self, generations)

    def _select(self, asked: Sequence[Individual]) -> list[Individual]:
        """Select the best mu; ties rank earlier individuals first."""
        ranked = sorted(asked, key=lambda individual: -individual.fitness.values[0])
        return ranked[: self.parameters.mu]


def clip_to_unit(point: np.ndarray) -> list[float]:
    """Clip a point to [0, 1], against rounding errors."""
    return [float(value) for value in np.clip(point, 0.0, 1.0)]


def replay_generations(strategy: Strategy, generations: Iterable[pd.DataFrame]) -> None:
    """Restore a strategy by replaying ask() and tell() of every committed generation.

    Raises:
        StrategyError: the replay does not reproduce the recorded individuals.
    """
    columns = [f"weight_{name}" for name in strategy.parameters.vector.names()]
    for table in generations:
        asked = np.array(strategy.ask())
        if not np.array_equal(asked, table[columns].to_numpy()):
            raise StrategyError(
                f"generation {strategy.generation} cannot be repeated bit for bit: strategy "
                f'"{strategy.NAME}" resumes only on the machine model and with the locked versions that '
                "started the run. Resume it there, or start a new run"
            )
        strategy.tell(table["fitness"].to_numpy())
