"""The stop rule: from committed tables alone, the same after any stop, past which a run can go on."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from evo.config import ConfigError, RunConfig
from evo.evolution.run import begin_session, end_by_rule, evolve, extend, new_manifest
from evo.evolution.stopping import first_stop, stop_of
from evo.evolution.study import open_or_create
from evo.play.local import LocalPool
from evo.stats.gain import gain_of
from evo.stats.ratings import ELO, elo
from evo.storage.opening import create_run, open_run
from tests.evo.runs import TINY, Quiet, bytes_of, run_new, run_on

RULE = {"every": 1, "games": 4, "stop_when_gain_below": 900.0, "window": 2, "confidence": 0.6}
"""Which stops almost anything at its first look."""

STOPPING = TINY.changed(generations=8, validation=RULE)


def test_the_gain_is_that_of_the_mean_scores_in_elo() -> None:
    before, after = np.array([0.5, 0.6, 0.7, 0.6]), np.array([0.6, 0.6, 0.7, 0.7])
    gain = gain_of(np.array([before, after]))
    middle = (before.mean() + after.mean()) / 2
    assert gain.elo == pytest.approx(ELO * 0.05 / (middle * (1 - middle)))
    assert gain.elo == pytest.approx(elo(after.mean()) - elo(before.mean()), rel=0.01)
    assert gain.low < gain.elo < gain.high
    assert gain.below(gain.elo) == pytest.approx(0.5)
    assert gain.below(gain.high) == pytest.approx(0.975)
    assert gain_of(np.array([before, before])).below(1) == 1


def validations(stream: np.random.Generator, gains: np.ndarray, deals: int) -> list[tuple[int, np.ndarray]]:
    """Scores by deal of validations whose true score rises as given; noise of agents and of deals."""
    luck = stream.normal(0.65, 0.2, deals)
    scores = [luck + rise + stream.normal(0, 0.08, deals) for rise in np.cumsum(gains)]
    return [(4 * number, values) for number, values in enumerate(scores)]


def test_it_rarely_ends_a_run_that_still_gains() -> None:
    """At most 5% of runs that gain just as much as the threshold, all along forty looks."""
    config = TINY.changed(validation={"every": 4, "stop_when_gain_below": 3.0, "window": 6})
    stream = np.random.default_rng(1)
    step = (
        3.0 / 3 / ELO * 0.65 * 0.35
    )  # of the score, from one validation to the next: 3 Elo in half a window
    ended = sum(
        first_stop(config, validations(stream, np.full(45, step), 400)) is not None for _ in range(400)
    )
    assert ended / 400 < 0.05


def test_it_ends_a_run_that_gains_no_more() -> None:
    config = TINY.changed(validation={"every": 4, "stop_when_gain_below": 3.0, "window": 6})
    stream = np.random.default_rng(2)
    rises = np.concatenate([np.full(10, 0.01), np.zeros(35)])
    stops = [first_stop(config, validations(stream, rises, 4_000)) for _ in range(50)]
    assert all(stop is not None and stop.generation >= 4 * 10 for stop in stops)
    assert np.mean([stop.generation < 4 * 30 for stop in stops if stop]) > 0.9
    assert all(stop.sure > 0.97 for stop in stops if stop)


def test_a_run_ends_by_the_rule_whatever_interrupts_it(tmp_path: Path) -> None:
    whole = run_new(tmp_path / "run", STOPPING)
    with open_run(tmp_path / "run") as folder:
        stop = stop_of(folder)
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
        extend(folder, 8)
        assert folder.config.validation.stop_from == 2
        assert stop_of(folder) is None
        assert folder.config.digest == STOPPING.digest
    run_on(tmp_path / "run")
    with open_run(tmp_path / "run") as folder:
        assert folder.config.generations == 3, "the next window is of generations 2 and 3"
        assert end_by_rule(folder).first == 2
    plain = run_new(tmp_path / "plain", TINY.changed(generations=3))
    assert bytes_of(tmp_path / "run") == plain, "all files are those of a run of three generations"


def test_a_rule_needs_validations() -> None:
    with pytest.raises(ConfigError, match="stop_when_gain_below needs validations: set every"):
        RunConfig().changed(validation={"stop_when_gain_below": 3.0})
    assert STOPPING.digest == TINY.digest, "where a run ends is no part of what it is"
