"""Strategy `spsa`: simultaneous perturbation stochastic approximation, with fishtest's schedule.

Every generation moves one point. Its individuals are pairs, perturbed from the point along a random direction
and against it; the point then moves towards the winners. Steps of several pairs are summed, as fishtest sums
the results of its workers. There is no population and no selection.

Sources: Spall, "An overview of the simultaneous perturbation method for efficient optimization" (1998);
fishtest's SPSA tuning (constants c_end, r_end, A, alpha, gamma; steps counted in pairs of games).
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from evo.seeds import child_stream
from evo.strategies.base import Candidate, Individual, Parameters, StrategyOptions
from evo.strategies.population import SamplingStrategy

ALPHA, GAMMA = 0.602, 0.101
"""Exponents of the decay of steps and perturbations; Spall's recommendation, and fishtest's default."""


class SpsaOptions(StrategyOptions):
    """Options of `strategy = "spsa"`: the schedule of step sizes."""

    initial_mean: Annotated[float, Field(gt=0, lt=1, description="initial value of every weight")] = 0.5
    c_end: Annotated[
        float,
        Field(
            gt=0,
            le=1,
            description="perturbation of every weight at the end of the schedule, relative to [0, 1]",
        ),
    ] = 0.1
    r_end: Annotated[
        float,
        Field(gt=0, le=1, description="learning rate at the end: a won game moves a weight by r_end * c_end"),
    ] = 0.01
    pairs: Annotated[
        int,
        Field(
            ge=0,
            le=10**9,
            description="length of the schedule, in pairs of games per individual; 0: the number in the "
            "run's configured generations",
        ),
    ] = 0
    a_ratio: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="stability constant A that damps the first steps, as a part of the schedule's length",
        ),
    ] = 0.1


class Gains(NamedTuple):
    """Constants of a schedule of perturbations and learning rates.

    Attributes:
        c: initial perturbation.
        a: initial gain.
        stability: the constant A, added to the number of pairs in the gain.
    """

    c: float
    a: float
    stability: float

    def perturbation(self, pairs: int) -> float:
        """Perturbation of a weight after `pairs` pairs of games."""
        return float(self.c / (pairs + 1) ** GAMMA)

    def rate(self, pairs: int) -> float:
        """Learning rate after `pairs` pairs of games: step for a won game, in perturbations."""
        return float(self.a / (self.stability + pairs + 1) ** ALPHA / self.perturbation(pairs) ** 2)


def compute_gains(c_end: float, r_end: float, pairs: int, a_ratio: float) -> Gains:
    """Compute the constants of a schedule that ends with `c_end` and `r_end` after `pairs` pairs."""
    stability = a_ratio * pairs
    return Gains(c_end * pairs**GAMMA, r_end * c_end**2 * (stability + pairs) ** ALPHA, stability)


class Spsa(SamplingStrategy):
    """SPSA: moves one point by the results of pairs of individuals around the point."""

    NAME: ClassVar[str] = "spsa"
    SUMMARY: ClassVar[str] = "SPSA with fishtest's schedule, moves one point; lambda even, mu at most lambda"
    OPTIONS: ClassVar[type[StrategyOptions] | None] = SpsaOptions

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        own = parameters.options
        self.gains = compute_gains(own.c_end, own.r_end, own.pairs, own.a_ratio)
        self.point = parameters.initial_point(own.initial_mean)
        self.pairs = 0
        self._flips = np.zeros((0, self.n_weights))

    @classmethod
    def check(cls, mu: int, lambda_: int) -> None:
        """Refuse an odd lambda, and a mu greater than lambda.

        Raises:
            ValueError: it is not.
        """
        if lambda_ % 2 or mu > lambda_:
            raise ValueError(
                f'strategy "spsa" takes an even lambda and mu <= lambda, got mu = {mu} and lambda = {lambda_}'
            )

    @classmethod
    def default_sizes(cls, mu: int) -> tuple[int, int]:  # noqa: ARG003
        """One pair of individuals; see `evo.strategies.base.Strategy`."""
        return 2, 2

    @classmethod
    def sizes(cls, mu: int, lambda_: int) -> str:  # noqa: ARG003
        """Number of individuals around the point; see `evo.strategies.base.Strategy`."""
        return f"{lambda_} about a point"

    @classmethod
    def schedule(cls, generations: int, lambda_: int, games: int) -> Mapping[str, Any]:  # noqa: ARG003
        """Length of the schedule: pairs of games of an individual; see `evo.strategies.base.Strategy`."""
        return {"pairs": max(1, games // 2)}

    def tell(self, fitness: np.ndarray) -> Any:
        """Move the point by the pairs' results; see `evo.strategies.base.Strategy`."""
        flips = self._flips
        told = super().tell(fitness)
        results = told.fitness[0::2] - told.fitness[1::2]
        step = self.gains.rate(self.pairs) * self.gains.perturbation(self.pairs)
        self.point = np.clip(self.point + step * (results @ flips), 0.0, 1.0)
        self.pairs += max(1, self.parameters.games(told.generation) // 2)
        return told

    def centre(self) -> Candidate:
        """The current point."""
        point = self.parameters.with_fixed(self.point.tolist())
        return Candidate("mean", tuple(point), self.generation - 1)

    def _propose(self) -> list[Individual]:
        n = self.parameters.lambda_
        streams = [child_stream(self.parameters.seed, self.generation, place) for place in range(n // 2)]
        self._flips = np.array([stream.choice((-1.0, 1.0), self.n_weights) for stream in streams])
        c = self.gains.perturbation(self.pairs)
        moved = np.repeat(self._flips, 2, axis=0) * np.tile((c, -c), n // 2)[:, None]
        points = np.clip(self.point + moved, 0.0, 1.0).tolist()
        first = self.generation * n
        sigmas = [c] * self.n_weights
        return [Individual(point, sigmas, first + k, (), self.generation) for k, point in enumerate(points)]
