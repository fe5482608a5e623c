"""The overhead of the pools: the part of the time in which workers do not play, on eva.toml.

Run with `python -m benchmarks.pool_cost`. Compilation, Ray's start and two generations are not timed.
"""

import time

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from evo.config.files import read_config
from evo.config.run_config import RunConfig
from evo.evolution.fitness import all_pairings, play_pairings
from evo.evolution.records import new_strategy
from evo.play.games import roster_of
from evo.play.pool import LocalPool, WorkerPool
from evo.play.ray import RayPool
from evo.seeds import Stream


def generations(config: RunConfig, pool: WorkerPool, n: int) -> tuple[int, float, float]:
    """Games, seconds, and seconds that workers played, of n generations of the evolution."""
    strategy = new_strategy(config)
    games, began, busy = 0, time.perf_counter(), pool.busy
    for generation in range(n):
        individuals = strategy.ask()
        pairings, address = all_pairings(len(individuals)), (Stream.SETUP, generation)
        roster = roster_of(config, individuals)
        result = play_pairings(roster, pairings, config.games, config.seed, address, pool.play)
        strategy.tell(result.scores(len(individuals)).sum(axis=(1, 2)))
        games += int(result.games.sum())
    return games, time.perf_counter() - began, pool.busy - busy


def main(
    n: int = typer.Option(3, "--generations", help="Generations of each pool in each round."),
    rounds: int = typer.Option(7, "--rounds", help="Rounds in which all pools play, one after another."),
) -> None:
    """Measure each pool with one and two workers, in turn, so that slow phases of the machine affect all."""
    config = read_config("eva")
    speeds: dict[tuple[str, int], list[float]] = {}
    costs: dict[tuple[str, int], list[float]] = {}
    for _ in track(range(rounds), console=Console(stderr=True)):
        for kind in (LocalPool, RayPool):
            for workers in (1, 2):
                pool: WorkerPool = kind(workers)
                try:
                    generations(config, pool, 2)
                    games, seconds, busy = generations(config, pool, n)
                finally:
                    pool.close()
                speeds.setdefault((pool.name, workers), []).append(games / seconds)
                costs.setdefault((pool.name, workers), []).append(1 - busy / (workers * seconds))
    alone = np.array(speeds["local", 1])
    print(f"medians of {rounds} rounds (least to most)")
    for (name, workers), speed in speeds.items():
        share = np.array(speed) / (workers * alone)
        print(
            f"{name} {workers} workers: {np.median(speed):,.0f} games/s, "
            f"{np.median(share):.1%} ({share.min():.1%} to {share.max():.1%}) of {workers} times local with "
            f"one of the same round, overhead {np.median(costs[name, workers]):.1%} of the time"
        )


if __name__ == "__main__":
    typer.run(main)
