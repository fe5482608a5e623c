"""Pools: the same games in each, and the sentence with their name and reason. For Ray see tests/faults."""

import subprocess
import sys

import numpy as np
import pytest

from engine.compile_progress import available_processors
from evo.play.dispatch import MAX_CHUNK_SECONDS, ChunkSizer
from evo.play.entrants import find_entrant
from evo.play.games import Player, Schedule, play_schedule
from evo.play.pool import LocalPool
from evo.play.pools import POOL_KINDS, open_pool
from evo.play.results import PoolError
from tests.evo.play.test_games import some


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_local_pools_play_the_same_games(workers: int) -> None:
    roster, games = some()
    counted: list[int] = []
    with open_pool("local", workers, "", True) as (pool, said):
        played = pool.play(roster, games, counted.append)
        assert pool.busy > 0
    assert (played == play_schedule(roster, games)).all()
    assert sum(counted) == len(games)
    assert said == f"pool local with {'1 worker' if workers == 1 else f'{workers} workers'}"


def test_auto_takes_threads_for_compiled_games_and_says_why() -> None:
    with open_pool("auto", 0, "", True) as (pool, said):
        assert (pool.name, pool.workers) == ("local", available_processors())
    assert "threads are enough for compiled games" in said
    with open_pool("local", 2, "", False) as (_, said):
        assert "games of agents in Python take turns, one at a time" in said


def test_ray_is_not_started_for_a_handful_of_games() -> None:
    with open_pool("auto", 2, "", compiled=False, short=True) as (pool, said):
        assert pool.name == "local"
        assert "too few games to start Ray for" in said
    from evo.sessions.session import min_games_for_ray, uncompiled_agents

    agents = [Player(kind="random"), find_entrant("ilp:keep-alive").player]
    assert uncompiled_agents(agents) == ["random"]
    assert min_games_for_ray(agents) == 10_000
    solver = find_entrant("ilp:keep-alive@highs").player
    assert uncompiled_agents([*agents, solver]) == ["random", "ilp with highs"]
    assert min_games_for_ray([*agents, solver]) == 50


def test_a_cluster_is_not_played_on_locally() -> None:
    with (
        pytest.raises(PoolError, match="for the cluster at somewhere:1 use --pool ray"),
        open_pool("local", 1, "somewhere:1", True),
    ):
        pass
    assert POOL_KINDS == ("auto", "local", "ray")


def test_a_pool_stops_where_it_is_asked_to() -> None:
    roster, games = some()

    def stop(finished: int) -> None:
        raise KeyboardInterrupt

    pool = LocalPool(2)
    try:
        with pytest.raises(KeyboardInterrupt):
            pool.play(roster, games, stop)
        again = pool.play(roster, games)
    finally:
        pool.close()
    assert (again == play_schedule(roster, games)).all()


def test_no_games_are_played_at_once() -> None:
    roster, games = some()
    nothing = Schedule(games.players[:0], games.decks[:0], games.keys[:0])
    pool = LocalPool(1)
    try:
        assert len(pool.play(roster, nothing)) == 0
    finally:
        pool.close()


def test_chunks_follow_the_speed() -> None:
    sizer = ChunkSizer(2, 0.05)
    for _ in range(60):
        sizer.record_speed(1000, 1.0, True)
    total = 1_000_000
    assert sizer.size(total, total, True) == pytest.approx(MAX_CHUNK_SECONDS * 1000, abs=1), (
        "a second's games"
    )
    assert sizer.size(8000, 8000, True) == 500, "a sixteenth for each of two workers"
    assert sizer.size(800, 8000, True) == 200, "towards the end, half of each worker's share of what is left"
    assert sizer.size(60, 8000, True) == 50, "but not below the shortest"
    assert sizer.size(3, 8000, True) == 3, "nor more than there are"
    assert np.all([1 <= sizer.size(left, 500, True) <= left for left in range(1, 500)])


def test_a_worker_loads_no_library_of_the_driver() -> None:
    """Each worker is a process: pandas and deap would take 70 MB in every one."""
    code = "import sys, evo.play.ray; print(sorted({'pandas', 'deap', 'pyarrow', 'matplotlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
