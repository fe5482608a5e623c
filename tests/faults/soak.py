"""Workers killed and stopped again and again while runs play: `make soak`, or `python -m tests.faults.soak 30`.

Every run must have the bytes of an undisturbed one, memory must not grow, and no process may be left.
"""

import contextlib
import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from evo.play.ray import RayPool
from tests.evo.runs import run_new
from tests.faults.test_ray import SOME_SECONDS, workers_of_this_process

KILL_SECONDS = (1.0, 6.0)
"""Least and most seconds from one disturbance to the next."""

STOPPED_SECONDS = 4.0
"""How long a worker is suspended, in one of three disturbances; it is late then, and another plays."""


def disturb(over: threading.Event, done: dict[str, int]) -> None:
    """Kill or suspend a worker, chosen at random, every few seconds. `done` is counted in place."""
    pick = random.Random(1)
    while not over.wait(pick.uniform(*KILL_SECONDS)):
        workers = workers_of_this_process()
        if not workers:
            continue
        worker = pick.choice(workers)
        with contextlib.suppress(ProcessLookupError):
            if pick.random() < 1 / 3:
                os.kill(worker, signal.SIGSTOP)
                over.wait(STOPPED_SECONDS)
                os.kill(worker, signal.SIGCONT)
                done["suspended"] += 1
            else:
                os.kill(worker, signal.SIGKILL)
                done["killed"] += 1


def memory(process: int) -> int:
    """Resident memory of a process, in MB."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def main(minutes: float) -> None:
    """Play runs for some minutes under disturbances, and say what was found."""
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    expected = run_new(folder / "undisturbed", SOME_SECONDS)
    over, done = threading.Event(), {"killed": 0, "suspended": 0}
    pool = RayPool(2)
    disturber = threading.Thread(target=disturb, args=(over, done))
    disturber.start()
    until, runs, least = time.monotonic() + 60 * minutes, 0, (0, 0)
    try:
        while time.monotonic() < until:
            began = time.monotonic()
            assert run_new(folder / f"{runs:04d}", SOME_SECONDS, pool) == expected, "another result"
            runs += 1
            now = memory(os.getpid()), memory(pool.process)
            least = least if runs > 1 else now
            counts = ", ".join(f"{count} {what}" for what, count in done.items())
            seconds = time.monotonic() - began
            print(
                f"run {runs}: {seconds:.0f} s, {counts}, driver {now[0]} MB, Ray's process {now[1]} MB",
                flush=True,
            )
    finally:
        over.set()
        disturber.join()
        pool.close()
    assert workers_of_this_process() == [], "workers are left"
    print(f"{runs} runs with the same bytes; memory from {least} to {now} MB")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0)
