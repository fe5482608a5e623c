"""How a value is learned from games: one class a method. Pure functions of arrays.

A value is linear in the features of `ilp_agent.features` and means log-odds: the player wins with
probability expit(x . weights + intercept).

Sources: Sutton and Barto, "Reinforcement Learning", 2nd edition, 12.1 (the lambda-return); Fürnkranz and
others, "Preference-based reinforcement learning: a formal framework and a policy iteration algorithm" (2012),
for choices compared by play-outs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, xlogy
from threadpoolctl import threadpool_info

from ilp_agent.features import N_FEATURES

MOST_SAMPLES = 1_000_000
"""Most samples of its own that a regression is given, unless the last round has more."""


@dataclass(frozen=True)
class Value:
    """A linear value.

    Attributes:
        weights: log-odds of a win for a unit of each feature, float64, shape (`N_FEATURES`,).
        intercept: log-odds where all features are 0.
        scale: what features are divided by while they are learned, shape (`N_FEATURES`,); 0 for those that
            never differed, which are not learned.
    """

    weights: np.ndarray
    intercept: float
    scale: np.ndarray

    def chance(self, features: np.ndarray) -> np.ndarray:
        """Probability of a win by features, shape (positions, `N_FEATURES`).

        Of the first of two ends by their difference, where the intercept is 0.
        """
        return np.asarray(expit(_weighted(features, self.weights) + self.intercept))


@dataclass(frozen=True)
class Samples:
    """What a round of games says.

    Attributes:
        features: float64, shape (samples, `N_FEATURES`): of positions, or differences of two ends of a turn.
        points: float64, shape (samples,), 0 to 1: of the player; of pairs 1 where the first end won and the
            other lost, 3/4 where one of them was a draw, 1/2 where both came to the same.
        sequence: int64, shape (samples,): samples of one game and player, in the order of play.
    """

    features: np.ndarray
    points: np.ndarray
    sequence: np.ndarray


class Method:
    """A way to learn. A new one is a class, and its line in `METHODS`.

    Attributes:
        SUMMARY: what it does, in a few words.
        PAIRED: whether it learns from two ends of a turn, else from positions.
        GAMES: games that are played to their end for one deal.
        ALL_ROUNDS: whether it is given the samples of the rounds so far (`newest`), else of the last.
        BY_BLAS: whether the last digits of its weights depend on the kernel of the BLAS (`blas_kernel`).
    """

    SUMMARY: ClassVar[str]
    PAIRED: ClassVar[bool]
    GAMES: ClassVar[int]
    ALL_ROUNDS: ClassVar[bool]
    BY_BLAS: ClassVar[bool]

    @staticmethod
    def learn(before: Value | None, rounds: Sequence[Samples], options: Mapping[str, Any]) -> Value:
        """The value after a round.

        Args:
            before: of the round before; None in the first, whose value was not learned.
            rounds: samples, the newest last.
            options: `ridge`, `lambda`, `rate` of the configuration, and `round`, from 1 on.
        """
        raise NotImplementedError


class Paired(Method):
    """Logistic regression on differences of two random ends of the same turn."""

    SUMMARY = "which of two random ends of a turn wins, both played on to the end of the game"
    PAIRED = True
    GAMES = 2
    ALL_ROUNDS = True
    BY_BLAS = True

    @staticmethod
    def learn(before: Value | None, rounds: Sequence[Samples], options: Mapping[str, Any]) -> Value:  # noqa: ARG004
        """See `Method`."""
        features, points = _joined(rounds)
        scale = _scale_of(features)
        told = points != 0.5
        return _regression(features[told], points[told], scale, options["ridge"], intercept=False)


class Logistic(Method):
    """Logistic regression of results on positions."""

    SUMMARY = "logistic regression of the result on the positions of every turn"
    PAIRED = False
    GAMES = 1
    ALL_ROUNDS = True
    BY_BLAS = True

    @staticmethod
    def learn(before: Value | None, rounds: Sequence[Samples], options: Mapping[str, Any]) -> Value:  # noqa: ARG004
        """See `Method`."""
        features, points = _joined(rounds)
        return _regression(features, points, _scale_of(features), options["ridge"], intercept=True)


class Differences(Method):
    """TD(lambda), forward view: each position moves towards the lambda-return of its game."""

    SUMMARY = "TD(lambda): each position towards those that followed it, and the result"
    PAIRED = False
    GAMES = 1
    ALL_ROUNDS = False
    BY_BLAS = False

    @staticmethod
    def learn(before: Value | None, rounds: Sequence[Samples], options: Mapping[str, Any]) -> Value:
        """See `Method`."""
        samples = rounds[-1]
        if before is None:
            before = Value(np.zeros(N_FEATURES), 0.0, _scale_of(samples.features))
        scaled = np.column_stack([_divided(samples.features, before.scale), np.ones(len(samples.points))])
        weights = np.append(before.weights * before.scale, before.intercept)
        size = float((scaled**2).sum(axis=1).mean())
        rate = options["rate"] / size / np.sqrt(options["round"])
        for one in _sequences(samples.sequence):
            weights = lambda_step(weights, scaled[one], samples.points[one][-1], options["lambda"], rate)
        return Value(_divided(weights[:-1], before.scale), float(weights[-1]), before.scale)


def lambda_step(
    weights: np.ndarray, features: np.ndarray, result: float, decay: float, rate: float
) -> np.ndarray:
    """Weights after one game of a player, by the off-line lambda-return algorithm.

    Args:
        weights: shape (features,).
        features: of the positions in the order of play, shape (positions, features).
        result: points of the game, 0 to 1.
        decay: lambda.
        rate: step size.
    """
    values = expit(_weighted(features, weights))
    returns = np.empty(len(values))
    goal = result
    for place in range(len(values) - 1, -1, -1):
        returns[place] = goal
        goal = (1 - decay) * values[place] + decay * goal
    moved: np.ndarray = weights + rate * ((returns - values)[:, None] * features).sum(axis=0)
    return moved


METHODS: Mapping[str, type[Method]] = {"paired": Paired, "logistic": Logistic, "td": Differences}
"""Every method by name."""


def blas_kernel() -> str:
    """What the linear algebra of this process is made of, such as "openblas Haswell"; "" where unknown.

    The kernel is chosen by the processor, or by OPENBLAS_CORETYPE, and adds in an order of its own.
    """
    from sklearn import linear_model  # noqa: F401, PLC0415 - which loads what a regression uses

    keys = ("internal_api", "architecture")
    found = [one for one in threadpool_info() if one.get("user_api") == "blas"]
    return ", ".join(sorted({" ".join(str(one.get(key) or "?") for key in keys) for one in found}))


def _weighted(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The sum of weighted features of each position, shape (positions,), in the same order everywhere."""
    return np.asarray((features * weights).sum(axis=1))


def telling(samples: Samples, paired: bool) -> np.ndarray:
    """Which samples tell something; bool, shape (samples,). Pairs that came to the same do not."""
    return samples.points != 0.5 if paired else np.ones(len(samples.points), bool)


def log_loss(value: Value, samples: Samples, paired: bool) -> float:
    """Mean negative log-likelihood of the results that tell, of which there must be one; draws half."""
    told = telling(samples, paired)
    chance = np.clip(value.chance(samples.features[told]), 1e-12, 1 - 1e-12)
    points = samples.points[told]
    return float(-(xlogy(points, chance) + xlogy(1 - points, 1 - chance)).mean())


def newest(sizes: Sequence[int]) -> int:
    """How many of the newest rounds a regression is given, by their numbers of samples; at least one."""
    total = np.cumsum(sizes[::-1])
    return max(1, int((total <= MOST_SAMPLES).sum()))


def _joined(rounds: Sequence[Samples]) -> tuple[np.ndarray, np.ndarray]:
    features = np.concatenate([samples.features for samples in rounds])
    return features, np.concatenate([samples.points for samples in rounds])


def _scale_of(features: np.ndarray) -> np.ndarray:
    """Standard deviations; exactly 0 for features that never differ."""
    return np.where(np.ptp(features, axis=0) > 0, features.std(axis=0), 0.0)


def _divided(numbers: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Numbers divided by the scale, shape (..., features); 0 where that is 0."""
    return np.asarray(np.divide(numbers, scale, out=np.zeros(numbers.shape), where=scale > 0))


def _regression(
    features: np.ndarray, points: np.ndarray, scale: np.ndarray, ridge: float, intercept: bool
) -> Value:
    """Logistic regression with a quadratic penalty; a draw is half a win and half a loss."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - a second to import

    won, lost = points > 0, points < 1
    rows = _divided(np.concatenate([features[won], features[lost]]), scale)
    wins = np.repeat([True, False], [won.sum(), lost.sum()])
    sizes = np.concatenate([points[won], 1 - points[lost]])
    if len(np.unique(wins)) < 2:
        return Value(np.zeros(features.shape[1]), 0.0, np.zeros_like(scale))  # they say nothing
    model = LogisticRegression(C=1 / ridge, fit_intercept=intercept, max_iter=1_000, tol=1e-6)
    model.fit(rows, wins, sample_weight=sizes)
    return Value(_divided(model.coef_[0], scale), float(model.intercept_[0]) if intercept else 0.0, scale)


def _sequences(sequence: np.ndarray) -> list[slice]:
    """Where each sequence of samples stands; they follow each other."""
    edges = np.flatnonzero(np.diff(sequence)) + 1
    return [slice(a, b) for a, b in zip([0, *edges], [*edges, len(sequence)], strict=True) if b > a]
