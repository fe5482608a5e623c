"""Every key of a run's configuration with its type, unit and meaning."""

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from engine import ManaforgeError, find_ruleset
from evo.decklibrary import texts_of
from evo.strategies import FAMILIES, STRATEGIES
from evo.strategies.base import HALL_SIZE
from ilp_agent import BACKENDS, DEFAULT_BACKEND
from ilp_agent.backends import listed
from rivals import AGENTS, DEFAULT_AGENT, is_outside, weighted_kinds
from rivals.outside.parameters import Parameter, read_parameters
from rivals.outside.permissions import command_of

MOST_GAMES, MOST_GAMES_A_CELL = 10**9, 10**6
"""Far more games than anybody plays; numbers of any size would overflow, or never end."""

MOST_SHARE = 1e6

MOST_DEALS = 20_000
"""Deals of a validation that are written one by one; the stop rule needs them."""


class Settings(BaseModel):
    """A table of a configuration: strict types, no unknown keys."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True
    )


class FinalOptions(Settings):
    """The games that choose the champion."""

    games: Annotated[
        int,
        Field(
            ge=0, le=MOST_GAMES, description="games of the final in all; 0 takes the last generation's best"
        ),
    ] = 100_000
    benchmark_games: Annotated[
        int,
        Field(
            ge=0,
            le=MOST_GAMES,
            description="games of the champion against each of the thesis's seven profiles",
        ),
    ] = 4_000


class ValidationOptions(Settings):
    """The games that measure progress against fixed opponents, and the rule that ends a run by them.

    They decide nothing else.
    """

    every: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000,
            description="generations from one validation of the best and the centre to the next; 0: none",
        ),
    ] = 0
    games: Annotated[
        int,
        Field(
            ge=2,
            le=MOST_GAMES_A_CELL,
            multiple_of=2,
            description="games against each of the thesis's seven and ordered pair of decks; even",
        ),
    ] = 20
    stop_when_gain_below: Annotated[
        float,
        Field(
            ge=0,
            le=1_000,
            description="the run ends where the centre surely gains less Elo from the first half of a window "
            "of validations to the second; 0: never",
        ),
    ] = 0.0
    window: Annotated[
        int, Field(ge=2, le=1_000, multiple_of=2, description="validations of that window; even")
    ] = 6
    confidence: Annotated[
        float,
        Field(
            gt=0.5,
            lt=1,
            description="probability that a run that gains more is not ended, over all looks together",
        ),
    ] = 0.95
    stop_from: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000,
            description="first generation whose validation counts for that; resume --generations sets it "
            "where a run goes on past its stop",
        ),
    ] = 0

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.stop_when_gain_below and not self.every:
            raise ValueError("stop_when_gain_below needs validations: set every")
        return self


class OpponentOptions(Settings):
    """Whom the individuals of a generation play, and what each counts in their fitness.

    Fitness is the mean of the scores against all of these, each weighted by its share.
    """

    population: Annotated[
        float,
        Field(
            ge=0,
            le=MOST_SHARE,
            description="share of the mean score against the generation's other individuals; 0: they do not "
            "meet, and games grow with their number, not with its square",
        ),
    ] = 1.0
    fixed: Annotated[
        dict[str, Annotated[float, Field(gt=0, le=MOST_SHARE)]],
        Field(max_length=64, description='entrants and the share of the score against each: { "eva" = 0.5 }'),
    ] = {}
    hall: Annotated[
        float,
        Field(
            ge=0,
            le=MOST_SHARE,
            description="share of the mean score against bests of earlier generations that are not met as "
            "individuals",
        ),
    ] = 0.0
    nash: Annotated[
        float,
        Field(
            ge=0,
            le=MOST_SHARE,
            description="share of the score against a Nash mixture of fixed opponents and those bests, found "
            "anew for each generation by games between them",
        ),
    ] = 0.0
    members: Annotated[
        int,
        Field(
            ge=1,
            le=HALL_SIZE,
            description=f"bests of earlier generations that are met at most, of the latest {HALL_SIZE}",
        ),
    ] = 4
    games: Annotated[
        int,
        Field(
            ge=0,
            le=MOST_GAMES_A_CELL,
            multiple_of=2,
            description="games for each individual, opponent and ordered pair of decks, even; 0: as `games`",
        ),
    ] = 0

    @property
    def beside(self) -> bool:
        """Whether there are opponents beside the population."""
        return bool(self.fixed or self.hall or self.nash)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.population and not self.fixed:
            raise ValueError(
                "population 0 needs opponents in fixed: the first generation has no earlier bests"
            )
        return self


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
    if TYPE_CHECKING:  # added by evo.config.run_config, after the sections of the strategies
        final: FinalOptions = FinalOptions()
        validation: ValidationOptions = ValidationOptions()
        opponents: OpponentOptions = OpponentOptions()
