"""Entrant notation: parse texts such as `ilp:keep-alive`, `ilp:RUN`, `lookahead@16` (option) to players."""

import contextlib
import fnmatch
import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from engine import ManaforgeError
from engine.errors import UnknownNameError, WrongValueError, nearest_names, unknown_name
from evo.config.run_config import RunConfig
from evo.play.games import Player
from evo.play.notation import NOTATION, PROFILE_OPTION, entrant_text
from evo.storage.champion import read_champion_file
from evo.storage.files import RUNS, not_a_run_text
from evo.storage.run_folder import read_run_config
from ilp_agent import Profile, WeightVector, find_solver, shipped_profiles
from ilp_agent.backends import DEFAULT_BACKEND, refuse_secrets
from ilp_agent.card_values import NO_CARD_VALUES, CardValues
from ilp_agent.mulligan import DeckMulligan, mulligan_from_values
from ilp_agent.shipped import configs_folder, profiles_folder
from rivals import AGENTS, DEFAULT_AGENT, find_agent_profile, find_kind, is_outside, read_agent_profile
from rivals.kinds import format_options, parse_options, split_backend
from rivals.outside.agent import check_starts
from rivals.outside.parameters import declared_weights, differences
from rivals.outside.permissions import allow_options


class OutsideProfileError(WrongValueError, ValueError):
    """A profile that does not fit an agent from outside."""


def outside_player(agent: str, profile: str = "", options: tuple[int, ...] = ()) -> Player:
    """Make the player of an agent from outside.

    Args:
        agent: `python:MODULE:CLASS` or `process:COMMAND`.
        profile: profile file or run folder with its parameters; "" for the agent's defaults.
        options: values of its options; () for defaults.

    Raises:
        NotStartedError: it cannot be started.
        OutsideProfileError, ProfileError: the profile does not fit the agent.
    """
    check_starts(agent)
    found = outside_profile(agent, profile) if profile else None
    if found is not None and found.deck_weights:
        raise OutsideProfileError(
            f"{profile} has weights for single decks, which agents from outside do not take"
        )
    weights = () if found is None else found.weights.array
    return Player(tuple(map(float, weights)), DEFAULT_BACKEND, agent, options)


def outside_profile(agent: str, name: str) -> Profile[WeightVector]:
    """Read a profile of an agent from outside; starts the agent to get the declared parameters.

    Args:
        agent: `python:MODULE:CLASS` or `process:COMMAND`.
        name: a profile file, or a run folder for its champion, which is also looked up in `runs/`.

    Raises:
        NotStartedError: it cannot be started.
        OutsideProfileError, ProfileError: there is no such profile, or it is another agent's.
    """
    declared = check_starts(agent)
    if not declared:
        raise OutsideProfileError(f"{agent} declares no parameters, so it takes no profile")
    for folder in (Path(name), RUNS / name):
        if os.path.isdir(folder):  # noqa: PTH112 - accepts names no file can have
            return read_agent_profile(_outside_champion(agent, folder), declared_weights(agent, declared))
    return read_agent_profile(Path(name), declared_weights(agent, declared))


def _outside_champion(agent: str, folder: Path) -> Path:
    """Path of the champion file of a run that evolved an agent from outside."""
    if not (folder / "config.toml").exists():
        raise OutsideProfileError(not_a_run_text(folder))
    config = read_run_config(folder)
    if config.agent != agent:
        raise OutsideProfileError(f"run {folder} evolved {config.agent}, so {agent} cannot use its champion")
    if not read_champion_file(folder).finishes(config):
        raise OutsideProfileError(
            f"run {folder} has no champion yet; to finish it: manaforge resume {folder}{allow_options(agent)}"
        )
    check_parameters_unchanged(config, str(folder))
    return folder / "champion.toml"


def check_parameters_unchanged(config: RunConfig, run: str = "") -> None:
    """Raise if a run's agent from outside no longer declares the run's parameters and bounds.

    Args:
        config: run configuration; an agent from outside is started.
        run: run folder, for the message.

    Raises:
        NotStartedError: the agent cannot be started.
        NotAllowedError: the command line does not allow it.
        OutsideProfileError: the agent declares other parameters.
    """
    if not is_outside(config.agent):
        return
    different = differences(check_starts(config.agent), config.parameters)
    if different:
        raise OutsideProfileError(
            f"{config.agent} declares other parameters than "
            f"{f'run {run}' if run else 'the configuration'} has: {different}"
        )


class EntrantError(WrongValueError, ValueError):
    """An entrant text that cannot be parsed or found."""


class NotPlayableError(EntrantError):
    """An entrant that exists but cannot play: a run without a champion, or weights of another agent."""

    exit_code = 1


EQUAL_SHARE_DIGITS = 12
"""Decimal digits to which weight shares must agree to count as equal play."""


@dataclass(frozen=True)
class Entrant:
    """A player, with the entrant text that names the player in tables.

    Attributes:
        text: as typed; for a glob's matches, the text that names each alone: a shipped profile's name,
            another profile's path, a run's folder.
        player: the player.
    """

    text: str
    player: Player


def find_entrant(text: str) -> Entrant:
    """Parse an entrant: `ilp:keep-alive`, `ilp:path/to/profile.toml`, `ilp:RUN`, `eva`, `random`.

    `AGENT:PROFILE` is an agent with weights; some agents have a default profile, so their name is enough.
    `ilp:RUN` is the champion of a run folder, which is also looked up in `runs/`; of an agent from outside it
    is `process:COMMAND@profile=RUN`. `@BACKEND` after an agent with a backend chooses its solver; `@OPTIONS`
    after an agent with options sets them: `lookahead@16`, `lookahead:PROFILE@64,depth=3`; both together are
    `ilp:PROFILE@search,secrets=mean`.

    Raises:
        EntrantError, UnknownNameError: there is no such entrant; the message lists the nearest names.
        ProfileError: the profile file cannot be used.
        SolverError: the backend cannot start.
        OptionError: an option cannot have this value.
        NotStartedError: an agent from outside cannot be started.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise EntrantError(f"entrant {text!r} is not UTF-8 text; give the file another name") from None
    parts = _parse(text)
    if find_kind(parts.agent).takes_backend:
        find_solver(parts.backend)
        if find_kind(parts.agent).models_secrets(parts.options):
            refuse_secrets(parts.backend)
    if is_outside(parts.agent):
        return Entrant(text, outside_player(parts.agent, parts.profile, parts.options))
    if not _has_weights(parts.agent):
        return Entrant(text, Player((), parts.backend, parts.agent, parts.options))
    return Entrant(text, _player(parts, entrant_profile(parts.agent, parts.profile)))


def champion_entrant(agent: str, folder: Path, text: str) -> Entrant:
    """The champion of a run as an entrant, by run folder; the folder's name is not parsed as notation.

    Args:
        agent: agent kind that the run evolved.
        folder: run folder.
        text: name of the entrant in tables.

    Raises:
        EntrantError, ProfileError: the run has no champion, or evolved another agent.
    """
    profile = _champion(agent, folder)
    return Entrant(text, _player(_Parts(agent, text, DEFAULT_BACKEND, (), ""), profile))


def entrant_from_weights(
    text: str,
    kind: str,
    weights: Sequence[float],
    keeps: tuple[DeckMulligan, ...],
    deck_weights: tuple[tuple[str, tuple[float, ...]], ...] = (),
    card_values: CardValues = NO_CARD_VALUES,
) -> Entrant:
    """An entrant from stored weights and mulligan choices; the entrant's profile is not read again.

    Args:
        text: entrant text.
        kind: agent kind, the same as in `text`.
        weights: in the order of the kind's weights.
        keeps: mulligan choices by deck and seat.
        deck_weights: weights for single decks.
        card_values: values of single cards.

    Raises:
        EntrantError, OptionError: the text is no entrant, or kind or number of weights do not match it.
        CardValueError: the kind takes no card values.
        NotAllowedError, NotStartedError: an agent from outside may not run here, or cannot be started.
    """
    parts = _parse(text)
    if parts.agent != kind:
        raise EntrantError(f"entrant {text!r} is not of agent kind {kind!r}")
    declared = check_starts(kind) if is_outside(kind) else ()
    vector = find_kind(kind).weights
    if vector is not None:
        for values in (weights, *(own for _, own in deck_weights)):
            vector.from_array(values)
    elif weights and len(weights) != len(declared):
        raise EntrantError(f"agent {kind} has {len(declared)} weights, got {len(weights)}")
    return Entrant(
        text,
        Player(tuple(weights), parts.backend, kind, parts.options, keeps, deck_weights, card_values),
    )


def profile_of_entrant(text: str) -> Profile[WeightVector]:
    """The weight profile of an entrant.

    Raises:
        EntrantError: the agent has no weights.
        UnknownNameError, ProfileError: as `find_entrant` raises them.
    """
    parts = _parse(text)
    if is_outside(parts.agent) and parts.profile:
        return outside_profile(parts.agent, parts.profile)
    if not _has_weights(parts.agent):
        weighted = ", ".join(kind.name for kind in AGENTS.values() if kind.weighted)
        raise EntrantError(f"{text} has no profile; agents with a profile are {weighted}")
    return entrant_profile(parts.agent, parts.profile)


def find_entrants(texts: Sequence[str]) -> tuple[list[Entrant], set[str]]:
    """Parse entrants and expand globs; returns each entrant once, in order, and the texts typed twice.

    Returns:
        The entrants, and the texts typed twice, whose entrants also play themselves.

    Raises:
        EntrantError: a text names no entrant, or a glob matches nothing.
        UnknownNameError, ProfileError, SolverError: as `find_entrant` raises them.
    """
    typed = {text: find_entrant(text) for text in texts if not _is_glob(text)}
    found: dict[str, Entrant] = {}
    for text in texts:
        for entrant in [typed[text]] if text in typed else _expand(text):
            found.setdefault(entrant.text, entrant)
    return list(found.values()), {text for text in typed if list(texts).count(text) > 1}


def resolve_in_folder(text: str, folder: Path) -> str:
    """Resolve an entrant's relative path or glob against a folder, if it matches something there."""
    agent, colon, _ = text.partition(":")
    outside = is_outside(text)
    if not colon or not (outside or _has_weights(agent)):
        return text
    parts = _parse(text)
    path = parts.profile
    if os.path.isabs(path) or not (path.endswith(".toml") or "/" in path or glob.has_magic(path)):  # noqa: PTH117
        return text
    if not outside and _matching_profiles(agent, path):
        return text
    if os.path.exists(folder / path):  # noqa: PTH110 - accepts names no file can have
        start = str(folder / path)
    elif glob.glob(path, root_dir=folder):  # noqa: PTH207 - as in `_expand`
        start = f"{glob.escape(str(folder))}/{path}"
    else:
        return text
    if outside:
        return entrant_text(parts.agent, start, parts.suffix.removeprefix("@"))
    return f"{agent}:{start}{parts.suffix}"


class _Parts(NamedTuple):
    """Parts of a parsed entrant text.

    Attributes:
        agent: agent kind.
        profile: "" for an agent without weights, or an agent from outside with its own parameters.
        backend: solver; the default if none is named.
        options: values of the kind's options; () for defaults.
        suffix: `@BACKEND`, `@OPTIONS` or `@BACKEND,OPTIONS`; "" for defaults.
    """

    agent: str
    profile: str
    backend: str
    options: tuple[int, ...]
    suffix: str


def _parse(text: str) -> _Parts:
    """Parse an entrant text."""
    if is_outside(text):
        return _parse_outside(text)
    before_at, at_sign, after_at = text.rpartition("@")
    kind = AGENTS.get(text.partition(":")[0].partition("@")[0])
    has_suffix = kind is not None and (kind.takes_backend or kind.options)
    if not has_suffix or not at_sign or set("/.") & set(after_at):
        before_at, after_at = text, ""
    agent, colon, profile = before_at.partition(":")
    if kind is not None and agent == kind.name and not colon:
        profile = kind.default_profile
    module, _, class_name = text.partition(":")
    module = module.removesuffix(".py").removeprefix("./").replace("/", ".")
    is_file = os.path.isfile(f"{module.replace('.', '/')}.py")  # noqa: PTH113 - accepts names no file can have
    if kind is None and (is_file or text.endswith(".py")):
        raise EntrantError(
            f"unknown entrant {text!r}; a class of a Python file is an agent as "
            f"python:{module}:{class_name or 'CLASS'}"
        )
    if kind is None or agent != kind.name or bool(profile) != kind.weighted:
        bare = [kind.name for kind in AGENTS.values() if kind.default_profile or not kind.weighted]
        weighted = [kind for kind in AGENTS.values() if kind.weighted]
        known = [f"{kind.name}:{name}" for kind in weighted for name in shipped_profiles(kind.owner)]
        known += [f"{kind.name}:{run}" for kind in weighted for run in _runs_of(kind.name)]
        raise EntrantError(f"{unknown_name('entrant', text, [*bare, *known])}; an entrant is {NOTATION}")
    backend = DEFAULT_BACKEND
    if kind.takes_backend:
        backend, after_at = split_backend(after_at) if kind.options else (after_at or backend, "")
    settings = parse_options(kind.options, after_at)
    after_at = format_options(kind.options, settings)
    named = backend if backend != DEFAULT_BACKEND else ""
    suffix = _suffix(",".join(filter(None, (named, after_at))))
    return _Parts(agent, profile, backend, settings if after_at else (), suffix)


def _parse_outside(text: str) -> _Parts:
    """Parse the entrant of an agent from outside; an `@` that starts no option is part of the command."""
    options = find_kind(text).options
    known = [PROFILE_OPTION, *(option.name for option in options)]
    starts = [at for at, sign in enumerate(text) if sign == "@"]
    option_starts = [at for at in starts if "=" in text[at:] and text[at + 1 :].partition("=")[0] in known]
    python_starts = starts if text.startswith("python:") else []  # module and class names have no @
    at = (option_starts[-1:] or python_starts[:1] or [len(text)])[0]
    profile, settings_texts = "", []
    for part in text[at + 1 :].split(",") if at < len(text) else []:
        key, _, value = part.partition("=")
        if key == PROFILE_OPTION and not value:
            raise EntrantError(f"{text}: {PROFILE_OPTION}= needs a profile file or a run folder")
        if key == PROFILE_OPTION:
            profile = value
        elif profile and key not in known:
            profile += f",{part}"  # a comma of its path
        else:
            settings_texts.append(part)
    settings = parse_options(options, ",".join(settings_texts))
    suffix = _suffix(format_options(options, settings))
    return _Parts(text[:at], profile, DEFAULT_BACKEND, settings if suffix else (), suffix)


def _has_weights(agent: str) -> bool:
    """Whether a text names an agent kind with weights."""
    return agent in AGENTS and AGENTS[agent].weighted


def _suffix(text: str) -> str:
    """`@TEXT`; "" for no text."""
    return f"@{text}" if text else ""


def entrant_profile(agent: str, name: str) -> Profile[WeightVector]:
    """Read an agent's profile: a shipped profile by name, a file, or the champion of a run folder.

    Raises:
        EntrantError, UnknownNameError, ProfileError: there is no such profile, or it is another agent's.
    """
    shipped = shipped_profiles(AGENTS[agent].owner)
    if name in shipped:
        return find_agent_profile(agent, name)
    for folder in (Path(name), RUNS / name):
        if os.path.isdir(folder):  # noqa: PTH112 - accepts names no file can have
            return _champion(agent, folder)
    if "/" in name and not name.endswith(".toml") and not os.path.exists(name):  # noqa: PTH110 - likewise
        raise EntrantError(not_a_run_text(Path(name)))
    if name.endswith(".toml") or "/" in name:
        return _read_profile(agent, name)
    raise _unknown_profile(agent, name)


def _unknown_profile(agent: str, name: str) -> UnknownNameError:
    """Error for an unknown profile, with the nearest profiles and runs of this agent, else of others."""
    known = {
        kind.name: [*shipped_profiles(kind.owner), *_runs_of(kind.name)]
        for kind in AGENTS.values()
        if kind.weighted
    }
    subject = "profile" if agent == DEFAULT_AGENT else f"profile of {agent}"
    if nearest_names(name, known[agent]):
        return unknown_name(subject, name, known[agent])
    others = {kind.name: kind.name for kind in AGENTS.values() if kind.default_profile or not kind.weighted}
    for other, names in known.items():
        others = {profile: f"{other}:{profile}" for profile in names if other != agent} | others
    near = [others[profile] for profile in nearest_names(name, others)]
    if not near:
        return unknown_name(subject, name, known[agent])
    return UnknownNameError(f"unknown {subject} {name!r}; nearest: {', '.join(near)}")


def _runs_of(agent: str) -> list[str]:
    """Names of the runs in `runs/` that have a champion of this agent."""
    return [path.parent.name for path in RUNS.glob("*/champion.toml") if _has_evolved(path.parent, agent)]


def _champion(agent: str, folder: Path) -> Profile[WeightVector]:
    """Read the champion of a run as a profile of an agent."""
    if not (folder / "config.toml").exists() and not (folder / "champion.toml").exists():
        raise EntrantError(not_a_run_text(folder))
    champion = read_champion_file(folder)
    if champion.unreadable:
        raise EntrantError(f"{folder / 'champion.toml'} cannot be read: {champion.unreadable}")
    finished = bool(champion.content)
    if (folder / "config.toml").exists():
        finished = champion.finishes(read_run_config(folder))
    if not finished:
        raise NotPlayableError(f"run {folder} has no champion yet; to finish it: manaforge resume {folder}")
    evolved = _agent_of(folder)
    owner = AGENTS[agent].owner
    if is_outside(evolved):
        raise NotPlayableError(f"run {folder} evolved {evolved}; play it as {entrant_text(evolved, folder)}")
    if evolved not in AGENTS:
        raise NotPlayableError(f"{folder / 'champion.toml'}: {unknown_name('agent', evolved, AGENTS)}")
    if AGENTS[evolved].owner == owner and evolved not in (agent, owner):
        raise NotPlayableError(f"run {folder} evolved {evolved}; play its champion as {evolved}:{folder}")
    return find_agent_profile(agent, str(folder / "champion.toml"))


def _read_profile(agent: str, path: str) -> Profile[WeightVector]:
    """Read a profile file; refuse a profile evolved for another agent with the same weight names."""
    shipped = configs_folder().parent / path
    if Path(path).parts[:1] == ("configs",) and not os.path.exists(path) and shipped.is_file():  # noqa: PTH110
        path = str(shipped)  # outside the checkout too
    profile = find_agent_profile(agent, path)
    other = _other_agent(profile, agent)
    if other:
        raise NotPlayableError(f"{path} was evolved for {other}; play it as {other}:{path}")
    return profile


def _other_agent(profile: Profile[WeightVector], agent: str) -> str:
    """The agent for which a profile was evolved, if `agent` may not use it; else ""."""
    evolved = profile.provenance.get("agent", agent)
    return "" if evolved in (agent, AGENTS[agent].owner) else str(evolved)


def _has_evolved(run: Path, agent: str) -> bool:
    """Whether a run evolved this agent's weights; False for an unreadable run."""
    with contextlib.suppress(ManaforgeError):
        return _agent_of(run) == agent
    return False


def _agent_of(run: Path) -> str:
    """The agent whose weights a run evolved."""
    if (run / "config.toml").exists():
        return read_run_config(run).agent
    return read_champion_file(run).agent


def _player(parts: _Parts, profile: Profile[WeightVector]) -> Player:
    """Make the player of a parsed entrant text and a weight profile."""
    weights = tuple(float(weight) for weight in profile.weights.array)
    keeps = tuple(map(mulligan_from_values, profile.mulligan))
    deck_weights = {deck: tuple(map(float, own.array)) for deck, own in profile.deck_weights.items()}
    return Player(
        weights,
        parts.backend,
        parts.agent,
        parts.options,
        keeps,
        tuple(sorted(deck_weights.items())),
        profile.card_values,
    )


def _is_glob(text: str) -> bool:
    """Whether an entrant text has a glob instead of a profile, and no file has the glob as its name."""
    agent, colon, _ = text.partition(":")
    weighted = bool(colon) and _has_weights(agent)
    return weighted and glob.has_magic(text) and not os.path.exists(_parse(text).profile)  # noqa: PTH110


def _matching_profiles(agent: str, pattern: str) -> list[str]:
    """Names of an agent's shipped profiles that match a glob without a folder, such as `*` or `true-*`."""
    return fnmatch.filter(shipped_profiles(AGENTS[agent].owner), pattern) if glob.has_magic(pattern) else []


def _expand(text: str) -> list[Entrant]:
    """Expand an entrant text with a glob to one entrant per matching profile or finished run.

    A glob that matches names of shipped profiles means these, any other matches files and folders.
    """
    parts = _parse(text)
    agent, pattern = parts.agent, parts.profile
    if find_kind(agent).takes_backend:
        find_solver(parts.backend)
    owner = AGENTS[agent].owner
    named = _matching_profiles(agent, pattern)
    if named:
        return [find_entrant(f"{agent}:{name}{parts.suffix}") for name in named]
    found = []
    for path in sorted(glob.glob(pattern)):  # noqa: PTH207 - a pattern may be absolute
        name = path
        if Path(path).is_dir() and (Path(path) / "champion.toml").exists():
            if _agent_of(Path(path)) != agent:
                continue
            profile = _champion(agent, Path(path))
        elif path.endswith(".toml") and Path(path).is_file():
            profile = read_agent_profile(Path(path))
            if not isinstance(profile.weights, AGENTS[agent].weights or ()) or _other_agent(profile, agent):
                continue
            shipped = Path(path).resolve().parent == profiles_folder(owner).resolve()
            name = Path(path).stem if shipped else path
        else:
            continue
        found.append(Entrant(f"{agent}:{name}{parts.suffix}", _player(parts, profile)))
    if not found:
        raise EntrantError(
            f"{pattern} matches no shipped profile, no profile file and no run with a champion of {agent}"
        )
    return found


def equal_entrants(entrants: Sequence[Entrant]) -> list[list[str]]:
    """Texts of entrants in groups that play equally: same agent, solver, options, mulligan, weight shares.

    With card values the weights themselves must be equal, since another scale would change their sum.
    """
    groups: dict[tuple[object, ...], list[str]] = {}
    for entrant in entrants:
        player = entrant.player
        vector = find_kind(player.kind).weights
        shares = (
            vector.from_array(player.weights).shares.round(EQUAL_SHARE_DIGITS) + 0.0
            if vector and not player.card_values
            else np.zeros(0)
        )
        others = vector.pad_optional(player.weights)[len(shares) :] if vector else player.weights
        key = (
            *player.kind_and_backend,
            player.options,
            player.keeps,
            player.deck_weights,
            player.card_values,
            np.nan_to_num(shares, nan=-1).tobytes(),
            others,
        )
        groups.setdefault(key, []).append(entrant.text)
    return [texts for texts in groups.values() if len(texts) > 1]
