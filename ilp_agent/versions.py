"""Versions that determine game results: machines with equal versions play identical games."""

from collections.abc import Iterable

from engine.versions import engine_versions
from ilp_agent.backends import BACKENDS, library_versions


def play_versions(backends: Iterable[str] = ()) -> dict[str, str]:
    """Versions of the engine and of the solver libraries.

    A required library is always included; an optional one only if its backend is used, so that a machine
    without it can play all other games.

    Args:
        backends: the backends that the games use.
    """
    used = set(backends)
    counted = [entry.name for entry in BACKENDS.values() if not entry.extra or entry.name in used]
    return engine_versions() | library_versions(counted)
