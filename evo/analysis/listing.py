"""Lists of the run folders, tournaments, learnings and experiments below a folder."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine import ManaforgeError
from engine.received import read_json
from evo.analysis.running import state_of
from evo.configfiles import read_config_as
from evo.learning.config import LearnConfig
from evo.learning.folder import count_rounds
from evo.storage.champion import read_champion_file
from evo.storage.files import is_locked
from evo.storage.kinds import EXPERIMENT, LEARNING
from evo.storage.opening import peek_run
from evo.storage.store import RunFolder

KINDS = {"self-play": "ladder"}
"""What formats are called that no one chooses by their name."""


def runs_below(root: Path) -> list[dict[str, Any]]:
    """The run folders below a folder, by name, as JSON values; missing numbers are None."""
    return [
        run_row(path, _name(path, root))
        for path in sorted(file.parent for file in root.glob("**/config.toml"))
    ]


def tournaments_below(root: Path) -> list[dict[str, Any]]:
    """The tournaments below a folder, sweeps and arenas too, by name, as JSON values."""
    found = sorted(file.parent for file in root.glob("**/tournament.json"))
    return [tournament_row(path, _name(path, root)) for path in found]


def others_below(root: Path) -> list[dict[str, Any]]:
    """The learnings and experiments below a folder, by name, as JSON values."""
    found = [(file, "learn") for file in root.glob(f"**/{LEARNING}")]
    found += [(file, str(_content(file).get("kind", ""))) for file in root.glob(f"**/{EXPERIMENT}")]
    return [_other(file, kind, _name(file.parent, root)) for file, kind in sorted(found)]


def _other(file: Path, kind: str, name: str) -> dict[str, Any]:
    pages = sorted(page.name for page in file.parent.glob("*.html"))
    try:
        ended = bool(pages) or (file.parent / "profile.toml").exists()
        ended = _is_learned(file.parent) if kind == "learn" else ended
        state = "running" if is_locked(file.parent) else "finished" if ended else "stopped"
    except (ManaforgeError, OSError):
        state = "unreadable"
    return {
        "folder": name,
        "began": _written(file),
        "state": state if kind else "unreadable",
        "kind": kind,
        "page": ", ".join(pages),
    }


def _is_learned(path: Path) -> bool:
    """Whether a learning has all its rounds.

    Raises:
        ManaforgeError, OSError: that cannot be read.
    """
    return count_rounds(path) > read_config_as(LearnConfig, path / LEARNING).rounds


def _written(file: Path) -> str:
    """When a file was last written, to the second in UTC; empty where it is gone."""
    try:
        seconds = file.stat().st_mtime
    except OSError:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _name(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path != root else str(path)


def run_row(path: Path, name: str) -> dict[str, Any]:
    """A run folder as a row of JSON values, under this name; what cannot be read is told by `problem`."""
    row: dict[str, Any] = {
        "run": name,
        "began": "",
        "state": "unreadable",
        "generation": None,
        "generations": None,
        "games_a_second": None,
        "agent": "",
        "strategy": "",
        "decks": [],
        "against_thesis_seven": None,
        "best_against_thesis_seven": None,
        "problem": "",
    }
    try:
        folder = peek_run(path)
        config = folder.config
        champion = read_champion_file(path)
        created = folder.manifest().get("created")
        state, validated = state_of(folder), _last_validated(folder)
    except (ManaforgeError, OSError) as error:
        return row | {"problem": str(error)}
    seven = champion.provenance.get("against_thesis_seven")
    rate = seven.get("win_rate") if isinstance(seven, dict) else None
    return row | {
        "began": created if isinstance(created, str) else "",
        "state": state.word,
        "games_a_second": state.speed if state.word == "running" else None,
        "generation": max(folder.committed - 1, 0),
        "generations": config.generations,
        "agent": config.agent,
        "strategy": config.strategy,
        "decks": config.deck_names,
        "against_thesis_seven": rate if isinstance(rate, float) else None,
        "best_against_thesis_seven": validated,
    }


def _last_validated(folder: RunFolder) -> float | None:
    """Score of the best of the last generation whose validation can be read; None without one."""
    every, last = folder.config.validation.every, folder.committed - 1
    for generation in range(last - last % every, -1, -every) if every else ():
        table = folder.validation(generation)
        if table is not None:
            return float(table["score"].iloc[0])
    return None


def tournament_row(path: Path, name: str) -> dict[str, Any]:
    """A tournament's folder as a row of JSON values, under this name."""
    about, summary = _content(path / "tournament.json"), _content(path / "summary.json")
    ratings, entrants, games = summary.get("ratings"), about.get("entrants"), summary.get("games")
    first = ratings[0] if isinstance(ratings, list) and ratings else {}
    style = str(about.get("format", ""))
    leader = first.get("entrant", "") if isinstance(first, dict) and style != "self-play" else ""
    state = "running" if is_locked(path) else "finished" if (path / "games.parquet").exists() else "stopped"
    return {
        "tournament": name,
        "began": _written(path / "tournament.json"),
        "state": state if about else "unreadable",
        "kind": KINDS.get(style, style),
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
