"""Values that a shell completes: configurations, keys of --set, decks, entrants, runs, pools, weights."""

from collections.abc import Iterable
from pathlib import Path

import typer

from engine.codes import KEYWORD_FIELDS
from engine.received import read_toml
from engine.shipped import EDITION_NAMES, shipped_decks, shipped_rulesets
from evo.play.formats import OFFERED_FORMATS, SEATS
from evo.shipped import shipped_configs, shipped_learning
from ilp_agent.backends import BACKENDS, FORMULATIONS
from ilp_agent.shipped import shipped_profiles
from rivals.registry import AGENTS, DEFAULT_AGENT


def _beginning(incomplete: str, known: Iterable[str]) -> list[str]:
    return [name for name in known if name.startswith(incomplete)]


def _last_of_list(incomplete: str, known: Iterable[str]) -> list[str]:
    """Completions of the last name of a list with commas, with what stands before it."""
    before, comma, last = incomplete.rpartition(",")
    named = before.split(",")
    return [f"{before}{comma}{name}" for name in _beginning(last, known) if name not in named]


def configs(incomplete: str) -> list[str]:
    """Shipped configurations, and TOML files here."""
    files = (str(file) for file in Path().glob("*.toml") if file.name != "pyproject.toml")
    return _beginning(incomplete, [*shipped_configs(), *files])


def learning(incomplete: str) -> list[str]:
    """Shipped configurations of learning, and TOML files here."""
    files = (str(file) for file in Path().glob("*.toml") if file.name != "pyproject.toml")
    return _beginning(incomplete, [*shipped_learning(), *files])


def keys(incomplete: str) -> list[str]:
    """Keys of a configuration, as --set takes them; after KEY= its values, where they are a closed set."""
    from evo.config import choices, meanings

    key, equals, value = incomplete.partition("=")
    if key == "decks" and equals:
        return [f"{key}={names}" for names in decks(value)]
    if equals:
        return [f"{key}={name}" for name in _beginning(value, choices().get(key, ()))]
    return _beginning(incomplete, [f"{key}=" for key, _ in meanings() if key not in ("schema", "address")])


def editions(incomplete: str) -> list[str]:
    """Editions of real cards."""
    return [name for name in EDITION_NAMES if name.startswith(incomplete)]


def decks(incomplete: str) -> list[str]:
    """Shipped decks, also as the last of a list with commas."""
    return _last_of_list(incomplete, shipped_decks())


def runs(incomplete: str) -> list[str]:
    """Run folders and studies in `runs/`."""
    from evo.storage.kinds import RUNS

    found = {file.parent for file in RUNS.glob("*/config.toml")}
    found |= {file.parent.parent for file in RUNS.glob("*/*/config.toml")}
    return _beginning(incomplete, sorted(map(str, found)))


def entrants(incomplete: str) -> list[str]:
    """Agents, shipped profiles, and the runs in `runs/`."""
    from evo.storage.kinds import RUNS

    found = [kind.name for kind in AGENTS.values() if kind.default_profile or not kind.weighted]
    for kind in AGENTS.values():
        if kind.weighted:
            found += [f"{kind.name}:{name}" for name in shipped_profiles(kind.owner)]
    champions = [*sorted(RUNS.glob("*/champion.toml")), *sorted(RUNS.glob("*/*/champion.toml"))]
    found += [f"{_agent_of(file.parent)}:{file.parent.relative_to(RUNS)}" for file in champions]
    return _beginning(incomplete, found)


def entrant_lists(incomplete: str) -> list[str]:
    """Entrants, also as the last of a list with commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in entrants(last) if name not in before.split(",")]


def _agent_of(run: Path) -> str:
    """The agent whose weights a run evolved, by its configuration alone; the default where it says none."""
    try:
        return str(read_toml(run / "config.toml").get("agent", DEFAULT_AGENT))
    except (OSError, ValueError):
        return DEFAULT_AGENT


def profiles(incomplete: str) -> list[str]:
    """Profiles of the turn program, and run folders."""
    return [*_beginning(incomplete, shipped_profiles()), *runs(incomplete)]


def pools(incomplete: str) -> list[str]:
    """Kinds of pools."""
    from evo.play.pools import POOLS

    return _beginning(incomplete, POOLS)


def rulesets_of(incomplete: str) -> list[str]:
    """Rulesets."""
    return _beginning(incomplete, shipped_rulesets())


def backends(incomplete: str) -> list[str]:
    """Solvers of the turn program."""
    return _beginning(incomplete, BACKENDS)


def weights(ctx: typer.Context, incomplete: str) -> list[str]:
    """Weights of the agent chosen before, or of every agent, with the names that --weight also takes."""
    entrant = ctx.params.get("entrant") or next(
        iter(ctx.args), ""
    )  # not parsed before an option without value
    agent = str(entrant).partition(":")[0].partition("@")[0]
    found: list[str] = []
    for kind in [AGENTS[agent]] if agent in AGENTS else AGENTS.values():
        if kind.weights:
            found += [*kind.weights.names(), *kind.weights.further(), *kind.weights.ALIASES]
    return _beginning(incomplete, sorted(set(found)))


def keywords(incomplete: str) -> list[str]:
    """Keywords of minions."""
    return _beginning(incomplete, KEYWORD_FIELDS)


def formats(incomplete: str) -> list[str]:
    """Formats of a tournament."""
    return _beginning(incomplete, OFFERED_FORMATS)


def seats(incomplete: str) -> list[str]:
    """Kinds of seats."""
    return _beginning(incomplete, SEATS)


def formulations(incomplete: str) -> list[str]:
    """Formulations of the turn program."""
    return _beginning(incomplete, FORMULATIONS)
