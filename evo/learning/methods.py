"""Learning methods for a linear value function: paired comparisons, logistic regression, TD(lambda).

Pure functions of arrays. A value is linear in the features of `ilp_agent.features` and in counts of cards, if
samples have them, in log-odds: the player wins with probability expit(x . weights + intercept).

Sources: Sutton and Barto, "Reinforcement Learning", 2nd edition, 12.1 (the lambda-return); Fürnkranz and
others, "Preference-based reinforcement learning: a formal framework and a policy iteration algorithm" (2012),
for choices compared by rollouts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, hstack, vstack
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
        cards: log-odds of a copy of each card, by column of `Samples.cards`; shape (0,) without card values.
        card_samples: number of fitted samples with each card, by column; 0 for cards that are not learned.
    """

    weights: np.ndarray
    intercept: float
    scale: np.ndarray
    cards: np.ndarray = field(default_factory=lambda: np.zeros(0))
    card_samples: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    def chance(self, features: np.ndarray, cards: csr_matrix | None = None) -> np.ndarray:
        """Win probability from features, shape (positions, `N_FEATURES`), and counts of cards.

        For differences of two ends of a turn (intercept 0): the probability that the first end is better.
        """
        total = _weighted(features, self.weights) + self.intercept
        if cards is not None and len(self.cards):
            total = total + cards @ self.cards
        return np.asarray(expit(total))


@dataclass(frozen=True)
class Samples:
    """Training samples of a round of games.

    Attributes:
        features: float64, shape (samples, `N_FEATURES`): of positions, or differences of two ends of a turn.
        points: float64, shape (samples,), 0 to 1: result of the player; of a pair 1 if the first end won and
            the other lost, 3/4 if one of them was drawn, 1/2 for equal results.
        sequence: int64, shape (samples,): number of the game and player, ascending; samples in order of play.
        cards: counts of cards, or their differences, in hand and then on board, shape (samples, columns);
            None if they are not counted.
    """

    features: np.ndarray
    points: np.ndarray
    sequence: np.ndarray
    cards: csr_matrix | None = None

    @staticmethod
    def join(parts: "Sequence[Samples]") -> "Samples":
        """Join samples; those without counts of cards have none of any card, if others have counts."""
        widths = [part.cards.shape[1] for part in parts if part.cards is not None]
        counts = [
            csr_matrix((len(part.points), widths[0])) if part.cards is None else part.cards
            for part in parts
            if widths
        ]
        return Samples(
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.points for part in parts]),
            np.concatenate([part.sequence for part in parts]),
            vstack(counts, "csr") if widths else None,
        )

    def select(self, which: np.ndarray) -> "Samples":
        """Some of the samples, by mask."""
        cards = None if self.cards is None else self.cards[which]
        return Samples(self.features[which], self.points[which], self.sequence[which], cards)


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
            options: `ridge`, `card_ridge`, `lambda`, `rate` of the configuration, and `round`, from 1 on.
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
        samples = Samples.join(rounds)
        scale = _scale_of(samples.features)
        decided = samples.select(informative_mask(samples, paired=True))
        return _regression(decided, scale, options, intercept=False)


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
        samples = Samples.join(rounds)
        return _regression(samples, _scale_of(samples.features), options, intercept=True)


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
    told = samples.select(informative_mask(samples, paired))
    chance, points = np.clip(value.chance(told.features, told.cards), 1e-12, 1 - 1e-12), told.points
    return float(-(xlogy(points, chance) + xlogy(1 - points, 1 - chance)).mean())


def count_newest_rounds(sizes: Sequence[int]) -> int:
    """Number of newest rounds that a regression uses (at least 1); `sizes`: number of samples by round."""
    total = np.cumsum(sizes[::-1])
    return max(1, int((total <= MAX_SAMPLES).sum()))


def _scale_of(features: np.ndarray) -> np.ndarray:
    """Standard deviations of features; exactly 0 for constant features."""
    return np.where(np.ptp(features, axis=0) > 0, features.std(axis=0), 0.0)


def _divided(numbers: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Divide numbers, shape (..., features), by each feature's scale; 0 where the scale is 0."""
    return np.asarray(np.divide(numbers, scale, out=np.zeros(numbers.shape), where=scale > 0))


def _regression(samples: Samples, scale: np.ndarray, options: Mapping[str, Any], intercept: bool) -> Value:
    """Value function by logistic regression with an L2 penalty; a draw is half a win and half a loss.

    `ridge` penalises the log-odds of a standard deviation of a feature, `card_ridge` those of a copy of a
    card: so cards that few samples have stay near 0.
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - a second to import

    features, points, ridge = samples.features, samples.points, options["ridge"]
    won, lost = points > 0, points < 1
    rows: Any = _divided(np.concatenate([features[won], features[lost]]), scale)
    n_columns, counts, present, card_scale = 0, np.zeros(0, np.int64), np.zeros(0, bool), 1.0
    if samples.cards is not None:
        n_columns, card_scale = samples.cards.shape[1], np.sqrt(ridge / options["card_ridge"])
        counts = np.asarray(samples.cards.getnnz(axis=0), np.int64)
        present = counts > 0
        columns = vstack([samples.cards[won], samples.cards[lost]], "csr")[:, present] * card_scale
        rows = hstack([csr_matrix(rows), columns], "csr")
    wins = np.repeat([True, False], [won.sum(), lost.sum()])
    sample_weights = np.concatenate([points[won], 1 - points[lost]])
    if len(np.unique(wins)) < 2:
        # One class only: nothing to fit.
        return Value(np.zeros(features.shape[1]), 0.0, np.zeros_like(scale), np.zeros(n_columns), 0 * counts)
    model = LogisticRegression(C=1 / ridge, fit_intercept=intercept, max_iter=1_000, tol=1e-6)
    model.fit(rows, wins, sample_weight=sample_weights)
    found, cards = model.coef_[0], np.zeros(n_columns)
    cards[present] = found[len(scale) :] * card_scale
    return Value(
        _divided(found[: len(scale)], scale),
        float(model.intercept_[0]) if intercept else 0.0,
        scale,
        cards,
        counts,
    )


def _sequences(sequence: np.ndarray) -> list[slice]:
    """Slices of consecutive samples with the same sequence number."""
    edges = np.flatnonzero(np.diff(sequence)) + 1
    return [slice(a, b) for a, b in zip([0, *edges], [*edges, len(sequence)], strict=True) if b > a]
