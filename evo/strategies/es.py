"""Strategies `es` and `eva`: (mu + lambda) evolution strategies with self-adaptive step sizes.

Built on DEAP: individuals with a DEAP fitness, a toolbox with `mate`, `mutate` and `select`, its hall of fame
and logbook. Every random draw comes from an addressed stream (`evo.seeds`), not from DEAP's global random
state, and DEAP's `mutESLogNormal` is not used: it shares one draw and has no lower limit and no bounds.

`eva` follows "Optimizing Hearthstone agents using an evolutionary algorithm" (EVA), Algorithm 2, Eqs. 9 to
12. As printed, Eq. 9 adds where the authors' code multiplies; this follows the code.

`es` is adapted to noisy scores: one draw of tau' per individual, smaller initial steps, recombination, and
optional reflection at the bounds. Source: Beyer and Schwefel, "Evolution strategies: a comprehensive
introduction", 2002.
"""

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from deap import base, tools
from pydantic import Field

from evo.seeds import child_stream, first_stream
from evo.strategies.base import Individual, Parameters, StrategyOptions
from evo.strategies.population import PopulationStrategy

MIN_SIGMA = 1e-5
"""Minimum step size."""

Genome = tuple[list[float], list[float], tuple[int, ...]]
"""Weights, step sizes, and the parents' numbers."""


class PlusStrategy(PopulationStrategy):
    """(mu + lambda) evolution strategy over weights in [0, 1] with self-adaptive step sizes.

    Generation 0 evaluates only the initial mu parents; later generations evaluate all parents again and their
    lambda children. Ties rank children before parents, and earlier individuals before later ones.

    A subclass registers `mate` and `mutate` in the toolbox, and defines the initial step sizes.
    """

    SURVIVE: ClassVar[bool] = True

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        self.tau = 1.0 / math.sqrt(2.0 * math.sqrt(self.n_weights))
        self.shared_tau = 1.0 / math.sqrt(2.0 * self.n_weights)
        self.toolbox = base.Toolbox()
        self.toolbox.register("select", tools.selBest, k=parameters.mu)
        self._register()
        self.parents = [self._first(number) for number in range(parameters.mu)]

    @classmethod
    def count_evaluated(cls, mu: int, lambda_: int, generation: int) -> int:
        """Parents, and after generation 0 their children; see `evo.strategies.base.Strategy`."""
        return mu + (lambda_ if generation else 0)

    def _propose(self) -> list[Individual]:
        """The individuals of this generation: parents, then children."""
        children = []
        if self.generation > 0:
            children = [self._child(place) for place in range(self.parameters.lambda_)]
        return [*self.parents, *children]

    def _select(self, asked: Sequence[Individual]) -> list[Individual]:
        """Select the best mu by DEAP's stable selBest; children come first, and so win ties with parents."""
        n_parents = len(self.parents)
        chosen: list[Individual] = self.toolbox.select([*asked[n_parents:], *asked[:n_parents]])
        return chosen

    def _first(self, number: int) -> Individual:
        """Create an individual of generation 0, with weights uniform on (0, 1)."""
        stream = first_stream(self.parameters.seed, number)
        weights = [stream.random() for _ in range(self.n_weights)]
        return Individual(weights, self._first_sigmas(stream), number, (), 0)

    def _child(self, place: int) -> Individual:
        """Create child number `place` of this generation."""
        parameters = self.parameters
        stream = child_stream(parameters.seed, self.generation, place)
        weights, sigmas, parents = self.toolbox.mate(self.parents, place, stream)
        weights, sigmas = self.toolbox.mutate(weights, sigmas, stream)
        number = parameters.mu + (self.generation - 1) * parameters.lambda_ + place
        return Individual(weights, sigmas, number, parents, self.generation)

    def _register(self) -> None:
        """Register the operators `mate` and `mutate` in the toolbox."""
        raise NotImplementedError

    def _first_sigmas(self, stream: np.random.Generator) -> list[float]:
        """Step sizes of an individual of generation 0."""
        raise NotImplementedError


def copy_parent(parents: Sequence[Individual], place: int, stream: np.random.Generator) -> Genome:  # noqa: ARG001
    """Copy weights and step sizes of one parent, in rotation (no recombination)."""
    parent = parents[place % len(parents)]
    return list(parent), list(parent.sigmas), (parent.number,)


def clamp(weight: float) -> float:
    """Clamp a weight to [0, 1]."""
    return min(max(weight, 0.0), 1.0)


class EsOptions(StrategyOptions):
    """Options of `strategy = "es"`: the differences between `es` and `eva`."""

    initial_sigma: Annotated[
        float,
        Field(gt=0, le=1, description="initial step size of every weight, relative to its range [0, 1]"),
    ] = 0.2
    shared_draw: Annotated[
        bool, Field(description="draw the shared term of tau' once per child instead of once per weight")
    ] = True
    recombination: Annotated[
        Literal["none", "intermediate", "global"],
        Field(
            description="a child starts from one parent, the mean of two parents, or the mean of all parents"
        ),
    ] = "intermediate"
    bounds: Annotated[
        Literal["clamp", "reflect"],
        Field(description="a weight outside of [0, 1] is set to the bound, or reflected at it"),
    ] = "clamp"


class Es(PlusStrategy):
    """(mu + lambda) evolution strategy with recombination and one initial step size."""

    NAME: ClassVar[str] = "es"
    SUMMARY: ClassVar[str] = "(mu + lambda) evolution strategy for noisy scores"
    OPTIONS: ClassVar[type[StrategyOptions] | None] = EsOptions

    def _register(self) -> None:
        options = self.parameters.options
        self.toolbox.register("mate", _MATES[options.recombination])
        self.toolbox.register("mutate", mutate_es, tau=self.tau, shared_tau=self.shared_tau, options=options)

    def _first_sigmas(self, stream: np.random.Generator) -> list[float]:  # noqa: ARG002 - the same for all
        return [self.parameters.options.initial_sigma] * self.n_weights


def mean_of_two(parents: Sequence[Individual], place: int, stream: np.random.Generator) -> Genome:
    """Intermediate recombination: mean of a parent, in rotation, and another parent drawn at random.

    Source: Beyer and Schwefel 2002.
    """
    first = parents[place % len(parents)]
    others = [parent for parent in parents if parent is not first]
    second = others[int(stream.integers(len(others)))]
    weights = [(a + b) / 2.0 for a, b in zip(first, second, strict=True)]
    sigmas = [(a + b) / 2.0 for a, b in zip(first.sigmas, second.sigmas, strict=True)]
    return weights, sigmas, (first.number, second.number)


def mean_of_all(parents: Sequence[Individual], place: int, stream: np.random.Generator) -> Genome:  # noqa: ARG001
    """Global intermediate recombination: mean of all parents, which averages out noise.

    Only the best two are recorded as parents. Source: Beyer and Schwefel 2002, section 4.2.
    """
    weights = [sum(values) / len(parents) for values in zip(*parents, strict=True)]
    all_sigmas = [parent.sigmas for parent in parents]
    sigmas = [sum(values) / len(parents) for values in zip(*all_sigmas, strict=True)]
    return weights, sigmas, tuple(parent.number for parent in parents[:2])


_MATES = {"none": copy_parent, "intermediate": mean_of_two, "global": mean_of_all}


def mutate_es(
    weights: list[float],
    sigmas: list[float],
    stream: np.random.Generator,
    tau: float,
    shared_tau: float,
    options: EsOptions,
) -> tuple[list[float], list[float]]:
    """Mutate as `mutate_eva`, with steps of at most 1, and draws of tau' and bounds by option."""
    moved, steps = [], []
    bound = reflect if options.bounds == "reflect" else clamp
    shared = stream.standard_normal()
    for weight, sigma in zip(weights, sigmas, strict=True):
        if not options.shared_draw:
            shared = stream.standard_normal()
        own, step = stream.standard_normal(), stream.standard_normal()
        steps.append(min(max(sigma * math.exp(tau * own + shared_tau * shared), MIN_SIGMA), 1.0))
        moved.append(bound(weight + steps[-1] * step))
    return moved, steps


def reflect(weight: float) -> float:
    """Reflect a weight at 0 and 1 into [0, 1]."""
    weight = math.fmod(abs(weight), 2.0)
    return 2.0 - weight if weight > 1.0 else weight


class Eva(PlusStrategy):
    """EVA's evolution strategy: one child per parent; initial weights and step sizes uniform on (0, 1)."""

    NAME: ClassVar[str] = "eva"
    SUMMARY: ClassVar[str] = "(mu + mu) evolution strategy of the EVA paper on Hearthstone"

    @classmethod
    def check(cls, mu: int, lambda_: int) -> None:
        """Refuse a lambda other than mu, since each parent has one child.

        Raises:
            ValueError: lambda is not mu.
        """
        if lambda_ != mu:
            raise ValueError(f'strategy "eva" requires lambda = mu, got mu = {mu} and lambda = {lambda_}')

    def _register(self) -> None:
        self.toolbox.register("mate", copy_parent)
        self.toolbox.register("mutate", mutate_eva, tau=self.tau, shared_tau=self.shared_tau)

    def _first_sigmas(self, stream: np.random.Generator) -> list[float]:
        return [max(stream.random(), MIN_SIGMA) for _ in range(self.n_weights)]


def mutate_eva(
    weights: list[float], sigmas: list[float], stream: np.random.Generator, tau: float, shared_tau: float
) -> tuple[list[float], list[float]]:
    """Mutate as EVA's code: log-normal step sizes with both draws per weight; weights clamped to [0, 1].

    sigma' = max(sigma exp(tau N_i + tau' N), 1e-5); w' = clamp(w + N(0, sigma')).
    """
    moved, steps = [], []
    for weight, sigma in zip(weights, sigmas, strict=True):
        own, shared, step = (stream.standard_normal() for _ in range(3))
        steps.append(max(sigma * math.exp(tau * own + shared_tau * shared), MIN_SIGMA))
        moved.append(clamp(weight + steps[-1] * step))
    return moved, steps
