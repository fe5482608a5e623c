"""Export of profiles from runs: the champion, the best of the final, or cluster medoids."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from engine import RULES_VERSION, ManaforgeError
from engine.safe_files import read_bytes
from engine.terminal import safe_text
from evo.analysis.clustering import cluster_weights
from evo.analysis.tables import find_runs, last_population, read_runs, weights_of
from evo.evolution.champion import agent_provenance, candidate_profile
from evo.evolution.records import restore_strategy
from evo.storage.champion import load_intact_champion, read_final
from evo.storage.files import folder_error_text, write_atomically
from evo.storage.run_folder import RunError, open_run_read_only, resolve_run_path
from evo.strategies import StrategyError
from ilp_agent import Profile, WeightVector
from rivals import read_agent_profile


class ExportError(ManaforgeError, ValueError):
    """There is nothing to export, or the target cannot be written; the message says what to do."""


@dataclass(frozen=True)
class Exported:
    """An exported profile and its file."""

    profile: Profile[WeightVector]
    path: Path


def best_profiles(run: Path, top: int = 1) -> list[Profile[WeightVector]]:
    """Best candidates of a run's final as profiles, the champion first.

    Args:
        run: a run folder whose final was played.
        top: number of profiles.

    Raises:
        RunError: there is no such run.
        ExportError: its final was not played, or had fewer candidates.
    """
    folder = open_run_read_only(run)
    champion = load_intact_champion(folder)
    if champion is None:
        why = f"; {folder.problems[0]}" if folder.problems else ""
        raise ExportError(f"run {run} has no champion yet{why}. To finish it: manaforge resume {run}")
    try:
        final = read_final(folder)
        strategy = restore_strategy(folder) if top > 1 else None  # the champion needs no strategy state
    except StrategyError as error:
        raise ExportError(f"run {run}: {error}. To export only the champion: --top 1") from None
    except (OSError, ValueError, RunError) as error:
        reason = f"run {run} cannot be read: {str(error).splitlines()[0]}"
        raise ExportError(f"{reason}. To repair it: manaforge resume {run}") from None
    ranked = final[final["stage"] != folder.config.found_benchmark.stage].sort_values("rank")
    names = list(ranked["candidate"]) or [champion.provenance["candidate"]]
    if top > len(names):
        raise ExportError(
            f"--top {top}: the final of run {run} had only {len(names)} candidates; give at most {len(names)}"
        )
    candidates = {candidate.name: candidate for candidate in strategy.candidates()} if strategy else {}
    unknown = [name for name in names[1:top] if name not in candidates]
    if unknown:
        raise ExportError(
            f"run {run}: candidate {unknown[0]!r} of its final is not in its history. "
            f"To repair it: manaforge resume {run}"
        )
    versions = {key: champion.provenance[key] for key in ("manaforge", "rules")}
    found = []
    for place, name in enumerate(names[:top]):
        if place == 0:
            profile = champion
        else:
            profile = candidate_profile(candidates[name], folder.committed - 1, folder.config, final)
        provenance = {"run": safe_text(run.resolve().name), **profile.provenance, **versions}
        found.append(replace(profile, provenance=provenance))
    return found


def study_profiles(path: Path, top: int = 1) -> list[Profile[WeightVector]]:
    """Best candidates of a run, or of every run of a study, with the run in their names.

    Raises:
        RunError, ExportError: as in `best_profiles`.
    """
    found = []
    for run, folder in find_runs([path]).items():
        best = best_profiles(folder, top)
        if folder != resolve_run_path(path):  # of a study
            best = [replace(profile, name=f"{_in_file_names(run)}-{profile.name}") for profile in best]
        found += best
    return found


def _in_file_names(run: str) -> str:
    """Name of a run, without the characters that file names cannot contain."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", run).lstrip(".-") or "run"


def cluster_profiles(paths: Sequence[Path]) -> list[Profile[WeightVector]]:
    """One profile per cluster of the runs' last populations: the cluster's medoid.

    Raises:
        RunError: there is no such run.
    """
    runs = read_runs(paths)
    found = cluster_weights(last_population(runs.individuals))
    profiles = []
    for cluster in found.summary.to_dict("records"):
        row = found.members.iloc[cluster["medoid"]]
        config = runs.configs[row["run"]]
        provenance = {
            "run": row["run"],
            "source": "manaforge export --clusters",
            "candidate": f"individual {row['individual']}",
            "birth": int(row["birth"]),
            "generation": int(row["generation"]),
            "seed": config.seed,
            "config_hash": config.digest,
            "manaforge": version("manaforge"),
            "rules": RULES_VERSION,
            "cluster": {
                "number": int(cluster["group"]),
                "name": cluster["name"],
                "size": int(cluster["size"]),
                "of": len(found.members),
                "runs": int(cluster["runs"]),
            },
        }
        provenance |= agent_provenance(config)
        provenance["last_generation"] = {
            "games": int(row["games"]),
            "points": float(row["fitness"]),
            "win_rate": float(row["win_rate"]),
        }
        slug = cluster["name"].replace(", ", "-").replace(" ", "-")
        what = "single" if cluster["size"] == 1 else "cluster"
        columns = weights_of(runs.individuals)
        weights = config.vector.from_array(row[columns].to_numpy(float))
        profiles.append(Profile(f"{what}-{cluster['group']}-{slug}", weights, provenance))
    return profiles


def write_profiles(profiles: Sequence[Profile[WeightVector]], out: Path) -> list[Exported]:
    """Write profiles as `NAME.toml` into a folder, each atomically, and read each back.

    Raises:
        ExportError: the folder cannot be written, or holds another profile of that name.
    """
    written = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for profile in profiles:
            if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", profile.name):
                raise ExportError(f"the profile's name {profile.name!r} cannot be a file name")
            path = out / f"{profile.name}.toml"
            content = profile.to_toml().encode()
            if path.exists() and read_bytes(path) != content:
                raise ExportError(f"{path} exists and differs; choose another --out")
            write_atomically(path, content, out / f".{profile.name}.tmp")
            again = read_agent_profile(path, type(profile.weights))
            assert (again.weights, again.mulligan) == (profile.weights, profile.mulligan)
            written.append(Exported(profile, path))
    except OSError as error:
        raise ExportError(f"{folder_error_text(error, out, 'write to')}; choose another --out") from None
    return written
