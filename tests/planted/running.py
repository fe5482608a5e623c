"""pytest in a private copy: with what, for how long, and how it ended."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.planted.copies import Copy

WITHOUT_COMPILER = [f"--ignore=tests/engine/test_{name}.py" for name in ("jit", "kernel_cache")]
"""Tests of how kernels are compiled and kept."""

SUITES: dict[bool, list[str]] = {
    False: ["tests", *WITHOUT_COMPILER, "--ignore=tests/planted"],
    True: [
        "tests/engine",
        "tests/ilp_agent",
        "tests/rivals",
        "tests/contracts",
        *WITHOUT_COMPILER,
    ],
}
"""The fast suite, and the reduced one that is made for kernels as Python; without what tests the compiler itself."""

TICK = 0.5
TIMES, MORE_SECONDS = 10.0, 30.0
"""A test is stopped after so many times its processor time without a fault, and so many seconds more."""
IDLE_SECONDS = 600.0
"""One that waits, and uses no processor, is stopped after so many seconds more than its allowance."""


@dataclass(frozen=True)
class Ending:
    """How tests ended.

    Attributes:
        result: "passed", "failed", "crashed", "hung" (one test takes far longer than without a fault),
            "limit" (the tests took all their time, and none had failed).
        test: the one that failed, or ran last.
        why: what it said.
        ran: how many tests passed.
        cpu: seconds of processor time.
    """

    result: str
    test: str
    why: str
    ran: int
    cpu: float


def environment(copy: Copy, *, uncompiled: bool, **more: str) -> dict[str, str]:
    """The environment of tests in a copy."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "PYTEST_"))}
    inherited.pop("PYTHONPATH", None)
    mode = {"NUMBA_DISABLE_JIT": "1"} if uncompiled else {}
    return {**inherited, **mode, "PLANTED_COPY": str(copy.folder), **more}


def command(copy: Copy, arguments: Iterable[str]) -> list[str]:
    """The command that runs pytest in a copy."""
    base = ["-q", "-p", "no:cacheprovider", "-p", "planted_plugin", f"--basetemp={copy.folder}.tmp"]
    return [str(copy.python), "-m", "pytest", *base, *arguments]


def run_tests(
    copy: Copy, tests: list[str], *, uncompiled: bool, allowed: Callable[[str], float], limit: float
) -> Ending:
    """Run tests in this order until one fails.

    Args:
        copy: with the fault.
        tests: their ids.
        uncompiled: with the compiler off.
        allowed: seconds of processor time in which a test passes without a fault.
        limit: of processor time, for all.
    """
    plan = Path(f"{copy.folder}.plan.json")
    plan.write_text(json.dumps({"order": tests}))
    copy.log.write_text("")
    files = sorted({test.split("::")[0] for test in tests})
    with Path(f"{copy.folder}.out").open("wb") as out:
        process = subprocess.Popen(
            command(copy, ["-x", "--tb=short", *files]),
            cwd=copy.folder,
            env=environment(copy, uncompiled=uncompiled, PLANTED_TESTS=str(plan)),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    watch = _Watch(copy.log)
    stopped = ""
    while process.poll() is None and not stopped:
        time.sleep(TICK)
        cpu = used_seconds(process.pid)
        watch.look(cpu)
        allowance = TIMES * (allowed(watch.test) if watch.test else 1.0) + MORE_SECONDS
        if watch.failed:
            break
        waited = time.monotonic() - watch.since
        if cpu - watch.cpu > allowance or waited > 20 * allowance + IDLE_SECONDS:
            stopped = "hung"
        elif cpu > limit:
            stopped = "limit"
    with suppress(subprocess.TimeoutExpired):
        if not stopped:
            process.wait(30)
    _end(process, copy)
    watch.look(0.0)
    cpu = watch.last_cpu
    if watch.failed:
        return Ending("failed", watch.failed, watch.why, watch.passed, cpu)
    if stopped:
        return Ending(stopped, watch.test, "", watch.passed, cpu)
    if process.returncode == 0 and watch.passed + watch.others >= len(tests):
        return Ending("passed", watch.test, "", watch.passed, cpu)
    said = Path(f"{copy.folder}.out").read_text(errors="replace").strip().splitlines()[-12:]
    return Ending(
        "crashed", watch.test, f"exit {process.returncode}: " + " / ".join(said)[-300:], watch.passed, cpu
    )


class _Watch:
    """What the log says so far."""

    def __init__(self, log: Path) -> None:
        self.log, self.position = log, 0
        self.test = self.failed = self.why = ""
        self.since, self.cpu, self.last_cpu = time.monotonic(), 0.0, 0.0
        self.passed = self.others = 0

    def look(self, cpu: float) -> None:
        self.last_cpu = max(cpu, self.last_cpu)
        with self.log.open() as file:
            file.seek(self.position)
            lines = file.readlines()
            if lines and not lines[-1].endswith("\n"):
                lines.pop()
            self.position += sum(len(line.encode()) for line in lines)
        for line in lines:
            entry = json.loads(line)
            if "uses" in entry:
                self.test, self.since, self.cpu = entry["test"], time.monotonic(), cpu
            elif "failed" in entry and not self.failed:
                self.failed, self.why = entry["failed"], entry["why"]
            elif "outcome" in entry:
                self.passed += entry["outcome"] == "passed"
                self.others += entry["outcome"] == "skipped"


def used_seconds(session: int) -> float:
    """Processor time of all processes of a session, and of those that have ended in it."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            parts = stat.read_text().rpartition(") ")[2].split()
            if int(parts[3]) == session:
                ticks += sum(map(int, parts[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _end(process: "subprocess.Popen[bytes]", copy: Copy) -> None:
    """End the tests and all that they have started, which their environment names."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    mark = f"PLANTED_COPY={copy.folder}".encode()
    for one in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in one.read_bytes().split(b"\0"):
                os.kill(int(one.parent.name), signal.SIGKILL)
