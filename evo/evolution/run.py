"""The loop of a run: ask, play, tell, commit; then the final. It reads as the algorithm."""

import hashlib
import platform
import subprocess
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine import RULES_VERSION, ManaforgeError, find_deck, find_ruleset
from evo.config import RunConfig
from evo.evolution.champion import Champion, play_final
from evo.evolution.records import individuals_table, pairings_table, restore
from evo.evolution.strategy import EvolutionStrategy, Individual, Told
from evo.play.games import Player, Schedule, Table
from evo.play.pool import Pool, processors
from evo.play.setups import Play, Tally, all_pairings, play_pairings
from evo.seeds import Stream
from evo.storage.files import json_bytes, parquet_bytes
from evo.storage.schema import RUN_SCHEMA, read_table
from evo.storage.store import RunError, RunFolder
from rivals import WEIGHTS_OF, read_agent_profile

LIBRARIES = ("deap", "gurobipy", "highspy", "numba", "numpy", "pandas", "pyarrow", "ray")


class Reporter(Protocol):
    """Who is told how a run goes on; raises to stop it."""

    def begin(self, folder: RunFolder, games: int) -> None:
        """A run begins or goes on; `games` are still to play, the final included."""

    def advance(self, games: int) -> None:
        """So many games were finished; 0 now and then while there is nothing new."""

    def generation(self, told: Told, strategy: EvolutionStrategy, seconds: float) -> None:
        """A generation was committed."""

    def final(self) -> None:
        """The final begins."""


def evolve(folder: RunFolder, pool: Pool, reporter: Reporter) -> None:
    """Evolve from where the folder stands to its configured end, and choose the champion.

    Args:
        folder: new or opened; one generation after another is committed to it.
        pool: plays the games.
        reporter: is told.

    Raises:
        RunError: the folder cannot be written.
        InterruptedRunError: the reporter asked to stop; nothing finished is lost.
    """
    config = folder.config
    strategy = restore(folder, config)
    decks = tuple(find_deck(deck) for deck in config.decks)
    names = [deck.name for deck in decks]
    ruleset = find_ruleset(config.ruleset)

    def play(table: Table, games: Schedule) -> np.ndarray:
        return pool.play(table, games, reporter.advance, lambda what: folder.note(event="worker", what=what))

    stands = folder.committed == config.generations + 1 and champion_stands(folder)
    reporter.begin(folder, 0 if stands else games_to_play(config, folder.committed))
    while strategy.generation <= config.generations:
        began = time.perf_counter()
        generation = strategy.generation
        individuals = strategy.ask()
        table = Table(tuple(_player(one, config) for one in individuals), decks, ruleset)
        result = play_generation(table, config, generation, play)
        told = strategy.tell(result.scores(len(individuals)).sum(axis=(1, 2)))
        ranks = {one.number: place + 1 for place, one in enumerate(strategy.parents)}
        numbers = [one.number for one in individuals]
        folder.commit(
            generation,
            individuals_table(told, result, WEIGHTS_OF[config.agent].names(), names, ranks),
            pairings_table(generation, numbers, result, names),
        )
        seconds = time.perf_counter() - began
        folder.note(event="generation", generation=generation, seconds=round(seconds, 3))
        reporter.generation(told, strategy, seconds)
    if not stands:
        reporter.final()
        began = time.perf_counter()
        champion = play_final(strategy, config, play)
        write_champion(folder, champion)
        folder.note(event="final", seconds=round(time.perf_counter() - began, 3))


def play_generation(table: Table, config: RunConfig, generation: int, play: Play) -> Tally:
    """All pairings of a generation over its setups."""
    pairings = all_pairings(len(table.players))
    return play_pairings(table, pairings, config.games, config.seed, (Stream.SETUP, generation), play)


def _player(individual: Individual, config: RunConfig) -> Player:
    return Player(tuple(individual), config.backend, config.agent)


def games_of_generation(config: RunConfig, generation: int) -> int:
    """Games of a generation: all pairings, all ordered deck pairs."""
    n = config.mu + (config.lambda_ if generation else 0)
    return n * (n - 1) // 2 * len(config.decks) ** 2 * config.games


def games_to_play(config: RunConfig, committed: int) -> int:
    """Games from a generation on to the end; those of the final are its budget."""
    left = sum(games_of_generation(config, number) for number in range(committed, config.generations + 1))
    return left + config.final.games + 7 * config.final.benchmark_games


def write_champion(folder: RunFolder, champion: Champion) -> None:
    """Write `final.parquet` and `champion.toml`, and note their checksums in the manifest."""
    text = champion.profile.to_toml().encode()
    table = parquet_bytes(champion.table, RUN_SCHEMA)
    folder.write("final.parquet", table)
    folder.write("champion.toml", text)
    manifest = folder.manifest()
    manifest["final_sha256"] = hashlib.sha256(table).hexdigest()
    manifest["champion_sha256"] = hashlib.sha256(text).hexdigest()
    manifest["finished"] = _now()
    folder.write("manifest.json", json_bytes(manifest))


def champion_stands(folder: RunFolder) -> bool:
    """Whether the champion is that of this very history, untouched; damage is noted in `problems`."""
    if not (folder.path / "champion.toml").exists():
        return False
    manifest = folder.manifest()
    for name, key in (("champion.toml", "champion_sha256"), ("final.parquet", "final_sha256")):
        file = folder.path / name
        content = file.read_bytes() if file.exists() else b""
        if hashlib.sha256(content).hexdigest() != manifest.get(key):
            folder.problems.append(f"{name} is not what manifest.json says; the final is played again")
            return False
    try:
        read_table((folder.path / "final.parquet").read_bytes(), "final", folder.config)
        provenance = read_agent_profile(folder.path / "champion.toml").provenance
    except ManaforgeError as error:
        folder.problems.append(f"final.parquet or champion.toml: {error}; the final is played again")
        return False
    if not _is_whole(provenance):
        folder.problems.append("champion.toml lacks parts of its provenance; the final is played again")
        return False
    same = provenance.get("config_hash") == folder.config.digest
    return bool(same and provenance.get("generation") == folder.config.generations)


def _is_whole(provenance: Mapping[str, Any]) -> bool:
    """Whether a champion's provenance holds what is shown of it."""
    records = [provenance[key] for key in ("final", "against_thesis_seven") if key in provenance]
    return all(key in provenance for key in ("candidate", "manaforge", "rules")) and all(
        isinstance(record, dict)
        and all(isinstance(record.get(key), int | float) for key in ("games", "win_rate", "low", "high"))
        for record in records
    )


def extend(folder: RunFolder, generations: int) -> None:
    """Set the number of generations of a run.

    Raises:
        RunError: the run is already longer.
    """
    if generations < folder.committed - 1:
        raise RunError(
            f"run folder {folder.path} already has {folder.committed - 1} generations after the first; "
            f"--generations takes the new total, got {generations}"
        )
    folder.config = folder.config.changed(generations=generations)
    folder.write("config.toml", folder.config.to_toml().encode())


def new_manifest(config: RunConfig) -> dict[str, Any]:
    """What made a run: versions and machine. Nothing of it decides the bytes of the history."""
    return {
        "manaforge": version("manaforge"),
        "git": _git_commit(),
        "rules": RULES_VERSION,
        "seed": config.seed,
        "config_hash": config.digest,
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in LIBRARIES},
        "machine": {
            "system": platform.system(),
            "processor": platform.machine(),
            "processors": processors(),
        },
        "created": _now(),
        "sessions": [],
    }


def begin_session(folder: RunFolder, pool: Pool) -> None:
    """Note in the manifest who plays from here on; refuse a history of other rules.

    Raises:
        RunError: the run was begun under other rules, or its deck files changed.
    """
    manifest = folder.manifest()
    if "config_hash" not in manifest:
        folder.problems.append("manifest.json is missing or damaged; it is written anew")
        manifest = {"schema": RUN_SCHEMA, **new_manifest(folder.config)}
    if manifest.get("rules", RULES_VERSION) != RULES_VERSION:
        raise RunError(
            f"run folder {folder.path} was begun under rules {manifest['rules']}, "
            f"and this version plays rules {RULES_VERSION}"
        )
    if manifest.get("config_hash", folder.config.digest) != folder.config.digest:
        raise RunError(
            f"config.toml of {folder.path}, or a deck it names, is not what the run was begun with; "
            "begin a new one"
        )
    session = {"began": _now(), "from": folder.committed, "pool": pool.name, "workers": pool.workers}
    manifest.setdefault("sessions", []).append(session)
    folder.write("manifest.json", json_bytes(manifest))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _git_commit() -> str:
    """The commit of the checkout this runs from, or ""."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
