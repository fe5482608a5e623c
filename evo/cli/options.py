"""Shared command options, their checks and shell completion."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from engine.codes import KEYWORD_FIELDS
from engine.safe_files import read_toml
from engine.shipped import (
    BALANCED_RULESET,
    EDITION_NAMES,
    MINION_RULESET,
    shipped_decks,
    shipped_rulesets,
)
from evo.play.notation import NOTATION, OFFERED_FORMATS, SEATS
from ilp_agent.backends import BACKENDS, FORMULATIONS
from ilp_agent.shipped import shipped_configs, shipped_learning, shipped_profiles
from rivals.outside.permissions import ALLOW_OPTION, command_of
from rivals.registry import AGENTS, DEFAULT_AGENT


def _starting_with(incomplete: str, known: Iterable[str]) -> list[str]:
    return [name for name in known if name.startswith(incomplete)]


def _last_of_list(incomplete: str, known: Iterable[str]) -> list[str]:
    """Complete the last name of a comma-separated list; completions repeat the names before it."""
    before, comma, last = incomplete.rpartition(",")
    named = before.split(",")
    return [f"{before}{comma}{name}" for name in _starting_with(last, known) if name not in named]


def complete_configs(incomplete: str) -> list[str]:
    """Complete configurations: shipped ones, and TOML files in the current folder."""
    files = (str(file) for file in Path().glob("*.toml") if file.name != "pyproject.toml")
    return _starting_with(incomplete, [*shipped_configs(), *files])


def complete_learning_configs(incomplete: str) -> list[str]:
    """Complete learning configurations: shipped ones, and TOML files in the current folder."""
    files = (str(file) for file in Path().glob("*.toml") if file.name != "pyproject.toml")
    return _starting_with(incomplete, [*shipped_learning(), *files])


def complete_config_keys(incomplete: str) -> list[str]:
    """Complete KEY=VALUE of --set: configuration keys, and after KEY= its values if they are a closed set."""
    from evo.config.run_config import allowed_values, key_descriptions

    key, equals, value = incomplete.partition("=")
    if key == "decks" and equals:
        return [f"{key}={names}" for names in complete_decks(value)]
    if equals:
        return [f"{key}={name}" for name in _starting_with(value, allowed_values().get(key, ()))]
    return _starting_with(
        incomplete, [f"{key}=" for key, _ in key_descriptions() if key not in ("schema", "address")]
    )


def complete_editions(incomplete: str) -> list[str]:
    """Complete editions of real cards."""
    return [name for name in EDITION_NAMES if name.startswith(incomplete)]


def complete_decks(incomplete: str) -> list[str]:
    """Complete shipped decks, also as the last of a comma-separated list."""
    return _last_of_list(incomplete, shipped_decks())


def complete_runs(incomplete: str) -> list[str]:
    """Complete run folders and studies in `runs/`."""
    from evo.storage.files import RUNS

    found = {file.parent for file in RUNS.glob("*/config.toml")}
    found |= {file.parent.parent for file in RUNS.glob("*/*/config.toml")}
    return _starting_with(incomplete, sorted(map(str, found)))


def complete_entrants(incomplete: str) -> list[str]:
    """Complete entrants: agents, shipped profiles, and champions of the runs in `runs/`."""
    from evo.storage.files import RUNS

    found = [kind.name for kind in AGENTS.values() if kind.default_profile or not kind.weighted]
    for kind in AGENTS.values():
        if kind.weighted:
            found += [f"{kind.name}:{name}" for name in shipped_profiles(kind.owner)]
    champions = [*sorted(RUNS.glob("*/champion.toml")), *sorted(RUNS.glob("*/*/champion.toml"))]
    found += [f"{_agent_of(file.parent)}:{file.parent.relative_to(RUNS)}" for file in champions]
    return _starting_with(incomplete, found)


def complete_entrant_lists(incomplete: str) -> list[str]:
    """Complete entrants, also as the last of a comma-separated list."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in complete_entrants(last) if name not in before.split(",")]


def _agent_of(run: Path) -> str:
    """Agent whose weights a run evolved, from its configuration; the default agent if it names none."""
    try:
        return str(read_toml(run / "config.toml").get("agent", DEFAULT_AGENT))
    except (OSError, ValueError):
        return DEFAULT_AGENT


def complete_profiles(incomplete: str) -> list[str]:
    """Complete profiles of the turn program, and run folders."""
    return [*_starting_with(incomplete, shipped_profiles()), *complete_runs(incomplete)]


def complete_pools(incomplete: str) -> list[str]:
    """Complete kinds of worker pools."""
    from evo.play.pools import POOL_KINDS

    return _starting_with(incomplete, POOL_KINDS)


def complete_rulesets(incomplete: str) -> list[str]:
    """Complete rulesets."""
    return _starting_with(incomplete, shipped_rulesets())


def complete_backends(incomplete: str) -> list[str]:
    """Complete solvers of the turn program."""
    return _starting_with(incomplete, BACKENDS)


def complete_weights(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete weight names and aliases of the agent typed before, or of every agent."""
    entrant = ctx.params.get("entrant") or next(
        iter(ctx.args), ""
    )  # not parsed before an option without value
    agent = str(entrant).partition(":")[0].partition("@")[0]
    found: list[str] = []
    for kind in [AGENTS[agent]] if agent in AGENTS else AGENTS.values():
        if kind.weights:
            found += [*kind.weights.names(), *kind.weights.optional_defaults(), *kind.weights.ALIASES]
    return _starting_with(incomplete, sorted(set(found)))


def complete_keywords(incomplete: str) -> list[str]:
    """Complete keywords of minions."""
    return _starting_with(incomplete, KEYWORD_FIELDS)


def complete_formats(incomplete: str) -> list[str]:
    """Complete tournament formats."""
    return _starting_with(incomplete, OFFERED_FORMATS)


def complete_seats(incomplete: str) -> list[str]:
    """Complete seating modes."""
    return _starting_with(incomplete, SEATS)


def complete_formulations(incomplete: str) -> list[str]:
    """Complete formulations of the turn program."""
    return _starting_with(incomplete, FORMULATIONS)


DeckEdition = Annotated[
    str,
    typer.Option(
        "--edition",
        help=f"Edition of deck codes and deck files with a class: {' or '.join(EDITION_NAMES)}.",
        metavar="NAME",
        autocompletion=complete_editions,
    ),
]
AsBodies = Annotated[
    bool,
    typer.Option(
        "--bodies",
        help="In deck codes and decks with a class, play minions that are not exact as bodies with keywords.",
    ),
]
AnyDeck = Annotated[
    bool,
    typer.Option(
        "--any-deck",
        help="Allow cards of other classes and any number of copies in deck codes and decks with a class.",
    ),
]
Patches = Annotated[
    list[str] | None,
    typer.Option(
        "--patch",
        metavar="PATCH",
        help='Change numbers of a card in all games, such as "Fireball cost=5", or a file of patches; '
        "may repeat. manaforge card NAME lists a card's numbers.",
        show_default=False,
    ),
]
DECKS_HELP = f"Decks, separated by commas: {', '.join(shipped_decks())}, files or deck codes."
OUT_HELP = "Output folder; repeating the command continues where it stopped. (default: runs/{}-<hash>)"

MOST_WORKERS = 100_000

Workers = Annotated[
    int, typer.Option(min=0, max=MOST_WORKERS, help="Number of workers; 0: one per processor.")
]
PoolName = Annotated[
    str, typer.Option("--pool", help="Worker pool: auto, local or ray.", autocompletion=complete_pools)
]
Address = Annotated[str, typer.Option(help="Ray cluster to join: auto or HOST:PORT.")]
RulesetName = Annotated[
    str,
    typer.Option(
        "--ruleset",
        help=f"Ruleset: {', '.join(shipped_rulesets())}. (default: {MINION_RULESET}; {BALANCED_RULESET} if a "
        "deck has a class)",
        show_default=False,
        autocompletion=complete_rulesets,
    ),
]
DealSeed = Annotated[int, typer.Option("--seed", min=0, max=2**64 - 1, help="Seed of the deals.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON for machines.")]

RunWorkers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=0,
        max=MOST_WORKERS,
        help="Number of workers; 0: one per processor. (default: the configuration's)",
    ),
]
RunPool = Annotated[
    str | None,
    typer.Option(
        "--pool",
        help="Worker pool: auto, local or ray. (default: the configuration's)",
        autocompletion=complete_pools,
    ),
]
RunAddress = Annotated[
    str | None,
    typer.Option("--address", help="Ray cluster to join: auto or HOST:PORT."),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a configuration value; may repeat.",
        autocompletion=complete_config_keys,
    ),
]
ConfigName = Annotated[
    str,
    typer.Argument(
        help=f"A configuration file, or one of {', '.join(shipped_configs())}.",
        autocompletion=complete_configs,
    ),
]
Tensorboard = Annotated[
    bool, typer.Option("--tensorboard", help="Also write scalars to the run's tensorboard/ folder.")
]


def _outside_agents(names: list[str] | None) -> list[str] | None:
    """Refuse names that are not names of agents from outside; return the names."""
    for name in names or ():
        command_of(name)
    return names


AllowAgent = Annotated[
    list[str] | None,
    typer.Option(
        ALLOW_OPTION,
        metavar="AGENT",
        callback=_outside_agents,
        help="Allow an agent from outside that a file names: python:MODULE:CLASS or process:COMMAND; may "
        "repeat.",
    ),
]
"""Commands ignore the value: permissions come from the whole command line (`rivals.outside.permissions`)."""

RunDecks = Annotated[
    str,
    typer.Option(
        "--decks",
        help="Deck files to restore into a run folder that lacks them.",
        autocompletion=complete_decks,
    ),
]

LibraryFolder = Annotated[
    Path | None,
    typer.Option(
        "--library",
        metavar="FOLDER",
        help="Decks that an opponent may play beside the shipped ones, for hands=predicted: a folder of deck "
        "files (.toml) and deck codes (.txt, one per line).",
        show_default=False,
    ),
]
ENTRANT_HELP = f"Entrant: {NOTATION}."


def decks_with_options(
    names: Sequence[str],
    edition: str = "",
    bodies: bool = False,
    any_deck: bool = False,
    patches: Sequence[str] | None = None,
    card: bool = False,
) -> tuple[str, ...]:
    """Deck names, prefixed with the options --edition, --bodies, --any-deck and --patch that apply to them.

    With `card`, --edition applies to a card as well.

    Raises:
        UnknownNameError: there is no such edition, or no card of a patch.
        PatchError: a text is not a patch, or its card does not have the number.
        DeckError: an option applies to none of the decks, or a file is not a deck.
    """
    from engine.cards.patches import read_patches
    from engine.deck_files import add_deck_options
    from engine.decks import deck_options

    reading = deck_options(edition, bodies, any_deck, read_patches(patches or ()))
    return add_deck_options(names, reading, card and not (bodies or any_deck))


def set_patches(overrides: Sequence[str] | None, patches: Sequence[str] | None) -> list[str]:
    """The overrides of a configuration, with the option --patch as one of its key `patches`.

    Raises:
        PatchError, UnknownNameError: as of `engine.cards.patches.read_patches`.
    """
    from engine.cards.patches import read_patches

    found = read_patches(patches or ()).texts
    return [*(overrides or ()), *([f"patches={json.dumps(found, ensure_ascii=False)}"] if found else [])]
