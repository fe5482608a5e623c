"""Imports what the commands of the program import when they are called; see `tests.evo.runs.manaforge`."""

import evo.analysis.report
import evo.evolution.run
import evo.play.local
import evo.tournament.page
import evo.tournament.run
import ilp_agent
import rivals

__all__ = ["evo", "ilp_agent", "rivals"]
