"""Strategy `cma`: CMA-ES, which adapts the covariance matrix of the weights.

A wrapper of the package `cma`, with normal draws from our streams (`evo.seeds`) and linear algebra on one
thread. A run is restored by replaying ask() and tell() of every committed generation. Runs are reproducible
bit for bit only on the same machine model with the locked versions: linear algebra may round differently on
another processor, which `restore` detects.

Source: Hansen, "The CMA Evolution Strategy: A Tutorial", 2016; package `cma` (pycma).
"""

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from evo.seeds import child_stream
from evo.strategies.base import (
    Candidate,
    Individual,
    Parameters,
    StrategyOptions,
    single_threaded_blas,
)
from evo.strategies.population import SamplingStrategy, clip_to_unit

MIN_STEP = 1e-5
"""Minimum standard deviation in any direction, so that noise in the fitness does not end the search."""


class CmaOptions(StrategyOptions):
    """Initial distribution of `strategy = "cma"`."""

    initial_sigma: Annotated[
        float,
        Field(
            gt=0, le=1, description="initial standard deviation of every weight, relative to its range [0, 1]"
        ),
    ] = 0.25
    initial_mean: Annotated[float, Field(gt=0, lt=1, description="initial mean of every weight")] = 0.5


class Cma(SamplingStrategy):
    """CMA-ES: samples lambda individuals from a normal distribution; the best mu update the distribution."""

    NAME: ClassVar[str] = "cma"
    SUMMARY: ClassVar[str] = "CMA-ES, learns correlations of the weights; mu at most lambda / 2"
    OPTIONS: ClassVar[type[StrategyOptions] | None] = CmaOptions
    LIBRARIES: ClassVar[tuple[str, ...]] = ("cma", "deap")

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        import cma  # noqa: PLC0415 - takes half a second, needed only here

        self._points: list[np.ndarray] = []
        options = {
            "popsize": parameters.lambda_,
            "CMA_mu": parameters.mu,
            "bounds": [0.0, 1.0],
            "minstd": MIN_STEP,
            "randn": self._draw,
            "seed": np.nan,  # leave numpy's global generator alone
            "verbose": -9,
            "verb_log": 0,
        }
        own = parameters.options
        with single_threaded_blas():
            self._cma: Any = cma.CMAEvolutionStrategy(
                parameters.initial_point(own.initial_mean).tolist(), own.initial_sigma, options
            )

    @classmethod
    def check(cls, mu: int, lambda_: int) -> None:
        """Refuse a mu of more than half of lambda.

        Raises:
            ValueError: mu is more than half of lambda.
        """
        if 2 * mu > lambda_:
            raise ValueError(
                f'strategy "cma" selects at most half: mu <= lambda / 2, got mu = {mu} and lambda = {lambda_}'
            )

    @classmethod
    def default_sizes(cls, mu: int) -> tuple[int, int]:
        """The best half of 2 mu individuals; see `evo.strategies.base.Strategy`."""
        return mu, 2 * mu

    def tell(self, fitness: np.ndarray) -> Any:
        """Update the normal distribution from the fitness; see `evo.strategies.base.Strategy`."""
        points = self._points
        told = super().tell(fitness)
        with single_threaded_blas():
            self._cma.tell(points, [-float(value) for value in told.fitness])
        return told

    def centre(self) -> Candidate:
        """Mean of the normal distribution."""
        mean = self.parameters.with_fixed(clip_to_unit(self._cma.result.xfavorite))
        return Candidate("mean", tuple(mean), self.generation - 1)

    def _propose(self) -> list[Individual]:
        with single_threaded_blas():
            self._points = self._cma.ask()
            sigmas = [float(sigma) for sigma in self._cma.stds]
        first = self.generation * self.parameters.lambda_
        return [
            Individual(clip_to_unit(point), sigmas, first + place, (), self.generation)
            for place, point in enumerate(self._points)
        ]

    def _draw(self, n: int, n_weights: int) -> np.ndarray:
        """Standard normal draws of a generation, shape (n, n_weights), from one stream per individual."""
        seed = self.parameters.seed
        streams = (child_stream(seed, self.generation, place) for place in range(n))
        return np.array([[stream.standard_normal() for _ in range(n_weights)] for stream in streams])
