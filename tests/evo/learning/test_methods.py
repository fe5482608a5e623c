"""Methods of learning find what was put into their samples."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import expit

from evo.learning.methods import METHODS, Samples, Value, lambda_step, log_loss
from evo.learning.run import agent_weights, calibration
from ilp_agent.features import FEATURES, N_FEATURES
from rivals import find_agent_profile

OPTIONS = {"ridge": 1.0, "card_ridge": 1.0, "lambda": 0.8, "rate": 0.5, "round": 1}
TRUTH = np.array([0.8, -0.5, 0.3, *np.zeros(N_FEATURES - 3)])


def samples_of(pick: np.random.Generator, n: int, paired: bool) -> Samples:
    """Samples whose results follow `TRUTH`, and an intercept of 0.4 where they are no pairs."""
    features = np.zeros((n, N_FEATURES))
    features[:, :6] = pick.integers(-3, 4, size=(n, 6))
    features[:, 6] = 0 if paired else 2  # which never differs
    chance = expit(features @ TRUTH + (0 if paired else 0.4))
    points = (pick.random(n) < chance).astype(float)
    if paired:  # as many that came to the same, which say nothing
        features, points = np.repeat(features, 2, axis=0), np.repeat(points, 2)
        points[::2] = 0.5
    return Samples(features, points, np.arange(len(points)))


@pytest.mark.parametrize("name", ["paired", "logistic"])
def test_a_regression_finds_the_truth(name: str) -> None:
    method = METHODS[name]
    pick = np.random.default_rng(5)
    samples = samples_of(pick, 20_000, method.PAIRED)
    value = method.learn(None, [samples], OPTIONS)
    np.testing.assert_allclose(value.weights, TRUTH, atol=0.06)
    assert value.intercept == pytest.approx(0 if method.PAIRED else 0.4, abs=0.1)
    assert (value.weights[6:] == 0).all()
    assert log_loss(value, samples, method.PAIRED) < np.log(2) - 0.1


def test_temporal_differences_find_the_truth_where_each_position_is_a_game() -> None:
    pick = np.random.default_rng(6)
    value: Value | None = None
    for number in range(1, 30):
        value = METHODS["td"].learn(
            value, [samples_of(pick, 4_000, paired=False)], OPTIONS | {"round": number}
        )
    assert value is not None
    np.testing.assert_allclose(value.weights, TRUTH, atol=0.12)


@pytest.mark.parametrize("decay", [0.0, 0.6, 1.0])
def test_a_step_is_that_of_the_lambda_return(decay: float) -> None:
    """The lambda-return by its definition: a mean of n-step returns, whose last has the rest of the weight."""
    pick = np.random.default_rng(7)
    features, weights, result = pick.random((5, 3)), pick.random(3), 1.0
    values = [*expit(features @ weights), result]
    step = np.zeros(3)
    for t in range(5):
        n_left = 5 - t
        shares = [(1 - decay) * decay ** (n - 1) for n in range(1, n_left)] + [decay ** (n_left - 1)]
        goal = sum(share * values[t + n] for n, share in enumerate(shares, 1))
        step += (goal - values[t]) * features[t]
    moved = lambda_step(weights, features, result, decay, 0.1)
    np.testing.assert_allclose(moved, weights + 0.1 * step, rtol=1e-12)


def test_weights_keep_their_size_and_those_of_features_that_never_differed() -> None:
    start = find_agent_profile("lookahead", "hearthsim").weights
    value = Value(
        np.array([2.0, -1.0, *np.zeros(N_FEATURES - 2)]), 0.0, np.array([1.0] * 2 + [0.0] * (N_FEATURES - 2))
    )
    found = agent_weights(value, start).named()
    attack, health = (start.named()[f"value_{name}"] for name in FEATURES[:2])
    assert found["value_attack"] == pytest.approx(2 / 3 * (attack + health), rel=1e-5)
    assert found["value_health"] == pytest.approx(-1 / 3 * (attack + health), rel=1e-5)
    same = {f"value_{name}" for name in FEATURES[2:]} | {"lethal", "play"}
    assert all(found[name] == start.named()[name] for name in same)
    assert agent_weights(None, start) == start


def test_calibration_of_the_truth_is_the_diagonal() -> None:
    samples = samples_of(np.random.default_rng(8), 40_000, paired=False)
    groups = np.array(calibration(Value(TRUTH, 0.4, np.ones(N_FEATURES)), samples, paired=False))
    assert groups[:, 2].sum() == 40_000
    np.testing.assert_allclose(groups[:, 0], groups[:, 1], atol=0.03)
    assert (np.diff(groups[:, 0]) > 0).all()


def with_cards(pick: np.random.Generator, n: int, truth: np.ndarray) -> Samples:
    """Pairs whose results follow `TRUTH` and a value for each card, the last in one sample of a thousand."""
    samples = samples_of(pick, n, paired=True)
    cards = pick.integers(-1, 2, size=(len(samples.points), len(truth)))
    cards[pick.random(len(cards)) > 0.001, -1] = 0
    cards[:, 3] = 0  # which never differs
    chance = expit(samples.features @ TRUTH + cards @ truth)
    points = np.where(samples.points == 0.5, 0.5, pick.random(len(cards)) < chance)
    return replace(samples, points=points, cards=csr_matrix(cards.astype(float)))


def test_a_regression_finds_the_values_of_cards() -> None:
    truth = np.array([0.9, -0.6, 0.0, 0.0, 0.4, 3.0])
    samples = with_cards(np.random.default_rng(5), 20_000, truth)
    found = METHODS["paired"].learn(None, [samples], OPTIONS)
    np.testing.assert_allclose(found.cards[:5], truth[:5], atol=0.08)
    np.testing.assert_allclose(found.weights, TRUTH, atol=0.06)
    assert found.cards[3] == found.card_samples[3] == 0
    decided = samples.select(samples.points != 0.5)
    assert decided.cards is not None
    assert found.card_samples.tolist() == (decided.cards.toarray() != 0).sum(axis=0).tolist()
    # A card in few samples is held near 0, and the more so the larger its penalty.
    held = METHODS["paired"].learn(None, [samples], OPTIONS | {"card_ridge": 100.0})
    assert 0 < held.cards[5] < found.cards[5] < truth[5]
    blind = METHODS["paired"].learn(None, [replace(samples, cards=None)], OPTIONS)
    assert log_loss(found, samples, True) < log_loss(blind, samples, True) - 0.02
    groups = calibration(found, samples, True)
    assert max(abs(chance - points) for chance, points, _ in groups) < 0.03


def test_samples_without_counts_have_none_of_any_card() -> None:
    truth = np.array([0.9, -0.6, 0.0, 0.0, 0.4, 0.0])
    pick = np.random.default_rng(5)
    samples, other = with_cards(pick, 400, truth), samples_of(pick, 300, paired=True)
    joined = Samples.join([other, samples])
    assert joined.cards is not None
    assert joined.cards.shape == (len(joined.points), 6)
    assert joined.cards[: len(other.points)].nnz == 0
    assert (joined.cards[len(other.points) :] != samples.cards).nnz == 0
    assert Samples.join([other, other]).cards is None
