"""The configuration of learning a value: frozen, typed, complete; unknown keys are errors."""

import hashlib
import json
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

import tomli_w
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from engine import RULES_VERSION, Deck, ManaforgeError, find_deck, find_ruleset
from engine.effect_codes import EFFECTS_VERSION
from engine.errors import unknown_name
from evo.config.keys import MOST_GAMES_A_CELL, Settings, as_text
from evo.learning.methods import METHODS
from evo.play.entrants import find_entrant
from evo.play.games import Player
from ilp_agent.lookahead.weights import LookaheadWeights
from rivals import find_agent_profile, find_kind, refuse_decks
from rivals.kinds import read_options

NOT_HASHED = ("rounds", "workers")
"""Keys that do not change what the rounds so far came to."""


_OPTIONS = [option.name for option in find_kind(LookaheadWeights.AGENT).options]


class LambdaOptions(Settings):
    """The step of temporal differences."""

    lambda_: Annotated[
        float,
        Field(alias="lambda", ge=0, le=1, description="how far a result reaches back; 1: to every position"),
    ] = 0.8
    rate: Annotated[
        float,
        Field(gt=0, le=10, description="step size of the first round; it falls with the root of the round"),
    ] = 0.05


class TestOptions(Settings):
    """The games that score the values on the way."""

    every: Annotated[
        int, Field(ge=0, le=1_000_000, description="rounds from one test to the next; 0: none")
    ] = 1
    games: Annotated[
        int,
        Field(
            ge=2,
            le=MOST_GAMES_A_CELL,
            multiple_of=2,
            description="games against each opponent and ordered pair of decks; even",
        ),
    ] = 60
    against: Annotated[
        tuple[str, ...],
        Field(strict=False, min_length=1, description="opponents: entrants, as in a tournament"),
    ] = ("hearthsim:standard", "hearthsim:balanced", "eva")


class LearnConfig(Settings):
    """Learning the value of `lookahead` from games against itself."""

    schema_version: Annotated[Literal[1], Field(alias="schema", description="version of this format")] = 1
    seed: Annotated[int, Field(ge=0, lt=2**63, description="seed of all games")] = 1
    method: Annotated[
        str, Field(description="; ".join(f"{name}: {method.SUMMARY}" for name, method in METHODS.items()))
    ] = next(iter(METHODS))
    profile: Annotated[
        str,
        Field(
            description="profile of lookahead to begin with: its turn program and replies stay, its "
            "value plays the first round"
        ),
    ] = "hearthsim"
    options: Annotated[
        str,
        BeforeValidator(as_text),
        Field(description="options of lookahead in all games, as entrants write them after @"),
    ] = "16"
    decks: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            max_length=64,
            strict=False,
            description="decks played with and against: names, files or deck codes",
        ),
    ] = ("thesis-paladin", "thesis-warrior", "hearthsim-basic", "random-minions")
    ruleset: Annotated[
        str,
        AfterValidator(lambda name: find_ruleset(name).name),
        Field(description="how games are set up (docs/game.md)"),
    ] = "thesis"
    rounds: Annotated[
        int, Field(ge=1, le=10_000, description="rounds; each plays by the value of the last")
    ] = 4
    games: Annotated[
        int,
        Field(ge=2, le=10**8, multiple_of=2, description="games in a round, played to their ends; even"),
    ] = 40_000
    explore: Annotated[
        float,
        Field(ge=0, le=1, description="chance of a random end of a turn; a pair is two random ends anyway"),
    ] = 0.1
    ridge: Annotated[
        float,
        Field(gt=0, le=1e9, description="how much weights are held small, of paired and logistic"),
    ] = 1.0
    also: Annotated[
        tuple[str, ...],
        Field(
            strict=False,
            max_length=64,
            description="folders of other learnings whose samples are fitted with these, such as of minion "
            "decks beside class decks; not of td",
        ),
    ] = ()
    workers: Annotated[
        int, Field(ge=0, le=100_000, description="threads; 0: one for each processor that may be used")
    ] = 0
    td: LambdaOptions = LambdaOptions()
    test: TestOptions = TestOptions()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.method not in METHODS:
            raise ValueError(f"method: {unknown_name('method', self.method, METHODS)}")
        if self.also and not METHODS[self.method].ALL_ROUNDS:
            raise ValueError(f"also: {self.method} fits no samples of other learnings")
        if len(set(self.decks)) != len(self.decks):
            raise ValueError(f"decks: the same deck twice in {list(self.decks)}")
        if len({deck.effects for deck in self.found_decks}) > 1:
            raise ValueError(
                f"decks: some of {', '.join(self.decks)} have a class and some not; learn on one sort"
            )
        for key, of in (("profile", lambda: self.start), ("options", lambda: self.player)):
            try:
                of()
            except ManaforgeError as error:
                raise ValueError(f"{key}: {error} ({getattr(self, key)})") from None
        options = self.player.options
        if dict(zip(_OPTIONS, options, strict=True)).get("hands"):
            raise ValueError(f'options "{self.options}": values are learned with hands=off')
        _ = self.opponents
        return self

    @property
    def found_decks(self) -> tuple[Deck, ...]:
        """The decks themselves."""
        return tuple(find_deck(deck) for deck in self.decks)

    @property
    def start(self) -> LookaheadWeights:
        """The weights to begin with."""
        weights = find_agent_profile(LookaheadWeights.AGENT, self.profile).weights
        assert isinstance(weights, LookaheadWeights)
        return weights

    @property
    def player(self) -> Player:
        """The player that plays the first round."""
        return self.player_of(self.start)

    def player_of(self, weights: LookaheadWeights) -> Player:
        """The player with other weights."""
        kind = find_kind(LookaheadWeights.AGENT)
        options = read_options(kind.options, self.options)
        return Player(tuple(weights.everything), kind=kind.name, options=options)

    @property
    def opponents(self) -> tuple[Player, ...]:
        """Who the values are tested against."""
        found = tuple(find_entrant(text).player for text in self.test.against)
        refuse_decks([player.sort for player in found], self.found_decks)
        return found

    @property
    def digest(self) -> str:
        """SHA-256 of everything that determines what a round comes to (not `NOT_HASHED`)."""
        return self._digest_with(lambda name: find_kind(name).versioned)

    @property
    def first_digest(self) -> str:
        """What `digest` is where all agents play by their first version."""
        return self._digest_with(str)

    def _digest_with(self, named: Callable[[str], str]) -> str:
        content: dict[str, Any] = self.model_dump(mode="json", by_alias=True, exclude=set(NOT_HASHED))
        content["decks"] = [deck.identity for deck in self.found_decks]
        content["start"] = self.start.named()
        content["opponents"] = [
            [named(p.kind), p.backend, p.weights, p.options, *([p.keeps] if p.keeps else [])]
            for p in self.opponents
        ]
        content["rules"] = [RULES_VERSION, EFFECTS_VERSION if self.found_decks[0].effects else 0]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def to_toml(self) -> str:
        """The whole configuration with all defaults."""
        return tomli_w.dumps(self.model_dump(mode="json", by_alias=True))
