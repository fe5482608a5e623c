"""Estimates before a run: time, disk space and memory."""

import os
import time
from typing import NamedTuple

from rich.console import Console

from engine.compile_progress import available_processors
from evo.config.messages import HOUR, duration
from evo.config.run_config import RunConfig
from evo.evolution.records import new_strategy
from evo.evolution.run import estimate_memory, remaining_games
from evo.play.games import Player, roster_of
from evo.play.matchups import Matchups, make_pairings
from evo.play.pool import WorkerPool
from evo.seeds import Stream
from evo.storage.run_folder import RunError

SLOWEST, SLOWEST_CARDS, SLOWEST_PYTHON = 500.0, 2.0, 0.3
"""Games per second on slow machines: compiled on bodies, compiled on real cards, and in Python.

Runs that take less than an hour at these speeds get no estimate.
"""

SAMPLE_SECONDS = 0.5
SAMPLE_STAGE = 1002
"""Part of the random stream of the sample's deals."""

BUSY_SHARE = 0.8
"""A machine is busy if the sample got less than this share of the processors."""

FILE_BYTES, INDIVIDUAL_BYTES, CELL_BYTES = 14_000, 160, 3
"""Bytes of a generation's two files: fixed, per individual, and per row of `pairings/`."""


class PoolSpeed(NamedTuple):
    """Measured speed of a worker pool on a configuration's games.

    Attributes:
        now: games per second.
        share: part of the usable processors that the pool got during the measurement; 1 if unknown, as on
            Ray.
    """

    now: float
    share: float = 1.0


def print_estimate(config: RunConfig, runs: int, pool: WorkerPool, console: Console) -> float:
    """Print an estimate of time and disk space for runs longer than an hour; return the seconds, else 0.

    Args:
        config: configuration of the runs.
        runs: number of runs.
        pool: the worker pool of the runs, which plays a sample.
        console: the output.
    """
    games = runs * remaining_games(config, 0)
    real = any(deck.effects for deck in config.found_decks)
    compiled = SLOWEST_CARDS if real else SLOWEST
    player = Player(backend=config.backend, kind=config.agent)
    if games / (compiled if player.compiled else SLOWEST_PYTHON) < HOUR:
        return 0.0
    speed = measure_speed(config, pool)
    seconds = games / speed.now
    if seconds < HOUR:
        return 0.0
    megabytes = estimate_disk_bytes(config) * runs / 1e6
    rate = f"{speed.now:,.0f}" if speed.now >= 10 else f"{speed.now:.2g}"
    said = f"{games:,} games: about {duration(seconds)} at {rate} games a second"
    console.print(f"{said}, {megabytes:,.0f} MB on disk", markup=False, highlight=False)
    if speed.share < BUSY_SHARE:
        if_idle = f"about {duration(seconds * speed.share)} if it were idle"
        busy = f"this machine is busy: the sample got {speed.share:.0%} of the processors; {if_idle}"
        console.print(busy, markup=False, highlight=False)
    return seconds


def check_memory(config: RunConfig) -> None:
    """Refuse a run that needs more memory than this machine has.

    Raises:
        RunError: it needs more.
    """
    need, memory = estimate_memory(config), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if need > memory:
        raise RunError(
            f"this run needs about {need / 1e9:,.0f} GB of memory, for the games of a generation or of the "
            f"final, and this machine has {memory / 1e9:,.0f} GB; reduce mu, lambda, games, "
            "final.games or decks"
        )


def measure_speed(config: RunConfig, pool: WorkerPool, least: float = SAMPLE_SECONDS) -> PoolSpeed:
    """Measure the speed of a pool on games between a configuration's first individuals.

    Args:
        config: the configuration.
        pool: the worker pool.
        least: seconds that the sample takes at least.
    """
    individuals = new_strategy(config).ask()
    pairings = make_pairings(len(individuals), "round-robin", ())
    matchups = Matchups(pairings, len(config.decks), 10**6, config.seed, (Stream.FINAL, SAMPLE_STAGE))
    roster, count = roster_of(config, individuals), 2 * pool.workers
    if not all(player.compiled for player in roster.players):  # exclude start-up and loading
        pool.play(roster, matchups.schedule(0, pool.workers)[0], lambda _: None)
    while True:
        schedule, _ = matchups.schedule(0, count)
        began, used = time.perf_counter(), time.process_time()
        pool.play(roster, schedule, lambda _: None)
        seconds, used = time.perf_counter() - began, time.process_time() - used
        if seconds > least:
            here = pool.name == "local" and bool(roster.compiled(schedule).all())
            return PoolSpeed(
                count / seconds,
                min(used / seconds / min(pool.workers, available_processors()), 1.0) if here else 1.0,
            )
        count *= 4


def estimate_disk_bytes(config: RunConfig) -> float:
    """Estimated disk space of a whole run, in bytes."""
    n = config.mu + config.lambda_
    cells = n * (n - 1) / 2 * len(config.decks) ** 2
    return (config.generations + 1) * (FILE_BYTES + INDIVIDUAL_BYTES * n + CELL_BYTES * cells)
