"""Whether a run goes on, how fast it is, and when it ends: from its folder alone."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from engine.received import read_text
from evo.evolution.run import games_of_generation, games_to_play
from evo.play.games import SOLVED
from evo.storage.champion import read_champion_file
from evo.storage.files import is_locked
from evo.storage.store import RunFolder

RECENT = 5
"""Generations whose speed is taken for the present one."""

QUIET_SECONDS, QUIET_GENERATIONS = 60.0, 5.0
"""A run on another machine, whose lock may not be seen, goes on while its log is no older than this."""


MOST_LOG = 2**27
"""Bytes of a log."""

MOST_SECONDS, MOST_GENERATION, MOST_TURNS = 1e9, 10**7, 10**15


class RunState(NamedTuple):
    """The state of a run.

    Attributes:
        word: "running", "finished" or "stopped".
        speed: games a second of the last generations; 0 where none is known.
        seconds_left: at this speed.
    """

    word: str
    speed: float = 0.0
    seconds_left: float = 0.0


def state_of(folder: RunFolder) -> RunState:
    """The state of a run, as a look from outside tells."""
    config = folder.config
    ended = folder.committed == config.generations + 1
    if ended and read_champion_file(folder.path).finishes(config):
        return RunState("finished")
    events = _events(folder.path / "log.jsonl")
    timed = [event for event in events if event.get("event") == "generation"][-RECENT:]
    seconds = sum(float(event["seconds"]) for event in timed)
    games = sum(games_of_generation(config, int(event["generation"])) for event in timed)
    speed = games / seconds if seconds > 0 else 0.0
    left = min(games_to_play(config, folder.committed) / speed, MOST_SECONDS) if speed else 0.0
    quiet = max(QUIET_SECONDS, QUIET_GENERATIONS * max((float(e["seconds"]) for e in timed), default=0.0))
    if is_locked(folder.path):
        return RunState("running", speed, left)
    if not events or events[-1].get("event") == "stopped" or _age(events[-1]) > quiet:
        return RunState("stopped", speed, left)
    return RunState("running", speed, left)


def solved_turns(folders: Iterable[RunFolder]) -> dict[str, int]:
    """Turns that runs solved in their generations, by solver and unproven, as far as their logs tell."""
    total = dict.fromkeys(SOLVED, 0)
    for folder in folders:
        last: dict[int, Mapping[str, Any]] = {}
        for event in _events(folder.path / "log.jsonl"):
            if event.get("event") == "generation" and isinstance(event.get("solved"), dict):
                last[int(event["generation"])] = event["solved"]
        for counts in last.values():
            for name in SOLVED:
                count = counts.get(name, 0)
                total[name] += count if type(count) is int and 0 <= count < MOST_TURNS else 0
    return total


def solved_sentence(solved: Mapping[str, int]) -> str:
    """Who solved the turns and how many are unproven; "" where the exact solver proved all of them."""
    total = solved["exact"] + solved["search"]
    if (not solved["search"] and not solved["unproven"]) or not total:
        return ""
    by = [f"{solved[name]:,} by {name}" for name in ("exact", "search") if solved[name]]
    share = solved["unproven"] / total
    proven = f"{solved['unproven']:,} ({share:.2%}) unproven: the search had met its limit"
    return f"turns solved: {' and '.join(by)}; {proven if solved['unproven'] else 'all proven'}"


def _events(file: Path) -> list[dict[str, Any]]:
    """The events of a log that can be read, in their order."""
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
            continue  # a line half written, of another version, or by somebody else
        found.append(event)
    return found


def _age(event: dict[str, Any]) -> float:
    """Seconds since an event."""
    time = datetime.fromisoformat(event["time"])
    return (datetime.now(UTC) - (time if time.tzinfo else time.replace(tzinfo=UTC))).total_seconds()
