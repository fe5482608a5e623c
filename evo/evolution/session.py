"""Sessions of runs: folders created or continued, checks of the manifest, runs of a study side by side.

The runs of a study have one configuration and differ in their seeds. Side by side, no run waits for the
generations of another, so that workers stay busy although every generation ends with a barrier.
"""

import platform
import subprocess
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from engine import RULES_VERSION
from engine.compile_progress import processors
from evo.config.run_config import RunConfig
from evo.evolution.fitness import find_opponents
from evo.evolution.records import new_strategy
from evo.evolution.validation import missing_validations, stop_of
from evo.play.opponents import opponents_bytes, opponents_digest, read_opponents
from evo.play.pool import InterruptedRunError, Pool
from evo.seeds import study_seed
from evo.storage.files import OPPONENTS, json_bytes
from evo.storage.run_folder import RunError, RunFolder, create_run, open_run, refuse_earlier_effects
from evo.storage.schema import RUN_SCHEMA
from evo.strategies import find_strategy
from ilp_agent.backends import library_versions
from rivals import find_kind, other_versions

LIBRARIES = ("numba", "numpy", "pandas", "pyarrow", "ray")
"""Libraries in the manifest; those of strategies and solvers are added."""

WORKERS_A_RUN = 4
MOST_AT_A_TIME = 64


def open_or_create(path: Path, config: RunConfig) -> RunFolder:
    """The folder of a run, new or existing; a run of fewer generations is extended, unless it was stopped.

    Raises:
        RunError: it was started with another configuration, or is in use.
        StrategyError: this machine does not have the strategy.
    """
    if not (path / "config.toml").exists():
        new_strategy(config)  # which another package may have to be installed for
        players = find_opponents(config)
        return create_run(path, config, new_manifest(config), opponents_bytes(players) if players else b"")
    folder = open_run(path)
    try:
        if folder.config.digest != config.digest:
            raise RunError(f"{path} was started with another configuration; choose another --out")
        shorter = folder.config.generations < config.generations
        if shorter and not missing_validations(folder) and stop_of(folder) is None:
            extend(folder, config.generations)
    except BaseException:
        folder.close()
        raise
    return folder


def extend(folder: RunFolder, generations: int) -> None:
    """Set the number of generations of a run; past its end, validations before that count no more.

    Raises:
        RunError: the run is already longer.
    """
    if generations < folder.committed - 1:
        raise RunError(
            f"run folder {folder.path} already has {folder.committed - 1} generations after the first; "
            f"--generations takes the new total, got {generations}"
        )
    values: dict[str, Any] = {"generations": generations}
    complete = folder.committed == folder.config.generations + 1
    if complete and generations >= folder.committed and folder.config.validation.stop_when_gain_below:
        validation = folder.config.validation.model_dump()
        values["validation"] = validation | {"stop_from": folder.committed}
    folder.config = folder.config.changed(**values)
    folder.write_config()


def new_manifest(config: RunConfig) -> dict[str, Any]:
    """Versions and machine that started a run. Nothing in it affects the bytes of the history."""
    own = find_strategy(config.strategy).LIBRARIES
    libraries = {name: version(name) for name in {*LIBRARIES, *own}} | library_versions()
    return {
        "manaforge": version("manaforge"),
        "git": _git_commit(),
        "rules": RULES_VERSION,
        "seed": config.seed,
        "config_hash": config.digest,
        "python": platform.python_version(),
        "libraries": dict(sorted(libraries.items())),
        "machine": {
            "system": platform.system(),
            "processor": platform.machine(),
            "processors": processors(),
        },
        "created": _now(),
        "sessions": [],
    }


def _refuse_other_agents(folder: RunFolder, manifest: dict[str, Any], is_new: bool) -> None:
    """Refuse a run in which agents played otherwise than here; note their versions where its manifest is new.

    Raises:
        RunError: there are such agents; the message names them.
    """
    opponents = read_opponents(folder.path, folder.config)
    later = {
        kind.name: kind.version
        for kind in map(find_kind, [folder.config.agent, *(one.kind for one in opponents)])
        if kind.version > 1
    }
    if later and (is_new or folder.committed == 0):
        manifest.setdefault("agents", later)
    kept = manifest.get("agents")
    other = other_versions(dict.fromkeys(later, 1) | (kept if isinstance(kept, dict) else {}))
    if other:
        raise RunError(f"run folder {folder.path} was started with {other}; start a new run")


def begin_session(folder: RunFolder, pool: Pool) -> None:
    """Add this session to the manifest; refuse a run of other rules.

    Raises:
        RunError: the run was started under other rules, or its configuration or deck files changed.
    """
    manifest, rebuilt = folder.manifest(), False
    if "config_hash" not in manifest:
        folder.problems.append("manifest.json is missing or damaged; a new one is written")
        manifest = {"schema": RUN_SCHEMA, **new_manifest(folder.config)}
        rebuilt = True
    if manifest.get("rules", RULES_VERSION) != RULES_VERSION:
        raise RunError(
            f"run folder {folder.path} was started under rules {manifest['rules']}, "
            f"and this version plays rules {RULES_VERSION}"
        )
    known = manifest.get("config_hash", folder.config.digest)
    if known != folder.config.digest:
        refuse_earlier_effects(folder, known)
        raise RunError(
            f"config.toml of {folder.path}, or a deck it names, is not what the run was started with; "
            "start a new run"
        )
    if folder.config.opponents.fixed:
        kept = opponents_digest(folder.path)
        if manifest.setdefault("opponents_sha256", kept) != kept:
            raise RunError(
                f"{folder.path / OPPONENTS} is not what the run was started with; "
                "put it back, or start a new run"
            )
    _refuse_other_agents(folder, manifest, rebuilt)
    session = {"began": _now(), "from": folder.committed, "pool": pool.name, "workers": pool.workers}
    manifest.setdefault("sessions", []).append(session)
    folder.write("manifest.json", json_bytes(manifest))


def open_member(path: Path, config: RunConfig, number: int) -> RunFolder:
    """The folder of one run of a study, new or existing; see `open_or_create`."""
    return open_or_create(path, config.changed(seed=study_seed(config.seed, number)))


def runs_at_a_time(workers: int) -> int:
    """Number of runs side by side that keeps this many workers busy (docs/performance.md#scaling)."""
    return max(1, min(workers // WORKERS_A_RUN, MOST_AT_A_TIME))


def run_side_by_side(evolve_run: Callable[[int], None], runs: int, at_a_time: int) -> None:
    """Call `evolve_run` for each number below `runs`, `at_a_time` of them at once.

    If one fails, those not started are cancelled, the others finish, and the first failure is raised.
    """
    if at_a_time == 1:
        for number in range(runs):
            evolve_run(number)
        return
    with ThreadPoolExecutor(min(at_a_time, runs), "runs") as threads:
        waiting = {threads.submit(evolve_run, number) for number in range(runs)}
        submitted = set(waiting)
        failed = False
        while waiting and not failed:  # in short waits, so that signals are handled
            done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_EXCEPTION)
            failed = any(future.exception() is not None for future in done)
        for future in waiting:
            future.cancel()
    finished = [future for future in submitted if not future.cancelled()]
    errors = [error for future in finished if (error := future.exception()) is not None]
    for error in sorted(errors, key=lambda error: not isinstance(error, InterruptedRunError)):
        raise error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _git_commit() -> str:
    """The git commit of this source tree, or ""."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
