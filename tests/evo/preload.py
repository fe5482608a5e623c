"""Imports what the commands of the program import when they are called; see `tests.evo.runs.manaforge`.

Nothing depends on the machine's speed: nothing is said of progress, and agents from outside are never late.
"""

import evo.analysis.report
import evo.cli.progress
import evo.evolution.run
import evo.play.local
import evo.tournament.page
import evo.tournament.run
import ilp_agent
import rivals
from tests.waiting import give_agents_an_hour

evo.cli.progress.LINE_SECONDS = 1e9
give_agents_an_hour()

__all__ = ["evo", "ilp_agent", "rivals"]
