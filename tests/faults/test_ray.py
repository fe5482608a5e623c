"""Ray's own faults: workers and whole nodes killed, workers that hang, replies that get lost."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evo.config.run_config import RunConfig
from evo.evolution.run import evolve
from evo.evolution.session import begin_session, new_manifest
from evo.play import dispatch
from evo.play.cluster import address_file
from evo.play.games import compile_games
from evo.play.pools import open_pool
from evo.play.ray import RayPool
from evo.storage.run_folder import create_run
from tests.conftest import UNCOMPILED
from tests.evo.play.test_processes import NAMED, ODD_NAMES
from tests.evo.runs import ENVIRONMENT, TINY, Quiet, bytes_of, run_new
from tests.faults import marks
from tests.faults.scripted import EXPECTED, GAMES, ROSTER
from tests.waiting import HANG

pytestmark = marks

SOME_SECONDS: RunConfig = TINY.changed(mu=8, games=300, generations=8, **{"lambda": 8})
"""A run of about ten seconds."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return run_new(tmp_path_factory.mktemp("undisturbed") / "run", SOME_SECONDS)


class Disturbing(Quiet):
    """Calls something while the games after a generation are played, until it says that it has done it."""

    def __init__(self, generation: int, disturb: Any) -> None:
        super().__init__()
        self._at, self._disturb, self._due = generation, disturb, False

    def advance(self, games: int) -> None:
        if self._due and games:  # some are played, others are not
            self._due = not self._disturb()

    def generation(self, told: Any, *_: object) -> None:
        if told.generation == self._at:
            self._due = True


def run_disturbed(path: Path, pool: RayPool, disturb: Any, at: int = 2) -> tuple[dict[str, str], str]:
    """Evolve while something happens after a generation; returns the run's bytes and its log."""
    with create_run(path, SOME_SECONDS, new_manifest(SOME_SECONDS)) as folder:
        begin_session(folder, pool)
        evolve(folder, pool, Disturbing(at, disturb))
    return bytes_of(path), (path / "log.jsonl").read_text()


def workers_of_this_process() -> list[int]:
    """Processes that play games for this one: its descendants, not those of another test."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and b"ray::play_range" in (entry / "cmdline").read_bytes():
                found += [int(entry.name)] if descends(int(entry.name), os.getpid()) else []
    return found


def descends(process: int, ancestor: int) -> bool:
    """Whether a process descends from another."""
    while process > 1 and process != ancestor:
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return process == ancestor


@contextlib.contextmanager
def pool_of(workers: int, address: str = "") -> Iterator[RayPool]:
    pool = RayPool(workers, address)
    try:
        yield pool
    finally:
        pool.close()


def test_a_killed_worker_and_a_hung_one(
    tmp_path: Path, undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker is killed in the middle of a generation; later one is suspended and never continues."""
    with pool_of(2) as pool:
        killed: list[int] = []

        def kill() -> bool:
            killed.extend(workers_of_this_process()[:1])
            for worker in killed:
                os.kill(worker, signal.SIGKILL)
            return bool(killed)

        played, _ = run_disturbed(tmp_path / "killed", pool, kill)
        assert played == undisturbed
        assert killed
        stopped: list[int] = []

        def stop() -> bool:
            stopped.extend(workers_of_this_process()[:1])
            for worker in stopped:
                os.kill(worker, signal.SIGSTOP)
            return bool(stopped)

        monkeypatch.setattr(dispatch, "MIN_LATE_SECONDS", 1.0)
        monkeypatch.setattr(dispatch, "HUNG_SECONDS", 15.0)
        try:
            played, log = run_disturbed(tmp_path / "hung", pool, stop)
        finally:
            for worker in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGCONT)
        assert played == undisturbed
        assert stopped
        assert "take more than" in log or "no result of any worker" in log


@pytest.mark.nightly
def test_a_whole_node_killed_in_a_cluster_of_three(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        cluster.wait_for_nodes()
        with pool_of(0, cluster.address) as pool:
            assert pool.workers == 3
            removed: list[datetime] = []

            def kill() -> bool:
                cluster.remove_node(nodes[0], allow_graceful=False)
                removed.append(datetime.now(UTC))
                return True

            played, log = run_disturbed(tmp_path / "run", pool, kill)
        ended = datetime.fromisoformat(json.loads(log.splitlines()[-1])["time"])
        assert removed, "a node died"
        assert removed[0] < ended, "on the way"
        assert played == undisturbed
    finally:
        cluster.shutdown()


@pytest.mark.nightly
@pytest.mark.skipif(UNCOMPILED, reason="nothing is compiled in this mode")
def test_nodes_take_the_drivers_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that has a cache of its own, and compiles nothing."""
    from ray.cluster_utils import Cluster

    compile_games(ROSTER.players, ROSTER.decks)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        with monkeypatch.context() as of_node:
            of_node.setenv("MANAFORGE_CACHE_DIR", str(tmp_path))
            of_node.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
            cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        with pool_of(0, cluster.address) as pool:
            assert (pool.play(ROSTER, GAMES, lambda _: None) == EXPECTED).all()
    finally:
        cluster.shutdown()
    kept = [path.suffix for path in (tmp_path / "kernels").iterdir()]
    assert ".machine" in kept
    assert ".part" not in kept


@pytest.mark.nightly
def test_lost_replies_and_double_executions(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    """Ray drops requests and replies of the calls that hand out, start and fetch tasks."""
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from pathlib import Path
from evo.play.ray import RayPool
from tests.evo.runs import run_new
from tests.faults.test_ray import SOME_SECONDS
if __name__ == "__main__":
    pool = RayPool(2)
    print(pool.process)
    try:
        run_new(Path(sys.argv[1]), SOME_SECONDS, pool)
    finally:
        pool.close()
"""
    file = tmp_path / "run_it.py"
    file.write_text(script)
    chances = {"req_failure_prob": 15, "resp_failure_prob": 15, "in_flight_failure_prob": 15}
    calls = ("CoreWorkerService.grpc_client.PushTask", "NodeManagerService.grpc_client.RequestWorkerLease")
    lossy = json.dumps({call: {"num_failures": 20, **chances} for call in calls})
    done = subprocess.run(
        [sys.executable, str(file), str(tmp_path / "run")],
        env=ENVIRONMENT | {"RAY_testing_rpc_failure": lossy},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (log,) = address_file().parent.glob(f"session_*_{int(done.stdout)}/logs/gcs_server.out")
    assert "unrecoverable failure" in log.read_text(errors="replace"), "Ray lost something on the way"
    assert bytes_of(tmp_path / "run") == undisturbed


def test_a_ray_of_our_own_listens_on_the_loopback_alone(tmp_path: Path) -> None:
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
import os
from pathlib import Path
from evo.play.ray import RayPool
from tests.faults.test_ray import descends
if __name__ == "__main__":
    pool = RayPool(1)
    inodes = {{}}
    for name in ("tcp", "tcp6"):
        for line in Path("/proc/net", name).read_text().splitlines()[1:]:
            parts = line.split()
            if parts[3] == "0A":
                inodes["socket:[" + parts[9] + "]"] = parts[1].split(":")[0]
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and descends(int(entry.name), os.getpid()):
                for handle in (entry / "fd").iterdir():
                    found.add(inodes.get(os.readlink(handle)))
        except OSError:
            pass
    print(sorted(one for one in found if one))
    pool.close()
"""
    file = tmp_path / "listen.py"
    file.write_text(script)
    done = subprocess.run(
        [sys.executable, str(file)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    found = set(json.loads(done.stdout.strip().splitlines()[-1].replace("'", '"')))
    assert found, "Ray listens somewhere"
    assert found <= loopback


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names as Linux keeps them")
def test_a_process_with_a_name_that_is_no_utf8_harms_no_pool() -> None:
    """Any user of the machine may start one: the pool opens, plays and closes."""
    command = [sys.executable, "-S", "-c", NAMED, ODD_NAMES[0]]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"named\n"
        try:
            with open_pool("ray", 1, "", True) as (pool, said):
                assert (pool.play(ROSTER, GAMES, lambda _: None) == EXPECTED).all()
            assert said.startswith("pool ray")
            assert process.poll() is None, "it was there all the time"
        finally:
            process.kill()
