"""Evolution of agent weights: strategies, coevolution, runs, tournaments and reports.

The functions of `evo.api` are imported from here, or from `manaforge`: the commands, and more, as functions.
"""

from typing import TYPE_CHECKING

from engine.lazy import lazy_exports

if TYPE_CHECKING:  # imported on first use, so that commands start fast
    from evo.api import (
        EvolvedRun,
        Generation,
        PlayedTournament,
        WrittenReport,
        evolve,
        make_agent,
        optimise,
        play_arena,
        play_tournament,
        read_run,
        win_rates,
        write_report,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "EvolvedRun",
    "Generation",
    "PlayedTournament",
    "WrittenReport",
    "evolve",
    "make_agent",
    "optimise",
    "play_arena",
    "play_tournament",
    "read_run",
    "win_rates",
    "write_report",
]
