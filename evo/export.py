"""Profiles out of a run: its champion, or the best of its final, each a file with its provenance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from engine import ManaforgeError
from evo.champion import candidates_of, profile_of
from evo.files import replace_file
from evo.records import restore
from evo.store import peek_run, read_champion
from ilp_agent import Profile, read_profile


class ExportError(ManaforgeError, ValueError):
    """Nothing to export, or nowhere to; the message names the way out."""


@dataclass(frozen=True)
class Exported:
    """A profile and where it was written."""

    profile: Profile
    path: Path


def best_profiles(run: Path, top: int = 1) -> list[Profile]:
    """The best candidates of a run's final as profiles, the champion first.

    Args:
        run: a run folder whose final was played.
        top: how many.

    Raises:
        RunError: there is no such run.
        ExportError: its final was not played, or had fewer candidates.
    """
    folder = peek_run(run)
    champion = read_champion(run)
    if not champion or champion["provenance"]["generation"] != folder.config.generations:
        raise ExportError(f"run {run} has no champion yet; to finish it: manaforge resume {run}")
    final = pd.read_parquet(run / "final.parquet")
    ranked = final[final["stage"] != "thesis"].sort_values("rank")
    names = list(ranked["candidate"]) or [champion["provenance"]["candidate"]]
    if top > len(names):
        raise ExportError(f"--top {top}: the final of run {run} had {len(names)} candidates")
    strategy = restore(folder, folder.config)
    candidates = {one.name: one for one in candidates_of(strategy)}
    versions = {key: champion["provenance"][key] for key in ("manaforge", "rules")}
    found = []
    for place, name in enumerate(names[:top]):
        if place == 0:
            profile = read_profile(run / "champion.toml")
        else:
            profile = profile_of(candidates[name], strategy, folder.config, final)
        provenance = {"run": run.resolve().name, **profile.provenance, **versions}
        found.append(replace(profile, provenance=provenance))
    return found


def write_profiles(profiles: Sequence[Profile], out: Path) -> list[Exported]:
    """Write profiles as `NAME.toml` into a folder, each all or nothing, and read each back.

    Raises:
        ExportError: the folder cannot be written, or holds another profile of that name.
    """
    written = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for profile in profiles:
            path = out / f"{profile.name}.toml"
            content = profile.to_toml().encode()
            if path.exists() and path.read_bytes() != content:
                raise ExportError(f"{path} is there already and differs; choose another --out")
            replace_file(path, content, out / f".{profile.name}.tmp")
            assert read_profile(path).weights == profile.weights
            written.append(Exported(profile, path))
    except FileExistsError:
        raise ExportError(f"{out} is a file; choose another --out") from None
    except OSError as error:
        raise ExportError(f"cannot write to {out}: {error.strerror or error}") from None
    return written
