"""Optimisers on a noisy quadratic whose optimum is known: what they do where nothing else matters.

The loss of weights is a quadratic of their shares, in Elo below the optimum; steep in some directions and
flat in others, as the weights of the game are. Games between individuals are drawn, not played: a difference
of their losses is one in Elo.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from engine.streams import generator
from evo.evolution.records import new_strategy
from evo.evolution.run import games_of_generation
from evo.experiments.optimisers import Bench, Run, centre_of, runs_of, table_of, walk
from evo.seeds import Stream
from evo.stats.ratings import ELO
from evo.strategies import Individual
from ilp_agent import WeightVector

START = 200.0
"""Elo that equal weights lose against the optimum."""

STEEPNESS = 100.0
"""How much steeper the steepest direction is than the flattest."""

OPPONENT = 20.0
"""Elo that a fixed opponent loses against the optimum."""

ON_BOUND = 0.25
"""Part of the weights that are 0 in the optimum."""


@dataclass(frozen=True)
class Quadratic:
    """The loss of a run.

    Attributes:
        vector: the kind of weights.
        optimum: scale-free weights, shape (weights,).
        steepness: Elo for a squared share, shape (weights,).
    """

    vector: type[WeightVector]
    optimum: np.ndarray
    steepness: np.ndarray

    def loss(self, weights: np.ndarray) -> np.ndarray:
        """Elo below the optimum; shape (...), of weights of shape (..., weights)."""
        shares = np.nan_to_num(self.vector.scale_free(np.asarray(weights, np.float64)))
        lost: np.ndarray = ((shares - self.optimum) ** 2 * self.steepness).sum(axis=-1)
        return lost


def quadratic_of(vector: type[WeightVector], seed: int, run: int) -> Quadratic:
    """The quadratic of a run's number: the same for all contenders."""
    stream = generator(seed, Stream.EXPERIMENT, 1, run)
    n = len(vector.names())
    optimum = stream.random(n)
    optimum[: int(ON_BOUND * n)] = 0.0
    steepness = stream.permutation(np.geomspace(1.0, STEEPNESS, n))
    flat = Quadratic(vector, vector.scale_free(stream.permutation(optimum)), steepness)
    return Quadratic(vector, flat.optimum, steepness * START / float(flat.loss(np.full(n, 0.5))))


def simulate(run: Run, seed: int) -> list[dict[str, float]]:
    """Mark, games, generation and loss of the centre at every mark of a run.

    Args:
        run: of the comparison.
        seed: of the quadratics.
    """
    config = run.config
    strategy, hill = new_strategy(config), quadratic_of(config.vector, seed, run.number)

    def evaluate(asked: Sequence[Individual]) -> tuple[np.ndarray, int]:
        stream = generator(config.seed, Stream.EXPERIMENT, 2, strategy.generation)
        whole = games_of_generation(config, strategy.generation)
        return won(hill.loss(np.array(asked)), whole, config.opponents.beside, stream), whole

    return [
        {
            "mark": mark,
            "games": games,
            "generation": strategy.generation - 1,
            "loss": float(hill.loss(np.array(centre_of(strategy)))),
        }
        for mark, games in walk(run, strategy, evaluate)
    ]


def won(loss: np.ndarray, games: int, beside: bool, stream: np.random.Generator) -> np.ndarray:
    """Games won by individuals, drawn pairing by pairing.

    Args:
        loss: Elo below the optimum, shape (individuals,).
        games: of the generation.
        beside: whether they play an opponent that loses `OPPONENT` Elo, and not each other.
        stream: for the draws.
    """
    n = len(loss)
    if beside:
        return np.asarray(stream.binomial(games // n, expit((OPPONENT - loss) / ELO)), np.float64)
    one, other = np.triu_indices(n, 1)
    each = games // len(one)
    first = stream.binomial(each, expit((loss[other] - loss[one]) / ELO))
    total = np.bincount(one, first, n) + np.bincount(other, each - first, n)
    return np.asarray(total)


def simulated(bench: Bench) -> pd.DataFrame:
    """All runs on quadratics: columns contender, run, budget, mark, games, generation, loss (Elo).

    The budget is 0 between budgets.
    """
    seed = bench.contenders[0].config.seed
    return table_of(bench, ((run, simulate(run, seed)) for run in runs_of(bench)))
