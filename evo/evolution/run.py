"""The loop of a run: ask, play, tell, commit; then the final."""

import platform
import subprocess
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine import RULES_VERSION
from engine.compile_progress import processors
from evo.config.run_config import RunConfig
from evo.evolution.champion import THESIS_SEVEN, games_of_panel, play_final, play_panel
from evo.evolution.fitness import Tally, play_generation
from evo.evolution.records import individuals_table, new_strategy, pairings_table
from evo.evolution.validation import (
    Stop,
    Validation,
    games_of_validation,
    is_due,
    missing_validations,
    stop_of,
    validate,
)
from evo.play.games import Roster, Schedule
from evo.play.opponents import opponents_digest, read_opponents
from evo.play.pool import Pool
from evo.storage.champion import whole_champion, write_champion
from evo.storage.files import OPPONENTS, json_bytes
from evo.storage.run_folder import RunError, RunFolder, refuse_earlier_effects
from evo.storage.schema import RUN_SCHEMA
from evo.strategies import Strategy, Told, find_strategy
from ilp_agent.backends import library_versions
from rivals import find_kind, other_versions

LIBRARIES = ("numba", "numpy", "pandas", "pyarrow", "ray")
"""Libraries in the manifest; those of strategies and solvers are added."""


GENERATION_BYTES, FINAL_BYTES = 100, 260
"""Memory of the driver for a game of a generation and for one of the final (docs/performance.md)."""


class Reporter(Protocol):
    """Shows the progress of a run; raises to stop it."""

    def begin(self, folder: RunFolder, games: int) -> None:
        """A run starts or is resumed; `games` are left to play, the final included."""

    def advance(self, games: int) -> None:
        """`games` more games were finished; also called with 0 while waiting."""

    def stopped(self, stop: Stop) -> None:
        """The stop rule ends the run."""

    def generation(
        self, told: Told, strategy: Strategy, tally: Tally, seconds: float, validation: Validation | None
    ) -> None:
        """A generation was committed, and validated if that was due."""

    def final(self) -> None:
        """The final starts."""


def evolve(folder: RunFolder, pool: Pool, reporter: Reporter) -> None:
    """Evolve from the last committed generation to the configured end, and choose the champion.

    Args:
        folder: new or opened; generations are committed to it.
        pool: plays the games.
        reporter: shows the progress.

    Raises:
        RunError: the folder cannot be written.
        InterruptedRunError: the reporter asked to stop; nothing finished is lost.
    """
    missing = missing_validations(folder)
    if not missing:
        end_by_rule(folder)
    ended = is_ended(folder)
    config = folder.config
    if ended and not missing:
        reporter.begin(folder, 0)
        return
    strategy, fixed, played = new_strategy(config), read_opponents(folder.path, config), 0
    names = config.deck_names

    def play(roster: Roster, games: Schedule) -> np.ndarray:
        nonlocal played
        played += len(games)
        return pool.play(roster, games, reporter.advance, lambda what: folder.note(event="worker", what=what))

    left = 0 if ended else games_to_play(config, folder.committed)
    reporter.begin(folder, left + len(missing) * games_of_validation(config))
    for generation, individuals in enumerate(folder.tables("generations")):
        strategy.restore([individuals])
        if generation in missing:
            validate(folder, generation, individuals, strategy.centre(), play)
    known: dict[int, np.ndarray] = {}
    stop = end_by_rule(folder, known)
    if stop is not None:
        reporter.stopped(stop)
    if is_ended(folder):
        return
    config = folder.config
    while strategy.generation <= config.generations and stop is None:
        began = time.perf_counter()
        generation = strategy.generation
        asked = strategy.ask()
        before = played
        met = play_generation(config, strategy, asked, fixed, play)
        reporter.advance(games_of_generation(config, generation) - (played - before))  # fewer opponents
        told, tally = strategy.tell(met.fitness), met.tally
        numbers = [individual.number for individual in asked]
        individuals = individuals_table(told, strategy, tally, names)
        pairings = pairings_table(
            generation, numbers, tally, names, met.opponents if config.opponents.beside else None
        )
        folder.commit(generation, individuals, pairings)
        seconds = time.perf_counter() - began
        solved = dict(tally.solved)
        folder.note(event="generation", generation=generation, seconds=round(seconds, 3), solved=solved)
        validation = None
        if is_due(config, generation):
            validation = validate(folder, generation, individuals, strategy.centre(), play)
        reporter.generation(told, strategy, tally, seconds, validation)
        stop = end_by_rule(folder, known) if validation is not None else None
        if stop is not None:
            reporter.stopped(stop)
    reporter.final()
    began = time.perf_counter()
    champion = play_final(strategy, config, play, fixed)
    panel = play_panel(tuple(champion.profile.weights.array), config, play)
    write_champion(folder, champion.profile, champion.table, panel)
    folder.note(event="final", seconds=round(time.perf_counter() - began, 3))


def is_ended(folder: RunFolder) -> bool:
    """Whether all generations are committed and the champion is chosen."""
    return folder.committed == folder.config.generations + 1 and whole_champion(folder) is not None


def end_by_rule(folder: RunFolder, known: dict[int, np.ndarray] | None = None) -> Stop | None:
    """End a run where the stop rule says so: its configuration then has as many generations as it played.

    Args:
        folder: of the run.
        known: see `stop_of`.

    Returns:
        Why; None where it goes on.
    """
    stop = stop_of(folder, known)
    if stop is not None and folder.config.generations >= folder.committed:
        folder.config = folder.config.changed(generations=folder.committed - 1)
        folder.write_config()
        folder.note(event="stop rule", what=stop.sentence)
    return stop


def games_of_generation(config: RunConfig, generation: int) -> int:
    """Most games of a generation: all pairings with all ordered deck pairs, and those of a Nash mixture.

    There are fewer where bests of earlier generations are still among the individuals.
    """
    n, others = config.individuals_in(generation), config.opponents_in(generation)
    options = config.opponents
    games = n * (n - 1) // 2 * config.games_in(generation) if options.population else 0
    mixture = others * (others - 1) // 2 if options.nash else 0
    games += (n * others + mixture) * config.opponent_games_in(generation)
    return games * len(config.decks) ** 2


def games_to_play(config: RunConfig, committed: int) -> int:
    """Games left after `committed` generations, with validations and panel; for the final, its budget."""
    numbers = range(committed, config.generations + 1)
    left = sum(games_of_generation(config, number) for number in numbers)
    left += sum(is_due(config, number) for number in numbers) * games_of_validation(config)
    return (
        left + config.final.games + len(THESIS_SEVEN) * config.final.benchmark_games + games_of_panel(config)
    )


def memory_of(config: RunConfig) -> int:
    """About the most bytes that the driver needs: those of a generation's games, or of the final's."""
    last = games_of_generation(config, max(1, config.generations))
    final = max(
        config.final.games,
        len(THESIS_SEVEN) * config.final.benchmark_games,
        games_of_panel(config),
        games_of_validation(config),
    )
    return max(last * GENERATION_BYTES, final * FINAL_BYTES)


def extend(folder: RunFolder, generations: int) -> None:
    """Set the number of generations of a run; past its end, validations before that count no more.

    Raises:
        RunError: the run is already longer.
    """
    if generations < folder.committed - 1:
        raise RunError(
            f"run folder {folder.path} already has {folder.committed - 1} generations after the first; "
            f"--generations takes the new total, got {generations}"
        )
    values: dict[str, Any] = {"generations": generations}
    complete = folder.committed == folder.config.generations + 1
    if complete and generations >= folder.committed and folder.config.validation.stop_when_gain_below:
        validation = folder.config.validation.model_dump()
        values["validation"] = validation | {"stop_from": folder.committed}
    folder.config = folder.config.changed(**values)
    folder.write_config()


def new_manifest(config: RunConfig) -> dict[str, Any]:
    """Versions and machine that started a run. Nothing in it affects the bytes of the history."""
    own = find_strategy(config.strategy).LIBRARIES
    libraries = {name: version(name) for name in {*LIBRARIES, *own}} | library_versions()
    return {
        "manaforge": version("manaforge"),
        "git": _git_commit(),
        "rules": RULES_VERSION,
        "seed": config.seed,
        "config_hash": config.digest,
        "python": platform.python_version(),
        "libraries": dict(sorted(libraries.items())),
        "machine": {
            "system": platform.system(),
            "processor": platform.machine(),
            "processors": processors(),
        },
        "created": _now(),
        "sessions": [],
    }


def _refuse_other_agents(folder: RunFolder, manifest: dict[str, Any], is_new: bool) -> None:
    """Refuse a run in which agents played otherwise than here; note their versions where its manifest is new.

    Raises:
        RunError: there are such agents; the message names them.
    """
    opponents = read_opponents(folder.path, folder.config)
    later = {
        kind.name: kind.version
        for kind in map(find_kind, [folder.config.agent, *(one.kind for one in opponents)])
        if kind.version > 1
    }
    if later and (is_new or folder.committed == 0):
        manifest.setdefault("agents", later)
    kept = manifest.get("agents")
    other = other_versions(dict.fromkeys(later, 1) | (kept if isinstance(kept, dict) else {}))
    if other:
        raise RunError(f"run folder {folder.path} was started with {other}; start a new run")


def begin_session(folder: RunFolder, pool: Pool) -> None:
    """Add this session to the manifest; refuse a run of other rules.

    Raises:
        RunError: the run was started under other rules, or its configuration or deck files changed.
    """
    manifest, rebuilt = folder.manifest(), False
    if "config_hash" not in manifest:
        folder.problems.append("manifest.json is missing or damaged; a new one is written")
        manifest = {"schema": RUN_SCHEMA, **new_manifest(folder.config)}
        rebuilt = True
    if manifest.get("rules", RULES_VERSION) != RULES_VERSION:
        raise RunError(
            f"run folder {folder.path} was started under rules {manifest['rules']}, "
            f"and this version plays rules {RULES_VERSION}"
        )
    known = manifest.get("config_hash", folder.config.digest)
    if known != folder.config.digest:
        refuse_earlier_effects(folder, known)
        raise RunError(
            f"config.toml of {folder.path}, or a deck it names, is not what the run was started with; "
            "start a new run"
        )
    if folder.config.opponents.fixed:
        kept = opponents_digest(folder.path)
        if manifest.setdefault("opponents_sha256", kept) != kept:
            raise RunError(
                f"{folder.path / OPPONENTS} is not what the run was started with; "
                "put it back, or start a new run"
            )
    _refuse_other_agents(folder, manifest, rebuilt)
    session = {"began": _now(), "from": folder.committed, "pool": pool.name, "workers": pool.workers}
    manifest.setdefault("sessions", []).append(session)
    folder.write("manifest.json", json_bytes(manifest))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _git_commit() -> str:
    """The git commit of this source tree, or ""."""
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
