"""Entrants: who can play, by the one notation used everywhere."""

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import ManaforgeError
from engine.errors import unknown_name
from evo.config import read_config
from evo.games import PLAIN, Player
from evo.store import read_champion
from ilp_agent import Profile, find_profile, find_solver, read_profile, shipped_profiles

RUNS = Path("runs")

NOTATION = (
    "ilp:PROFILE (a name of configs/profiles, the path of a profile file, or a run folder for its champion; "
    "@highs or @gurobi behind it chooses the solver), " + ", ".join(PLAIN)
)


class EntrantError(ManaforgeError, ValueError):
    """A text that names no entrant."""


@dataclass(frozen=True)
class Entrant:
    """Who plays, and how tables call it.

    Attributes:
        text: as typed; of a glob, `ilp:NAME`.
        player: the same in a form that plays.
    """

    text: str
    player: Player


def find_entrant(text: str) -> Entrant:
    """The entrant a text names: `ilp:keep-alive`, `ilp:path/to/profile.toml`, `ilp:RUN`, `random`, `pass`.

    `ilp:RUN` is the champion of a run folder, which is also looked for in `runs/`. `@gurobi` or `@highs`
    behind an ILP entrant chooses another backend than `exact`.

    Raises:
        EntrantError, UnknownNameError: it names none; the message lists the nearest.
        ProfileError: the profile file cannot be used.
        SolverError: the backend cannot start.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise EntrantError(f"entrant {text!r} is not UTF-8 text; give the file another name") from None
    if text in PLAIN:
        return Entrant(text, Player(kind=text))
    name, backend = _parts(text)
    find_solver(backend)
    return Entrant(text, _player(_profile(name), backend))


def find_entrants(texts: Sequence[str]) -> tuple[list[Entrant], set[str]]:
    """All entrants that texts name, globs expanded, each once, in their order.

    Returns:
        The entrants, and which of them were typed twice: those meet themselves.

    Raises:
        As `find_entrant`; EntrantError also where a glob matches nothing.
    """
    typed = {text: find_entrant(text) for text in texts if not _is_glob(text)}
    found: dict[str, Entrant] = {}
    for text in texts:
        for entrant in [typed[text]] if text in typed else _expand(text, typed | found):
            found.setdefault(entrant.text, entrant)
    return list(found.values()), {text for text in typed if list(texts).count(text) > 1}


def _parts(text: str) -> tuple[str, str]:
    """Profile and backend of an ILP entrant."""
    kind, _, rest = text.partition(":")
    if kind != "ilp" or not rest:
        error = unknown_name("entrant", text, [*PLAIN, *(f"ilp:{name}" for name in shipped_profiles())])
        raise EntrantError(f"{error}; an entrant is {NOTATION}")
    name, mark, backend = rest.rpartition("@")
    return (name, backend) if mark and not set("/.") & set(backend) else (rest, "exact")


def _profile(name: str) -> Profile:
    """A profile by name, file, or run folder."""
    if name in shipped_profiles():
        return find_profile(name)
    for folder in (Path(name), RUNS / name):
        if folder.is_dir():
            return _champion(folder)
    runs = [path.parent.name for path in RUNS.glob("*/champion.toml")]
    if name.endswith(".toml") or "/" in name:
        return find_profile(name)
    raise unknown_name("profile", name, [*shipped_profiles(), *runs])


def _champion(folder: Path) -> Profile:
    if not (folder / "config.toml").exists() and not (folder / "champion.toml").exists():
        raise EntrantError(f"{folder} is no run folder: it has no config.toml")
    champion, config = read_champion(folder), folder / "config.toml"
    made = champion.get("provenance", {}).get("generation")
    if not champion or (config.exists() and made != read_config(config).generations):
        raise EntrantError(f"run {folder} has no champion yet; to finish it: manaforge resume {folder}")
    return read_profile(folder / "champion.toml")


def _player(profile: Profile, backend: str) -> Player:
    return Player(tuple(float(weight) for weight in profile.weights.array), backend)


def _is_glob(text: str) -> bool:
    return text.startswith("ilp:") and glob.has_magic(text) and not Path(_parts(text)[0]).exists()


def _expand(text: str, taken: dict[str, Entrant]) -> list[Entrant]:
    """Profile files and finished runs that match, as `ilp:NAME`; as `ilp:PATH` where a name means two."""
    pattern, backend = _parts(text)
    find_solver(backend)
    suffix = "" if backend == "exact" else f"@{backend}"
    found: dict[str, Entrant] = {}
    for path in sorted(glob.glob(pattern)):  # noqa: PTH207 - a pattern may be absolute
        if Path(path).is_dir() and (Path(path) / "champion.toml").exists():
            profile = _champion(Path(path))
        elif path.endswith(".toml") and Path(path).is_file():
            profile = read_profile(Path(path))
        else:
            continue
        player = find_entrant(f"ilp:{path}{suffix}").player
        text = f"ilp:{profile.name}{suffix}"
        known = found.get(text) or taken.get(text)
        if known is None and profile.name in shipped_profiles():
            known = find_entrant(text)
        if known is not None and known.player != player:
            text = f"ilp:{path}{suffix}"
        found[text] = Entrant(text, player)
    if not found:
        raise EntrantError(f"{pattern} matches no profile file and no run with a champion")
    return list(found.values())
