"""Evolution of agent weights: strategies, coevolution, runs, tournaments and reports.

`evolve`, `play_tournament`, `play_arena` and `write_report` are the commands as functions (`evo.api`).
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evo.api import evolve, play_arena, play_tournament, write_report

__all__ = ["evolve", "play_arena", "play_tournament", "write_report"]


def __getattr__(name: str) -> Any:
    """Import `evo.api` on first use, so that commands start fast."""
    if name in __all__:
        from evo import api  # noqa: PLC0415 - most of a second

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
