"""What the pools themselves cost: the part of the time in which workers do not play, on eva.toml.

Run with `python -m benchmarks.pool_cost`. Compilation, Ray's start and one generation come before the clock.
"""

import time

import typer

from engine import find_deck, find_ruleset
from evo.config import RunConfig, read_config
from evo.games import Player, Table
from evo.pool import LocalPool, Pool, RayPool
from evo.run import play_generation
from evo.strategy import EvolutionStrategy


def generations(config: RunConfig, pool: Pool, n: int) -> tuple[int, float, float]:
    """Games, seconds, and seconds that workers played, of n generations of the evolution."""
    strategy = EvolutionStrategy(config, 8)
    decks, ruleset = tuple(find_deck(deck) for deck in config.decks), find_ruleset(config.ruleset)
    games, began, busy = 0, time.perf_counter(), pool.busy
    for generation in range(n):
        individuals = strategy.ask()
        table = Table(tuple(Player(tuple(one)) for one in individuals), decks, ruleset)
        result = play_generation(table, config, generation, pool.play)
        strategy.tell(result.scores(len(individuals)).sum(axis=(1, 2)))
        games += int(result.games.sum())
    return games, time.perf_counter() - began, pool.busy - busy


def main(n: int = typer.Option(8, "--generations", help="Generations to play with each pool.")) -> None:
    """Measure each pool with one worker and with two."""
    config = read_config("eva")
    alone = 0.0
    for kind in (LocalPool, RayPool):
        for workers in (1, 2):
            pool: Pool = kind(workers)
            try:
                generations(config, pool, 2)
                games, seconds, busy = generations(config, pool, n)
            finally:
                pool.close()
            alone = alone or games / seconds
            print(
                f"{pool.name} {workers} workers: {games / seconds:,.0f} games/s, "
                f"{games / seconds / alone / workers:.1%} of {workers} times local with one, "
                f"own cost {1 - busy / (workers * seconds):.1%} of the time"
            )


if __name__ == "__main__":
    typer.run(main)
