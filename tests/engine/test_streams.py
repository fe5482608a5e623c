"""Random streams: the published answers, uniformity, and the same numbers in every process."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from engine.codes import Purpose
from engine.streams import (
    agent_keys,
    below,
    derive,
    generator,
    generator_of,
    key_of,
    philox,
    shuffle,
    stream_key,
)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        # Random123's known answers for philox4x32-10 (Salmon et al., SC 2011).
        ((0, 0, 0, 0), 0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((2**32 - 1,) * 4, 2**64 - 1, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            0xA4093822 | 0x299F31D0 << 32,
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_its_published_answers(counter, key, expected) -> None:
    assert tuple(int(w) for w in philox(*map(np.uint64, counter), np.uint64(key))) == expected


@pytest.mark.parametrize("n", [1, 2, 3, 7, 30, 67])
def test_below_is_uniform(n: int) -> None:
    key = stream_key(5, n)
    counts = np.bincount([below(key, i, n) for i in range(6_000)], minlength=n)
    assert len(counts) == n
    assert n == 1 or stats.chisquare(counts).pvalue > 1e-4


def test_shuffles_are_permutations_and_each_place_is_uniform() -> None:
    counts = np.zeros((6, 6))
    for game in range(3_000):
        values = np.arange(6)
        shuffle(values, 6, stream_key(1, game))
        assert sorted(values) == [0, 1, 2, 3, 4, 5]
        counts[np.arange(6), values] += 1
    assert stats.chisquare(counts.ravel(), ddof=5).pvalue > 1e-4


def test_neighbouring_addresses_are_independent() -> None:
    draws = np.array([[below(stream_key(0, a), i, 1000) for i in range(200)] for a in range(40)])
    correlations = np.corrcoef(draws)[np.triu_indices(40, 1)]
    assert abs(correlations).max() < 0.35
    assert len({int(stream_key(*address)) for address in ((1,), (1, 0), (0, 1), (1, 0, 0), (1, 1))}) == 5


def test_an_address_and_one_below_it_share_nothing() -> None:
    """A game at (7, 1, 0) must not be keyed by a stream that the game at (7,) derives for itself."""
    below = {int(derive(np.uint64(derive(stream_key(7), a)), b)) for a in range(8) for b in range(8)}
    assert not below & {int(stream_key(7, a, b)) for a in range(8) for b in range(8)}


def test_another_process_gives_the_same_numbers() -> None:
    program = (
        "from engine.streams import *; k = stream_key(9, 1, 2);"
        "print(int(k), [int(below(k, i, 100)) for i in range(8)], generator(9, 1).integers(0, 1000, 4).tolist())"
    )
    key = stream_key(9, 1, 2)
    expected = f"{int(key)} {[int(below(key, i, 100)) for i in range(8)]} {generator(9, 1).integers(0, 1000, 4).tolist()}"
    for mode in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": mode}
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == expected


def test_agents_streams_lie_below_their_deals() -> None:
    """Two for each game, the same that agents in Python get as generators."""
    deals = np.array([stream_key(1, game) for game in range(20)], np.uint64)
    keys = np.zeros((20, 2), np.uint64)
    agent_keys(deals, keys)
    assert len(np.unique(keys)) == 40
    for deal, own in zip(deals, keys, strict=True):
        for seat in range(2):
            assert own[seat] == derive(np.uint64(derive(deal, Purpose.AGENT)), seat)


def test_the_key_of_a_stream_is_known_however_much_was_drawn() -> None:
    drawn = generator(7, 3, 1)
    drawn.random(1000)
    assert key_of(drawn) == stream_key(7, 3, 1)
    assert (generator_of(key_of(drawn)).random(5) == generator(7, 3, 1).random(5)).all()
