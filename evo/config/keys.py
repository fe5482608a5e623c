"""Configuration keys of a run: types, ranges, defaults and descriptions."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from engine import ManaforgeError, find_ruleset
from engine.cards.patches import read_patches
from engine.deck_files import add_deck_options
from engine.decks import DeckOptions
from evo.config.benchmarks import PANEL
from evo.decklibrary import expand_library_folders
from evo.strategies import FAMILIES, STRATEGIES
from evo.strategies.base import HALL_SIZE
from ilp_agent import BACKENDS, DEFAULT_BACKEND
from ilp_agent.backends import join_names
from rivals import AGENTS, DEFAULT_AGENT, is_outside, weighted_kinds
from rivals.outside.parameters import Parameter, read_parameters
from rivals.outside.permissions import command_of

MAX_GAMES, MAX_GAMES_PER_CELL = 10**9, 10**6
"""Maximum number of games in total and per cell; larger values would overflow or never finish."""

MAX_SHARE = 1e6
"""Maximum weight of an opponent in the fitness."""

MAX_STORED_DEALS = 20_000
"""Maximum deals of a validation whose scores are stored one by one; the stop rule needs these."""


class Settings(BaseModel):
    """Base of configuration tables: strict types, unknown keys are errors."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True
    )


class FinalOptions(Settings):
    """Games of the final, which chooses the champion, and of the champion's benchmark."""

    games: Annotated[
        int,
        Field(
            ge=0,
            le=MAX_GAMES,
            description="games of the final in all; 0: the last generation's best is the champion",
        ),
    ] = 100_000
    benchmark_games: Annotated[
        int,
        Field(
            ge=0,
            le=MAX_GAMES,
            description="games of the champion against each opponent of the benchmark",
        ),
    ] = 4_000


class ValidationOptions(Settings):
    """Validation against fixed opponents, and the stop rule based on it.

    Validation has no other influence on the evolution.
    """

    every: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000,
            description="generations between validations of the best individual and the centre; 0: none",
        ),
    ] = 0
    games: Annotated[
        int,
        Field(
            ge=2,
            le=MAX_GAMES_PER_CELL,
            multiple_of=2,
            description="games against each opponent of the benchmark per ordered pair of decks; even",
        ),
    ] = 20
    stop_when_gain_below: Annotated[
        float,
        Field(
            ge=0,
            le=1_000,
            description="stop the run when the centre surely gains less Elo than this from the first half of "
            "a window of validations to the second; 0: never",
        ),
    ] = 0.0
    window: Annotated[
        int,
        Field(
            ge=2,
            le=1_000,
            multiple_of=2,
            description="number of validations in the window of stop_when_gain_below; even",
        ),
    ] = 6
    confidence: Annotated[
        float,
        Field(
            gt=0.5,
            lt=1,
            description="probability that a run that gains more is not stopped, over all tests of the run",
        ),
    ] = 0.95
    stop_from: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000,
            description="first generation whose validation the stop rule uses; resume --generations sets it "
            "when a run continues past its stop",
        ),
    ] = 0

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.stop_when_gain_below and not self.every:
            raise ValueError("stop_when_gain_below needs validations: set validation.every to at least 1")
        return self


class OpponentOptions(Settings):
    """Opponents of each generation outside the population, and their shares in the fitness.

    Fitness is the mean of the scores against all opponents, weighted by their shares.
    """

    population: Annotated[
        float,
        Field(
            ge=0,
            le=MAX_SHARE,
            description="share of the mean score against the generation's other individuals; 0: individuals "
            "do not play each other, and games grow with their number, not with its square",
        ),
    ] = 1.0
    fixed: Annotated[
        dict[str, Annotated[float, Field(gt=0, le=MAX_SHARE)]],
        Field(max_length=64, description='entrants and the share of the score against each: { "eva" = 0.5 }'),
    ] = {}
    hall: Annotated[
        float,
        Field(
            ge=0,
            le=MAX_SHARE,
            description="share of the mean score against the hall of fame: bests of earlier generations that "
            "are not among the individuals",
        ),
    ] = 0.0
    nash: Annotated[
        float,
        Field(
            ge=0,
            le=MAX_SHARE,
            description="share of the score against a Nash mixture of fixed opponents and hall of fame, "
            "computed for each generation from games between them",
        ),
    ] = 0.0
    members: Annotated[
        int,
        Field(
            ge=1,
            le=HALL_SIZE,
            description=f"most members of the hall of fame to play, of the latest {HALL_SIZE}",
        ),
    ] = 4
    games: Annotated[
        int,
        Field(
            ge=0,
            le=MAX_GAMES_PER_CELL,
            multiple_of=2,
            description="games per individual, opponent and ordered pair of decks, even; 0: as `games`",
        ),
    ] = 0

    @property
    def beside(self) -> bool:
        """Whether there are opponents outside the population."""
        return bool(self.fixed or self.hall or self.nash)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.population and not self.fixed:
            raise ValueError(
                "population = 0 needs agents in opponents.fixed, since the first generation has no hall "
                "of fame"
            )
        return self


AGENTS_WITH_BACKEND = join_names([kind.name for kind in AGENTS.values() if kind.takes_backend], "and")
"""Agent kinds that use a solver backend, as text."""


PatchesKey = Annotated[
    tuple[str, ...],
    Field(
        strict=False,
        description='changed numbers of cards in all games, "Fireball cost=5"; a run keeps them in its decks',
    ),
]


def patches_in_decks(content: Any, model: type[BaseModel]) -> Any:
    """The content of a configuration with its key `patches` as prefixes of its decks.

    Raises:
        PatchError: a text is not a patch, or its card does not have the number.
        UnknownNameError: there is no such card.
        DeckError: a patch applies to none of the decks, or one is no deck.
    """
    if not isinstance(content, dict) or not content.get("patches"):
        return content
    texts = content["patches"]
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        return content  # refused by the model
    decks = content.get("decks", model.model_fields["decks"].default)
    if not isinstance(decks, list | tuple) or not all(isinstance(deck, str) for deck in decks):
        return content
    reading = DeckOptions(patch=read_patches(texts))
    return {**content, "patches": (), "decks": add_deck_options(decks, reading)}


def option_text(options: object) -> object:
    """Convert an integer option, such as a budget, to the text of an agent's options."""
    return str(options) if type(options) is int else options


def _has_weights(agent: str) -> str:
    """Refuse an agent kind that is unknown or has no weights, and return any other."""
    if is_outside(agent):
        command_of(agent)
    elif agent not in weighted_kinds():
        known = [*map(repr, weighted_kinds()), "an agent from outside"]
        raise ValueError(f"must be {join_names(known, 'or')}")
    return agent


def _parameters(declared: object) -> object:
    """Parse the declared parameters of an agent from outside."""
    try:
        return read_parameters(declared)
    except ManaforgeError as error:
        raise ValueError(str(error)) from None


class RunKeys(Settings):
    """All keys of a run's configuration."""

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
            le=MAX_GAMES_PER_CELL,
            multiple_of=2,
            description="games per pairing and ordered pair of decks; even",
        ),
    ] = 20
    games_growth: Annotated[
        float,
        Field(
            ge=1,
            le=2,
            description="growth factor of games per generation, since individuals become more alike",
        ),
    ] = 1.0
    games_most: Annotated[
        int,
        Field(ge=2, le=MAX_GAMES_PER_CELL, multiple_of=2, description="maximum of games after growth; even"),
    ] = 1_000
    deals: Annotated[
        Literal["common", "own"],
        Field(
            description="common: all pairings of a generation play the same deals (common random numbers); "
            "own: each pairing has its own"
        ),
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
    patches: PatchesKey = ()
    ruleset: Annotated[
        str,
        AfterValidator(lambda name: find_ruleset(name).name),
        Field(description="ruleset of the games: hands, The Coin, mulligan, turn cap (docs/game.md)"),
    ] = "thesis"
    benchmark: Annotated[
        Literal["seven", "panel"],
        Field(
            description="fixed opponents of validations and champion: seven: the thesis's seven profiles; "
            f"panel: {join_names(list(PANEL.opponents), 'and')}; default in a new run with class decks: panel"
        ),
    ] = "seven"
    agent: Annotated[
        str,
        AfterValidator(_has_weights),
        Field(
            description="; ".join(
                [
                    "agent whose weights evolve",
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
            description="parameters of an agent from outside, each with name, low and high; "
            "left out: as the agent declares them"
        ),
    ] = ()
    options: Annotated[
        str,
        BeforeValidator(option_text),
        Field(
            description="options of the agent in all games, as written after @ in an entrant, such as "
            "16,depth=3 for lookahead; empty: defaults"
        ),
    ] = ""
    library: Annotated[
        tuple[str, ...],
        BeforeValidator(expand_library_folders),
        Field(
            max_length=10_000,
            strict=False,
            description="decks for predicting the opponent's deck with the option hands=predicted, in "
            "addition to the shipped ones: names, files, deck codes, or a folder of them",
        ),
    ] = ()
    backend: Annotated[
        str,
        Field(
            description="; ".join(
                [f"solver of {AGENTS_WITH_BACKEND}", *(entry.summary for entry in BACKENDS.values())]
            )
        ),
    ] = DEFAULT_BACKEND
    weights: Annotated[
        Literal["thesis", "extended", "full"],
        Field(
            description="weight set of agents ilp and greedy-ilp; thesis: the thesis's eight weights; "
            "extended: sixteen, with those for real cards; full: all twenty-eight, with those for the "
            "position at the end of the turn"
        ),
    ] = "thesis"
    fixed_weights: Annotated[
        dict[str, float],
        Field(
            description="weights that do not evolve, and their values in all games, which need not be in "
            "[0, 1]: { lethal = 100 }"
        ),
    ] = {}
    initial_weights: Annotated[
        dict[str, Annotated[float, Field(ge=0, le=1)]],
        Field(
            description="initial values of weights, for a strategy with the option initial_mean, which is "
            "that of the others: { threat = 1, attack = 1 }"
        ),
    ] = {}
    pool: Annotated[
        Literal["auto", "local", "ray"],
        Field(description="worker pool: threads (local) or Ray; auto chooses and prints which"),
    ] = "auto"
    workers: Annotated[
        int, Field(ge=0, le=100_000, description="number of workers; 0: one per available processor")
    ] = 0
    address: Annotated[
        str,
        Field(description="Ray cluster to join; set by --address only, empty in files"),
    ] = ""
    if TYPE_CHECKING:  # added by evo.config.run_config, after the sections of the strategies
        final: FinalOptions = FinalOptions()
        validation: ValidationOptions = ValidationOptions()
        opponents: OpponentOptions = OpponentOptions()
