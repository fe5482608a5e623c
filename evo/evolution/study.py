"""A study: runs of one configuration that differ in their seeds, one after another or side by side.

Side by side, each run's generations follow each other and no run waits for another's, so that workers are
busy although every generation ends with a barrier.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

from evo.config import RunConfig
from evo.evolution.run import extend, new_manifest
from evo.play.pool import InterruptedRunError
from evo.seeds import study_seed
from evo.storage.store import RunError, RunFolder, create_run, open_run

WORKERS_A_RUN = 4
MOST_AT_A_TIME = 64


def runs_at_a_time(workers: int) -> int:
    """Runs side by side that keep so many workers busy (docs/scaling.md)."""
    return max(1, min(workers // WORKERS_A_RUN, MOST_AT_A_TIME))


def open_member(path: Path, config: RunConfig, number: int) -> RunFolder:
    """The folder of one run of a study, new or begun before; see `open_or_create`."""
    return open_or_create(path, config.changed(seed=study_seed(config.seed, number)))


def open_or_create(path: Path, config: RunConfig) -> RunFolder:
    """The folder of a run, new or begun before; one with fewer generations is made longer.

    Raises:
        RunError: it was begun with another configuration, or is in use.
    """
    if not (path / "config.toml").exists():
        return create_run(path, config, new_manifest(config))
    folder = open_run(path)
    try:
        if folder.config.digest != config.digest:
            raise RunError(f"{path} was begun with another configuration; choose another --out")
        if folder.config.generations < config.generations:
            extend(folder, config.generations)
    except BaseException:
        folder.close()
        raise
    return folder


def run_side_by_side(go_on: Callable[[int], None], runs: int, at_a_time: int) -> None:
    """Call `go_on` for each number below `runs`, so many at a time.

    Where one fails those not begun are left out, the others end, and the first failure is raised.
    """
    if at_a_time == 1:
        for number in range(runs):
            go_on(number)
        return
    with ThreadPoolExecutor(min(at_a_time, runs), "runs") as threads:
        waiting = {threads.submit(go_on, number) for number in range(runs)}
        begun = set(waiting)
        failed = False
        while waiting and not failed:  # in short waits, so that signals are heard
            done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_EXCEPTION)
            failed = any(one.exception() is not None for one in done)
        for one in waiting:
            one.cancel()
    errors = [error for one in begun if not one.cancelled() and (error := one.exception()) is not None]
    for error in sorted(errors, key=lambda error: not isinstance(error, InterruptedRunError)):
        raise error
