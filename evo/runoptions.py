"""Sections of a run's configuration: its opponents, its final, its validations."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evo.strategies.base import HALL_SIZE

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
