"""Keys of positions while attacks are ordered: other positions have other keys, whatever keywords are to come."""

import itertools

import numpy as np
import pytest

from engine.bitfields import KEYWORD_BITS
from engine.codes import Keyword
from ilp_agent.exact.kernel import SOURCE, TARGET, position_key
from ilp_agent.turn import TURN

NO_ATTACKS = np.zeros((0, 2), np.int64)
NINTH = 256
"""The bit of the next keyword."""


def turn_with(side: str, health: int, keywords: int) -> np.void:
    turn = np.zeros(1, TURN)[0]
    turn["n_board"] = turn["n_enemies"] = 1
    turn["friends"]["health"][0] = turn["enemies"]["health"][0] = 1
    turn[side]["health"][0], turn[side]["keywords"][0] = health, keywords
    return turn


@pytest.mark.parametrize("side", ["friends", "enemies"])
def test_a_ninth_keyword_does_not_run_into_the_health(side: str) -> None:
    """Packed by 256, health 3 with the ninth bit and Taunt would look like health 4 with Taunt."""
    with_ninth = turn_with(side, 3, NINTH | Keyword.TAUNT)
    without = turn_with(side, 4, Keyword.TAUNT)
    assert position_key(with_ninth, NO_ATTACKS) != position_key(without, NO_ATTACKS)


@pytest.mark.parametrize("side", ["friends", "enemies"])
def test_every_health_and_keyword_counts(side: str) -> None:
    numbers = itertools.product((0, 1, 2, 3, 4, 999), [0, *(1 << bit for bit in range(KEYWORD_BITS))])
    keys = [int(position_key(turn_with(side, *pair), NO_ATTACKS)) for pair in numbers]
    assert len(set(keys)) == len(keys)


def test_the_order_of_attacks_does_not_count_but_their_targets_do() -> None:
    turn = turn_with("friends", 2, 0)

    def key(*targets: int) -> int:
        path = np.zeros((len(targets), 2), np.int64)
        path[:, SOURCE], path[:, TARGET] = 0, targets
        return int(position_key(turn, path))

    assert key(0, 1) == key(1, 0)
    assert len({key(), key(0), key(1), key(0, 1), key(0, 0), key(7)}) == 6
