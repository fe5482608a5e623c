"""The sequential test against fastchess, against a direct optimisation, and its error rates in simulation."""

import os

import numpy as np
import pytest
from scipy.optimize import minimize

from evo.stats.ratings import ELO, PAIR_SCORES, expected_score
from evo.stats.sequential import PSEUDOCOUNT, Sprt, SprtError, likelihood_ratio, parse_sprt
from tests.conftest import cases

RUNS = int(os.environ.get("MANAFORGE_SPRT_RUNS", "1000"))

# fastchess, app/tests/sprt_test.cpp: pairs LL, LD, WL, DD, WD, WW; elo0, elo1, model, ratio.
PENTANOMIAL = [
    ((365, 16618, 36029, 200, 16974, 390), 0, 2, "normalized", 2.25),
    ((127, 4883, 10311, 401, 5150, 104), -1.75, 0.25, "normalized", 3.01),
    ((223, 9863, 20279, 1000, 10037, 246), 0.5, 2.5, "logistic", -3.07),
    ((871, 26175, 55003, 980, 26678, 821), 0, 2, "logistic", -4.98),
]
# Games won, lost, drawn.
TRINOMIAL = [
    ((36433, 36027, 68692), 0, 2, "normalized", 0.92),
    ((10871, 10650, 20431), -1.75, 0.25, "normalized", 2.30),
    ((21404, 21184, 40708), 0.5, 2.5, "logistic", -1.57),
    ((57433, 57030, 106593), 0, 2, "logistic", -2.59),
]


@pytest.mark.parametrize(("pairs", "elo0", "elo1", "model", "expected"), PENTANOMIAL)
def test_ratio_of_pairs_agrees_with_fastchess(pairs, elo0, elo1, model, expected) -> None:
    ll, ld, wl, dd, wd, ww = pairs
    counts = np.array([ll, ld, wl + dd, wd, ww])
    assert Sprt(elo0, elo1, model=model).ratio(counts) == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize(("games", "elo0", "elo1", "model", "expected"), TRINOMIAL)
def test_ratio_of_single_games_agrees_with_fastchess(games, elo0, elo1, model, expected) -> None:
    won, lost, drawn = games
    ratio = likelihood_ratio(np.array([lost, drawn, won]), np.array([0, 0.5, 1]), elo0, elo1, model, 1)
    assert ratio == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("model", ["logistic", "normalized"])
@pytest.mark.parametrize("counts", [(0, 0, 0, 0, 104), (3, 0, 40, 1, 9), (10, 20, 30, 20, 5)])
def test_ratio_agrees_with_a_direct_optimisation(model, counts) -> None:
    """At extremes where fastchess stops early (104 pairs won: it gives 2.94), the optimum decides."""
    seen = np.maximum(np.array(counts, float), PSEUDOCOUNT)
    share = seen / seen.sum()

    def best(difference: float) -> float:
        def constraint(p: np.ndarray) -> float:
            mean = float(p @ PAIR_SCORES)
            deviation = float(np.sqrt(max(p @ (PAIR_SCORES - mean) ** 2, 1e-300)))
            ratio = difference * np.sqrt(2) / (2 * ELO)
            wanted = expected_score(difference) if model == "logistic" else 0.5 + ratio * deviation
            return mean - wanted

        found = [
            minimize(
                lambda p: -float(share @ np.log(np.maximum(p, 1e-300))),
                np.random.default_rng(start).dirichlet(np.ones(5)),
                method="SLSQP",
                bounds=[(1e-9, 1)] * 5,
                constraints=[
                    {"type": "eq", "fun": lambda p: p.sum() - 1},
                    {"type": "eq", "fun": constraint},
                ],
                options={"maxiter": 1000, "ftol": 1e-14},
            )
            for start in range(3)
        ]
        return min(one.fun for one in found if one.success)

    expected = seen.sum() * (best(0) - best(20))
    assert Sprt(0, 20, model=model).ratio(np.array(counts)) == pytest.approx(expected, abs=1e-3)


def test_no_games_no_verdict() -> None:
    assert Sprt(0, 10).ratio(np.zeros(5)) == 0
    assert Sprt(0, 10).add_pairs(np.zeros(5, int), np.array([], int)) is None
    low, high = Sprt(0, 10, alpha=0.05, beta=0.1).bounds
    assert (low, high) == pytest.approx((np.log(0.1 / 0.95), np.log(0.9 / 0.05)))


def chances(difference: float) -> np.ndarray:
    """A distribution of pairs with this Elo difference, in which decks often decide the game."""
    chance = np.array([0.12, 0.03, 0.7, 0.03, 0.12])
    tilt = 0.0
    for _ in range(200):
        tilted = chance * np.exp(tilt * PAIR_SCORES)
        tilted /= tilted.sum()
        tilt += 10 * (expected_score(difference) - tilted @ PAIR_SCORES)
    return tilted


def error_rates(runs: int) -> list[float]:
    test = Sprt(0, 30, alpha=0.05, beta=0.05)
    wrong = []
    for truth, false in ((0, "elo1"), (30, "elo0")):
        rng, drawn = np.random.default_rng(truth), chances(truth)
        accepted = []
        for _ in range(runs):
            counts = np.zeros(5, np.int64)
            while test.add_pairs(counts, rng.choice(5, 200, p=drawn)) is None:
                pass
            accepted.append(test.verdict(counts))
        wrong.append(accepted.count(false) / runs)
    return wrong


def test_error_rates() -> None:
    """5%, and three standard errors of the simulation."""
    runs = cases(40, 150)
    assert max(error_rates(runs)) < 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


@pytest.mark.heavy
@pytest.mark.nightly
def test_error_rates_closely() -> None:
    """5%, and three standard errors of the simulation."""
    rates = error_rates(RUNS)
    print(f"accepted elo1 where elo0 is true: {rates[0]:.3%}; elo0 where elo1 is true: {rates[1]:.3%}")
    assert max(rates) < 0.05 + 3 * (0.05 * 0.95 / RUNS) ** 0.5


def test_looking_in_pieces_ends_at_the_same_pair() -> None:
    pairs = np.random.default_rng(1).choice(5, 5000, p=chances(30))
    test = Sprt(0, 30)
    whole = test.add_pairs(np.zeros(5, np.int64), pairs)
    assert whole is not None
    counts, start = np.zeros(5, np.int64), 0
    for size in (1, 7, 20, 300, 4672):
        end = test.add_pairs(counts, pairs[start : start + size])
        start += size
        if end is not None:
            break
    assert end == whole
    assert counts.sum() == whole


def test_parse() -> None:
    assert parse_sprt("elo0=0 elo1=20 alpha=.05 beta=.05") == Sprt(0, 20, 0.05, 0.05)
    assert parse_sprt("elo1=5,model=normalized") == Sprt(0, 5, model="normalized")
    for text, message in (
        ("elo2=3", "unknown key 'elo2'; nearest: elo"),
        ("elo1=x", "elo1 takes a number, got 'x'"),
        ("elo0=5 elo1=5", "elo0 must be below elo1"),
        ("alpha=0", "alpha and beta must be above 0"),
        ("elo1=nan", "elo0 must be below elo1"),
        ("model=logistics", "unknown model 'logistics'; nearest: logistic"),
    ):
        with pytest.raises(SprtError, match=message):
            parse_sprt(text)
