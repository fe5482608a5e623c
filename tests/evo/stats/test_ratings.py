"""Rates, pairs of games and ratings, against scipy, choix, fastchess and direct formulas."""

import math

import choix
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evo.stats.ratings import (
    ELO,
    bootstrap_tables,
    bradley_terry,
    cluster_rate,
    elo,
    exact_rate,
    expected_score,
    pair_statistics,
)

CASES = [(0, 1), (1, 1), (7, 10), (512, 1000), (0, 500), (33, 34)]


@pytest.mark.parametrize(("wins", "games"), CASES)
@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_intervals_agree_with_scipy(wins: int, games: int, confidence: float) -> None:
    test = stats.binomtest(wins, games)
    expected = test.proportion_ci(confidence, method="exact")
    rate = exact_rate(wins, 0, games, confidence)
    assert rate.value == wins / games
    assert (rate.low, rate.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_draws_count_half_and_no_games_say_nothing() -> None:
    assert exact_rate(3, 4, 10).value == 0.5
    nothing = exact_rate(0, 0, 0)
    assert math.isnan(nothing.value)
    assert (nothing.low, nothing.high) == (0.0, 1.0)
    assert math.isnan(cluster_rate(np.zeros(3), np.zeros(3)).value)


def test_clusters_of_one_game_agree_with_students_t() -> None:
    """With many clusters of one game the interval is that of the mean by Student's t."""
    points = np.random.default_rng(1).random(5000)
    rate = cluster_rate(points, np.ones(5000))
    expected = stats.t.interval(0.95, 4999, points.mean(), stats.sem(points))
    assert (rate.low, rate.high) == pytest.approx(expected, rel=1e-3)


def test_games_that_stand_and_fall_together_are_no_evidence_each() -> None:
    points = np.random.default_rng(1).integers(0, 2, 500).astype(float)
    alone, four = cluster_rate(points, np.ones(500)), cluster_rate(4 * points, np.full(500, 4.0))
    assert four == pytest.approx(alone)


def test_what_kinds_differ_by_is_no_uncertainty() -> None:
    """Half of the clusters always win and half always lose, in fixed numbers."""
    rng = np.random.default_rng(1)
    kinds = np.repeat([0, 1], 500)
    points = np.where(kinds == 0, 0.9, 0.1) + 0.05 * rng.normal(size=1000)
    within = cluster_rate(points, np.ones(1000), kinds)
    expected = 1.962 * 0.05 / math.sqrt(1000)
    assert (within.high - within.low) / 2 == pytest.approx(expected, rel=0.05)
    across = cluster_rate(points, np.ones(1000))
    assert across.high - across.low > 5 * (within.high - within.low)


def test_few_clusters_that_agree_prove_little() -> None:
    """Ten pairs won: another result may still have a chance of a quarter (rule of three: 3 / 10)."""
    won = cluster_rate(np.full(10, 2.0), np.full(10, 2.0))
    assert won.high == 1
    assert 0.7 < won.low < 0.87
    assert cluster_rate(np.full(10_000, 1.0), np.full(10_000, 2.0)).low > 0.4998


# fastchess, app/tests/elo_test.cpp: pairs LL, LD, WL, DD, WD, WW; Elo, its error, normalized Elo, its error,
# likelihood of superiority. Theirs is the normal approximation, ours Student's t.
FASTCHESS_PAIRS = [
    ((34, 54, 31, 32, 64, 75), (55.58, 27.65, 57.94, 28.28), 1.0),
    ((332, 433, 457, 41, 333, 334), (-8.64, 10.33, -9.17, 10.96), 0.0505),
    ((7895, 8757, 5485, 200, 568, 9999), (-21.04, 2.95, -19.01, 2.65), 0.0),
]


@pytest.mark.parametrize(("pairs", "expected", "superiority"), FASTCHESS_PAIRS)
def test_pair_statistics_agree_with_fastchess(
    pairs: tuple[int, ...], expected: tuple[float, ...], superiority: float
) -> None:
    ll, ld, wl, dd, wd, ww = pairs
    said = pair_statistics(np.array([ll, ld, wl + dd, wd, ww]))
    errors = [(rate.high - rate.low) / 2 for rate in (said.elo, said.normalized_elo)]
    found = said.elo.value, errors[0], said.normalized_elo.value, errors[1]
    assert found == pytest.approx(expected, rel=0.011)
    assert said.superiority == pytest.approx(superiority, abs=1e-3)


def test_variance_of_pairs() -> None:
    """Pairs that are always split depend only on the deal: no variance."""
    assert pair_statistics(np.array([0, 0, 50, 0, 0])).variance == 0
    # Independent coin flips: variance 1/4 a game.
    assert pair_statistics(np.array([25, 0, 50, 0, 25])).variance == 0.25


@given(st.floats(-800, 800))
def test_elo_round_trip(difference: float) -> None:
    assert elo(expected_score(difference)) == pytest.approx(difference, abs=1e-9)


def test_elo_of_certainty() -> None:
    assert (elo(0.0), elo(1.0)) == (-math.inf, math.inf)
    assert math.isnan(elo(math.nan))


def random_table(n: int, games: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=n)
    points, met = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            met[i, j] = met[j, i] = games
            points[i, j] = rng.binomial(2 * games, 1 / (1 + np.exp(strength[j] - strength[i]))) / 2
            points[j, i] = games - points[i, j]
    return points, met


@pytest.mark.parametrize("n", [2, 3, 8, 25])
def test_bradley_terry_agrees_with_choix(n: int) -> None:
    points, met = random_table(n, 200, n)
    expected = choix.ilsr_pairwise_dense(points, max_iter=10_000, tol=1e-12)
    found = bradley_terry(points, met, prior=0) / ELO
    assert found == pytest.approx(expected - expected.mean(), abs=1e-8)


def test_bradley_terry_of_a_gauntlet_is_each_ones_own_elo() -> None:
    """Only the first played more than one opponent: each rating is the Elo of its games with the first."""
    points, met = np.zeros((4, 4)), np.zeros((4, 4))
    for other, won in ((1, 60), (2, 30), (3, 50)):
        met[0, other] = met[other, 0] = 100
        points[0, other], points[other, 0] = won, 100 - won
    ratings = bradley_terry(points, met, prior=0)
    assert ratings[0] - ratings[1:] == pytest.approx([elo(0.6), elo(0.3), elo(0.5)])


def test_the_unbeaten_have_a_finite_rating_and_many_tables_go_at_once() -> None:
    points, met = random_table(5, 50, 1)
    points[0, 1:], points[1:, 0] = 50, 0
    ratings = bradley_terry(np.stack([points, points.T]), np.stack([met, met]))
    assert np.isfinite(ratings).all()
    assert ratings[0] == pytest.approx(-ratings[1])
    assert ratings[0].argmax() == 0
    assert ratings.mean(axis=1) == pytest.approx(0, abs=1e-9)


def test_bootstrap_spread_is_that_of_the_sums() -> None:
    """Replicates vary by the variance within strata, not by that of both together."""
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.normal(0.3, 0.1, (3000, 1)), rng.normal(0.8, 0.05, (400, 1))])
    games = np.ones_like(points)
    strata = np.repeat([0, 1], [3000, 400])
    sums, counts = bootstrap_tables(points, games, strata)
    assert sums.std() == pytest.approx(math.sqrt(3000 * 0.1**2 + 400 * 0.05**2), rel=0.05)
    assert sums.mean() == pytest.approx(points.sum(), rel=0.01)
    assert counts == pytest.approx(3400)
    again, _ = bootstrap_tables(points, games, strata)
    assert (again == sums).all()
