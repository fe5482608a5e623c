"""The overhead of a generation, and the formula of docs/performance.md#scaling compared with measured runs.

Run with `python -m benchmarks.scaling`. It measures on `eva.toml`: local threads, Ray on this machine, Ray
clusters of two and three nodes on this machine. It takes about three minutes.
"""

import os
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.pool_cost import generations
from engine import find_deck, find_ruleset
from evo.config.files import read_config
from evo.evolution.fitness import all_pairings, tally
from evo.evolution.records import individuals_table, new_strategy, pairings_table
from evo.evolution.session import new_manifest
from evo.play.dispatch import ChunkSizer
from evo.play.games import GAME, Player, Roster, Schedule, roster_of
from evo.play.matchups import make_schedule, make_setups
from evo.play.pool import LocalPool, WorkerPool
from evo.play.ray import RayPool
from evo.play.results import play_chunk, refusal_reason
from evo.storage.run_folder import create_run

GENERATIONS = 8


def seconds_of(call: object, times: int = 5) -> float:
    """The median time of a call."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()  # type: ignore[operator]
        taken.append(time.perf_counter() - began)
    return float(np.median(taken))


def driver_costs() -> dict[str, float]:
    """Seconds a game for making the schedule, checking results and summing them; seconds a commit."""
    config = read_config("eva")
    decks = tuple(find_deck(deck) for deck in config.decks)
    strategy = new_strategy(config)
    strategy.ask()
    strategy.tell(np.zeros(10))
    individuals = strategy.ask()
    roster = roster_of(config, individuals)
    pairings, setups = all_pairings(20), make_setups(3, config.games, 1, 3, 1)
    schedule = make_schedule(pairings, setups)
    n = len(schedule)
    played = np.zeros(n, GAME)
    played["outcome"], played["turns"] = 1, 10
    chunk = schedule.select(slice(0, 4000))
    answer = play_chunk(roster, chunk)
    result = tally(pairings, setups, 3, played)
    told = strategy.tell(result.scores(20).sum(axis=(1, 2)))
    names = [deck.name for deck in decks]
    numbers = [individual.number for individual in individuals]
    individual = individuals_table(told, strategy, result, names)
    pairs = pairings_table(0, numbers, result, names)
    with (
        tempfile.TemporaryDirectory() as folder,
        create_run(Path(folder) / "run", config, new_manifest(config)) as run,
    ):
        commits = []
        for generation in range(9):
            began = time.perf_counter()
            run.commit(generation, individual, pairs)
            commits.append(time.perf_counter() - began)
    return {
        "schedule": seconds_of(lambda: make_schedule(pairings, make_setups(3, config.games, 1, 3, 1))) / n,
        "check": seconds_of(lambda: refusal_reason(answer, chunk, roster)) / len(chunk),
        "tally": seconds_of(lambda: tally(pairings, setups, 3, played)) / n,
        "tables": seconds_of(lambda: pairings_table(0, numbers, result, names)),
        "commit": float(np.median(commits)),
    }


class OneGame(ChunkSizer):
    """Chunks of one game."""

    def size(self, left: int, total: int, compiled: bool) -> int:  # noqa: ARG002
        """One."""
        return 1


def task_cost(pool: RayPool) -> float:
    """Processor time of the driver and its process of Ray for a task of one game, seconds, many in flight."""
    deck = find_deck("hearthsim-basic")
    roster = Roster((Player(kind="aggro"),), (deck,), find_ruleset("thesis"))
    n = 600
    places = np.zeros((n, 2), np.int16)
    games = Schedule(places, places, np.arange(n, dtype=np.uint64))
    dispatcher = pool._dispatcher
    sizer, in_flight = dispatcher.sizer, dispatcher.in_flight
    dispatcher.sizer, dispatcher.in_flight = OneGame(pool.workers, 0.05), 200
    pool.play(roster, games.select(slice(0, 20)))
    began = time.process_time() + time_of(pool.process)
    pool.play(roster, games)
    taken = time.process_time() + time_of(pool.process) - began
    dispatcher.sizer, dispatcher.in_flight = sizer, in_flight
    return taken / n


def time_of(process: int) -> float:
    """Processor time of a process so far, in seconds (Linux)."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def predicted(games: float, speed: float, workers: int, costs: dict[str, float], task: float) -> float:
    """Games a second of one run by the formula of docs/performance.md#scaling."""
    playing = games / (speed * workers)
    chunk = min(1.0, max(playing / 8, 0.05 if task else 0.005))
    tasks = playing * workers / chunk
    driver = games * (costs["schedule"] + costs["check"] + costs["tally"]) + costs["tables"] + costs["commit"]
    # Chunks shrink towards the end, but not below the shortest, nor if the driver is the bottleneck.
    shrink = chunk > (0.05 if task else 0.005) and playing > tasks * task
    barrier = chunk / 4 if shrink else chunk
    return games / (playing + max(0.0, tasks * task - playing) + driver + barrier)


def main() -> None:
    """Print costs, then measured speeds and those of the formula."""
    config = read_config("eva")
    costs = driver_costs()
    for name, value in costs.items():
        unit = "us a generation" if name in ("tables", "commit") else "ns a game"
        print(f"{name}: {value * (1e6 if 'generation' in unit else 1e9):,.0f} {unit}")
    pool: WorkerPool
    measured = []
    speed = 0.0
    for workers in (1, 2):
        pool = LocalPool(workers)
        generations(config, pool, 2)
        games, seconds, busy = generations(config, pool, GENERATIONS)
        speed = speed or games / busy
        pool.close()
        measured.append((f"local, {workers} workers", workers, games / seconds, 0.0))
    task = 0.0
    for workers in (1, 2):
        ray = RayPool(workers)
        generations(config, ray, 2)
        games, seconds, _ = generations(config, ray, GENERATIONS)
        task = task_cost(ray)
        ray.close()
        measured.append((f"Ray, {workers} workers", workers, games / seconds, task))
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - starts with the import of ray

    for nodes in (2, 3):
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        try:
            for _ in range(nodes):
                cluster.add_node(num_cpus=1)
            ray = RayPool(0, cluster.address)
            generations(config, ray, 2)
            games, seconds, _ = generations(config, ray, GENERATIONS)
            ray.close()
        finally:
            cluster.shutdown()
        measured.append(
            (f"Ray, {nodes} nodes of one worker and a head", min(nodes, 2), games / seconds, task)
        )
    print(f"a Ray task: {task * 1e3:.2f} ms of the driver")
    print(f"a core while it plays: {speed:,.0f} games/s")
    a_generation = 34_200
    for text, workers, rate, one_task in measured:
        formula = predicted(a_generation, speed, workers, costs | {"commit": 0.0}, one_task)  # as measured
        print(f"{text}: {rate:,.0f} games/s, formula {formula:,.0f} ({rate / formula - 1:+.0%})")
    for cores in (1, 10, 100, 1_000, 10_000):
        rates = [predicted(n, speed, cores, costs, task if cores > 16 else 0.0) for n in (34_200, 1e6, 1e8)]
        print(f"{cores:,} cores: " + ", ".join(f"{rate:,.0f}" for rate in rates) + " games/s")


if __name__ == "__main__":
    main()
