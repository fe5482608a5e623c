"""`es`: like `eva`, adapted to noisy scores; the default.

One draw per individual for tau', smaller first steps, recombination, and optional reflection at the bounds.
Source: Beyer and Schwefel, "Evolution strategies: a comprehensive introduction", 2002.
"""

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from evo.strategies.base import Individual, StrategyOptions
from evo.strategies.plus import MIN_SIGMA, Genome, PlusStrategy, clamp, copy_parent


class EsOptions(StrategyOptions):
    """Where `strategy = "es"` differs from `eva`."""

    initial_sigma: Annotated[
        float,
        Field(gt=0, le=1, description="step size every weight starts with, as a part of its range [0, 1]"),
    ] = 0.2
    shared_draw: Annotated[
        bool, Field(description="one draw of the overall learning rate tau' for each child, not each weight")
    ] = True
    recombination: Annotated[
        Literal["none", "intermediate", "global"],
        Field(description="a child starts from one parent, the mean of two, or the mean of all"),
    ] = "intermediate"
    bounds: Annotated[
        Literal["clamp", "reflect"],
        Field(description="a weight that leaves [0, 1] is set to the bound, or reflected at it"),
    ] = "clamp"


class Es(PlusStrategy):
    """(mu + lambda) with recombination and one initial step size."""

    NAME: ClassVar[str] = "es"
    SUMMARY: ClassVar[str] = "made for noisy scores"
    OPTIONS: ClassVar[type[StrategyOptions] | None] = EsOptions

    def _register(self) -> None:
        options = self.parameters.options
        self.toolbox.register("mate", _MATES[options.recombination])
        self.toolbox.register("mutate", mutate_es, tau=self.tau, shared_tau=self.shared_tau, options=options)

    def _first_sigmas(self, stream: np.random.Generator) -> list[float]:  # noqa: ARG002 - the same for all
        return [self.parameters.options.initial_sigma] * self.n_weights


def mean_of_two(parents: Sequence[Individual], place: int, stream: np.random.Generator) -> Genome:
    """Intermediate recombination: each parent in turn, and the mean with another one drawn at random.

    Source: Beyer and Schwefel 2002.
    """
    first = parents[place % len(parents)]
    others = [parent for parent in parents if parent is not first]
    second = others[int(stream.integers(len(others)))]
    weights = [(a + b) / 2.0 for a, b in zip(first, second, strict=True)]
    sigmas = [(a + b) / 2.0 for a, b in zip(first.sigmas, second.sigmas, strict=True)]
    return weights, sigmas, (first.number, second.number)


def mean_of_all(parents: Sequence[Individual], place: int, stream: np.random.Generator) -> Genome:  # noqa: ARG001
    """Global intermediate recombination: the mean of all parents, which cancels much of the noise in each.

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
    """As `mutate_eva`, with one draw for tau' (by option one a weight), steps at most 1, bounds by option."""
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
    """A number reflected at 0 and 1 until it lies between them."""
    weight = math.fmod(abs(weight), 2.0)
    return 2.0 - weight if weight > 1.0 else weight
