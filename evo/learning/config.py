"""Configuration of value learning (`manaforge learn`): frozen, typed, complete; unknown keys are errors."""

import hashlib
import json
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

import tomli_w
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from engine import RULES_VERSION, Deck, ManaforgeError, find_deck, find_ruleset
from engine.decks import cached_card_table, default_ruleset
from engine.effect_codes import EFFECTS_VERSION
from engine.errors import unknown_name
from engine.match import card_id_or_name
from evo.config.keys import MAX_GAMES_PER_CELL, PatchesKey, Settings, option_text, patches_in_decks
from evo.learning.methods import METHODS
from evo.play.entrants import find_entrant
from evo.play.games import Player
from ilp_agent.card_values import NO_CARD_VALUES, CardValues
from ilp_agent.lookahead.weights import LookaheadWeights
from rivals import find_agent_profile, find_kind, refuse_decks
from rivals.kinds import parse_options

UNHASHED_KEYS = ("rounds", "workers")
"""Keys that do not change the results of the rounds played so far."""


_OPTIONS = [option.name for option in find_kind(LookaheadWeights.AGENT).options]


class TdOptions(Settings):
    """Parameters of TD(lambda): `[td]` of the configuration."""

    lambda_: Annotated[
        float,
        Field(
            alias="lambda",
            ge=0,
            le=1,
            description="lambda of the lambda-return; 1: positions move to the result",
        ),
    ] = 0.8
    rate: Annotated[
        float,
        Field(
            gt=0,
            le=10,
            description="initial step size; falls with the square root of the round",
        ),
    ] = 0.05


class TestOptions(Settings):
    """Test games that score each round's value: `[test]` of the configuration."""

    every: Annotated[
        int, Field(ge=0, le=1_000_000, description="rounds from one test to the next; 0: no tests")
    ] = 1
    games: Annotated[
        int,
        Field(
            ge=2,
            le=MAX_GAMES_PER_CELL,
            multiple_of=2,
            description="games against each opponent and ordered pair of decks; even",
        ),
    ] = 60
    against: Annotated[
        tuple[str, ...],
        Field(strict=False, min_length=1, description="opponents: entrants, as in a tournament"),
    ] = ("hearthsim:standard", "hearthsim:balanced", "eva")


class LearnConfig(Settings):
    """Configuration of learning the value function of `lookahead` from self-play."""

    schema_version: Annotated[Literal[1], Field(alias="schema", description="version of this format")] = 1
    seed: Annotated[int, Field(ge=0, lt=2**63, description="seed of all games")] = 1
    method: Annotated[
        str, Field(description="; ".join(f"{name}: {method.SUMMARY}" for name, method in METHODS.items()))
    ] = next(iter(METHODS))
    profile: Annotated[
        str,
        Field(
            description="initial profile of lookahead: its weights of turns and replies stay, its value "
            "plays the first round"
        ),
    ] = "hearthsim"
    options: Annotated[
        str,
        BeforeValidator(option_text),
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
    patches: PatchesKey = ()
    ruleset: Annotated[
        str,
        AfterValidator(lambda name: find_ruleset(name).name),
        Field(description="how games are set up (docs/game.md); default with class decks: standard"),
    ] = "thesis"
    rounds: Annotated[
        int,
        Field(ge=1, le=10_000, description="rounds; each plays with the value of the round before"),
    ] = 4
    games: Annotated[
        int,
        Field(ge=2, le=10**8, multiple_of=2, description="games per round, played to the end; even"),
    ] = 40_000
    explore: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="probability of a random turn; not for paired, whose turns are random",
        ),
    ] = 0.1
    ridge: Annotated[
        float,
        Field(gt=0, le=1e9, description="L2 penalty on the weights, for paired and logistic"),
    ] = 1.0
    card_values: Annotated[
        bool,
        Field(
            description="learn values of single cards in hand and on board too, on class decks, by paired",
        ),
    ] = False
    card_ridge: Annotated[
        float,
        Field(gt=0, le=1e9, description="L2 penalty on card values, in log-odds of a copy of a card"),
    ] = 20.0
    also: Annotated[
        tuple[str, ...],
        Field(
            strict=False,
            max_length=64,
            description="folders of other learning runs whose samples are added to each fit, such as of "
            "minion decks beside class decks; not for td",
        ),
    ] = ()
    workers: Annotated[
        int, Field(ge=0, le=100_000, description="number of threads; 0: one per available processor")
    ] = 0
    td: TdOptions = TdOptions()
    test: TestOptions = TestOptions()

    @model_validator(mode="before")
    @classmethod
    def _patched(cls, content: Any) -> Any:
        return patches_in_decks(content, cls)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        """Refuse settings that do not fit together."""
        if self.method not in METHODS:
            raise ValueError(f"method: {unknown_name('method', self.method, METHODS)}")
        if self.also and not METHODS[self.method].ALL_ROUNDS:
            raise ValueError(
                f"also: {self.method} cannot use samples of other learning runs; leave out the key also"
            )
        if len(set(self.decks)) != len(self.decks):
            raise ValueError(f"decks: the same deck twice in {list(self.decks)}; list it once")
        if len({deck.effects for deck in self.found_decks}) > 1:
            raise ValueError(
                f"decks: some of {', '.join(self.decks)} have a class and some not; use one kind of deck"
            )
        for key, compute in (("profile", lambda: self.initial_weights), ("options", lambda: self.player)):
            try:
                compute()
            except ManaforgeError as error:
                raise ValueError(f"{key}: {error} ({getattr(self, key)})") from None
        self._check_profile()
        self._check_card_values()
        options = self.player.options
        if dict(zip(_OPTIONS, options, strict=True)).get("hands"):
            raise ValueError(f'options "{self.options}": learning a value needs hands=off')
        _ = self.opponents
        if "ruleset" not in self.model_fields_set:
            self.__dict__["ruleset"] = default_ruleset(self.found_decks)
        return self

    def _check_profile(self) -> None:
        """Refuse an initial profile with weights for single decks, which would be lost."""
        if find_agent_profile(LookaheadWeights.AGENT, self.profile).deck_weights:
            raise ValueError(
                f"profile: {self.profile} has weights for single decks; name one with one vector for all"
            )

    def _check_card_values(self) -> None:
        """Refuse card values where they cannot be learned, or would be lost."""
        if not self.card_values:
            if self.initial_card_values:
                raise ValueError(
                    f"profile: {self.profile} has card values; set card_values = true to learn with them"
                )
            return
        if self.method != "paired":
            raise ValueError(f"card_values: method {self.method} learns none; use paired")
        if not self.found_decks[0].effects:
            raise ValueError("card_values: minion decks have none; use decks with a class")

    @property
    def found_decks(self) -> tuple[Deck, ...]:
        """The decks of the configuration."""
        return tuple(find_deck(deck) for deck in self.decks)

    @property
    def card_ids(self) -> tuple[str, ...]:
        """Ids of the cards of the games, sorted; with `card_values` only, else ()."""
        if not self.card_values:
            return ()
        return tuple(sorted(set(map(card_id_or_name, cached_card_table(self.found_decks)[0].cards))))

    @property
    def initial_weights(self) -> LookaheadWeights:
        """Initial weights of the learned agent, from `profile`."""
        weights = find_agent_profile(LookaheadWeights.AGENT, self.profile).weights
        assert isinstance(weights, LookaheadWeights)
        return weights

    @property
    def initial_card_values(self) -> CardValues:
        """Initial card values of the learned agent, from `profile`."""
        return find_agent_profile(LookaheadWeights.AGENT, self.profile).card_values

    @property
    def player(self) -> Player:
        """The player of the first round, with the initial weights and card values."""
        return self.player_of(self.initial_weights, self.initial_card_values)

    def player_of(self, weights: LookaheadWeights, card_values: CardValues = NO_CARD_VALUES) -> Player:
        """The learning player with the given weights and card values."""
        kind = find_kind(LookaheadWeights.AGENT)
        options = parse_options(kind.options, self.options)
        return Player(tuple(weights.full_array), kind=kind.name, options=options, card_values=card_values)

    @property
    def opponents(self) -> tuple[Player, ...]:
        """Opponents of the test games."""
        found = tuple(find_entrant(text).player for text in self.test.against)
        refuse_decks([player.kind_and_backend for player in found], self.found_decks)
        return found

    @property
    def digest(self) -> str:
        """SHA-256 of everything that determines a round's result (not `UNHASHED_KEYS`)."""
        effects = self.found_decks[0].effects
        return self._digest_with(lambda name: find_kind(name).versioned(effects))

    @property
    def first_digest(self) -> str:
        """`digest` as if all agents had play version 1: the digest in files older than play versions."""
        return self._digest_with(str)

    def _digest_with(self, named: Callable[[str], str]) -> str:
        """The digest, with each agent kind named as `named` returns."""
        content = {key: value for key, value in self._content.items() if key not in UNHASHED_KEYS}
        content["decks"] = [deck.identity for deck in self.found_decks]
        content["start"] = self.initial_weights.named()
        content |= {"start_cards": self.initial_card_values.tables()} if self.initial_card_values else {}
        content["opponents"] = [
            [
                *(named(p.kind), p.backend, p.weights, p.options),
                *filter(None, (p.keeps, p.deck_weights, p.card_values.tables())),
            ]
            for p in self.opponents
        ]
        content["rules"] = [RULES_VERSION, EFFECTS_VERSION if self.found_decks[0].effects else 0]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def to_toml(self) -> str:
        """The complete configuration as TOML, defaults included."""
        return tomli_w.dumps(self._content)

    @property
    def _content(self) -> dict[str, Any]:
        """The configuration as in files: keys of no use are left out, as in older files."""
        unused = {"patches"} if self.card_values else {"patches", "card_values", "card_ridge"}
        return self.model_dump(mode="json", by_alias=True, exclude=unused)
