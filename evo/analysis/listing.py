"""List the runs, tournaments, learning runs and experiments below a folder, with the state of each."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from engine import ManaforgeError
from engine.safe_files import read_json, read_text
from evo.config.benchmarks import BENCHMARKS
from evo.config.files import read_config_as
from evo.evolution.run import max_games_of_generation, remaining_games
from evo.learning.config import LearnConfig
from evo.learning.folder import count_rounds
from evo.play.games import SOLVED_TURN_FIELDS
from evo.storage.champion import read_champion_file
from evo.storage.files import EXPERIMENT, LEARNING, is_locked
from evo.storage.run_folder import RunFolder, open_run_read_only

SPEED_GENERATIONS = 5
"""Number of last generations that the speed is measured on."""

SILENT_SECONDS, SILENT_GENERATIONS = 60.0, 5.0
"""A run whose lock is not visible, as on another machine, counts as running while its log is not older."""


MOST_LOG = 2**27
"""Most bytes of a log."""

MOST_SECONDS, MOST_GENERATION, MOST_TURNS = 1e9, 10**7, 10**15


class RunState(NamedTuple):
    """State of a run: running, finished or stopped, with the run's speed and the time left.

    Attributes:
        word: "running", "finished" or "stopped".
        speed: games per second over the last generations; 0 if unknown.
        seconds_left: time left at this speed.
    """

    word: str
    speed: float = 0.0
    seconds_left: float = 0.0


def state_of(folder: RunFolder) -> RunState:
    """State of a run, from its lock, log and files."""
    config = folder.config
    ended = folder.committed == config.generations + 1
    if ended and read_champion_file(folder.path).finishes(config):
        return RunState("finished")
    events = _events(folder.path / "log.jsonl")
    timed = [event for event in events if event.get("event") == "generation"][-SPEED_GENERATIONS:]
    seconds = sum(float(event["seconds"]) for event in timed)
    games = sum(max_games_of_generation(config, int(event["generation"])) for event in timed)
    speed = games / seconds if seconds > 0 else 0.0
    left = min(remaining_games(config, folder.committed) / speed, MOST_SECONDS) if speed else 0.0
    quiet = max(SILENT_SECONDS, SILENT_GENERATIONS * max((float(e["seconds"]) for e in timed), default=0.0))
    if is_locked(folder.path):
        return RunState("running", speed, left)
    if not events or events[-1].get("event") == "stopped" or _age(events[-1]) > quiet:
        return RunState("stopped", speed, left)
    return RunState("running", speed, left)


def solved_turns(folders: Iterable[RunFolder]) -> dict[str, int]:
    """Numbers of turns solved in runs, by solver, and of turns solved without proof, from the runs' logs."""
    total = dict.fromkeys(SOLVED_TURN_FIELDS, 0)
    for folder in folders:
        last: dict[int, Mapping[str, Any]] = {}
        for event in _events(folder.path / "log.jsonl"):
            if event.get("event") == "generation" and isinstance(event.get("solved"), dict):
                last[int(event["generation"])] = event["solved"]
        for counts in last.values():
            for name in SOLVED_TURN_FIELDS:
                count = counts.get(name, 0)
                total[name] += count if type(count) is int and 0 <= count < MOST_TURNS else 0
    return total


def solved_sentence(solved: Mapping[str, int]) -> str:
    """Sentence on turns by solver and unproven turns; "" if the exact solver proved all turns."""
    total = solved["exact"] + solved["search"]
    if (not solved["search"] and not solved["unproven"]) or not total:
        return ""
    by = [f"{solved[name]:,} by {name}" for name in ("exact", "search") if solved[name]]
    share = solved["unproven"] / total
    proven = f"{solved['unproven']:,} ({share:.2%}) unproven: the search reached its limit"
    return f"turns solved: {' and '.join(by)}; {proven if solved['unproven'] else 'all proven'}"


def _events(file: Path) -> list[dict[str, Any]]:
    """Readable events of a log, in order."""
    found = []
    try:
        lines = read_text(file, MOST_LOG).splitlines()
    except (OSError, ValueError):
        return []
    for line in lines:
        try:
            event = json.loads(line)
            if event.get("event") == "generation":
                possible = (
                    0 < float(event["seconds"]) < MOST_SECONDS
                    and 0 <= int(event["generation"]) < MOST_GENERATION
                )
                if not possible:
                    continue
            datetime.fromisoformat(event["time"])
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            continue  # a line half written, of another version, or from another program
        found.append(event)
    return found


def _age(event: dict[str, Any]) -> float:
    """Seconds since an event of a log."""
    time = datetime.fromisoformat(event["time"])
    return (datetime.now(UTC) - (time if time.tzinfo else time.replace(tzinfo=UTC))).total_seconds()


COMMAND_OF_FORMAT = {"self-play": "ladder"}
"""Commands of the formats that users cannot choose by name."""


def runs_below(root: Path) -> list[dict[str, Any]]:
    """Run folders below a folder, by name, as JSON values; missing numbers are None."""
    return [
        run_row(path, _name(path, root))
        for path in sorted(file.parent for file in root.glob("**/config.toml"))
    ]


def tournaments_below(root: Path) -> list[dict[str, Any]]:
    """Tournaments below a folder, including sweeps and arenas, by name, as JSON values."""
    found = sorted(file.parent for file in root.glob("**/tournament.json"))
    return [tournament_row(path, _name(path, root)) for path in found]


def learnings_and_experiments_below(root: Path) -> list[dict[str, Any]]:
    """Learning runs and experiments below a folder, by name, as JSON values."""
    found = [(file, "learn") for file in root.glob(f"**/{LEARNING}")]
    found += [(file, str(_read_json_object(file).get("kind", ""))) for file in root.glob(f"**/{EXPERIMENT}")]
    return [_other_row(file, kind, _name(file.parent, root)) for file, kind in sorted(found)]


def _other_row(file: Path, kind: str, name: str) -> dict[str, Any]:
    pages = sorted(page.name for page in file.parent.glob("*.html"))
    try:
        ended = bool(pages) or (file.parent / "profile.toml").exists()
        ended = _is_learned(file.parent) if kind == "learn" else ended
        state = "running" if is_locked(file.parent) else "finished" if ended else "stopped"
    except (ManaforgeError, OSError):
        state = "unreadable"
    return {
        "folder": name,
        "began": _modification_time(file),
        "state": state if kind else "unreadable",
        "kind": kind,
        "page": ", ".join(pages),
    }


def _is_learned(path: Path) -> bool:
    """Whether a learning run has finished all rounds.

    Raises:
        ManaforgeError, OSError: its files cannot be read.
    """
    return count_rounds(path) > read_config_as(LearnConfig, path / LEARNING).rounds


def _modification_time(file: Path) -> str:
    """Time when a file was last written, to the second in UTC; "" if it is missing."""
    try:
        seconds = file.stat().st_mtime
    except OSError:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _name(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path != root else str(path)


def run_row(path: Path, name: str) -> dict[str, Any]:
    """A run folder's row in the list of runs, as JSON values; `problem` says what cannot be read."""
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
        **{f"{who}{one.record}": None for one in BENCHMARKS.values() for who in ("", "best_")},
        "problem": "",
    }
    try:
        folder = open_run_read_only(path)
        config = folder.config
        champion = read_champion_file(path)
        created = folder.manifest().get("created")
        state, validated = state_of(folder), _last_validated(folder)
    except (ManaforgeError, OSError) as error:
        return row | {"problem": str(error)}
    key = config.found_benchmark.record
    record = champion.provenance.get(key)
    rate = record.get("win_rate") if isinstance(record, dict) else None
    return row | {
        "began": created if isinstance(created, str) else "",
        "state": state.word,
        "games_a_second": state.speed if state.word == "running" else None,
        "generation": max(folder.committed - 1, 0),
        "generations": config.generations,
        "agent": config.agent,
        "strategy": config.strategy,
        "decks": config.deck_names,
        key: rate if isinstance(rate, float) else None,
        f"best_{key}": validated,
    }


def benchmark_score(run: dict[str, Any]) -> tuple[str, str]:
    """A run's benchmark, and the score of its champion or last validated best; ("", "") without a score."""
    for benchmark in BENCHMARKS.values():
        for who, key in (("champion", benchmark.record), ("best", f"best_{benchmark.record}")):
            if run[key] is not None:
                return benchmark.short, f"{who} {run[key]:.1%}"
    return "", ""


def _last_validated(folder: RunFolder) -> float | None:
    """Score of the best individual in the last readable validation; None without a validation."""
    every, last = folder.config.validation.every, folder.committed - 1
    for generation in range(last - last % every, -1, -every) if every else ():
        table = folder.validation(generation)
        if table is not None:
            return float(table["score"].iloc[0])
    return None


def tournament_row(path: Path, name: str) -> dict[str, Any]:
    """A tournament folder's row in the list of tournaments, as JSON values."""
    about, summary = _read_json_object(path / "tournament.json"), _read_json_object(path / "summary.json")
    ratings, entrants, games = summary.get("ratings"), about.get("entrants"), summary.get("games")
    first = ratings[0] if isinstance(ratings, list) and ratings else {}
    style = str(about.get("format", ""))
    leader = first.get("entrant", "") if isinstance(first, dict) and style != "self-play" else ""
    state = "running" if is_locked(path) else "finished" if (path / "games.parquet").exists() else "stopped"
    return {
        "tournament": name,
        "began": _modification_time(path / "tournament.json"),
        "state": state if about else "unreadable",
        "kind": COMMAND_OF_FORMAT.get(style, style),
        "entrants": len(entrants) if isinstance(entrants, list) else 0,
        "games": games if isinstance(games, int) else None,
        "leader": str(leader),
        "decks": _deck_names(about.get("decks")),
    }


def _deck_names(decks: Any) -> list[str]:
    """Names of a tournament's decks; [] if its file has none."""
    listed = decks if isinstance(decks, list) else []
    return [str(deck["deck"]) for deck in listed if isinstance(deck, dict) and "deck" in deck]


def _read_json_object(file: Path) -> dict[str, Any]:
    """JSON object in a file; {} if the file has none."""
    try:
        return read_json(file)
    except (OSError, ValueError):
        return {}
