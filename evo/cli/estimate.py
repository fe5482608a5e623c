"""How long a run will take, from games measured here, said before its folder is made."""

import os
import sys
import time
from typing import NamedTuple

import typer
from rich.console import Console

from engine.compilation import processors
from engine.screen import say_error
from evo.config import RunConfig
from evo.evolution.records import new_strategy
from evo.evolution.run import games_to_play, memory_of
from evo.play.games import Player, roster_of
from evo.play.matchups import Matchups, make_pairings
from evo.play.pool import Pool
from evo.seeds import Stream
from evo.storage.store import RunError
from evo.wording import DAY, HOUR, duration

SLOWEST, SLOWEST_CARDS, SLOWEST_PYTHON = 500.0, 2.0, 0.3
"""Games a second of slow machines, compiled on bodies and on real cards, and in Python.

Less than an hour at these is not measured.
"""

SAMPLE_SECONDS = 0.5
SAMPLE_STAGE = 1002
"""Part of the address of the sample's deals."""

BUSY = 0.8
"""A machine that gives less than this part of the processors that a pool could use does other work too."""

FILE_BYTES, INDIVIDUAL_BYTES, CELL_BYTES = 14_000, 160, 3
"""Bytes of a generation's two files: a part of their own, a row of an individual, a row of `pairings/`."""


class Speed(NamedTuple):
    """Games a second of a pool.

    Attributes:
        now: as measured.
        share: of the processors that the pool could use, the part that it got meanwhile; 1 where that cannot
            be told, on Ray.
    """

    now: float
    share: float = 1.0


def begin_or_refuse(config: RunConfig, runs: int, pool: Pool, console: Console, sure: bool) -> None:
    """Say how long runs of more than an hour will take; of more than a day, ask first.

    Args:
        config: of the runs.
        runs: how many.
        pool: that will play them; plays a sample.
        console: for the sentence.
        sure: begin without asking.

    Raises:
        typer.Exit: 2: longer than a day, not confirmed, and nobody to ask.
        typer.Abort: asked, and refused.
    """
    games = runs * games_to_play(config, 0)
    real = any(deck.effects for deck in config.found_decks)
    compiled = SLOWEST_CARDS if real else SLOWEST
    player = Player(backend=config.backend, kind=config.agent)
    if games / (compiled if player.compiled else SLOWEST_PYTHON) < HOUR:
        return
    speed = games_a_second(config, pool)
    seconds = games / speed.now
    if seconds < HOUR:
        return
    megabytes = disk_of(config) * runs / 1e6
    rate = f"{speed.now:,.0f}" if speed.now >= 10 else f"{speed.now:.2g}"
    said = f"{games:,} games: about {duration(seconds)} at {rate} games a second"
    console.print(f"{said}, {megabytes:,.0f} MB on disk", markup=False, highlight=False)
    if speed.share < BUSY:
        alone = f"without that work about {duration(seconds * speed.share)}"
        busy = (
            f"this machine does other work too: the sample had {speed.share:.0%} of the processors; {alone}"
        )
        console.print(busy, markup=False, highlight=False)
    if seconds < DAY or sure:
        return
    if not sys.stdin.isatty():
        say_error("manaforge: more than a day; to begin it all the same: --yes")
        raise typer.Exit(2)
    typer.confirm("Begin?", abort=True)


def refuse_without_memory(config: RunConfig) -> None:
    """Refuse a run that needs more memory than this machine has.

    Raises:
        RunError: it does.
    """
    need, memory = memory_of(config), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if need > memory:
        raise RunError(
            f"this run needs about {need / 1e9:,.0f} GB of memory, for the games of a generation or of the "
            f"final, and this machine has {memory / 1e9:,.0f} GB; choose less of mu, lambda, games, "
            "final.games or decks"
        )


def games_a_second(config: RunConfig, pool: Pool) -> Speed:
    """Speed of a pool on this configuration's games, between its first individuals."""
    individuals = new_strategy(config).ask()
    pairings = make_pairings(len(individuals), "round-robin", ())
    matchups = Matchups(pairings, len(config.decks), 10**6, config.seed, (Stream.FINAL, SAMPLE_STAGE))
    roster, count = roster_of(config, individuals), 2 * pool.workers
    if not all(player.compiled for player in roster.players):  # what is started or loaded first is no game
        pool.play(roster, matchups.schedule(0, pool.workers)[0], lambda _: None)
    while True:
        schedule, _ = matchups.schedule(0, count)
        began, used = time.perf_counter(), time.process_time()
        pool.play(roster, schedule, lambda _: None)
        seconds, used = time.perf_counter() - began, time.process_time() - used
        if seconds > SAMPLE_SECONDS:
            here = pool.name == "local" and bool(roster.compiled(schedule).all())
            return Speed(
                count / seconds, min(used / seconds / min(pool.workers, processors()), 1.0) if here else 1.0
            )
        count *= 4


def disk_of(config: RunConfig) -> float:
    """About how many bytes a whole run takes."""
    n = config.mu + config.lambda_
    cells = n * (n - 1) / 2 * len(config.decks) ** 2
    return (config.generations + 1) * (FILE_BYTES + INDIVIDUAL_BYTES * n + CELL_BYTES * cells)
