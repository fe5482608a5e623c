"""Memory of the driver and of the workers over millions of games, on eva.toml with two workers.

Run with `python -m benchmarks.memory`, or with `--pool ray`. Linux only: it reads /proc.
"""

import contextlib
import os
from pathlib import Path

import typer

from benchmarks.pool_cost import generations
from evo.config.files import read_config
from evo.play.pools import open_pool

NAMES = (b"ray::IDLE", b"ray::play_range")


def resident(process: int) -> float:
    """Memory of a process, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1e3


def workers() -> list[float]:
    """Memory of each Ray worker process on this machine, in MB."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # a process that has just ended
            if entry.name.isdigit() and (entry / "cmdline").read_bytes().startswith(NAMES):
                found.append(resident(int(entry.name)))
    return sorted(found)


def main(
    kind: str = typer.Option("local", "--pool", help="local or ray."),
    millions: int = typer.Option(10, help="Millions of games."),
) -> None:
    """Print the memory of the processes after each million games."""
    config = read_config("eva")
    games, printed = 0, 0
    with open_pool(kind, 2, "", compiled=True) as (pool, _):
        while printed < millions:
            games += generations(config, pool, 5)[0]
            if games // 1_000_000 > printed:
                printed = games // 1_000_000
                by_worker = "".join(f", worker {worker:,.0f} MB" for worker in workers())
                print(
                    f"{games:12,} games: this process {resident(os.getpid()):,.0f} MB{by_worker}", flush=True
                )


if __name__ == "__main__":
    typer.run(main)
