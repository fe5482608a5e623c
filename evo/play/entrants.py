"""Entrants: who can play, by the one notation used everywhere."""

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import ManaforgeError
from engine.errors import unknown_name
from evo.config import read_config
from evo.play.games import Player
from evo.storage.champion import read_champion_file
from ilp_agent import Profile, WeightVector, find_solver, shipped_profiles
from rivals import DEFAULT_PROFILES, WEIGHTLESS, WEIGHTS_OF, find_agent_profile, read_agent_profile

RUNS = Path("runs")

NOTATION = (
    "ilp:PROFILE (a name of configs/profiles, the path of a profile file, or a run folder for its champion; "
    "@highs or @gurobi behind it chooses the solver), "
    + ", ".join(f"{agent}[:PROFILE]" for agent in DEFAULT_PROFILES)
    + ", "
    + ", ".join(WEIGHTLESS)
)


class EntrantError(ManaforgeError, ValueError):
    """A text that names no entrant."""


@dataclass(frozen=True)
class Entrant:
    """Who plays, and how tables call it.

    Attributes:
        text: as typed; of a glob, `AGENT:NAME`.
        player: the same in a form that plays.
    """

    text: str
    player: Player


def find_entrant(text: str) -> Entrant:
    """The entrant a text names: `ilp:keep-alive`, `ilp:path/to/profile.toml`, `ilp:RUN`, `eva`, `random`.

    `AGENT:PROFILE` is an agent with weights; `hearthsim`, `eva` and `greedy-ilp` alone have a usual profile.
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
    if text in WEIGHTLESS:
        return Entrant(text, Player(kind=text))
    agent, name, backend = _parts(text)
    find_solver(backend)
    return Entrant(text, _player(agent, _profile(agent, name), backend))


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


def from_folder(text: str, folder: Path) -> str:
    """An entrant whose path or glob, where it leads to something there, starts from a folder."""
    agent, colon, _ = text.partition(":")
    if not colon or agent not in WEIGHTS_OF:
        return text
    _, path, backend = _parts(text)
    if os.path.isabs(path) or not (path.endswith(".toml") or "/" in path or glob.has_magic(path)):  # noqa: PTH117
        return text
    if os.path.exists(folder / path):  # noqa: PTH110 - also of names no file can have
        start = str(folder / path)
    elif glob.glob(path, root_dir=folder):  # noqa: PTH207 - as in `_expand`
        start = f"{glob.escape(str(folder))}/{path}"
    else:
        return text
    return f"{agent}:{start}" + ("" if backend == "exact" else f"@{backend}")


def _parts(text: str) -> tuple[str, str, str]:
    """Agent, profile and backend of an entrant with weights."""
    agent, _, rest = text.partition(":")
    rest = rest or DEFAULT_PROFILES.get(agent, "") if text == agent else rest
    if agent not in WEIGHTS_OF or not rest:
        known = [f"{one}:{name}" for one, kind in WEIGHTS_OF.items() for name in shipped_profiles(kind.AGENT)]
        error = unknown_name("entrant", text, [*WEIGHTLESS, *DEFAULT_PROFILES, *known])
        raise EntrantError(f"{error}; an entrant is {NOTATION}")
    name, mark, backend = rest.rpartition("@")
    if agent == "ilp" and mark and not set("/.") & set(backend):
        return agent, name, backend
    return agent, rest, "exact"


def _profile(agent: str, name: str) -> Profile[WeightVector]:
    """A profile by name, file, or run folder."""
    shipped = shipped_profiles(WEIGHTS_OF[agent].AGENT)
    if name in shipped:
        return find_agent_profile(agent, name)
    for folder in (Path(name), RUNS / name):
        if os.path.isdir(folder):  # noqa: PTH112 - also of names no file can have
            return _champion(agent, folder)
    runs = [path.parent.name for path in RUNS.glob("*/champion.toml")]
    if name.endswith(".toml") or "/" in name:
        return _read_profile(agent, name)
    raise unknown_name("profile" if agent == "ilp" else f"profile of {agent}", name, [*shipped, *runs])


def _champion(agent: str, folder: Path) -> Profile[WeightVector]:
    if not (folder / "config.toml").exists() and not (folder / "champion.toml").exists():
        raise EntrantError(f"{folder} is no run folder: it has no config.toml")
    champion, config = read_champion_file(folder), folder / "config.toml"
    finished = champion.finishes(read_config(config)) if config.exists() else bool(champion.content)
    if not finished:
        raise EntrantError(f"run {folder} has no champion yet; to finish it: manaforge resume {folder}")
    evolved = _agent_of(folder)
    if WEIGHTS_OF[agent] is WEIGHTS_OF[evolved] and evolved not in (agent, "ilp"):
        raise EntrantError(f"run {folder} evolved {evolved}; play its champion as {evolved}:{folder}")
    return find_agent_profile(agent, str(folder / "champion.toml"))


def _read_profile(agent: str, path: str) -> Profile[WeightVector]:
    """A profile from a file; refused where it was evolved for another agent with weights of these names."""
    profile = find_agent_profile(agent, path)
    other = _of_another(profile, agent)
    if other:
        raise EntrantError(f"{path} was evolved for {other}; play it as {other}:{path}")
    return profile


def _of_another(profile: Profile[WeightVector], agent: str) -> str:
    """The agent whose profile this says it is, where another may not play it; else ""."""
    said = profile.provenance.get("agent", agent)
    return "" if said in (agent, "ilp") else str(said)


def _agent_of(run: Path) -> str:
    """Whose weights a run evolved."""
    if (run / "config.toml").exists():
        return read_config(run / "config.toml").agent
    return read_champion_file(run).agent


def _player(agent: str, profile: Profile[WeightVector], backend: str) -> Player:
    return Player(tuple(float(weight) for weight in profile.weights.array), backend, agent)


def _is_glob(text: str) -> bool:
    agent, colon, _ = text.partition(":")
    weighted = bool(colon) and agent in WEIGHTS_OF
    return weighted and glob.has_magic(text) and not os.path.exists(_parts(text)[1])  # noqa: PTH110


def _expand(text: str, taken: dict[str, Entrant]) -> list[Entrant]:
    """Profile files and finished runs that match, as `AGENT:NAME`; as `AGENT:PATH` where a name means two."""
    agent, pattern, backend = _parts(text)
    find_solver(backend)
    suffix = "" if backend == "exact" else f"@{backend}"
    found: dict[str, Entrant] = {}
    for path in sorted(glob.glob(pattern)):  # noqa: PTH207 - a pattern may be absolute
        if Path(path).is_dir() and (Path(path) / "champion.toml").exists():
            if _agent_of(Path(path)) != agent:
                continue
            profile = _champion(agent, Path(path))
        elif path.endswith(".toml") and Path(path).is_file():
            profile = read_agent_profile(Path(path))
            if type(profile.weights) is not WEIGHTS_OF[agent] or _of_another(profile, agent):
                continue
        else:
            continue
        player = _player(agent, profile, backend)
        text = f"{agent}:{profile.name}{suffix}"
        known = found.get(text) or taken.get(text)
        if known is None and profile.name in shipped_profiles(WEIGHTS_OF[agent].AGENT):
            known = find_entrant(text)
        if known is not None and known.player != player:
            text = f"{agent}:{path}{suffix}"
        found[text] = Entrant(text, player)
    if not found:
        raise EntrantError(f"{pattern} matches no profile file and no run with a champion of {agent}")
    return list(found.values())
