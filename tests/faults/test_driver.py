"""The driver killed or asked to stop at random moments, then resumed: the same bytes."""

import contextlib
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from evo.config.files import read_config
from tests.conftest import cases, first
from tests.evo.runs import ENVIRONMENT, PROGRAM, TINY, bytes_of, manaforge, run_new
from tests.faults import marks
from tests.waiting import HANG, wait_until

pytestmark = marks


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few seconds of play on a machine that does nothing else, in twelve generations."""
    file = tmp_path_factory.mktemp("configs") / "long.toml"
    file.write_text(TINY.changed(mu=8, games=60, generations=12, **{"lambda": 8}).to_toml())
    return file


@pytest.fixture(scope="module")
def undisturbed(long: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The bytes of a run without a stop."""
    return run_new(tmp_path_factory.mktemp("long") / "run", read_config(long))


def start(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT | environment,
        start_new_session=True,
    )


def wait_for(process: subprocess.Popen[str], run: Path, generations: int) -> None:
    """Wait until a run is begun and has committed so many generations, or is over."""

    def has_them() -> bool:
        return (run / "config.toml").exists() and len(list(run.glob("generations/*.parquet"))) >= generations

    wait_until(lambda: process.poll() is not None or has_them(), f"{generations} generations of {run}")


def processes_with(mark: str) -> set[int]:
    """Processes that inherited a mark in their environment, including Ray's."""
    found = set()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                found.add(int(entry.name))
    return found


TRIALS = 5
"""Of a run that may be over before it is stopped, when this process had to wait for others."""


@pytest.mark.parametrize("case", first(3, range(6)))
def test_signals_at_random_moments_stop_and_lose_nothing(
    case: int, long: Path, undisturbed: dict[str, str], tmp_path: Path
) -> None:
    """SIGINT and SIGTERM in turn, every third time with Ray: saved, 130 or 143, and no process is left."""
    number, code = ((signal.SIGINT, 130), (signal.SIGTERM, 143))[case % 2]
    mark, pool = f"MARK={tmp_path}", "ray" if case % 3 == 2 else "local"
    for trial in range(TRIALS):
        run = tmp_path / f"run-{trial}"
        process = start("evolve", long, "--out", run, "--workers", 2, "--pool", pool, MARK=str(tmp_path))
        wait_for(process, run, (0, 3, 0, 5, 2, 4)[case])
        process.send_signal(number)
        _, errors = process.communicate(timeout=HANG)
        if process.returncode != 0:
            break
    assert process.returncode == code, errors
    assert f"stopped by {signal.Signals(number).name}: " in errors
    assert f"manaforge resume {run}" in errors
    wait_until(lambda: not processes_with(mark), "all processes end", 0.2)
    assert manaforge("resume", run, "--pool", "local").returncode == 0
    assert bytes_of(run) == undisturbed


@pytest.mark.parametrize("case", first(2, range(6)))
def test_signals_while_a_run_starts_end_it(case: int, long: Path, tmp_path: Path) -> None:
    """Also while Ray starts, in a process of its own: 130 or 143, and no process is left."""
    number, code = ((signal.SIGINT, 130), (signal.SIGTERM, 143))[case % 2]
    run, mark = tmp_path / "run", f"MARK={tmp_path}"
    process = start("evolve", long, "--out", run, "--workers", 2, "--pool", "ray", MARK=str(tmp_path))
    wait_until(lambda: len(processes_with(mark)) >= 2, "the process that uses Ray is started")
    time.sleep(0.6 * case)  # Ray is up three seconds later, or not yet: any moment will do
    process.send_signal(number)
    _, errors = process.communicate(timeout=HANG)
    assert process.returncode == code, errors
    assert "SIGTERM received" not in errors
    wait_until(lambda: not processes_with(mark), "all processes end", 0.2)


HANDLERS = """
import ctypes
import sys
from evo.play.ray import RayPool

def handler():
    action = ctypes.create_string_buffer(256)
    ctypes.CDLL(None).sigaction(15, None, action)
    return action.raw[: ctypes.sizeof(ctypes.c_void_p)]

before = handler()
pool = RayPool(1)
print("Ray is up", handler() == before, "ray" in sys.modules)
pool.close()
print("closed", handler() == before)
"""


def test_ray_puts_no_handler_of_its_own_over_ours() -> None:
    """Ray is not even imported in the driver: handlers are read from the system."""
    done = subprocess.run(
        [PROGRAM[0], "-c", HANDLERS], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert done.stdout.splitlines() == ["Ray is up True False", "closed True"], done.stderr


@pytest.mark.parametrize("address", ["127.0.0.1:1", "a..b:6379"])
def test_an_address_where_nobody_answers_is_told(address: str, long: Path, tmp_path: Path) -> None:
    process = start("evolve", long, "--out", tmp_path / "run", "--address", address)
    _, errors = process.communicate(timeout=HANG)
    assert process.returncode == 1
    assert errors.splitlines()[-1].startswith(f"manaforge: no answer from {address}")
    assert "Traceback" not in errors


def kill_and_resume(times: int, seed: int, long: Path, run: Path) -> None:
    """Kill a run at random moments, each in another generation, and resume it to its end."""
    pick = np.random.default_rng(seed)
    command: tuple[object, ...] = ("evolve", long, "--out", run)
    committed = []
    for kills in range(times):
        process = start(*command, "--workers", 2)
        wait_for(process, run, 1 + 3 * kills)
        time.sleep(float(pick.uniform(0.0, 0.3)))
        process.kill()
        process.communicate()
        committed.append(len(list(run.glob("generations/*"))))
        command = ("resume", run)
    done = manaforge(*command)
    assert done.returncode == 0, done.stderr
    assert max(committed) > 0, "no kill came within a run"


def test_killed_and_resumed(long: Path, undisturbed: dict[str, str], tmp_path: Path) -> None:
    kill_and_resume(2, 1, long, tmp_path / "run")
    assert bytes_of(tmp_path / "run") == undisturbed


def test_killed_at_random_moments(long: Path, undisturbed: dict[str, str], tmp_path: Path) -> None:
    """Runs that are each killed once, later and later, and resumed: the same bytes."""
    killed_at = []
    pick = np.random.default_rng(5)
    runs = cases(4, 20)
    for number in range(runs):
        run = tmp_path / f"run-{number}"
        process = start("evolve", long, "--out", run, "--workers", 2)
        wait_for(process, run, 10 * number // runs)
        time.sleep(float(pick.uniform(0.0, 0.3)))
        process.kill()
        process.communicate()
        killed_at.append(len(list(run.glob("generations/*"))))
        done = manaforge("resume", run)
        assert done.returncode == 0, done.stderr
        assert bytes_of(run) == undisturbed
    print("killed with so many generations on disk:", killed_at)
    assert len(set(killed_at)) > 2
