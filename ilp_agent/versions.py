"""What decides how a game goes, by version: two machines that agree on all of it play the same games."""

from collections.abc import Iterable

from engine.versions import engine_versions
from ilp_agent.backends import BACKENDS, library_versions


def play_versions(backends: Iterable[str] = ()) -> dict[str, str]:
    """Versions of all that decides results: the engine's, and those of solvers' libraries.

    A library that every installation has always counts. An optional one counts where it plays, so that a
    machine without it may play all other games.

    Args:
        backends: those that the games use.
    """
    used = set(backends)
    counted = [entry.name for entry in BACKENDS.values() if not entry.extra or entry.name in used]
    return engine_versions() | library_versions(counted)
