"""A tiny run for tests, and the bytes that two equal runs share."""

import hashlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path

from evo.cli.main import main
from evo.config import RunConfig
from evo.evolution.run import begin_session, evolve, new_manifest
from evo.evolution.stopping import Stop
from evo.play.local import LocalPool
from evo.play.pool import Pool
from evo.storage.opening import create_run, open_run
from evo.storage.store import RunFolder
from evo.strategies import Strategy, Told

TINY = RunConfig().changed(
    mu=3,
    generations=3,
    games=2,
    decks=["thesis-paladin"],
    final={"games": 40, "benchmark_games": 2},
    **{"lambda": 3},
)


class Quiet:
    """A no-op reporter, which may raise after a number of chunks."""

    def __init__(self, stop_after: int = -1) -> None:
        self.stop_after = stop_after
        self.generations: list[int] = []

    def begin(self, folder: RunFolder, games: int) -> None:
        pass

    def advance(self, games: int) -> None:
        if self.stop_after == 0:
            raise KeyboardInterrupt
        self.stop_after -= 1

    def generation(self, told: Told, strategy: Strategy, *_: object) -> None:
        self.generations.append(told.generation)

    def stopped(self, stop: Stop) -> None:
        pass

    def final(self) -> None:
        pass


def run_new(path: Path, config: RunConfig = TINY, pool: Pool | None = None) -> dict[str, str]:
    """Evolve into a new folder; returns its `bytes_of`."""
    play_new(path, config, pool)
    return bytes_of(path)


def play_new(path: Path, config: RunConfig = TINY, pool: Pool | None = None) -> None:
    """Evolve into a new folder."""
    with create_run(path, config, new_manifest(config)) as folder:
        _play(folder, pool)


def run_on(path: Path, pool: Pool | None = None) -> dict[str, str]:
    """Open a folder and evolve to the end; returns its `bytes_of`."""
    play_on(path, pool)
    return bytes_of(path)


def play_on(path: Path, pool: Pool | None = None) -> None:
    """Open a folder and evolve to the end."""
    with open_run(path) as folder:
        _play(folder, pool)


def _play(folder: RunFolder, pool: Pool | None) -> None:
    players = pool or LocalPool(1)
    try:
        begin_session(folder, players)
        evolve(folder, players, Quiet())
    finally:
        if pool is None:
            players.close()


def bytes_of(path: Path) -> dict[str, str]:
    """Checksums of all files that are the same for two runs of one configuration and seed."""
    files = [*path.glob("generations/*"), *path.glob("pairings/*"), path / "champion.toml"]
    return {
        str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.exists()
    }


ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-c", "from evo.cli.main import main; main()"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": ""}


def manaforge(
    *arguments: object, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command `manaforge` as a user does, without a terminal.

    Each call is a process of its own, a copy of one that has imported everything: a second is saved each time.
    """
    words = tuple(map(str, arguments))
    with tempfile.TemporaryDirectory() as place:
        files = [Path(place) / name for name in ("out", "err")]
        process = _copies().Process(target=_main, args=(words, cwd, environment, *files))
        process.start()
        process.join()
        said = [file.read_bytes().decode() for file in files]
    return subprocess.CompletedProcess(["manaforge", *words], process.exitcode or 0, *said)


@cache
def _copies() -> ForkServerContext:
    """Where copies of a process come from that has imported what commands need, and done nothing else."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["evo.cli.main", "tests.evo.preload"])
    return context


def _main(
    words: tuple[str, ...], cwd: Path | None, environment: dict[str, str], out: Path, err: Path
) -> None:
    """The program in a copy: its standard streams are files."""
    for number, path in ((0, Path(os.devnull)), (1, out), (2, err)):
        file = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - the process ends with it
    os.environ.clear()
    os.environ.update(ENVIRONMENT | environment)
    if cwd is not None:
        os.chdir(cwd)
    sys.argv = ["manaforge", *words]
    main()
