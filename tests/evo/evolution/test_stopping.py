"""The stop rule: from committed tables alone, the same after any stop, past which a run can go on."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from evo.config.run_config import ConfigError, RunConfig
from evo.evolution.run import evolve
from evo.evolution.session import begin_session, extend_run, new_manifest, open_or_create
from evo.evolution.validation import end_if_stopped, find_stop, stop_from_scores
from evo.play.pool import LocalPool
from evo.stats.ratings import ELO, elo
from evo.stats.run_statistics import estimate_gain
from evo.storage.run_folder import create_run, open_run
from tests.conftest import heavy
from tests.evo.runs import TINY, Quiet, bytes_of, run_new, run_on

RULE = {"every": 1, "games": 4, "stop_when_gain_below": 900.0, "window": 2, "confidence": 0.6}
"""Which stops almost anything at its first look."""

STOPPING = TINY.changed(generations=8, validation=RULE)


GAME = 1 / 14
"""Of a deal's score."""


def test_the_gain_is_that_of_the_mean_scores_in_elo() -> None:
    before, after = np.array([0.5, 0.6, 0.7, 0.6]), np.array([0.6, 0.6, 0.65, 0.7])
    gain = estimate_gain(np.array([before, after]), GAME)
    middle = (before.mean() + after.mean()) / 2
    assert gain.elo == pytest.approx(ELO * 0.0375 / (middle * (1 - middle)))
    assert gain.elo == pytest.approx(elo(after.mean()) - elo(before.mean()), rel=0.01)
    assert gain.low < gain.elo < gain.high
    assert gain.below(gain.high) == pytest.approx(0.975, abs=1e-6)
    assert gain.below(gain.low) == pytest.approx(0.025, abs=1e-6)


def test_rare_events_have_the_exact_interval_of_a_poisson_mean() -> None:
    """Five games won more and none lost: 1.6235 to 11.6683 of them, as every table says."""
    scores = np.full((2, 100), 0.5)
    scores[1, :5] += GAME
    gain = estimate_gain(scores, GAME)
    one = gain.elo / 5
    assert gain.high / one == pytest.approx(11.6683, rel=1e-4)
    # No game was lost, and up to 3.689 might have been.
    assert gain.low / one == pytest.approx(5 - np.hypot(5 - 1.6235, 3.6889), abs=1e-3)
    same = estimate_gain(np.full((2, 100), 0.5), GAME)
    assert same.elo == 0
    assert same.high / one == pytest.approx(3.6889, rel=0.01), "equal halves prove little"
    assert same.below(0.01) < 0.6


def play_on(
    stream: np.random.Generator, deals: int, gain: float, churn: float, looks: int
) -> list[tuple[int, np.ndarray]]:
    """Validations of players who win the same games but for a few, ever more of them by so many Elo each time.

    `churn` is how many games are lost, and as many won more, for each that is won.
    """
    won = stream.random((deals, 14)) < 0.66
    rise = gain / ELO * 0.66 * 0.34 * won.size
    found = []
    for number in range(looks):
        found.append((4 * number, won.mean(axis=1)))
        won = won.copy()
        for value, count in ((False, rise * (1 + churn)), (True, rise * churn)):
            places = np.flatnonzero(won == value)
            flipped = stream.choice(places, min(stream.poisson(count), len(places)), replace=False)
            won.reshape(-1)[flipped] = not value
    return found


@pytest.mark.parametrize(("deals", "churn"), [(450, 3.0), *heavy((90, 0.0), (90, 1.0), (450, 0.0))])
def test_it_rarely_ends_a_run_that_still_gains(deals: int, churn: float) -> None:
    """At most 5% of runs that gain just as much as the threshold, all along twenty looks."""
    config = TINY.changed(validation={"every": 4, "stop_when_gain_below": 3.0, "window": 6})
    stream = np.random.default_rng(1)
    ended = sum(
        stop_from_scores(config, play_on(stream, deals, 1.0, churn, 25)) is not None for _ in range(200)
    )
    assert ended <= 15, "up to 10 are expected, give or take 3"


def test_it_ends_a_run_that_gains_no_more() -> None:
    config = TINY.changed(validation={"every": 4, "stop_when_gain_below": 3.0, "window": 6})
    stream = np.random.default_rng(2)
    for _ in range(20):
        rising = play_on(stream, 900, 5.0, 0.5, 12)
        flat = [(4 * (12 + number), rising[-1][1]) for number in range(30)]
        stop = stop_from_scores(config, rising + flat)
        assert stop is not None
        assert 4 * 11 < stop.generation < 4 * 30
        assert stop.sure > 0.97


def test_a_run_ends_by_the_rule_whatever_interrupts_it(tmp_path: Path) -> None:
    whole = run_new(tmp_path / "run", STOPPING)
    with open_run(tmp_path / "run") as folder:
        stop = find_stop(folder)
        assert stop is not None
        assert (stop.generation, stop.first) == (1, 0), "two validations are a window"
        assert folder.config.generations == 1
        assert folder.committed == 2
        assert "below 900 with probability" in stop.sentence
    for chunks in range(6):
        path = tmp_path / f"stopped-{chunks}"
        with create_run(path, STOPPING, new_manifest(STOPPING)) as folder, closing(LocalPool(1)) as pool:
            begin_session(folder, pool)
            with pytest.raises(KeyboardInterrupt):
                evolve(folder, pool, Quiet(stop_after=chunks))
        assert run_on(path) == whole
    # The same command again does not go on.
    with open_or_create(tmp_path / "run", STOPPING) as folder:
        assert folder.config.generations == 1
    assert run_on(tmp_path / "run") == whole


def test_a_run_goes_on_past_a_stop_with_fresh_validations(tmp_path: Path) -> None:
    run_new(tmp_path / "run", STOPPING)
    with open_run(tmp_path / "run") as folder:
        extend_run(folder, 8)
        assert folder.config.validation.stop_from == 2
        assert find_stop(folder) is None
        assert folder.config.digest == STOPPING.digest
    run_on(tmp_path / "run")
    with open_run(tmp_path / "run") as folder:
        assert folder.config.generations == 3, "the next window is of generations 2 and 3"
        assert end_if_stopped(folder).first == 2
    plain = run_new(tmp_path / "plain", TINY.changed(generations=3))
    assert bytes_of(tmp_path / "run") == plain, "all files are those of a run of three generations"


def test_a_rule_needs_validations() -> None:
    with pytest.raises(ConfigError, match="stop_when_gain_below needs validations: set validation.every"):
        RunConfig().changed(validation={"stop_when_gain_below": 3.0})
    assert STOPPING.digest == TINY.digest, "where a run ends is no part of what it is"
