"""Strategies `nevergrad:NAME`: optimisers of the package nevergrad, an optional extra.

Every generation asks the optimiser for lambda points and tells it their scores. Its random generators are
seeded from our streams. Some optimisers draw from the global generators, so each run swaps in its own states
during their calls. A run is restored by replaying ask() and tell() of every committed generation. As with
`cma`, runs are reproducible bit for bit only on the same machine model with the locked versions.

Source: Rapin and Teytaud, "Nevergrad - A gradient-free optimization platform" (2018).
"""

import contextlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from engine import ManaforgeError
from engine.errors import unknown_name
from evo.seeds import child_stream
from evo.strategies.base import (
    Candidate,
    GlobalRandomState,
    Individual,
    Parameters,
    Strategy,
    StrategyError,
    StrategyOptions,
    single_threaded_blas,
)
from evo.strategies.population import SamplingStrategy, clip_to_unit

PREFIX = "nevergrad:"
NOT_INSTALLED = (
    "nevergrad is not installed: pip install 'manaforge[nevergrad]', or make setup-extras in a clone"
)
SEED_RANGE = 2**32


class NevergradOptions(StrategyOptions):
    """Options of strategies `nevergrad:NAME`."""

    initial_mean: Annotated[float, Field(gt=0, lt=1, description="initial value of every weight")] = 0.5
    budget: Annotated[
        int,
        Field(
            ge=0,
            le=10**9,
            description="total number of individuals, by which some optimisers adapt their algorithm; not a "
            "limit; 0: the number of individuals in the run's configured generations",
        ),
    ] = 0


class Nevergrad(SamplingStrategy):
    """A nevergrad optimiser: lambda points per generation, of which the best mu are called parents."""

    NAME: ClassVar[str] = f"{PREFIX}NAME"
    SUMMARY: ClassVar[str] = "an optimiser of nevergrad (optional extra), such as TBPSA; mu at most lambda"
    OPTIONS: ClassVar[type[StrategyOptions] | None] = NevergradOptions
    LIBRARIES: ClassVar[tuple[str, ...]] = ("deap", "nevergrad")
    OPTIMISER: ClassVar[str]

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        # Generation number SEED_RANGE - 1 does not occur, so this stream is independent of the children's.
        seed = int(child_stream(parameters.seed, SEED_RANGE - 1, 0).integers(SEED_RANGE))
        self._generators = GlobalRandomState(seed)
        with self._alone():
            self._optimiser = _optimiser_of(self.OPTIMISER, parameters, seed)
        self._points: list[Any] = []

    @classmethod
    def check(cls, mu: int, lambda_: int) -> None:
        """Refuse a mu greater than lambda.

        Raises:
            ValueError: mu is more than lambda.
        """
        if mu > lambda_:
            raise ValueError(
                f'strategy "{cls.NAME}" takes mu <= lambda, got mu = {mu} and lambda = {lambda_}'
            )

    @classmethod
    def default_sizes(cls, mu: int) -> tuple[int, int]:
        """The best half of 2 mu individuals; see `evo.strategies.base.Strategy`."""
        return mu, 2 * mu

    @classmethod
    def schedule(cls, generations: int, lambda_: int, games: int) -> Mapping[str, Any]:  # noqa: ARG003
        """Option `budget`: all individuals of the generations; see `evo.strategies.base.Strategy`."""
        return {"budget": max(1, generations * lambda_)}

    def tell(self, fitness: np.ndarray) -> Any:
        """Pass the fitness to the optimiser; see `evo.strategies.base.Strategy`."""
        points = self._points
        told = super().tell(fitness)
        with self._alone():
            for point, value in zip(points, told.fitness, strict=True):
                self._optimiser.tell(point, -float(value))
        return told

    def centre(self) -> Candidate:
        """The optimiser's recommendation, computed without changing the optimiser's random state."""
        with self._alone(keep=False):
            state = self._optimiser.parametrization.random_state.get_state()
            point = self._optimiser.provide_recommendation().value
            self._optimiser.parametrization.random_state.set_state(state)
        return Candidate(
            "recommendation", tuple(self.parameters.with_fixed(clip_to_unit(point))), self.generation - 1
        )

    def _propose(self) -> list[Individual]:
        n = self.parameters.lambda_
        with self._alone():
            self._points = [self._optimiser.ask() for _ in range(n)]
        weights = [clip_to_unit(point.value) for point in self._points]
        sigmas = np.maximum(
            np.std(weights, axis=0), 1e-5
        ).tolist()  # nevergrad has no step sizes: use the spread
        first = self.generation * n
        return [Individual(own, sigmas, first + k, (), self.generation) for k, own in enumerate(weights)]

    @contextlib.contextmanager
    def _alone(self, keep: bool = True) -> Iterator[None]:
        """Context manager for calls of nevergrad: own random states, one thread, errors as StrategyError.

        Raises:
            StrategyError: the optimiser failed.
        """
        with self._generators.used(keep), single_threaded_blas():
            try:
                yield
            except ManaforgeError:
                raise
            except Exception as error:  # hundreds of optimisers, with any errors
                why = (str(error) or type(error).__name__).splitlines()[0]
                raise StrategyError(f'strategy "{self.NAME}" failed: {why}') from None


@lru_cache
def nevergrad_strategy(name: str) -> type[Strategy]:
    """Create the strategy class of `nevergrad:NAME`; instantiation checks that the optimiser exists."""
    return type("Nevergrad", (Nevergrad,), {"NAME": name, "OPTIMISER": name.removeprefix(PREFIX)})


def _optimiser_of(name: str, parameters: Parameters, seed: int) -> Any:
    """Create a nevergrad optimiser of a noisy function on [0, 1]^n.

    Raises:
        StrategyError: nevergrad is not installed, or the optimiser is sequential.
        UnknownNameError: nevergrad has no such optimiser.
    """
    try:
        import nevergrad  # noqa: PLC0415 - takes seconds, needed only here
    except ImportError:
        raise StrategyError(f'strategy "{PREFIX}{name}": {NOT_INSTALLED}') from None
    known = nevergrad.optimizers.registry
    if name not in known:
        raise unknown_name("nevergrad optimiser", name, sorted(known))
    if known[name].no_parallelization:
        raise StrategyError(
            f'strategy "{PREFIX}{name}" cannot be used: it evaluates one individual at a time, not '
            "a generation"
        )
    own = parameters.options
    space = nevergrad.p.Array(init=parameters.initial_point(own.initial_mean), lower=0.0, upper=1.0)
    space.random_state = np.random.RandomState(seed)
    space.function.deterministic = False
    return known[name](space, budget=own.budget, num_workers=parameters.lambda_)
