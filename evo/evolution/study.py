"""A study: runs of one configuration that differ in their seeds, one after another or side by side.

Side by side, no run waits for the generations of another, so that workers stay busy although every
generation ends with a barrier.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

from evo.config.run_config import RunConfig
from evo.evolution.fitness import find_opponents
from evo.evolution.records import new_strategy
from evo.evolution.run import extend, new_manifest
from evo.evolution.validation import missing_validations, stop_of
from evo.play.opponents import opponents_bytes
from evo.play.pool import InterruptedRunError
from evo.seeds import study_seed
from evo.storage.run_folder import RunError, RunFolder, create_run, open_run

WORKERS_A_RUN = 4
MOST_AT_A_TIME = 64


def runs_at_a_time(workers: int) -> int:
    """Number of runs side by side that keeps this many workers busy (docs/scaling.md)."""
    return max(1, min(workers // WORKERS_A_RUN, MOST_AT_A_TIME))


def open_member(path: Path, config: RunConfig, number: int) -> RunFolder:
    """The folder of one run of a study, new or existing; see `open_or_create`."""
    return open_or_create(path, config.changed(seed=study_seed(config.seed, number)))


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
