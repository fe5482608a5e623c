"""The evolution strategy: (mu + lambda) with self-adaptive step sizes, as ask() and tell().

`ask()` gives the individuals to evaluate, `tell(fitness)` selects the parents of the next generation; nothing
here plays a game or touches a file. DEAP carries it: individuals with a DEAP fitness, a toolbox in which
`mutate`, `mate` and `select` are registered, its hall of fame and logbook. Its own operators that differ from
the formulas are not used (`mutESLogNormal` shares one draw, has no floor and no bounds), and neither is its
global random state: every draw comes from a stream found by its address (`evo.seeds`).

Source: "Optimizing Hearthstone agents using an evolutionary algorithm" (EVA), Algorithm 2, Eqs. 9 to 12. The
printed Eq. 9 adds where the authors' code multiplies; `eva` does as the code does.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from deap import base, tools

from engine import ManaforgeError
from evo.config import EsOptions, RunConfig
from evo.seeds import child_stream, first_stream

MIN_SIGMA = 1e-5
HALL_SIZE = 20


class StrategyError(ManaforgeError, RuntimeError):
    """ask() and tell() out of order, or a fitness that cannot be used."""


class Fitness(base.Fitness):  # type: ignore[misc]
    """Games won, draws half; more is better."""

    weights = (1.0,)


class Individual(list[float]):
    """The weights of an individual in [0, 1], and what it carries beside them.

    Attributes:
        sigmas: step sizes, one for each weight.
        number: unique in a run, counted from 0 in the order of birth.
        parents: numbers of its parents; () in the first generation.
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
    """The best individual of each generation, distinct, the latest first; at most `HALL_SIZE`.

    DEAP's compares fitness across generations, which means nothing when it is relative to the opponents met.
    """

    def update(self, population: Sequence[Individual]) -> None:
        """Add the best of a generation's survivors, which come best first."""
        best = population[0]
        known = [item for item in self if item.number != best.number]
        self.items: list[Individual] = [best, *known][: self.maxsize]
        self.keys = [item.fitness for item in reversed(self.items)]


@dataclass(frozen=True)
class Told:
    """What a generation came to.

    Attributes:
        generation: its number.
        individuals: all that were evaluated: parents first, then children.
        fitness: shape (individuals,).
        survived: shape (individuals,), whether each is a parent of the next generation.
    """

    generation: int
    individuals: list[Individual]
    fitness: np.ndarray
    survived: np.ndarray


class EvolutionStrategy:
    """(mu + lambda) evolution strategy over weights in [0, 1].

    Generation 0 evaluates the first mu parents alone; every later one evaluates all parents again beside
    their lambda children. Among equals children come before parents, and earlier ones before later ones.

    Args:
        config: strategy, mu, lambda, seed and options.
        n_weights: weights of an individual.

    Attributes:
        generation: the one that `ask` gives next, or has given.
        parents: mu individuals, the best first once a generation was told.
        hall: `HallOfFame`.
        logbook: DEAP's, one record for each generation told.
    """

    def __init__(self, config: RunConfig, n_weights: int) -> None:
        self.config = config
        self.n_weights = n_weights
        self.generation = 0
        self.tau = 1.0 / math.sqrt(2.0 * math.sqrt(n_weights))
        self.shared_tau = 1.0 / math.sqrt(2.0 * n_weights)
        self.toolbox = base.Toolbox()
        self.toolbox.register("select", tools.selBest, k=config.mu)
        if config.strategy == "eva":
            self.toolbox.register("mate", copy_parent)
            self.toolbox.register("mutate", mutate_eva, tau=self.tau, shared_tau=self.shared_tau)
        else:
            mate = {"none": copy_parent, "intermediate": mean_of_two, "global": mean_of_all}[
                config.es.recombination
            ]
            self.toolbox.register("mate", mate)
            self.toolbox.register(
                "mutate", mutate_es, tau=self.tau, shared_tau=self.shared_tau, options=config.es
            )
        self.hall = HallOfFame(HALL_SIZE)
        self.logbook = tools.Logbook()
        self.parents = [self._first(number) for number in range(config.mu)]
        self._asked: list[Individual] | None = None

    def ask(self) -> list[Individual]:
        """The individuals to evaluate: parents first, then children.

        Raises:
            StrategyError: the last ones asked for were not told.
        """
        if self._asked is not None:
            raise StrategyError(f"ask() again before tell() of generation {self.generation}")
        children = []
        if self.generation > 0:
            children = [self._child(place) for place in range(self.config.lambda_)]
        self._asked = [*self.parents, *children]
        return list(self._asked)

    def tell(self, fitness: np.ndarray) -> Told:
        """Take the fitness of the individuals asked for and select the next parents.

        Args:
            fitness: finite, shape (individuals,), in the order of `ask`; more is better.

        Raises:
            StrategyError: nothing was asked for, or `fitness` has another shape or is not finite.
        """
        if self._asked is None:
            raise StrategyError(f"tell() before ask() of generation {self.generation}")
        values = np.asarray(fitness, np.float64)
        if values.shape != (len(self._asked),) or not np.isfinite(values).all():
            raise StrategyError(f"fitness must be {len(self._asked)} finite numbers, got {fitness!r}")
        for individual, value in zip(self._asked, values, strict=True):
            individual.fitness.values = (float(value),)
        n_parents = len(self.parents)
        children, parents = self._asked[n_parents:], self._asked[:n_parents]
        # DEAP's selBest sorts stably: among equals children, which come first here, stay first.
        chosen = self.toolbox.select([*children, *parents])
        survivors = {individual.number for individual in chosen}
        told = Told(
            self.generation,
            self._asked,
            values,
            np.array([individual.number in survivors for individual in self._asked]),
        )
        self.move_on(chosen)
        return told

    def move_on(self, parents: Sequence[Individual]) -> None:
        """Make these the next parents, best first: the end of `tell`, and the way of a resumed run."""
        self.parents = list(parents)
        self.hall.update(self.parents)
        self.logbook.record(
            generation=self.generation,
            best=self.parents[0].fitness.values[0],
            new=sum(individual.birth == self.generation for individual in self.parents),
        )
        self.generation += 1
        self._asked = None

    def _first(self, number: int) -> Individual:
        """An individual of the first generation: weights uniform on (0, 1), and for `eva` step sizes too."""
        stream = first_stream(self.config.seed, number)
        weights = [stream.random() for _ in range(self.n_weights)]
        if self.config.strategy == "eva":
            sigmas = [max(stream.random(), MIN_SIGMA) for _ in range(self.n_weights)]
        else:
            sigmas = [self.config.es.initial_sigma] * self.n_weights
        return Individual(weights, sigmas, number, (), 0)

    def _child(self, place: int) -> Individual:
        """The child of this generation with this place."""
        stream = child_stream(self.config.seed, self.generation, place)
        weights, sigmas, parents = self.toolbox.mate(self.parents, place, stream)
        weights, sigmas = self.toolbox.mutate(weights, sigmas, stream)
        number = self.config.mu + (self.generation - 1) * self.config.lambda_ + place
        return Individual(weights, sigmas, number, parents, self.generation)


Genome = tuple[list[float], list[float], tuple[int, ...]]


def copy_parent(parents: Sequence[Individual], place: int, stream: np.random.Generator) -> Genome:  # noqa: ARG001
    """Weights and step sizes of one parent: each in turn."""
    parent = parents[place % len(parents)]
    return list(parent), list(parent.sigmas), (parent.number,)


def mean_of_two(parents: Sequence[Individual], place: int, stream: np.random.Generator) -> Genome:
    """Intermediate recombination: each parent in turn, and the mean with another one drawn at random.

    Source: Beyer and Schwefel, "Evolution strategies: a comprehensive introduction", 2002.
    """
    first = parents[place % len(parents)]
    others = [parent for parent in parents if parent is not first]
    second = others[int(stream.integers(len(others)))]
    weights = [(a + b) / 2.0 for a, b in zip(first, second, strict=True)]
    sigmas = [(a + b) / 2.0 for a, b in zip(first.sigmas, second.sigmas, strict=True)]
    return weights, sigmas, (first.number, second.number)


def mean_of_all(parents: Sequence[Individual], place: int, stream: np.random.Generator) -> Genome:  # noqa: ARG001
    """Global intermediate recombination: the mean of all parents, which cancels much of the noise in each.

    The numbers kept are those of the best two. Source: Beyer and Schwefel 2002, section 4.2.
    """
    weights = [sum(values) / len(parents) for values in zip(*parents, strict=True)]
    sigmas = [sum(values) / len(parents) for values in zip(*(one.sigmas for one in parents), strict=True)]
    return weights, sigmas, tuple(parent.number for parent in parents[:2])


def mutate_eva(
    weights: list[float], sigmas: list[float], stream: np.random.Generator, tau: float, shared_tau: float
) -> tuple[list[float], list[float]]:
    """Mutation of EVA's code: both draws of a step size afresh for every weight; weights clamped to [0, 1].

    sigma' = max(sigma exp(tau N_i + tau' N), 1e-5); w' = clamp(w + N(0, sigma')).
    """
    moved, steps = [], []
    for weight, sigma in zip(weights, sigmas, strict=True):
        own, shared, step = (stream.standard_normal() for _ in range(3))
        steps.append(max(sigma * math.exp(tau * own + shared_tau * shared), MIN_SIGMA))
        moved.append(clamp(weight + steps[-1] * step))
    return moved, steps


def mutate_es(
    weights: list[float],
    sigmas: list[float],
    stream: np.random.Generator,
    tau: float,
    shared_tau: float,
    options: EsOptions,
) -> tuple[list[float], list[float]]:
    """The same with one draw for tau' (or one each, by option), steps at most 1, and bounds by option."""
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


def clamp(weight: float) -> float:
    """The nearest number in [0, 1]."""
    return min(max(weight, 0.0), 1.0)


def reflect(weight: float) -> float:
    """A number thrown back at 0 and 1 until it is between them."""
    weight = math.fmod(abs(weight), 2.0)
    return 2.0 - weight if weight > 1.0 else weight
