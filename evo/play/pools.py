"""Kinds of worker pools, and the choice between threads and Ray."""

import contextlib
from collections.abc import Callable, Iterator

from engine.compile_progress import available_processors
from evo.config.messages import counted
from evo.play.cluster import check_address
from evo.play.pool import LocalPool, WorkerPool, no_stop_check
from evo.play.ray import RayPool
from evo.play.results import PoolAddressError

POOL_KINDS = ("auto", LocalPool.name, RayPool.name)
"""Kinds of worker pools, in the words of configurations and commands."""


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
