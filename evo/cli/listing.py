"""Lists of the run folders and tournaments below a folder, for `manaforge runs`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from engine import ManaforgeError
from engine.received import read_json
from engine.tables import Column, FittingTable
from evo.analysis.running import state_of
from evo.storage.champion import read_champion_file
from evo.storage.files import is_locked
from evo.storage.store import peek_run

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


def show_runs(root: Path, console: Console) -> None:
    """Print a table of the run folders below a folder."""
    found = runs_below(root)
    if not found:
        console.print(f"no run folders under {root}; manaforge evolve quickstart creates one", markup=False)
        return
    rows = [
        [
            run["run"],
            run["began"][:16].replace("T", " "),
            run["state"],
            "" if run["generation"] is None else f"{run['generation']}/{run['generations']}",
            run["agent"],
            run["strategy"],
            ", ".join(run["decks"]),
            "" if run["against_thesis_seven"] is None else f"{run['against_thesis_seven']:.1%}",
        ]
        for run in found
    ]
    console.print(FittingTable(RUN_COLUMNS, rows))
    for run in found:
        if run["problem"]:
            console.print(f"{run['run']}: {run['problem']}", markup=False, highlight=False)


def show_tournaments(root: Path, console: Console) -> None:
    """Print a table of the tournaments below a folder, if there are any."""
    rows = [
        [
            one["tournament"],
            one["began"][:16].replace("T", " "),
            one["state"],
            one["kind"],
            str(one["entrants"]),
            "" if one["games"] is None else f"{one['games']:,}",
            one["leader"],
        ]
        for one in tournaments_below(root)
    ]
    if rows:
        console.print(FittingTable(TOURNAMENT_COLUMNS, rows))


def runs_below(root: Path) -> list[dict[str, Any]]:
    """The run folders below a folder, by name, as JSON values; missing numbers are None."""
    return [
        _run(path, _name(path, root)) for path in sorted(file.parent for file in root.glob("**/config.toml"))
    ]


def tournaments_below(root: Path) -> list[dict[str, Any]]:
    """The tournaments below a folder, sweeps and arenas too, by name, as JSON values."""
    found = sorted(file.parent for file in root.glob("**/tournament.json"))
    return [_tournament(path, _name(path, root)) for path in found]


def _name(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path != root else str(path)


def _run(path: Path, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "run": name,
        "began": "",
        "state": "unreadable",
        "generation": None,
        "generations": None,
        "agent": "",
        "strategy": "",
        "decks": [],
        "against_thesis_seven": None,
        "problem": "",
    }
    try:
        folder = peek_run(path)
        config = folder.config
        champion = read_champion_file(path)
    except (ManaforgeError, OSError) as error:
        return row | {"problem": str(error)}
    seven = champion.provenance.get("against_thesis_seven")
    rate = seven.get("win_rate") if isinstance(seven, dict) else None
    created = folder.manifest().get("created")
    return row | {
        "began": created if isinstance(created, str) else "",
        "state": state_of(folder).word,
        "generation": max(folder.committed - 1, 0),
        "generations": config.generations,
        "agent": config.agent,
        "strategy": config.strategy,
        "decks": config.deck_names,
        "against_thesis_seven": rate if isinstance(rate, float) else None,
    }


def _tournament(path: Path, name: str) -> dict[str, Any]:
    about, summary = _content(path / "tournament.json"), _content(path / "summary.json")
    ratings, entrants, games = summary.get("ratings"), about.get("entrants"), summary.get("games")
    first = ratings[0] if isinstance(ratings, list) and ratings else {}
    leader = first.get("entrant", "") if isinstance(first, dict) else ""
    written = datetime.fromtimestamp((path / "tournament.json").stat().st_mtime, UTC)
    state = "running" if is_locked(path) else "finished" if (path / "games.parquet").exists() else "stopped"
    return {
        "tournament": name,
        "began": written.isoformat(timespec="seconds"),
        "state": state if about else "unreadable",
        "kind": str(about.get("format", "")),
        "entrants": len(entrants) if isinstance(entrants, list) else 0,
        "games": games if isinstance(games, int) else None,
        "leader": str(leader),
    }


def _content(file: Path) -> dict[str, Any]:
    """The JSON object in a file; {} where there is none."""
    try:
        return read_json(file)
    except (OSError, ValueError):
        return {}
