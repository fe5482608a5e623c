"""Pools by name, and `open_pool`, which chooses one and gives the reason."""

import contextlib
from collections.abc import Callable, Iterator

from engine.compile_progress import processors
from evo.config.messages import counted
from evo.play.cluster import check_address
from evo.play.pool import LocalPool, Pool, never_stop
from evo.play.ray import RayPool
from evo.play.results import PlaceError

POOLS = ("auto", LocalPool.name, RayPool.name)
"""Kinds of pools as configurations and commands write them."""


def check_place(kind: str, address: str) -> None:
    """Refuse an address that is none, or that this kind of pool does not join.

    Raises:
        PlaceError: it is one.
    """
    check_address(address)
    if address and kind == LocalPool.name:
        raise PlaceError(f"pool 'local' plays on this machine; for the cluster at {address} use --pool ray")


@contextlib.contextmanager
def open_pool(
    kind: str,
    workers: int,
    address: str,
    compiled: bool,
    raise_if_stopped: Callable[[], None] = never_stop,
    *,
    short: bool = False,
) -> Iterator[tuple[Pool, str]]:
    """A pool, and a sentence with its name and the reason; closed at the end.

    Args:
        kind: "auto", "local" or "ray".
        workers: number of workers; 0 for all processors.
        address: of a Ray cluster, or empty.
        compiled: whether games run compiled.
        raise_if_stopped: called once Ray is up, and while waiting for nodes; raises to stop.
        short: whether all games are played sooner than a Ray of this machine starts.

    Raises:
        PoolError: the pool cannot start.
    """
    chosen, why = kind, ""
    if kind == "auto":
        if address:
            chosen, why = "ray", "a cluster is given"
        elif not compiled and short:
            chosen, why = "local", "too few games to start Ray for"
        elif not compiled and (workers or processors()) > 1:
            chosen, why = "ray", "games of agents in Python need processes, one for each worker"
        else:
            chosen, why = "local", "threads are enough for compiled games on this machine"
    check_place(chosen, address)
    pool: Pool = LocalPool(workers) if chosen == "local" else RayPool(workers, address, raise_if_stopped)
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
