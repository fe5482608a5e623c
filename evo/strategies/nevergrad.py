"""`nevergrad:NAME`: an optimiser of the package nevergrad, an optional extra.

Every generation asks it for lambda points and tells it all their scores. What is random comes from
generators of its own, seeded by an address of ours: some optimisers draw from those of the whole process,
which are exchanged for the run's own as long as they work. A run is restored by repeating ask() and tell() of
every committed generation. As with `cma`, the same bytes are promised on one machine model with the locked
versions alone.

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
    Generators,
    Individual,
    Parameters,
    Strategy,
    StrategyError,
    StrategyOptions,
    one_thread,
)
from evo.strategies.population import DrawnStrategy, bounded

PREFIX = "nevergrad:"
MISSING = "nevergrad is not installed: pip install 'manaforge[nevergrad]', or make setup-extras in a clone"
SEEDS = 2**32


class NevergradOptions(StrategyOptions):
    """What strategies `nevergrad:NAME` are created from."""

    initial_mean: Annotated[float, Field(gt=0, lt=1, description="first value of every weight")] = 0.5
    budget: Annotated[
        int,
        Field(
            ge=0,
            le=10**9,
            description="individuals in all, by which some optimisers choose what they do, and go on beyond; "
            "0: as many as the run's generations have when it begins",
        ),
    ] = 0


class Nevergrad(DrawnStrategy):
    """Asks an optimiser for lambda points, and calls the best mu of them parents."""

    NAME: ClassVar[str] = f"{PREFIX}NAME"
    SUMMARY: ClassVar[str] = "an optimiser of nevergrad, an optional extra, such as TBPSA; mu at most lambda"
    OPTIONS: ClassVar[type[StrategyOptions] | None] = NevergradOptions
    LIBRARIES: ClassVar[tuple[str, ...]] = ("deap", "nevergrad")
    OPTIMISER: ClassVar[str]

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        # Addresses of children begin at generation 0: this one is of no generation.
        seed = int(child_stream(parameters.seed, SEEDS - 1, 0).integers(SEEDS))
        self._generators = Generators(seed)
        with self._alone():
            self._optimiser = _optimiser_of(self.OPTIMISER, parameters, self.n_weights, seed)
        self._points: list[Any] = []

    @classmethod
    def check(cls, mu: int, lambda_: int) -> None:
        """Accept a mu of at most lambda.

        Raises:
            ValueError: mu is more than lambda.
        """
        if mu > lambda_:
            raise ValueError(f'strategy "{cls.NAME}" takes mu <= lambda, got {mu} and {lambda_}')

    @classmethod
    def usual(cls, mu: int) -> tuple[int, int]:
        """Twice as many individuals; see `evo.strategies.base.Strategy`."""
        return mu, 2 * mu

    @classmethod
    def schedule(cls, generations: int, lambda_: int, games: int) -> Mapping[str, Any]:  # noqa: ARG003
        """All individuals of the generations; see `evo.strategies.base.Strategy`."""
        return {"budget": max(1, generations * lambda_)}

    def tell(self, fitness: np.ndarray) -> Any:
        """Learn from the fitness; see `evo.strategies.base.Strategy`."""
        points = self._points
        told = super().tell(fitness)
        with self._alone():
            for point, value in zip(points, told.fitness, strict=True):
                self._optimiser.tell(point, -float(value))
        return told

    def centre(self) -> Candidate:
        """What the optimiser recommends; it may draw for that, which the history does not see."""
        with self._alone(keep=False):
            state = self._optimiser.parametrization.random_state.get_state()
            point = self._optimiser.provide_recommendation().value
            self._optimiser.parametrization.random_state.set_state(state)
        return Candidate("recommendation", tuple(bounded(point)), self.generation - 1)

    def _propose(self) -> list[Individual]:
        n = self.parameters.lambda_
        with self._alone():
            self._points = [self._optimiser.ask() for _ in range(n)]
        weights = [bounded(point.value) for point in self._points]
        sigmas = np.maximum(np.std(weights, axis=0), 1e-5).tolist()  # it has no step sizes: the spread
        first = self.generation * n
        return [Individual(own, sigmas, first + k, (), self.generation) for k, own in enumerate(weights)]

    @contextlib.contextmanager
    def _alone(self, keep: bool = True) -> Iterator[None]:
        """The run's own generators, linear algebra on one thread, and the package's errors as ours.

        Raises:
            StrategyError: the optimiser failed.
        """
        with self._generators.used(keep), one_thread():
            try:
                yield
            except ManaforgeError:
                raise
            except Exception as error:  # of a package with hundreds of optimisers
                why = (str(error) or type(error).__name__).splitlines()[0]
                raise StrategyError(f'strategy "{self.NAME}" failed: {why}') from None


@lru_cache
def nevergrad_strategy(name: str) -> type[Strategy]:
    """The strategy of `nevergrad:NAME`; whether there is such an optimiser is found when it is made."""
    return type("Nevergrad", (Nevergrad,), {"NAME": name, "OPTIMISER": name.removeprefix(PREFIX)})


def _optimiser_of(name: str, parameters: Parameters, n_weights: int, seed: int) -> Any:
    """The optimiser over [0, 1] for a noisy function.

    Raises:
        StrategyError: nevergrad is not installed, or the optimiser asks for one point at a time.
        UnknownNameError: it has no such optimiser.
    """
    try:
        import nevergrad  # noqa: PLC0415 - seconds, for these strategies alone
    except ImportError:
        raise StrategyError(f'strategy "{PREFIX}{name}": {MISSING}') from None
    known = nevergrad.optimizers.registry
    if name not in known:
        raise unknown_name("nevergrad optimiser", name, sorted(known))
    if known[name].no_parallelization:
        raise StrategyError(f'strategy "{PREFIX}{name}" cannot be used: it asks for one individual at a time')
    own = parameters.options
    space = nevergrad.p.Array(init=np.full(n_weights, own.initial_mean), lower=0.0, upper=1.0)
    space.random_state = np.random.RandomState(seed)
    space.function.deterministic = False
    return known[name](space, budget=own.budget, num_workers=parameters.lambda_)
