"""Commands that are run for the page, each once: what is done is kept until its command changes."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pandas as pd

BUILD = Path("build/published")
CORES = 2
"""Cores that the experiments are made for."""

OUT = "OUT"
"""Stands for a job's result in its command; what it is called there is the user's."""


@dataclass(frozen=True)
class Job:
    """A command and its result.

    Attributes:
        name: of its result.
        command: as a user types it, `OUT` for its result; begins with `manaforge` or `python`.
        seed: of its games.
        needs: jobs whose results the command reads; where one was run later, this is run again.
        cores: that it uses.
    """

    name: str
    command: str
    seed: int = 1
    needs: tuple["Job", ...] = ()
    cores: int = CORES

    @property
    def out(self) -> Path:
        """Its result, a folder or file."""
        return BUILD / self.name

    @property
    def printed(self) -> Path:
        """What it printed."""
        return BUILD / f"{self.name}.txt"

    @property
    def done(self) -> Path:
        """Exists once the job has ended well."""
        return BUILD / f"{self.name}.json"

    def is_done(self) -> bool:
        """Whether its result is there, of this very command, and of what it needs."""
        if (
            not self.done.exists()
            or json.loads(self.done.read_text(encoding="utf-8"))["command"] != self.command
        ):
            return False
        ended = self.done.stat().st_mtime
        return all(job.is_done() and job.done.stat().st_mtime <= ended for job in self.needs)

    @property
    def seconds(self) -> float:
        """Time that it took.

        Raises:
            OSError: it has not been run.
        """
        return float(json.loads(self.done.read_text(encoding="utf-8"))["seconds"])

    def run(self, again: bool = False) -> None:
        """Run it, unless its result is there.

        Args:
            again: run it even so.

        Raises:
            SystemExit: the command failed; the message names it and where its output is.
        """
        if self.is_done() and not again:
            print(f"kept      {self.name}: {self.out}", flush=True)
            return
        for old in (self.out, self.done):  # so that the time is that of the whole
            shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
        BUILD.mkdir(parents=True, exist_ok=True)
        print(f"{time.strftime('%H:%M:%S')}  {self.name}: {self.command}", flush=True)
        words = [str(self.out) if word == OUT else word for word in shlex.split(self.command)]
        folder = Path(sys.executable).parent
        words[0] = sys.executable if words[0] == "python" else str(folder / words[0])
        began = time.perf_counter()
        with self.printed.open("w", encoding="utf-8") as printed:
            code = subprocess.run(
                words,
                stdout=printed,
                stderr=subprocess.STDOUT,
                env=os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
                check=False,
            ).returncode
        if code:
            raise SystemExit(f"{self.name} ended with {code}; what it said is in {self.printed}")
        done = {"command": self.command, "seconds": round(time.perf_counter() - began, 1)}
        self.done.write_text(json.dumps(done), encoding="utf-8")


def run_jobs(jobs: Sequence[Job], again: bool = False) -> None:
    """Run jobs in their order, those that use one core side by side; arguments and errors as `Job.run`."""
    for cores, some in groupby(jobs, key=lambda job: job.cores):
        with ThreadPoolExecutor(CORES // cores) as threads:
            list(threads.map(lambda job: job.run(again), some))


@dataclass(frozen=True)
class Part:
    """A part of the page.

    Attributes:
        jobs: what is run for it.
        take: keeps the jobs' results as tables in a folder.
        blocks: makes its blocks of the page from these tables.
        draw: draws its figures from them: PNG files by name.
    """

    jobs: tuple[Job, ...]
    take: Callable[[Path], None]
    blocks: Callable[[Path], dict[str, str]]
    draw: Callable[[Path], dict[str, bytes]]


def keep_jobs(jobs: Sequence[Job], file: Path) -> None:
    """Keep what jobs were run, and how long they took, as a table."""
    rows = [(job.name, job.command, job.seed, job.seconds) for job in jobs]
    pd.DataFrame(rows, columns=["job", "command", "seed", "seconds"]).to_csv(file, index=False)


def read_jobs(file: Path) -> pd.DataFrame:
    """The table of `keep_jobs`, its index the job's name."""
    return pd.read_csv(file, index_col="job")
