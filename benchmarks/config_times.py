"""Times of the shipped configurations, written into the section "Times" of `configs/README.md`.

    python -m benchmarks.config_times                       # measure all, and write the section again
    python -m benchmarks.config_times quickstart            # measure some, and only print them

Configurations of at most `--most` minutes are run; for others, the speed of a sample of games between
their first individuals is measured. Later individuals play longer or shorter games, so such a time is an
estimate. Kernels are compiled before; a first run on a machine takes up to two minutes more.
"""

import argparse
import contextlib
import os
import platform
import re
import tempfile
import textwrap
import time
from datetime import date
from pathlib import Path
from typing import NamedTuple

import manaforge
from engine.compile_progress import available_processors
from evo.config.files import read_config
from evo.config.messages import duration
from evo.evolution.benchmark import benchmark_players
from evo.evolution.run import remaining_games
from evo.play.games import Player, compile_games
from evo.play.pool import LocalPool
from evo.sessions.estimates import measure_speed
from ilp_agent.shipped import configs_folder, shipped_configs

DOCUMENT = configs_folder() / "README.md"
SECTION = re.compile(r"(?<=## Times\n\n).*?(?=\n## |\Z)", re.S)
SAMPLE_SECONDS = 20.0
UNMEASURED = ("outside",)
"""Configurations whose time depends on an agent of the reader's."""


class Measured(NamedTuple):
    """Games of a configuration's run and its seconds, of a whole run or by the speed of a sample."""

    name: str
    games: int
    seconds: float
    run: bool

    @property
    def row(self) -> str:
        """Row of the table."""
        speed = self.games / self.seconds
        rate = f"{speed:,.0f}" if speed >= 10 else f"{speed:.2g}"
        how = "run" if self.run else "sample"
        return f"| `{self.name}` | {self.games:,} | {duration(self.seconds)} | {rate} | {how} |"


def measure(name: str, most: float) -> Measured:
    """Measure a configuration: a sample, and a whole run if it takes at most `most` seconds."""
    config = read_config(name)
    games = remaining_games(config, 0)
    player = Player((1.0,) * len(config.vector.names()), config.backend, config.agent)
    opponents = benchmark_players(config.found_benchmark, config.backend)
    compile_games([player, *opponents], config.found_decks)
    with contextlib.closing(LocalPool()) as pool:
        seconds = games / measure_speed(config, pool, SAMPLE_SECONDS).now
    if seconds > most:
        return Measured(name, games, seconds, False)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        manaforge.evolve(name, out=Path(folder) / "run", quiet=True)
        return Measured(name, games, time.perf_counter() - began, True)


def processor() -> str:
    """Name of this machine's processor."""
    with contextlib.suppress(OSError):
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
        if found:
            return found[1]
    return platform.processor() or platform.machine()


def section(measured: list[Measured]) -> str:
    """Text of the section: what was measured, where, and the table."""
    where = f"{available_processors()} of {os.cpu_count()} processors ({processor()})"
    said = (
        f"`python -m benchmarks.config_times` wrote this on {date.today()}, on {where}. *run* is the time of "
        "a whole run, *sample* an estimate from the speed of its first individuals, without compiling (up to "
        "two minutes, once). Games of real cards take fifty to two hundred times as long as games of minions."
    )
    head = textwrap.fill(said, 120, break_long_words=False, break_on_hyphens=False) + "\n"
    rows = ["| configuration | games | time | games a second | by |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([head, *rows, *(one.row for one in measured)]) + "\n"


def main() -> None:
    """Measure, print, and write the section if all configurations were measured."""
    parser = argparse.ArgumentParser(description="Measure the times of the shipped configurations.")
    parser.add_argument(
        "names", nargs="*", help="configurations; without one, all but outside, and the document is written"
    )
    parser.add_argument(
        "--most", type=float, default=5.0, help="minutes of the longest whole run (default: 5)"
    )
    options = parser.parse_args()
    text = DOCUMENT.read_text(encoding="utf-8")
    if not options.names and not SECTION.search(text):
        parser.error(f"{DOCUMENT} has no heading ## Times to write below; add it, or name configurations")
    measured = []
    for name in options.names or [name for name in shipped_configs() if name not in UNMEASURED]:
        measured.append(measure(name, 60 * options.most))
        print(measured[-1].row, flush=True)
    if not options.names:
        DOCUMENT.write_text(SECTION.sub(lambda _: section(measured), text), encoding="utf-8")


if __name__ == "__main__":
    main()
