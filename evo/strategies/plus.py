"""(mu + lambda): what `es` and `eva` share. Parents are evaluated again together with their children.

Built on DEAP: individuals with a DEAP fitness, a toolbox in which `mate`, `mutate` and `select` are
registered, its hall of fame and logbook. DEAP's operators that differ from the formulas are not used
(`mutESLogNormal` shares one draw, has no floor and no bounds), nor is its global random state: every draw
comes from an addressed stream (`evo.seeds`).

Source: "Optimizing Hearthstone agents using an evolutionary algorithm" (EVA), Algorithm 2.
"""

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from deap import base, tools

from evo.seeds import child_stream, first_stream
from evo.strategies.base import Individual, Parameters
from evo.strategies.population import PopulationStrategy

MIN_SIGMA = 1e-5

Genome = tuple[list[float], list[float], tuple[int, ...]]
"""Weights, step sizes, and the numbers of the parents they come from."""


class PlusStrategy(PopulationStrategy):
    """(mu + lambda) evolution strategy over weights in [0, 1] with self-adaptive step sizes.

    Generation 0 evaluates only the first mu parents; every later one evaluates all parents again with
    their lambda children. Of equal fitness, children rank before parents, and earlier ones before later.

    A subclass registers `mate` and `mutate` in the toolbox, and defines the first step sizes.
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
    def evaluated(cls, mu: int, lambda_: int, generation: int) -> int:
        """The parents, and after generation 0 their children; see `evo.strategies.base.Strategy`."""
        return mu + (lambda_ if generation else 0)

    def _propose(self) -> list[Individual]:
        """Parents first, then children."""
        children = []
        if self.generation > 0:
            children = [self._child(place) for place in range(self.parameters.lambda_)]
        return [*self.parents, *children]

    def _select(self, asked: Sequence[Individual]) -> list[Individual]:
        """DEAP's selBest sorts stably: of equal fitness, children, which come first here, stay first."""
        n_parents = len(self.parents)
        chosen: list[Individual] = self.toolbox.select([*asked[n_parents:], *asked[:n_parents]])
        return chosen

    def _first(self, number: int) -> Individual:
        """An individual of the first generation: weights uniform on (0, 1)."""
        stream = first_stream(self.parameters.seed, number)
        weights = [stream.random() for _ in range(self.n_weights)]
        return Individual(weights, self._first_sigmas(stream), number, (), 0)

    def _child(self, place: int) -> Individual:
        """Child number `place` of this generation."""
        parameters = self.parameters
        stream = child_stream(parameters.seed, self.generation, place)
        weights, sigmas, parents = self.toolbox.mate(self.parents, place, stream)
        weights, sigmas = self.toolbox.mutate(weights, sigmas, stream)
        number = parameters.mu + (self.generation - 1) * parameters.lambda_ + place
        return Individual(weights, sigmas, number, parents, self.generation)

    def _register(self) -> None:
        """Register `mate` and `mutate`."""
        raise NotImplementedError

    def _first_sigmas(self, stream: np.random.Generator) -> list[float]:
        """Step sizes of an individual of the first generation."""
        raise NotImplementedError


def copy_parent(parents: Sequence[Individual], place: int, stream: np.random.Generator) -> Genome:  # noqa: ARG001
    """Weights and step sizes of one parent; parents take turns."""
    parent = parents[place % len(parents)]
    return list(parent), list(parent.sigmas), (parent.number,)


def clamp(weight: float) -> float:
    """The nearest number in [0, 1]."""
    return min(max(weight, 0.0), 1.0)
