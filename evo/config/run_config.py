"""The configuration of a run: validation, hash, TOML and JSON schema."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import tomli_w
from pydantic import (
    BaseModel,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    create_model,
    model_validator,
)

from engine import Deck, ManaforgeError, find_deck, rulesets
from engine.decks import default_ruleset
from engine.effect_codes import EFFECTS_VERSION
from engine.errors import WrongValueError, constraint_text, unknown_name
from engine.lazy import lazy_import
from evo.config.benchmarks import BENCHMARKS, PANEL, Benchmark
from evo.config.keys import (
    AGENTS_WITH_BACKEND,
    MAX_STORED_DEALS,
    FinalOptions,
    OpponentOptions,
    RunKeys,
    ValidationOptions,
    patches_in_decks,
)
from evo.config.messages import option_in_message
from evo.decklibrary import refuse_unused_library
from evo.strategies import (
    FAMILIES,
    SECTIONS,
    STRATEGIES,
    StrategyOptions,
    find_strategy,
    section_name,
)
from ilp_agent import BACKENDS, DEFAULT_BACKEND
from ilp_agent.backends import join_names, resolved_backend
from ilp_agent.weights import WeightError, WeightVector
from rivals import (
    DEFAULT_AGENT,
    find_kind,
    is_outside,
    predicts_decks,
    refuse_decks,
    weight_class,
    weighted_kinds,
)
from rivals.kinds import AgentKind, parse_options
from rivals.outside.parameters import declared_weights
from rivals.outside.permissions import NAME_PREFIXES

NO_FILE = "configuration"
"""Used in errors in place of a file name if all values come from options or a caller."""

ALWAYS_HASHED = (
    *("schema", "seed", "strategy", "mu", "lambda", "games", "decks", "ruleset", "agent", "backend"),
    *("es.initial_sigma", "es.shared_draw", "es.recombination", "es.bounds"),
    *("final.games", "final.benchmark_games"),
)
"""Keys that are part of every configuration's hash, even at their defaults. Never add to this list.

A key added later is hashed only where it differs from its default, so that older configurations, run
folders and champions keep their hash.
"""

NEVER_HASHED = (
    *("generations", "pool", "workers", "address"),
    *(f"validation.{name}" for name in ValidationOptions.model_fields),
)
"""Keys that do not affect the generations of a run or its champion."""


REMOVED_KEYS = {"racing": 0.0}
"""Removed keys and their former defaults; files may still contain them at these values, without effect."""

FOLLOW_DECKS = ("ruleset", "benchmark")
"""Keys whose defaults in a new run follow the decks."""

SPSA_PAIRS, FORMER_SPSA_PAIRS = "spsa.pairs", 10_000
"""A key and its former default; hashed only for strategy `spsa` and only at other values."""

Config = TypeVar("Config", bound=BaseModel)


class ConfigError(ManaforgeError, ValueError):
    """Invalid configuration; the message names file and key."""


class ConfigOptionError(ConfigError, WrongValueError):
    """Invalid configuration on the command line: an unreadable file or an invalid option value."""


def removed_key_message(key: str, value: Any) -> str:
    """Error message for a `REMOVED_KEYS` key that is set."""
    return (
        f"{key} = {value}: this key was removed; delete it for a new run, and continue an older run with the "
        "version of Manaforge that its manifest.json names"
    )


def _is(info: ValidationInfo, what: str) -> bool:
    """Whether the validation context has the flag `what`: "begins" (new run) or "stored" (run folder)."""
    return bool(info.context and info.context.get(what))


def _by_turn_program(agent: str) -> bool:
    """Whether an agent uses the weights of the turn program."""
    return not is_outside(agent) and weight_class(agent).AGENT == DEFAULT_AGENT


class _RunConfig(RunKeys):
    """The validated configuration of a run."""

    _removed: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _without_removed(
        cls, content: Any, validate: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        """Drop the keys in `REMOVED_KEYS`; only in run folders may their values differ from the defaults."""
        content = patches_in_decks(content, cls)
        if not isinstance(content, dict):
            return validate(content)
        removed = {
            key: content[key] for key, default in REMOVED_KEYS.items() if content.get(key, default) != default
        }
        for key, value in removed.items():
            if not _is(info, "stored") or not isinstance(value, float):
                raise ValueError(removed_key_message(key, value))
        config = validate({key: value for key, value in content.items() if key not in REMOVED_KEYS})
        config._removed.update(removed)
        if _is(info, "stored"):  # what an older version left out stays at the default
            config.model_fields_set.update(FOLLOW_DECKS)
            return config
        classes = any(deck.hero_class for deck in map(find_deck, config.decks))
        if "ruleset" not in content:
            config.__dict__["ruleset"] = default_ruleset(map(find_deck, config.decks))
        if "benchmark" not in content and classes:
            config.__dict__["benchmark"] = PANEL.name
        return config

    @model_validator(mode="before")
    @classmethod
    def _declared(cls, content: Any, info: ValidationInfo) -> Any:
        """Ask an agent from outside for its parameters in a new run; run folders contain the parameters."""
        agent = content.get("agent") if isinstance(content, dict) and _is(info, "begins") else None
        if not isinstance(agent, str) or not is_outside(agent) or content.get("parameters"):
            return content
        return {**content, "parameters": lazy_import("rivals.outside.agent:check_starts")(agent)}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        try:
            strategy = find_strategy(self.strategy)
        except ManaforgeError as error:
            raise ValueError(f"strategy: {error}") from None
        strategy.check(self.mu, self.lambda_)
        if self.backend not in BACKENDS:
            raise ValueError(f"backend: {unknown_name('backend', self.backend, BACKENDS)}")
        if is_outside(self.agent) and not self.parameters:
            raise ValueError(f'agent "{self.agent}" declares no parameters, so nothing can evolve')
        if self.parameters and not is_outside(self.agent):
            raise ValueError(
                f'parameters: agent "{self.agent}" has weights of its own; leave out the key, which is for '
                "agents from outside"
            )
        if not self.kind.takes_backend and self.backend not in (DEFAULT_BACKEND, "exact"):
            raise ValueError(
                f'backend "{self.backend}" is for agent "{AGENTS_WITH_BACKEND}"; '
                f'"{self.agent}" has no backend'
            )
        if self.options and not self.kind.options:
            raise ValueError(f'options "{self.options}": agent "{self.agent}" has no options; leave them out')
        try:
            _ = self.option_values
        except ManaforgeError as error:
            raise ValueError(f'options "{self.options}": {error}') from None
        if self.kind.sight(self.option_values) is not self.kind.sees:
            raise ValueError(f'options "{self.options}": an agent that sees hidden cards cannot evolve')
        if self.library and not predicts_decks(self.agent, self.option_values):
            raise ValueError(
                "library: only an agent that predicts decks uses it; set options hands=predicted"
            )
        refuse_unused_library(self.found_library, self.found_decks, "library")
        if len(set(self.decks)) != len(self.decks):
            raise ValueError(f"decks: the same deck twice in {list(self.decks)}; list it once")
        names = self.deck_names
        if len(set(names)) != len(names):
            raise ValueError(f"decks: two decks with the same name in {names}; rename one")
        self._check_weights()
        if self.games_growth > 1 and self.games_most < max(self.games, self.opponents.games):
            raise ValueError(
                f"games_most {self.games_most} must be at least games and opponents.games "
                f"({max(self.games, self.opponents.games)})"
            )
        deals = self.validation.games * len(self.decks) ** 2 // 2
        if self.validation.stop_when_gain_below and deals > MAX_STORED_DEALS:
            raise ValueError(
                f"validation.games: the stop rule allows at most {MAX_STORED_DEALS:,} deals "
                "(games * decks^2 / 2), "
                f"got {deals:,}; lower validation.games"
            )
        bodies = not any(deck.effects for deck in self.found_decks)
        solver = resolved_backend(self.backend, bodies, self.weights == "thesis")
        # The resolved backend is written and hashed, so that files older than `auto` have the same hash.
        # Agents without a solver still play against profiles of the turn program.
        self.__dict__["backend"] = solver if self.kind.takes_backend or not bodies else "exact"
        self._plan()
        return self

    def _check_weights(self) -> None:
        """Refuse a weight set that the agent does not support, and fixed and initial weights without use.

        Raises:
            ValueError: one of the weights is unknown, fixed and initial, or invalid, all are fixed, or the
                strategy has no initial point.
        """
        if "weights" in self.model_fields_set and not self.supports_weight_sets:
            able = join_names([f'"{name}"' for name in weighted_kinds() if _by_turn_program(name)], "and")
            raise ValueError(
                f'weights "{self.weights}" are for the agents {able}; agent "{self.agent}" has weights of '
                "its own: leave out the key weights"
            )
        if self.weights != "thesis" and self.backend == "exact":
            raise ValueError(f'backend "exact" does not support weights "{self.weights}"; use backend "auto"')
        names = self.vector.names()
        for key in ("fixed_weights", "initial_weights"):
            if getattr(self, key) and is_outside(self.agent):
                raise ValueError(
                    f"{key}: not for agents from outside, which declare bounds of their parameters"
                )
            for name in getattr(self, key):
                if name in self.vector.optional_defaults():
                    raise ValueError(
                        f'{key}: {name} is not in the weights "{self.weights}", only in a larger set'
                    )
                if name not in names:
                    raise ValueError(f"{key}: {unknown_name('weight', name, names)}")
                if key == "initial_weights" and name in self.fixed_weights:
                    raise ValueError(f"initial_weights: {name} is in fixed_weights, so it does not evolve")
        if len(self.fixed_weights) == len(names):
            raise ValueError("fixed_weights: every weight is fixed, so nothing can evolve")
        try:
            self.vector(**(dict.fromkeys(names, 0.0) | self.fixed_weights))
        except WeightError as error:
            raise ValueError(f"fixed_weights: {error}") from None
        if self.initial_weights and not hasattr(self.strategy_options, "initial_mean"):
            able = ", ".join(
                kind.NAME
                for kind in STRATEGIES.values()
                if "initial_mean" in getattr(kind.OPTIONS, "model_fields", {})
            )
            raise ValueError(
                f'initial_weights: strategy "{self.strategy}" does not start from a point; leave them out or '
                f"choose one that does: {able} or nevergrad:NAME"
            )

    def _plan(self) -> None:
        """Fit the strategy's schedule to the run's generations, unless a schedule length is configured."""
        section, options = section_name(self.strategy), self.strategy_options
        schedule = find_strategy(self.strategy).schedule
        if options is None or all(getattr(options, key) for key in schedule(1, self.lambda_, self.games)):
            return
        games = sum(map(self.max_games_per_individual, range(self.generations + 1)))
        planned = schedule(self.generations + 1, self.lambda_, games)
        unsaid = {key: value for key, value in planned.items() if not getattr(options, key)}
        self.__dict__[section] = options.model_copy(update=unsaid)

    def to_toml(self, folder: Path | None = None) -> str:
        """Serialise the configuration with all defaults; `address` is left empty.

        Args:
            folder: folder of the file; deck files inside it are written relative to it.
        """
        content = self.model_dump(mode="json", by_alias=True, exclude=self._unsupported_keys)
        if folder is not None:
            for key in ("decks", "library"):
                content[key] = [
                    str(Path(deck).relative_to(folder)) if Path(deck).is_relative_to(folder) else deck
                    for deck in content[key]
                ]
        content["address"] = ""
        return tomli_w.dumps(content)

    @cached_property
    def found_decks(self) -> tuple[Deck, ...]:
        """The decks that the key `decks` names, in this order, as their files were at the first use."""
        decks = tuple(find_deck(deck) for deck in self.decks)
        refuse_decks([(self.agent, self.backend)], decks)
        return decks

    @property
    def found_library(self) -> tuple[Deck, ...]:
        """The decks that the key `library` names."""
        return tuple(find_deck(deck) for deck in self.library)

    @property
    def kind(self) -> AgentKind:
        """The agent kind whose weights evolve."""
        return find_kind(self.agent)

    @property
    def option_values(self) -> tuple[int, ...]:
        """Values of all agent options; () for the defaults."""
        return parse_options(self.kind.options, self.options) if self.options else ()

    @property
    def found_benchmark(self) -> Benchmark:
        """The benchmark: fixed opponents of validations and champion."""
        return BENCHMARKS[self.benchmark]

    @property
    def deck_names(self) -> list[str]:
        """Names of the decks, as in tables."""
        return [deck.name for deck in self.found_decks]

    @property
    def vector(self) -> type[WeightVector]:
        """The class of the weights that evolve."""
        if is_outside(self.agent):
            return declared_weights(self.agent, self.parameters)
        return weight_class(self.agent, self.weights)

    @property
    def inert_weights(self) -> frozenset[str]:
        """Names of the weights that are fixed, or change no decision with these decks."""
        inert = self.vector.inert(card for deck in self.found_decks for card in deck.cards)
        return inert | frozenset(self.fixed_weights)

    @property
    def digest(self) -> str:
        """SHA-256 of everything that determines the results of a run (all keys but `NEVER_HASHED`).

        Decks are hashed by name and cards, not by path: an edited deck is another run.
        """
        return self.digest_for_effects(EFFECTS_VERSION)

    def digest_for_effects(self, effects: int) -> str:
        """The digest that this configuration has under another version of the card effects; see `digest`."""
        content: dict[str, Any] = {**self._removed}
        for key, value, default in _values(self):
            if key == "benchmark" and not self.final.benchmark_games:  # no game of the champion depends on it
                continue
            if key == SPSA_PAIRS and (self.strategy != "spsa" or value == FORMER_SPSA_PAIRS):
                continue
            if key in ALWAYS_HASHED or (key not in NEVER_HASHED and value != default):
                section, _, name = key.rpartition(".")
                (content.setdefault(section, {}) if section else content)[name] = value
        content["decks"] = [deck.identity_under(effects) for deck in self.found_decks]
        if self.library:
            content["library"] = [deck.identity_under(effects) for deck in self.found_library]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def removed(self) -> dict[str, Any]:
        """Removed keys (`REMOVED_KEYS`) with which an older version played this run, with their values."""
        return dict(self._removed)

    @property
    def supports_weight_sets(self) -> bool:
        """Whether the agent supports the key `weights`, a weight set of the turn program."""
        return _by_turn_program(self.agent)

    @property
    def strategy_options(self) -> StrategyOptions | None:
        """Options of this run's strategy; None for a strategy without options."""
        options: StrategyOptions | None = getattr(self, section_name(self.strategy), None)
        return options

    def games_per_pairing(self, generation: int) -> int:
        """Number of games per pairing of individuals and ordered pair of decks in a generation; even."""
        return self._grown(self.games, generation)

    def games_per_opponent(self, generation: int) -> int:
        """Number of games per individual, opponent outside the population and ordered deck pair; even."""
        return self._grown(self.opponents.games or self.games, generation)

    def count_individuals(self, generation: int) -> int:
        """Number of individuals evaluated in a generation."""
        return find_strategy(self.strategy).count_evaluated(self.mu, self.lambda_, generation)

    def max_opponents(self, generation: int) -> int:
        """Maximum number of opponents outside the population in a generation."""
        options = self.opponents
        earlier = min(options.members, generation) if options.hall or options.nash else 0
        return len(options.fixed) + earlier

    def max_games_per_individual(self, generation: int) -> int:
        """Maximum number of games of an individual in a generation, over all decks."""
        others = self.count_individuals(generation) - 1 if self.opponents.population else 0
        games = others * self.games_per_pairing(generation)
        games += self.max_opponents(generation) * self.games_per_opponent(generation)
        return games * len(self.decks) ** 2

    def _grown(self, games: int, generation: int) -> int:
        """Grow a number of games by `games_growth` per generation, up to `games_most`; the result is even."""
        if self.games_growth == 1.0:
            return games
        most = max(games, self.games_most)
        try:
            return min(most, 2 * int(games * self.games_growth**generation / 2))
        except OverflowError:
            return most

    def changed(self, **values: Any) -> "RunConfig":
        """Return a validated copy with other values; with other decks, keys not given follow these.

        Raises:
            ConfigError: a value is invalid.
        """
        # Defaults are not carried over: another agent may not support the key, other decks have their own.
        unsaid = {"weights"} if self.weights == "thesis" else set()
        unsaid |= {key for key in FOLLOW_DECKS if key not in self.model_fields_set}
        content = self.model_dump(by_alias=True, exclude=self._unsupported_keys | unsaid)
        if self.backend == "exact":  # possibly resolved from `auto`
            content["backend"] = DEFAULT_BACKEND
        return validate_run_config(content | values, NO_FILE, begins=True)

    @property
    def _unsupported_keys(self) -> set[str]:
        """Keys that the agent does not support, and those for some weights alone that name none."""
        unused = {key for key in ("fixed_weights", "initial_weights", "patches") if not getattr(self, key)}
        unused |= set() if self.supports_weight_sets else {"weights"}
        return unused if self.parameters else unused | {"parameters"}


if TYPE_CHECKING:
    RunConfig = _RunConfig
else:
    # Sections of strategies come from their registry and precede the others.
    _SECTIONS = SECTIONS | {
        "final": FinalOptions,
        "validation": ValidationOptions,
        "opponents": OpponentOptions,
    }
    RunConfig = create_model(
        "RunConfig",
        __base__=_RunConfig,
        __doc__=_RunConfig.__doc__,
        **{name: (model, model()) for name, model in _SECTIONS.items()},
    )


def key_descriptions(model: type[BaseModel] = RunConfig, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Iterate over all configuration keys with their descriptions, in the order of the file."""
    for name, field in model.model_fields.items():
        key = prefix + (field.alias or name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from key_descriptions(field.annotation, f"{key}.")
        else:
            yield key, field.description or ""


def allowed_values() -> dict[str, list[str]]:
    """Allowed values of every configuration key with a closed set of values, as text for `--set`."""
    schema = json_schema()
    tables = {"": schema["properties"]}
    for key, value in schema["properties"].items():
        if "$ref" in value:
            tables[f"{key}."] = schema["$defs"][value["$ref"].rpartition("/")[2]]["properties"]
    found: dict[str, list[str]] = {}
    for prefix, properties in tables.items():
        for key, value in properties.items():
            if value.get("type") == "boolean":
                found[prefix + key] = ["true", "false"]
            else:
                known = value.get("enum") or [
                    choice for part in value.get("anyOf", ()) for choice in part.get("enum", ())
                ]
                found |= {prefix + key: [str(choice) for choice in known]} if known else {}
    return found


def json_schema() -> dict[str, Any]:
    """JSON schema of run configurations, for completion and checks in editors."""
    schema = RunConfig.model_json_schema()
    names = {"agent": weighted_kinds(), "backend": BACKENDS, "ruleset": rulesets()}
    for key, known in names.items():
        schema["properties"][key]["enum"] = list(known)
    outside = {"pattern": f"^({'|'.join(NAME_PREFIXES)}):.+"}
    schema["properties"]["agent"]["anyOf"] = [{"enum": schema["properties"]["agent"].pop("enum")}, outside]
    families = [{"pattern": f"^{prefix}.+"} for prefix in FAMILIES]
    schema["properties"]["strategy"]["anyOf"] = [{"enum": list(STRATEGIES)}, *families]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _values(config: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Iterate over configuration keys, each with value and default as JSON values."""
    content = config.model_dump(mode="json", by_alias=True)
    for name, field in type(config).model_fields.items():
        key = field.alias or name
        value = getattr(config, name)
        if isinstance(value, BaseModel):
            yield from _values(value, f"{prefix}{key}.")
        else:
            default = list(field.default) if isinstance(field.default, tuple) else field.default
            yield prefix + key, content[key], default


def validate_run_config(
    content: dict[str, Any], where: str, given: Mapping[str, str] | None = None, begins: bool = False
) -> RunConfig:
    """Validate the content of a run's configuration; see `validate_config`."""
    return validate_config(RunConfig, content, where, given, begins)


def validate_config(
    model: type[Config],
    content: dict[str, Any],
    where: str,
    given: Mapping[str, str] | None = None,
    begins: bool = False,
    stored: bool = False,
) -> Config:
    """Validate the content of a configuration and report all errors in one message.

    Args:
        model: configuration class.
        content: values by key, sections as tables.
        where: file name for errors, or `NO_FILE`.
        given: command-line options by the key they set, for errors.
        begins: whether a new run starts from it; an agent from outside is then queried for its parameters.
        stored: whether it comes from a run folder, where `REMOVED_KEYS` keys are accepted.

    Raises:
        ConfigError: a key is unknown or a value is invalid.
    """
    given = given or {}
    try:
        return model.model_validate(content, context={"begins": begins, "stored": stored})
    except ManaforgeError as error:
        option = option_in_message(str(error), given)
        kind = ConfigOptionError if option or where == NO_FILE else ConfigError
        raise kind(f"{option or where}: {error}") from None
    except ValidationError as errors:
        known = dict(key_descriptions(model))
        of_file, of_options = [], []
        for problem in errors.errors():
            key = ".".join(map(str, problem["loc"]))
            if problem["type"] == "extra_forbidden":
                of_file.append(str(unknown_name("key", key, known)))
                continue
            empty = isinstance(problem["input"], list | tuple) and not problem["input"]
            got = "" if empty else f", got {problem['input']!r}"
            text = f"{key} {constraint_text(problem)}{got}" if key else constraint_text(problem)
            options = [option for name, option in given.items() if f"{key}.".startswith(f"{name}.")]
            option = options[0] if options else "" if key else option_in_message(text, given)
            if option:
                of_options.append(f"{option}: {text}")
            else:
                of_file.append(text)
        in_file = [f"{where}: {'; '.join(of_file)}"] if of_file else []
        kind = ConfigError if in_file and where != NO_FILE else ConfigOptionError
        raise kind("; ".join([*in_file, *of_options])) from None
