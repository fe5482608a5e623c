"""Every key of a run's configuration with its type, unit and meaning; `evo.config` checks them together."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from engine import ManaforgeError, find_ruleset
from evo.decklibrary import texts_of
from evo.runoptions import MOST_GAMES_A_CELL, FinalOptions, OpponentOptions, Settings, ValidationOptions
from evo.strategies import FAMILIES, STRATEGIES
from ilp_agent import BACKENDS, DEFAULT_BACKEND
from ilp_agent.backends import listed
from rivals import AGENTS, DEFAULT_AGENT, is_outside, weighted_kinds
from rivals.outside.names import command_of
from rivals.outside.parameters import Parameter, read_parameters

WITH_SOLVER = listed([kind.name for kind in AGENTS.values() if kind.takes_backend], "and")
"""Agent kinds that take a backend."""


def as_text(options: object) -> object:
    """Options of an agent, where TOML has a number, such as its budget alone, as text."""
    return str(options) if type(options) is int else options


def _has_weights(agent: str) -> str:
    """Refuse an agent kind that is unknown or has no weights."""
    if is_outside(agent):
        command_of(agent)
    elif agent not in weighted_kinds():
        known = [*map(repr, weighted_kinds()), "an agent from outside"]
        raise ValueError(f"must be {listed(known, 'or')}")
    return agent


def _parameters(declared: object) -> object:
    """Parameters of an outside agent, from what a file says."""
    try:
        return read_parameters(declared)
    except ManaforgeError as error:
        raise ValueError(str(error)) from None


class RunKeys(Settings):
    """A run of the evolution, every value with its unit and meaning."""

    schema_version: Annotated[Literal[1], Field(alias="schema", description="version of this format")] = 1
    seed: Annotated[
        int, Field(ge=0, lt=2**63, description="seed of all random numbers; another seed is another run")
    ] = 1
    strategy: Annotated[
        str,
        Field(
            description="; ".join(
                f"{kind.NAME}: {kind.SUMMARY}" for kind in (*STRATEGIES.values(), *FAMILIES.values())
            )
        ),
    ] = next(iter(STRATEGIES))
    mu: Annotated[int, Field(ge=2, le=10_000, description="parents, individuals")] = 10
    lambda_: Annotated[
        int, Field(alias="lambda", ge=1, le=10_000, description="children in each generation, individuals")
    ] = 10
    generations: Annotated[
        int,
        Field(ge=0, le=1_000_000, description="generations after the first, which has only the parents"),
    ] = 100
    games: Annotated[
        int,
        Field(
            ge=2,
            le=MOST_GAMES_A_CELL,
            multiple_of=2,
            description="games for each pairing and ordered pair of decks; even",
        ),
    ] = 20
    games_growth: Annotated[
        float,
        Field(
            ge=1,
            le=2,
            description="factor by which games grow from a generation to the next, as individuals grow alike",
        ),
    ] = 1.0
    games_most: Annotated[
        int,
        Field(ge=2, le=MOST_GAMES_A_CELL, multiple_of=2, description="where that growth ends, games; even"),
    ] = 1_000
    racing: Annotated[
        float,
        Field(
            ge=0,
            lt=0.5,
            description="clearly beaten individuals get no more games in their generation; the probability "
            "that one of the best mu of those still in is among them; 0: all play all",
        ),
    ] = 0.0
    deals: Annotated[
        Literal["common", "own"],
        Field(description="all pairings of a generation play the same deals, or each pairing its own"),
    ] = "common"
    decks: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            max_length=64,
            strict=False,
            description="decks played with and against: names, files or deck codes",
        ),
    ] = ("thesis-paladin", "thesis-warrior", "hearthsim-basic")
    ruleset: Annotated[
        str,
        AfterValidator(lambda name: find_ruleset(name).name),
        Field(description="how games are set up (docs/game.md)"),
    ] = "thesis"
    agent: Annotated[
        str,
        AfterValidator(_has_weights),
        Field(
            description="; ".join(
                [
                    "whose weights evolve",
                    *(AGENTS[name].summary for name in weighted_kinds()),
                    "python:MODULE:CLASS or process:COMMAND: an agent from outside that declares parameters",
                ]
            )
        ),
    ] = DEFAULT_AGENT
    parameters: Annotated[
        tuple[Parameter, ...],
        BeforeValidator(_parameters),
        Field(
            description="of an agent from outside, each with name, low and high; "
            "left out: as it declares them"
        ),
    ] = ()
    options: Annotated[
        str,
        BeforeValidator(as_text),
        Field(
            description="options of the agent in all games, as entrants write them after @: 16,depth=3 of "
            "lookahead; empty: their defaults"
        ),
    ] = ""
    library: Annotated[
        tuple[str, ...],
        BeforeValidator(texts_of),
        Field(
            max_length=10_000,
            strict=False,
            description="decks that the agent knows beside the shipped ones where its options say "
            "hands=predicted: names, files, deck codes, or a folder of them",
        ),
    ] = ()
    backend: Annotated[
        str,
        Field(
            description="; ".join(
                [f"solver of {WITH_SOLVER}", *(entry.summary for entry in BACKENDS.values())]
            )
        ),
    ] = DEFAULT_BACKEND
    weights: Annotated[
        Literal["thesis", "extended"],
        Field(
            description="which weights of the turn program evolve, of agent ilp or greedy-ilp; thesis: the "
            "thesis's eight; extended: these and eight more, for real cards"
        ),
    ] = "thesis"
    pool: Annotated[
        Literal["auto", "local", "ray"],
        Field(description="threads (local) or Ray; auto chooses and prints which"),
    ] = "auto"
    workers: Annotated[
        int, Field(ge=0, le=100_000, description="workers; 0: one for each processor that may be used")
    ] = 0
    address: Annotated[
        str,
        Field(description="Ray cluster to join; only --address sets it, and files hold nothing"),
    ] = ""
    if TYPE_CHECKING:  # added by evo.config, after the sections of the strategies
        final: FinalOptions = FinalOptions()
        validation: ValidationOptions = ValidationOptions()
        opponents: OpponentOptions = OpponentOptions()
