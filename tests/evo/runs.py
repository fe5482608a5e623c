"""A tiny run for tests, and the bytes that two equal runs share."""

import hashlib
import os
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from unittest.mock import patch

from evo.cli.main import main
from evo.config.run_config import RunConfig
from evo.evolution.run import evolve
from evo.evolution.session import begin_session, new_manifest
from evo.evolution.validation import StopDecision
from evo.play.pool import LocalPool, WorkerPool
from evo.sessions import progress
from evo.storage.run_folder import RunFolder, create_run, open_run
from evo.strategies import GenerationResult, Strategy
from rivals.outside import permissions
from rivals.outside.agent import check_starts, processes

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

    def generation(self, told: GenerationResult, strategy: Strategy, *_: object) -> None:
        self.generations.append(told.generation)

    def stopped(self, stop: StopDecision) -> None:
        pass

    def final(self) -> None:
        pass


def run_new(path: Path, config: RunConfig = TINY, pool: WorkerPool | None = None) -> dict[str, str]:
    """Evolve into a new folder; returns its `bytes_of`."""
    play_new(path, config, pool)
    return bytes_of(path)


def play_new(path: Path, config: RunConfig = TINY, pool: WorkerPool | None = None) -> None:
    """Evolve into a new folder."""
    with create_run(path, config, new_manifest(config)) as folder:
        _play(folder, pool)


def run_on(path: Path, pool: WorkerPool | None = None) -> dict[str, str]:
    """Open a folder and evolve to the end; returns its `bytes_of`."""
    play_on(path, pool)
    return bytes_of(path)


def play_on(path: Path, pool: WorkerPool | None = None) -> None:
    """Open a folder and evolve to the end."""
    with open_run(path) as folder:
        _play(folder, pool)


def _play(folder: RunFolder, pool: WorkerPool | None) -> None:
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

UNSEEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings that Python shows nobody who has not asked for them."""


def manaforge(
    *arguments: object, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command `manaforge` as a user does, without a terminal, but in this process.

    So kernels are loaded once for all commands, which otherwise takes most of their time. What a process
    would keep to itself is put back: the standard streams, the environment, the folder, agents from outside.
    """
    words = ("manaforge", *map(str, arguments))
    named = permissions._named
    _forget_agents()
    with (
        _standard_streams() as streams,
        patch.dict(os.environ, ENVIRONMENT | environment, clear=True),
        patch.object(sys, "argv", list(words)),
        patch.object(progress, "LINE_SECONDS", 1e9),  # on a slow machine there would be more lines
        chdir(cwd or Path.cwd()),
        _warnings_as_usual(),
    ):
        code = _exit_code()
        said = streams()
    permissions._named = named
    _forget_agents()
    return subprocess.CompletedProcess(words, code, *said)


def manaforge_process(
    *arguments: object, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command `manaforge` in a process of its own, as it is installed."""
    words = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(
        words, cwd=cwd, env=ENVIRONMENT | environment, capture_output=True, text=True, check=False
    )


def _forget_agents() -> None:
    """End agents from outside that are in no game, and forget what they declared: another process knows none."""
    processes.close()
    check_starts.cache_clear()


def _exit_code() -> int:
    """Call the program; the exit code of its process, were it one."""
    try:
        main()
    except SystemExit as ended:
        if not isinstance(ended.code, str):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
    except Exception:
        traceback.print_exc()
    else:
        return 0
    return 1


@contextmanager
def _standard_streams() -> Iterator[Callable[[], tuple[str, str]]]:
    """In this context nobody types, and output and errors are kept, which the function gives that this yields."""
    kept = [os.dup(number) for number in range(3)]
    names = ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__")
    before = {name: getattr(sys, name) for name in names}
    with open(os.devnull) as nothing, TemporaryFile() as output, TemporaryFile() as errors:  # noqa: PTH123
        for number, file in enumerate((nothing, output, errors)):
            os.dup2(file.fileno(), number)
        sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = sys.__stderr__ = open(2, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115

        def said() -> tuple[str, str]:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            for file in (output, errors):
                file.seek(0)
            return output.read().decode(), errors.read().decode()

        try:
            yield said
        finally:
            for number, copy in enumerate(kept):
                os.dup2(copy, number)
                os.close(copy)
            for name, stream in before.items():
                setattr(sys, name, stream)


@contextmanager
def _warnings_as_usual() -> Iterator[None]:
    """In this context warnings are lines on standard error, as in any process, and no errors."""

    def show(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object) -> None:
        print(warnings.formatwarning(message, category, filename, lineno), end="", file=sys.stderr)

    with warnings.catch_warnings(), patch.object(warnings, "showwarning", show):
        warnings.resetwarnings()
        for category in UNSEEN:
            warnings.simplefilter("ignore", category)
        yield
