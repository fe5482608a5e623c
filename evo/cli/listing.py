"""Lists of folders as tables, for `manaforge runs`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from engine.tables import Column, FittingTable
from evo.analysis.listing import others_below, runs_below, tournaments_below

RUN_COLUMNS = (
    Column("run"),
    Column("began (UTC)", 4),
    Column("state"),
    Column("generation", 1),
    Column("agent", 5),
    Column("strategy", 6),
    Column("decks", 7),
    Column("against the seven", 3, right=True),
)
TOURNAMENT_COLUMNS = (
    Column("tournament"),
    Column("began (UTC)", 2),
    Column("state"),
    Column("kind", 3),
    Column("entrants", 4, right=True),
    Column("games", 5, right=True),
    Column("leader", 1),
)
OTHER_COLUMNS = (
    Column("folder"),
    Column("began (UTC)", 2),
    Column("state"),
    Column("kind"),
    Column("page", 1, folds=True),
)


def show_runs(runs: Sequence[dict[str, Any]], console: Console) -> None:
    """Print a table of run folders, as `runs_below` finds them, if there are any."""
    rows = [
        [
            run["run"],
            _minute(run["began"]),
            run["state"],
            "" if run["generation"] is None else f"{run['generation']}/{run['generations']}",
            run["agent"],
            run["strategy"],
            ", ".join(run["decks"]),
            _against_seven(run),
        ]
        for run in runs
    ]
    if rows:
        console.print(FittingTable(RUN_COLUMNS, rows))
    for run in runs:
        if run["problem"]:
            console.print(f"{run['run']}: {run['problem']}", markup=False, highlight=False)


def _against_seven(run: dict[str, Any]) -> str:
    """The champion's score; without one the best's of the last generation that was validated."""
    for who, key in (("champion", "against_thesis_seven"), ("best", "best_against_thesis_seven")):
        if run[key] is not None:
            return f"{who} {run[key]:.1%}"
    return ""


def show_all(root: Path, console: Console) -> None:
    """Print all folders below a folder that commands wrote, or how to begin a run."""
    runs, tournaments, others = runs_below(root), tournaments_below(root), others_below(root)
    show_runs(runs, console)
    _show_tournaments(tournaments, console)
    if others:
        rows = [
            [one["folder"], _minute(one["began"]), *(one[key] for key in ("state", "kind", "page"))]
            for one in others
        ]
        console.print(FittingTable(OTHER_COLUMNS, rows))
    if not (runs or tournaments or others):
        console.print(f"no run folders under {root}; manaforge evolve quickstart creates one", markup=False)


def _show_tournaments(tournaments: Iterable[dict[str, Any]], console: Console) -> None:
    """Print a table of tournaments, as `tournaments_below` finds them, if there are any."""
    rows = [
        [
            one["tournament"],
            _minute(one["began"]),
            one["state"],
            one["kind"],
            str(one["entrants"]),
            "" if one["games"] is None else f"{one['games']:,}",
            one["leader"],
        ]
        for one in tournaments
    ]
    if rows:
        console.print(FittingTable(TOURNAMENT_COLUMNS, rows))


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")
