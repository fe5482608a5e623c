"""Learning methods for a linear value function: paired comparisons, logistic regression, TD(lambda).

Pure functions of arrays. A value is linear in the features of `ilp_agent.features`, in log-odds: the player
wins with probability expit(x . weights + intercept).

Sources: Sutton and Barto, "Reinforcement Learning", 2nd edition, 12.1 (the lambda-return); Fürnkranz and
others, "Preference-based reinforcement learning: a formal framework and a policy iteration algorithm" (2012),
for choices compared by rollouts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, xlogy
from threadpoolctl import threadpool_info

from ilp_agent.features import N_FEATURES

MAX_SAMPLES = 1_000_000
"""Most samples of own rounds in a regression, unless the last round alone has more."""


@dataclass(frozen=True)
class Value:
    """A linear value function.

    Attributes:
        weights: log-odds of a win per unit of each feature, float64, shape (`N_FEATURES`,).
        intercept: log-odds where all features are 0.
        scale: divisors of the features during learning (standard deviations), shape (`N_FEATURES`,); 0 for
            constant features, which are not learned.
    """

    weights: np.ndarray
    intercept: float
    scale: np.ndarray

    def chance(self, features: np.ndarray) -> np.ndarray:
        """Win probability from features, shape (positions, `N_FEATURES`).

        For differences of two ends of a turn (intercept 0): the probability that the first end is better.
        """
        return np.asarray(expit(_weighted(features, self.weights) + self.intercept))


@dataclass(frozen=True)
class Samples:
    """Training samples of a round of games.

    Attributes:
        features: float64, shape (samples, `N_FEATURES`): of positions, or differences of two ends of a turn.
        points: float64, shape (samples,), 0 to 1: result of the player; of a pair 1 if the first end won and
            the other lost, 3/4 if one of them was drawn, 1/2 for equal results.
        sequence: int64, shape (samples,): number of the game and player, ascending; samples in order of play.
    """

    features: np.ndarray
    points: np.ndarray
    sequence: np.ndarray


class Method:
    """Base class of learning methods. A new method is a subclass and an entry of `METHODS`.

    Attributes:
        SUMMARY: the method in a few words.
        PAIRED: whether it learns from pairs of ends of a turn, else from positions.
        GAMES: games played to the end per deal.
        ALL_ROUNDS: whether it fits the samples of several rounds (`count_newest_rounds`), else of the last.
        BY_BLAS: whether the last digits of its weights depend on the BLAS kernel (`blas_kernel`).
    """

    SUMMARY: ClassVar[str]
    PAIRED: ClassVar[bool]
    GAMES: ClassVar[int]
    ALL_ROUNDS: ClassVar[bool]
    BY_BLAS: ClassVar[bool]

    @staticmethod
    def learn(before: Value | None, rounds: Sequence[Samples], options: Mapping[str, Any]) -> Value:
        """Fit the value function of a round.

        Args:
            before: value of the round before; None in the first round.
            rounds: samples by round, the newest last.
            options: `ridge`, `lambda`, `rate` of the configuration, and `round`, from 1 on.
        """
        raise NotImplementedError


class Paired(Method):
    """Paired comparisons: logistic regression on differences of two random ends of the same turn."""

    SUMMARY = "paired comparisons of two random ends of a turn, both played to the end of the game"
    PAIRED = True
    GAMES = 2
    ALL_ROUNDS = True
    BY_BLAS = True

    @staticmethod
    def learn(before: Value | None, rounds: Sequence[Samples], options: Mapping[str, Any]) -> Value:  # noqa: ARG004
        """Fit the value function of a round; see `Method`."""
        features, points = _joined(rounds)
        scale = _scale_of(features)
        decided = points != 0.5
        return _regression(features[decided], points[decided], scale, options["ridge"], intercept=False)


class Logistic(Method):
    """Logistic regression of results on positions."""

    SUMMARY = "logistic regression of the result on the positions of every turn"
    PAIRED = False
    GAMES = 1
    ALL_ROUNDS = True
    BY_BLAS = True

    @staticmethod
    def learn(before: Value | None, rounds: Sequence[Samples], options: Mapping[str, Any]) -> Value:  # noqa: ARG004
        """Fit the value function of a round; see `Method`."""
        features, points = _joined(rounds)
        return _regression(features, points, _scale_of(features), options["ridge"], intercept=True)


class TemporalDifference(Method):
    """TD(lambda), forward view: each position moves towards the lambda-return of its game."""

    SUMMARY = "TD(lambda): each position moves towards later positions and the result"
    PAIRED = False
    GAMES = 1
    ALL_ROUNDS = False
    BY_BLAS = False

    @staticmethod
    def learn(before: Value | None, rounds: Sequence[Samples], options: Mapping[str, Any]) -> Value:
        """Fit the value function of a round; see `Method`."""
        samples = rounds[-1]
        if before is None:
            before = Value(np.zeros(N_FEATURES), 0.0, _scale_of(samples.features))
        scaled = np.column_stack([_divided(samples.features, before.scale), np.ones(len(samples.points))])
        weights = np.append(before.weights * before.scale, before.intercept)
        size = float((scaled**2).sum(axis=1).mean())
        rate = options["rate"] / size / np.sqrt(options["round"])
        for part in _sequences(samples.sequence):
            weights = lambda_step(weights, scaled[part], samples.points[part][-1], options["lambda"], rate)
        return Value(_divided(weights[:-1], before.scale), float(weights[-1]), before.scale)


def lambda_step(
    weights: np.ndarray, features: np.ndarray, result: float, decay: float, rate: float
) -> np.ndarray:
    """Weights after one game of a player, by the off-line lambda-return algorithm.

    Args:
        weights: shape (features,).
        features: positions in order of play, shape (positions, features).
        result: points of the game, 0 to 1.
        decay: lambda.
        rate: step size.
    """
    values = expit(_weighted(features, weights))
    returns = np.empty(len(values))
    target = result
    for i in range(len(values) - 1, -1, -1):
        returns[i] = target
        target = (1 - decay) * values[i] + decay * target
    moved: np.ndarray = weights + rate * ((returns - values)[:, None] * features).sum(axis=0)
    return moved


METHODS: Mapping[str, type[Method]] = {"paired": Paired, "logistic": Logistic, "td": TemporalDifference}
"""Learning methods by name."""


def blas_kernel() -> str:
    """BLAS library and kernel of this process, such as "openblas Haswell"; "" if unknown.

    The processor or OPENBLAS_CORETYPE chooses the kernel; kernels differ in their order of summation.
    """
    from sklearn import linear_model  # noqa: F401, PLC0415 - loads the BLAS of a regression

    keys = ("internal_api", "architecture")
    libs = [lib for lib in threadpool_info() if lib.get("user_api") == "blas"]
    return ", ".join(sorted({" ".join(str(lib.get(key) or "?") for key in keys) for lib in libs}))


def _weighted(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted sum of each position's features, shape (positions,), in the same order on any machine."""
    return np.asarray((features * weights).sum(axis=1))


def informative_mask(samples: Samples, paired: bool) -> np.ndarray:
    """Mask of informative samples; bool, shape (samples,). Pairs with equal results are not informative."""
    return samples.points != 0.5 if paired else np.ones(len(samples.points), bool)


def log_loss(value: Value, samples: Samples, paired: bool) -> float:
    """Log loss: mean negative log-likelihood of informative samples (at least one); a draw counts half."""
    informative = informative_mask(samples, paired)
    chance = np.clip(value.chance(samples.features[informative]), 1e-12, 1 - 1e-12)
    points = samples.points[informative]
    return float(-(xlogy(points, chance) + xlogy(1 - points, 1 - chance)).mean())


def count_newest_rounds(sizes: Sequence[int]) -> int:
    """Number of newest rounds that a regression uses (at least 1); `sizes`: number of samples by round."""
    total = np.cumsum(sizes[::-1])
    return max(1, int((total <= MAX_SAMPLES).sum()))


def _joined(rounds: Sequence[Samples]) -> tuple[np.ndarray, np.ndarray]:
    """Join the samples of rounds; returns all features and all points."""
    features = np.concatenate([samples.features for samples in rounds])
    return features, np.concatenate([samples.points for samples in rounds])


def _scale_of(features: np.ndarray) -> np.ndarray:
    """Standard deviations of features; exactly 0 for constant features."""
    return np.where(np.ptp(features, axis=0) > 0, features.std(axis=0), 0.0)


def _divided(numbers: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Divide numbers, shape (..., features), by each feature's scale; 0 where the scale is 0."""
    return np.asarray(np.divide(numbers, scale, out=np.zeros(numbers.shape), where=scale > 0))


def _regression(
    features: np.ndarray, points: np.ndarray, scale: np.ndarray, ridge: float, intercept: bool
) -> Value:
    """Value function by logistic regression with an L2 penalty; a draw is half a win and half a loss."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - a second to import

    won, lost = points > 0, points < 1
    rows = _divided(np.concatenate([features[won], features[lost]]), scale)
    wins = np.repeat([True, False], [won.sum(), lost.sum()])
    sample_weights = np.concatenate([points[won], 1 - points[lost]])
    if len(np.unique(wins)) < 2:
        return Value(np.zeros(features.shape[1]), 0.0, np.zeros_like(scale))  # one class only: nothing to fit
    model = LogisticRegression(C=1 / ridge, fit_intercept=intercept, max_iter=1_000, tol=1e-6)
    model.fit(rows, wins, sample_weight=sample_weights)
    return Value(_divided(model.coef_[0], scale), float(model.intercept_[0]) if intercept else 0.0, scale)


def _sequences(sequence: np.ndarray) -> list[slice]:
    """Slices of consecutive samples with the same sequence number."""
    edges = np.flatnonzero(np.diff(sequence)) + 1
    return [slice(a, b) for a, b in zip([0, *edges], [*edges, len(sequence)], strict=True) if b > a]
