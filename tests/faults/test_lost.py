"""Ray itself killed in the middle of a run: what died is told, nothing finished is lost, no process is left."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evo.play.cluster import _descendants
from tests.conftest import first
from tests.evo.runs import TINY, bytes_of, manaforge, run_new
from tests.faults import marks
from tests.faults.test_driver import processes_with, wait_for
from tests.faults.test_driver import start as start_command
from tests.waiting import HANG, wait_until

pytestmark = marks

LONG = TINY.changed(mu=8, games=60, generations=30, **{"lambda": 8})
"""A run of some seconds."""

PARTS = {
    "gcs_server": ("/gcs/gcs_server", "Ray's gcs_server (process "),
    "raylet": ("/raylet/raylet", "Ray's raylet (process "),
    "RuntimeEnvAgent": ("ray::RuntimeEnvAgent", "Ray's agent of runtime environments (process "),
    "DashboardAgent": ("ray::DashboardAgent", "Ray's dashboard agent (process "),
    "the process that uses Ray": ("evo.play.ray_process", "the process that uses Ray ("),
}
"""What is killed: the end of a program's name or title, or a part of a Python program; and how it is named."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return run_new(tmp_path_factory.mktemp("undisturbed") / "run", LONG)


_started: list[subprocess.Popen[str]] = []


def start(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    """A command that `none_left` ends."""
    _started.append(start_command(*arguments, **environment))
    return _started[-1]


def begin(tmp_path: Path, *options: object) -> subprocess.Popen[str]:
    """Start a run of `LONG` in tmp_path/run, and wait until it has two generations."""
    file = tmp_path / "long.toml"
    file.write_text(LONG.to_toml())
    process = start("evolve", file, "--out", tmp_path / "run", "--yes", *options, MARK=str(tmp_path))
    wait_for(process, tmp_path / "run", 2)
    assert process.poll() is None, process.communicate()
    return process


@pytest.fixture(autouse=True)
def none_left() -> Iterator[None]:
    """End what a test that fails has started."""
    yield
    while _started:
        process = _started.pop()
        process.kill()
        with contextlib.suppress(ValueError):  # its output has been read
            process.communicate()


def living(sessions: set[int]) -> dict[int, list[str]]:
    """Command lines of the processes in these sessions; Ray's agents and workers give themselves titles."""
    rows = subprocess.run(["ps", "-eo", "pid=,sid=,stat="], capture_output=True, text=True, check=True).stdout
    found = {}
    for process, session, state in map(str.split, rows.splitlines()):
        if int(session) in sessions and state[0] != "Z":
            with contextlib.suppress(OSError):
                found[int(process)] = Path(f"/proc/{process}/cmdline").read_text().strip("\0").split("\0")
    return found


def sessions_of(mark: Path) -> set[int]:
    """The sessions of a command and of the process that uses Ray for it."""
    return {os.getsid(process) for process in processes_with(f"MARK={mark}")}


def kill(sessions: set[int], part: str) -> None:
    """Kill the processes that have this program, this title, or, as Python, this in their program's text."""
    found = []
    for process, (program, *arguments) in living(sessions).items():
        if program.endswith(part) or ("python" in program and any(part in text for text in arguments)):
            os.kill(process, signal.SIGKILL)
            found.append(process)
    assert len(found) == 1, (part, living(sessions))


def ends_well(process: subprocess.Popen[str], sessions: set[int]) -> str:
    """The last line on standard error of a command that ends with 3, and without processes left."""
    _, errors = process.communicate(timeout=HANG)
    assert process.returncode == 3, errors
    assert "Traceback" not in errors
    all_end(sessions)
    return errors.splitlines()[-1]


def all_end(sessions: set[int]) -> None:
    """Wait until the sessions are empty."""
    wait_until(lambda: not living(sessions), "all processes end", 0.05)


@pytest.mark.parametrize("part", first(1, PARTS))
def test_a_ray_of_our_own_that_dies_is_told(part: str, tmp_path: Path, undisturbed: dict[str, str]) -> None:
    process = begin(tmp_path, "--workers", 2, "--pool", "ray")
    place, words = PARTS[part]
    sessions = sessions_of(tmp_path)
    kill(sessions, place)
    said = ends_well(process, sessions)
    assert words in said, "named, beside what died in the same moment"
    assert " safe. To continue: manaforge resume " in said
    assert said.endswith(f"manaforge resume {tmp_path / 'run'}")
    assert '"event": "stopped", "error": ' in (tmp_path / "run" / "log.jsonl").read_text()
    assert manaforge("resume", tmp_path / "run", "--pool", "local").returncode == 0
    assert bytes_of(tmp_path / "run") == undisturbed


def test_a_tournament_says_how_many_games_are_safe(tmp_path: Path) -> None:
    command = ("tournament", "ilp:keep-alive", "ilp:value-trading", "--games", 400_000)
    options = ("--decks", "thesis-paladin", "--out", tmp_path / "cup", "--workers", 2, "--pool", "ray")
    process = start(*command, *options, MARK=str(tmp_path))
    cup = tmp_path / "cup"
    wait_until(lambda: process.poll() is not None or list(cup.glob("batches/*")), "a batch is saved", 0.1)
    assert process.poll() is None, process.communicate()
    sessions = sessions_of(tmp_path)
    kill(sessions, "/raylet/raylet")
    said = ends_well(process, sessions)
    assert f" games are safe in {tmp_path / 'cup'}. To continue: repeat the command" in said


@pytest.mark.nightly
@pytest.mark.parametrize("service", ["gcs_server", "raylet"])
def test_the_head_of_a_joined_cluster_that_dies_is_told(
    service: str, tmp_path: Path, undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))  # of the workers
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    agents: list[int] = []
    try:
        cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        address = cluster.address
        agents = _descendants(cluster.head_node.all_processes["raylet"][0].process.pid)
        process = begin(tmp_path, "--address", address)
        os.kill(cluster.head_node.all_processes[service][0].process.pid, signal.SIGKILL)
        said = ends_well(process, sessions_of(tmp_path))
    finally:
        cluster.shutdown()
        for agent in agents:  # of a raylet that could not end them
            with contextlib.suppress(OSError):
                os.kill(agent, signal.SIGKILL)
    assert address in said
    assert said.endswith(f"manaforge resume {tmp_path / 'run'} --address {address}")
    assert manaforge("resume", tmp_path / "run", "--pool", "local").returncode == 0
    assert bytes_of(tmp_path / "run") == undisturbed


@pytest.mark.parametrize("pool", first(1, ["local", "ray"]))
def test_ctrl_c_again_and_again_loses_nothing(pool: str, tmp_path: Path, undisturbed: dict[str, str]) -> None:
    """The second ends the process at once, by the signal; what is committed stays, and no process."""
    process = begin(tmp_path, "--workers", 2, "--pool", pool)
    sessions = sessions_of(tmp_path)
    for _ in range(20):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to the whole group
        time.sleep(0.01)
    _, errors = process.communicate(timeout=HANG)
    assert process.returncode in (130, -signal.SIGINT), errors
    assert "Traceback" not in errors
    all_end(sessions)
    assert manaforge("resume", tmp_path / "run", "--pool", "local").returncode == 0
    assert bytes_of(tmp_path / "run") == undisturbed
