"""Create or resume runs, check a run's manifest, and evolve the runs of a study concurrently.

The runs of a study share one configuration and differ in their seeds. Concurrent runs do not wait for each
other's generations, so workers stay busy although every generation ends with a barrier.
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
from engine.compile_progress import available_processors
from evo.config.run_config import FOLLOW_DECKS, RunConfig
from evo.evolution.benchmark import benchmark_players
from evo.evolution.fitness import find_opponents
from evo.evolution.records import new_strategy
from evo.evolution.validation import find_stop, missing_validations
from evo.play.opponents import opponents_bytes, opponents_digest, read_opponents
from evo.play.pool import InterruptedRunError, WorkerPool
from evo.seeds import study_seed
from evo.storage.files import OPPONENTS, json_bytes
from evo.storage.run_folder import RunError, RunFolder, check_effects_version, create_run, open_run
from evo.storage.schema import RUN_SCHEMA
from evo.strategies import find_strategy
from ilp_agent.backends import library_versions
from rivals import agent_versions, other_versions

LIBRARIES = ("numba", "numpy", "pandas", "pyarrow", "ray")
"""Libraries whose versions the manifest records, besides those of strategies and solvers."""

WORKERS_PER_RUN = 4
"""Workers that one run keeps busy (docs/performance.md#scaling)."""

MAX_CONCURRENT_RUNS = 64
"""Maximum number of concurrent runs."""


def open_or_create(path: Path, config: RunConfig) -> RunFolder:
    """Open or create a run folder; a run of fewer generations is extended unless the stop rule ended it.

    Keys whose default follows the decks, and that the configuration does not name, are those of the folder:
    earlier versions had other defaults.

    Raises:
        RunError: the folder has another configuration, or is in use.
        StrategyError: the strategy's package is not installed.
    """
    if not (path / "config.toml").exists():
        new_strategy(config)  # fails early if an optional package is missing
        players = find_opponents(config)
        return create_run(path, config, new_manifest(config), opponents_bytes(players) if players else b"")
    folder = open_run(path)
    try:
        unsaid = {
            key: getattr(folder.config, key) for key in FOLLOW_DECKS if key not in config.model_fields_set
        }
        if folder.config.digest not in (config.digest, config.changed(**unsaid).digest):
            raise RunError(f"{path} was started with another configuration; choose another --out")
        shorter = folder.config.generations < config.generations
        if shorter and not missing_validations(folder) and find_stop(folder) is None:
            extend_run(folder, config.generations)
    except BaseException:
        folder.close()
        raise
    return folder


def extend_run(folder: RunFolder, generations: int) -> None:
    """Set the total generations of a run; the stop rule then ignores validations before the old end.

    Raises:
        RunError: the run already has more generations.
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
    """Manifest of a new run: versions, seed and machine, none of which affects the results."""
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
            "processors": available_processors(),
        },
        "created": _now(),
        "sessions": [],
    }


def _refuse_other_agents(folder: RunFolder, manifest: dict[str, Any], is_new: bool) -> None:
    """Refuse a run played with other versions of the agents; in a new manifest, record the versions.

    Raises:
        RunError: an agent has another version; the message names it.
    """
    opponents = read_opponents(folder.path, folder.config)
    config = folder.config
    has_benchmark = config.final.benchmark_games or config.validation.every
    benchmark = benchmark_players(config.found_benchmark) if has_benchmark else []
    own = agent_versions(any(deck.effects for deck in config.found_decks))
    kinds = [config.agent, *(one.kind for one in (*opponents, *benchmark))]
    later = {name: own[name] for name in kinds if own.get(name, 1) > 1}
    if later and (is_new or folder.committed == 0):
        manifest.setdefault("agents", later)
    kept = manifest.get("agents")
    other = other_versions(dict.fromkeys(later, 1) | (kept if isinstance(kept, dict) else {}), own)
    if other:
        raise RunError(f"run folder {folder.path} was started with {other}; start a new run")


def begin_session(folder: RunFolder, pool: WorkerPool) -> None:
    """Refuse a run of other versions or another configuration; else add this session to the manifest.

    Raises:
        RunError: the run was started with other rules or agents, or its configuration, decks or opponents
            changed.
    """
    manifest, rebuilt = folder.manifest(), False
    if "config_hash" not in manifest:
        folder.problems.append("manifest.json is missing or damaged; a new one is written")
        manifest = {"schema": RUN_SCHEMA, **new_manifest(folder.config)}
        rebuilt = True
    if manifest.get("rules", RULES_VERSION) != RULES_VERSION:
        raise RunError(
            f"run folder {folder.path} was started under rules {manifest['rules']}, "
            f"and this version plays rules {RULES_VERSION}; start a new run"
        )
    known = manifest.get("config_hash", folder.config.digest)
    if known != folder.config.digest:
        check_effects_version(folder, known)
        raise RunError(
            f"config.toml of {folder.path}, or a deck file it names, has changed since the run was started; "
            "restore it, or start a new run"
        )
    if folder.config.opponents.fixed:
        kept = opponents_digest(folder.path)
        if manifest.setdefault("opponents_sha256", kept) != kept:
            raise RunError(
                f"{folder.path / OPPONENTS} has changed since the run was started; "
                "restore it, or start a new run"
            )
    _refuse_other_agents(folder, manifest, rebuilt)
    session = {"began": _now(), "from": folder.committed, "pool": pool.name, "workers": pool.workers}
    manifest.setdefault("sessions", []).append(session)
    folder.write("manifest.json", json_bytes(manifest))


def open_study_run(path: Path, config: RunConfig, number: int) -> RunFolder:
    """Open or create the folder of one run of a study; see `open_or_create`."""
    return open_or_create(path, config.changed(seed=study_seed(config.seed, number)))


def concurrent_runs(workers: int) -> int:
    """Number of concurrent runs that keep `workers` workers busy (docs/performance.md#scaling)."""
    return max(1, min(workers // WORKERS_PER_RUN, MAX_CONCURRENT_RUNS))


def run_concurrently(evolve_run: Callable[[int], None], runs: int, at_a_time: int) -> None:
    """Call `evolve_run` for each number below `runs`, at most `at_a_time` of them concurrently.

    After a failure, calls not yet started are cancelled, the others finish, and the first error is raised.
    """
    if at_a_time == 1:
        for number in range(runs):
            evolve_run(number)
        return
    with ThreadPoolExecutor(min(at_a_time, runs), "runs") as threads:
        waiting = {threads.submit(evolve_run, number) for number in range(runs)}
        submitted = set(waiting)
        failed = False
        while waiting and not failed:  # short waits, so that signals are handled
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
    """Git commit of this source tree; "" if unknown."""
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
