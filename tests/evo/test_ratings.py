"""Win rates and their intervals against scipy."""

import math

import pytest
from scipy import stats

from evo.ratings import win_rate


@pytest.mark.parametrize(("wins", "games"), [(0, 1), (1, 1), (7, 10), (512, 1000), (0, 500), (33, 34)])
def test_wilson_interval_agrees_with_scipy(wins: int, games: int) -> None:
    expected = stats.binomtest(wins, games).proportion_ci(method="wilson")
    rate = win_rate(wins, 0, games)
    assert rate.value == wins / games
    assert (rate.low, rate.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_draws_count_half_and_no_games_say_nothing() -> None:
    assert win_rate(3, 4, 10).value == 0.5
    nothing = win_rate(0, 0, 0)
    assert math.isnan(nothing.value)
    assert (nothing.low, nothing.high) == (0.0, 1.0)
