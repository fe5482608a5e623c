"""Options that several commands share, and the checks of their values."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from engine.errors import unknown_name
from engine.shipped import EDITION_NAMES, shipped_decks, shipped_rulesets
from evo.cli import completion
from evo.play.notation import NOTATION
from evo.shipped import shipped_configs
from rivals.outside.allowed import OPTION
from rivals.outside.names import command_of

if TYPE_CHECKING:
    from evo.config import RunConfig

DeckEdition = Annotated[
    str,
    typer.Option(
        "--edition",
        help=f"Edition of deck codes and deck files with a class: {' or '.join(EDITION_NAMES)}.",
        metavar="NAME",
        autocompletion=completion.editions,
    ),
]
AsBodies = Annotated[
    bool,
    typer.Option(
        "--bodies",
        help="In deck codes and decks with a class, minions that are not exact are bodies with keywords.",
    ),
]
AnyDeck = Annotated[
    bool,
    typer.Option(
        "--any-deck",
        help="Deck codes and decks with a class may hold cards of other classes and any number of copies.",
    ),
]
DECKS_HELP = f"Decks, separated by commas: {', '.join(shipped_decks())}, files or deck codes."
OUT_HELP = "Its folder; the same command again continues where it stopped. (default: runs/{}-<hash>)"

MOST_WORKERS = 100_000

Workers = Annotated[int, typer.Option(min=0, max=MOST_WORKERS, help="Workers; 0 for one on each processor.")]
PoolName = Annotated[str, typer.Option("--pool", help="auto, local or ray.", autocompletion=completion.pools)]
Address = Annotated[str, typer.Option(help="Ray cluster to join: auto or HOST:PORT.")]
RulesetName = Annotated[
    str,
    typer.Option(
        "--ruleset", help=f"{', '.join(shipped_rulesets())}.", autocompletion=completion.rulesets_of
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
        help="Workers; 0 for one on each processor. (default: the configuration's)",
    ),
]
RunPool = Annotated[
    str | None,
    typer.Option(
        "--pool",
        help="auto, local or ray. (default: the configuration's)",
        autocompletion=completion.pools,
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
        help="Override a value of the configuration; may repeat.",
        autocompletion=completion.keys,
    ),
]
ConfigName = Annotated[
    str,
    typer.Argument(
        help=f"A configuration file, or one of {', '.join(shipped_configs())}.",
        autocompletion=completion.configs,
    ),
]
Tensorboard = Annotated[
    bool, typer.Option("--tensorboard", help="Also write scalars to the run's tensorboard/ folder.")
]


def _outside_agents(names: list[str] | None) -> list[str] | None:
    """Refuse what names no agent from outside."""
    for name in names or ():
        command_of(name)
    return names


AllowAgent = Annotated[
    list[str] | None,
    typer.Option(
        OPTION,
        metavar="AGENT",
        callback=_outside_agents,
        help="An agent from outside that a file names, python:MODULE:CLASS or process:COMMAND; may repeat.",
    ),
]
"""Nobody looks at its value: all words of the command line name agents (`rivals.outside.allowed`)."""

RunDecks = Annotated[
    str,
    typer.Option(
        "--decks",
        help="Deck files of a run whose own are gone; they are put into its folder.",
        autocompletion=completion.decks,
    ),
]

LibraryFolder = Annotated[
    Path | None,
    typer.Option(
        "--library",
        metavar="FOLDER",
        help="Decks that an opponent may play, beside the shipped: a folder of deck files (.toml) and codes "
        "(.txt, one a line), for hands=predicted.",
        show_default=False,
    ),
]
WHO_PLAYS = f"Who plays: {NOTATION}."


class Place(NamedTuple):
    """Where games are played: the pool, its workers, and the Ray cluster."""

    pool: str
    workers: int
    address: str


def chosen_decks(
    names: Sequence[str], edition: str = "", bodies: bool = False, any_deck: bool = False, card: bool = False
) -> tuple[str, ...]:
    """Decks with what --edition, --bodies and --any-deck say written in front of those they are about.

    With `card`, --edition is about a card as well.

    Raises:
        UnknownNameError: there is no such edition.
        DeckError: an option is given that is about none of the decks, or a file is no deck.
    """
    from engine.deckfiles import worded
    from engine.deckreading import reading_of

    return worded(names, reading_of(edition, bodies, any_deck), card and not (bodies or any_deck))


def place_of(pool: str, workers: int, address: str) -> Place:
    """The options --pool, --workers and --address.

    Raises:
        UnknownNameError: there is no such pool; the message lists them.
        PlaceError: the address is none, or not for this pool.
        DefinitionError: the number of workers is below 0.
    """
    from evo.play.pools import check_place
    from evo.tournament.folder import DefinitionError

    check_pool(pool)
    if workers < 0:
        raise DefinitionError(f"workers must be 0, for one on each processor, or more, got {workers}")
    check_place(pool, address)
    return Place(pool, workers, address)


def placed(config: "RunConfig", workers: int | None, pool: str | None, address: str | None) -> "RunConfig":
    """The configuration with the command line's workers, pool and address.

    Raises:
        UnknownNameError: there is no such pool.
        PlaceError: the address is none, or not for this pool.
        ConfigError: a value is not allowed.
    """
    from evo.play.pools import check_place

    if pool is not None:
        check_pool(pool)
    if pool == "local" and address is None:
        address = ""  # the command line takes precedence over the file
    given = {"workers": workers, "pool": pool, "address": address}
    chosen = config.changed(**{key: value for key, value in given.items() if value is not None})
    check_place(chosen.pool, chosen.address)
    return chosen


def unfollowed_address(file: Path, address: str | None, option: str = "--address auto") -> str:
    """What to say about the address in a configuration from before, which is not followed; else empty.

    Args:
        file: the configuration.
        address: as the command line gives it; None if it does not.
        option: how it is given.
    """
    from evo.configfiles import read_toml

    if address is not None or not read_toml(file, "configuration").get("address"):
        return ""
    return f'{file}: address = "auto" is not followed; to join the cluster of this machine: {option}'


def check_pool(pool: str) -> None:
    """Refuse an unknown name of a pool.

    Raises:
        UnknownNameError: there is no such pool; the message lists them.
    """
    from evo.play.pools import POOLS

    if pool not in POOLS:
        raise unknown_name("pool", pool, POOLS)


def one_of(option: str, what: str, text: str, known: tuple[str, ...]) -> str:
    """The text, if it is one of the known ones.

    Raises:
        DefinitionError: it is not; the message lists the nearest.
    """
    from evo.tournament.folder import DefinitionError

    if text not in known:
        raise DefinitionError(f"{option}: {unknown_name(what, text, known)}")
    return text
