"""The memory that turns are solved in: one for each thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ilp_agent import TurnProblem, Weights, solve
from ilp_agent.exact.backend import memory_of_thread
from tests.ilp_agent.positions import random_position

ALL = Weights(lethal=20, clear=1, face=1, threat=1, survive=1, damage=1, trade=0.5, play=1)


def test_threads_do_not_share_memory() -> None:
    """Kernels release the GIL: two threads with one workspace would spoil each other's plans."""
    pick = np.random.default_rng(3)
    problems = [TurnProblem.from_position(random_position(pick, 6, 6, 6, 0.2, 8)) for _ in range(40)]
    alone = [solve(problem, ALL) for problem in problems]
    spaces = []

    def run(_: int) -> list:
        plans = [solve(problem, ALL) for problem in problems]
        spaces.append(memory_of_thread())
        return plans

    with ThreadPoolExecutor(4) as pool:
        assert all(plans == alone for plans in pool.map(run, range(4)))
    mine = memory_of_thread()
    assert not any(
        np.shares_memory(one, other) for space in spaces for one, other in zip(space, mine, strict=True)
    )
