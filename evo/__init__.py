"""The evolution of objective weights: strategy, coevolution, runs, tournament, reports.

`evolve`, `play_tournament`, `play_arena` and `write_report` do from Python what commands do (`evo.api`).
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evo.api import evolve, play_arena, play_tournament, write_report

__all__ = ["evolve", "play_arena", "play_tournament", "write_report"]


def __getattr__(name: str) -> Any:
    """Import `evo.api` when it is first used, so that commands start at once."""
    if name in __all__:
        from evo import api  # noqa: PLC0415 - most of a second

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
