"""Kinds of worker pools, their settings, and the choice between threads and Ray."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from engine.compile_progress import available_processors
from engine.errors import WrongValueError, unknown_name
from evo.config.files import read_toml
from evo.config.messages import counted
from evo.config.run_config import RunConfig
from evo.play.cluster import check_address
from evo.play.pool import LocalPool, WorkerPool, no_stop_check
from evo.play.ray import RayPool
from evo.play.results import PoolAddressError

POOL_KINDS = ("auto", LocalPool.name, RayPool.name)
"""Kinds of worker pools, in the words of configurations and commands."""


class PoolSettings(NamedTuple):
    """Worker pool options: kind of pool, number of workers, address of a Ray cluster."""

    pool: str
    workers: int
    address: str


def pool_settings(pool: str, workers: int, address: str) -> PoolSettings:
    """Validate the options --pool, --workers and --address.

    Raises:
        UnknownNameError: there is no such pool; the message lists them.
        PoolAddressError: the address is malformed, or this pool takes none.
        WrongValueError: the number of workers is below 0.
    """
    check_pool(pool)
    if workers < 0:
        raise WrongValueError(f"--workers must be 0 (one per processor) or more, got {workers}")
    check_pool_address(pool, address)
    return PoolSettings(pool, workers, address)


def with_pool_settings(
    config: RunConfig, workers: int | None, pool: str | None, address: str | None
) -> RunConfig:
    """Configuration with the workers, pool and address of the command line.

    Raises:
        UnknownNameError: there is no such pool.
        PoolAddressError: the address is malformed, or this pool takes none.
        ConfigError: a value is not allowed.
    """
    if pool is not None:
        check_pool(pool)
    if pool == "local" and address is None:
        address = ""  # the command line takes precedence over the file
    given = {"workers": workers, "pool": pool, "address": address}
    chosen = config.changed(**{key: value for key, value in given.items() if value is not None})
    check_pool_address(chosen.pool, chosen.address)
    return chosen


def ignored_address_note(file: Path, address: str | None, option: str = "--address auto") -> str:
    """Note that the cluster address in an older configuration file is ignored; "" if the file has none.

    Args:
        file: the configuration file.
        address: of the command line; None if not given.
        option: text of the option that sets it.
    """
    if address is not None or not read_toml(file, "configuration").get("address"):
        return ""
    return f'{file}: address = "auto" is ignored; to join the cluster of this machine, use {option}'


def check_pool(pool: str) -> None:
    """Refuse an unknown kind of worker pool.

    Raises:
        UnknownNameError: there is no such pool; the message lists them.
    """
    if pool not in POOL_KINDS:
        raise unknown_name("pool", pool, POOL_KINDS)


def check_pool_address(kind: str, address: str) -> None:
    """Refuse a cluster address that is malformed, or given for a kind of pool without clusters.

    Raises:
        PoolAddressError: the address is malformed, or the kind is "local".
    """
    check_address(address)
    if address and kind == LocalPool.name:
        raise PoolAddressError(
            f"pool 'local' plays on this machine; for the cluster at {address} use --pool ray"
        )


@contextlib.contextmanager
def open_pool(
    kind: str,
    workers: int,
    address: str,
    compiled: bool,
    raise_if_stopped: Callable[[], None] = no_stop_check,
    *,
    short: bool = False,
) -> Iterator[tuple[WorkerPool, str]]:
    """Context with a worker pool; yields the pool, and a sentence that names it and why it was chosen.

    Args:
        kind: "auto", "local" or "ray".
        workers: number of workers; 0 for all processors.
        address: of a Ray cluster, or empty.
        compiled: whether games run compiled.
        raise_if_stopped: called once Ray is up, and while waiting for nodes; raises to stop.
        short: whether all games take less time than starting Ray on this machine.

    Raises:
        PoolError: the pool cannot start.
    """
    chosen, why = kind, ""
    if kind == "auto":
        if address:
            chosen, why = "ray", "a cluster address is given"
        elif not compiled and short:
            chosen, why = "local", "too few games to start Ray for"
        elif not compiled and (workers or available_processors()) > 1:
            chosen, why = "ray", "games of agents in Python need processes, one for each worker"
        else:
            chosen, why = "local", "threads are enough for compiled games on this machine"
    check_pool_address(chosen, address)
    pool: WorkerPool = (
        LocalPool(workers) if chosen == "local" else RayPool(workers, address, raise_if_stopped)
    )
    note = pool.found if isinstance(pool, RayPool) else ""
    if chosen == "local" and not compiled:
        note = "games of agents in Python take turns, one at a time"
    try:
        reason = "; ".join(filter(None, (why, note)))
        yield (
            pool,
            f"pool {pool.name} with {counted(pool.workers, 'worker')}" + (f" ({reason})" if reason else ""),
        )
    finally:
        pool.close()
