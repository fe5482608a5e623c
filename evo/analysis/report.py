"""A run, or a study, as one HTML page: each section answers a question with sentences and figures."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from evo.analysis.sections import SECTIONS, Material
from evo.analysis.tables import Runs
from evo.figures.page import make_page
from evo.play.games import Play
from evo.storage.champion import whole_champion
from evo.storage.store import RunError
from rivals.outside.allowed import allowing


def make_report(runs: Runs, paths: Sequence[Path], play: Play) -> bytes:
    """The page.

    Args:
        runs: as `evo.analysis.tables.read_runs` gives them.
        paths: as the user named them.
        play: plays a schedule (`evo.play.pool.Pool.play`).

    Raises:
        RunError: the runs were played with different decks or rules.
    """
    given = Material(runs, paths, play)
    for config in runs.configs.values():
        if (config.found_decks, config.ruleset) != (given.config.found_decks, given.config.ruleset):
            raise RunError("these runs have different decks or rulesets; report on them one by one")
    repeats = [
        f"manaforge evolve {shlex.quote(str(folder.path / 'config.toml'))} --out again/{shlex.quote(name)}"
        f"{allowing(folder.config.agent)}"
        for name, folder in runs.folders.items()
    ]
    folder_of_repeats = "again" if len(repeats) > 1 else f"again/{shlex.quote(next(iter(runs.folders)))}"
    allowed = allowing(*(folder.config.agent for folder in runs.folders.values()))
    several = len(runs.folders) > 1
    return make_page(
        f"Coevolution of {len(runs.folders)} runs" if several else f"Run {next(iter(runs.folders))}",
        [section for make in SECTIONS for section in make(given)],
        "\n".join([*repeats, f"manaforge report {folder_of_repeats}{allowed}"]),
        [*runs.problems, *_younger(runs), *_broken_champions(runs)],
        f"{_about_weights(runs)} In a browser, also while it goes on: manaforge serve.",
    )


def _about_weights(runs: Runs) -> str:
    """What the numbers of the page's tables and figures are."""
    if not runs.vector.COMPARABLE:
        return "Parameters are shown as the values that the agent plays by."
    return (
        "Weights are divided by their sum wherever they are compared or drawn, since scaling them all "
        "changes no plan."
    )


def _younger(runs: Runs) -> list[str]:
    """Runs of fewer generations than the others, whose last populations are not comparable."""
    last = runs.individuals.groupby("run", observed=True)["generation"].max()
    return [
        f"run {name} stands at generation {value}, others at {last.max()}: its last population is younger"
        for name, value in last.items()
        if value < last.max()
    ]


def _broken_champions(runs: Runs) -> list[str]:
    """Champions that do not belong to their runs as they stand."""
    return [
        f"run {name}: champion.toml is left out: it is damaged, or of another number of generations"
        for name, folder in runs.folders.items()
        if (folder.path / "champion.toml").exists() and whole_champion(folder) is None
    ]
