"""Imports what the commands of the program import when they are called; see `tests.evo.runs.manaforge`.

Nothing is said of progress, however long a command takes: what is said would depend on the machine's speed.
"""

import evo.analysis.report
import evo.cli.progress
import evo.evolution.run
import evo.play.local
import evo.tournament.page
import evo.tournament.run
import ilp_agent
import rivals

evo.cli.progress.LINE_SECONDS = 1e9

__all__ = ["evo", "ilp_agent", "rivals"]
