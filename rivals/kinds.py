"""Agent kinds: how to make an agent, its weights and options, and which information it may observe."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from engine.errors import UnknownNameError, WrongValueError, unknown_name
from engine.lazy import lazy_import
from ilp_agent import lookahead as looking
from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND, solver_version
from ilp_agent.card_values import NO_CARD_VALUES, CardValues
from ilp_agent.profiles import Profile
from ilp_agent.search import IGNORE, SECRETS

if TYPE_CHECKING:
    from engine.decks import Deck
    from engine.game_session import Agent
    from ilp_agent.weights import WeightVector
    from rivals.batch import PlayBatch


class OptionError(WrongValueError, ValueError):
    """Invalid option value."""


@dataclass(frozen=True)
class Option:
    """Integer option of an agent.

    Attributes:
        name: of the option; entrants write `name=VALUE`.
        default: value if an entrant gives none.
        least: smallest value.
        most: largest value.
        help: short description.
        values: number of each named value; named values are written by name.
        peeks: named values that let the agent see hidden cards.
        max_from_files: largest value that a server accepts from a file, since larger ones may take many
            seconds per decision; None: no limit.
        later: whether the option is newer than some saved agents: definitions omit its default.
        named: whether entrants must write its name, and rows of numbers omit its default: an option beside
            `@BACKEND`.
    """

    name: str
    default: int
    least: int
    most: int
    help: str
    values: Mapping[str, int] = field(default_factory=dict)
    peeks: frozenset[str] = frozenset()
    later: bool = False
    max_from_files: int | None = None
    named: bool = False

    def read(self, text: str) -> int:
        """Parse an option value.

        Raises:
            OptionError, UnknownNameError: the text is not a value of the option.
        """
        if self.values:
            if text not in self.values:
                raise unknown_name(f"value of {self.name}", text, self.values)
            return self.values[text]
        if not text.isascii() or not text.isdigit() or not self.least <= int(text) <= self.most:
            raise OptionError(
                f"{self.name} must be a whole number from {self.least} to {self.most}, got {text!r}"
            )
        return int(text)

    def write(self, value: int) -> str:
        """Format an option value as in entrant texts."""
        return next((name for name, number in self.values.items() if number == value), str(value))


def parse_options(options: Sequence[Option], text: str) -> tuple[int, ...]:
    """Parse an agent's options, the text after `@`: `64`, `depth=3` or `64,depth=3`.

    Args:
        options: of the agent, in order; a bare number sets the first.
        text: comma-separated; "" for the defaults.

    Raises:
        OptionError, UnknownNameError: an unknown option, a repeated one, or an invalid value.
    """
    found: dict[str, int] = {}
    known = {option.name: option for option in options}
    for part in text.split(",") if text else []:
        name, equals, value = part.partition("=")
        if not equals and options[0].named:
            raise OptionError(f"options need their names, such as {options[0].name}=VALUE, got {part!r}")
        if not equals:
            name, value = options[0].name, part
        if name not in known:
            outside = "; seconds is for agents from outside" if name == "seconds" else ""
            names = ", ".join(known)
            raise UnknownNameError(f"unknown option {name!r} in {text!r}; the options are {names}{outside}")
        if name in found:
            raise OptionError(f"{name} is given twice in {text!r}")
        found[name] = known[name].read(value)
    return tuple(found.get(option.name, option.default) for option in options)


def split_backend(text: str) -> tuple[str, str]:
    """Split the text after `@` of an agent with a backend, such as `search,secrets=mean`.

    Returns:
        The backend, the default if none is named, and the text of the options.

    Raises:
        OptionError: a comma without an option after it.
    """
    first, comma, rest = text.partition(",")
    if comma and not rest:
        raise OptionError(f"an option is missing after the comma of {text!r}")
    if "=" in first:
        return DEFAULT_BACKEND, text
    return first or DEFAULT_BACKEND, rest


def format_options(options: Sequence[Option], values: Sequence[int]) -> str:
    """Shortest text of option values; "" for the defaults."""
    parts = [
        ("" if option is options[0] and not option.named else f"{option.name}=") + option.write(value)
        for option, value in zip(options, values, strict=True)
        if value != option.default
    ]
    return ",".join(parts)


class Sight(StrEnum):
    """Information available to an agent."""

    VIEW = "what its player knows"
    EVERYTHING = "hidden cards too"


@dataclass(frozen=True)
class AgentKind:
    """Definition of an agent kind.

    Attributes:
        name: as in entrants and configurations.
        make: constructor of the Python agent; called with its weights if it has any, then the backend if it
            takes one. `make`, `vector` and `batch` may be given as MODULE:NAME.
        help: short description.
        vector: class of its weights, read as `weights`; None without weights.
        default_profile: profile of the bare name; "" if a profile must be named.
        batch: compiled kernel that plays whole games without the GIL, read as `play_batch`; None if only
            Python plays it, or if the backend provides it.
        random: whether it uses its random stream.
        sees: information available to it.
        takes_backend: whether `@BACKEND` chooses its solver; it is compiled if the backend is.
        options: set after `@`; they follow the weights in the rows of compiled games.
        budget: fixed limits of its search by name, recorded by tournaments; numbers, or MODULE:NAME.
        effects: whether it supports card effects, as in decks with a class.
        version: of its play; raised when its choice of actions may change. Game folders of another version
            can be read, but not continued.
        card_version: of its play with card effects, if that is newer than `version`.
        declares: whether it declares its weights when it starts; `vector` is None then.
    """

    name: str
    make: "Callable[..., Agent] | str"
    help: str
    vector: "type[WeightVector] | str | None" = None
    default_profile: str = ""
    batch: "PlayBatch | str | None" = None
    random: bool = False
    sees: Sight = Sight.VIEW
    takes_backend: bool = False
    options: tuple[Option, ...] = ()
    budget: Mapping[str, int | str] = field(default_factory=dict)
    effects: bool = False
    version: int = 1
    card_version: int = 1
    declares: bool = False

    @property
    def summary(self) -> str:
        """Name and description of the agent kind, for help texts."""
        return f"{self.name}: {self.help}"

    @property
    def weighted(self) -> bool:
        """Whether the agent has weights, which can evolve."""
        return self.vector is not None

    @property
    def weights(self) -> "type[WeightVector] | None":
        """Class of the agent's weights; None without weights."""
        return lazy_import(self.vector)

    def play_batch(self, backend: str = DEFAULT_BACKEND) -> "PlayBatch | None":
        """Compiled kernel for whole games with a backend; None if the agent plays in Python only."""
        return lazy_import((BACKENDS[backend].batch or None) if self.takes_backend else self.batch)

    @property
    def owner(self) -> str:
        """Name of the agent whose profiles this kind plays (`AGENT` of the weights); "" without weights."""
        return self.weights.AGENT if self.weights else ""

    def compiled(self, backend: str = DEFAULT_BACKEND) -> bool:
        """Whether whole games run compiled with a backend."""
        return BACKENDS[backend].compiled if self.takes_backend else self.batch is not None

    def agent(
        self,
        weights: object = None,
        backend: str = DEFAULT_BACKEND,
        options: Sequence[int] = (),
        further: "Sequence[Deck]" = (),
        card_values: CardValues = NO_CARD_VALUES,
    ) -> "Agent":
        """Create the Python agent.

        Args:
            weights: numbers in the order of its weights; ignored without weights. () for a kind that declares
                them: its own values.
            backend: its solver, if it takes one.
            options: values of all its options; () for their defaults.
            further: decks in addition to the shipped ones, for deck prediction.
            card_values: values of single cards, for a kind that uses them.

        Raises:
            WeightError: invalid weights.
            SolverError: the backend cannot start.
        """
        vector = self.weights.from_array(weights) if self.weights else None
        arguments: list[object] = [] if vector is None else [vector]
        if vector is not None and card_values:
            arguments = [Profile(self.name, vector, card_values=card_values)]
        arguments += [weights] if self.declares else []
        make: Callable[..., Agent] = lazy_import(self.make)
        solver = [backend] if self.takes_backend else []
        library = [further] if HANDS in self.options else []
        return make(*arguments, *solver, *self.settings(options), *library)

    def settings(self, options: Sequence[int] = ()) -> tuple[int, ...]:
        """Values of all options: the given ones, then defaults."""
        return (*options, *(option.default for option in self.options[len(options) :]))

    def definition(
        self, backend: str = DEFAULT_BACKEND, options: Sequence[int] = (), effects: bool = False
    ) -> dict[str, Any]:
        """Everything but the weights that determines the agent's play, as recorded by tournaments.

        Args:
            backend: its solver, if it takes one.
            options: values of all its options; () for their defaults.
            effects: whether a deck has card effects.
        """
        named, version = zip(self.options, self.settings(options), strict=True), self.play_version(effects)
        return (
            ({"solver": solver_version(backend)} if self.takes_backend else {})
            | ({"version": version} if version > 1 else {})
            | {name: lazy_import(limit) for name, limit in self.budget.items()}
            | {
                option.name: option.write(value) if option.values else value
                for option, value in named
                if not option.later or value != option.default
            }
        )

    def play_version(self, effects: bool) -> int:
        """Version of its play, with card effects or without."""
        return max(self.version, self.card_version) if effects else self.version

    def versioned(self, effects: bool) -> str:
        """Name of the agent kind, with the play version if that is above 1: "hearthsim 2"."""
        version = self.play_version(effects)
        return f"{self.name} {version}" if version > 1 else self.name

    def sight(self, options: Sequence[int] = ()) -> Sight:
        """Information available to the agent with these options; () for all defaults."""
        named = zip(self.options, self.settings(options), strict=True)
        if any(option.write(value) in option.peeks for option, value in named):
            return Sight.EVERYTHING
        return self.sees

    def row_settings(self, options: Sequence[int] = ()) -> tuple[int, ...]:
        """`settings` as part of a row of numbers; () for defaults of options that must be named."""
        found = self.settings(options)
        named = zip(self.options, found, strict=True)
        omits = all(option.named and value == option.default for option, value in named)
        return () if omits else found

    def models_secrets(self, options: Sequence[int] = ()) -> bool:
        """Whether the agent with these options models the opponent's hidden Secrets."""
        named = zip(self.options, self.settings(options), strict=True)
        return any(option is SECRETS_OPTION and value != IGNORE for option, value in named)

    @property
    def models_opponent(self) -> bool:
        """Whether the agent can model the opponent's hidden cards: its compiled games take `known`."""
        return HANDS in self.options or SECRETS_OPTION in self.options


HANDS = Option(
    "hands",
    looking.HANDS["off"],
    min(looking.HANDS.values()),
    max(looking.HANDS.values()),
    "known: the opponent's hand is sampled from its deck list, predicted: from likely decks, told: revealed",
    values=looking.HANDS,
    peeks=frozenset({"told"}),
    later=True,
)
"""Option for the model of the opponent's hand."""

SECRETS_OPTION = Option(
    "secrets",
    IGNORE,
    min(SECRETS.values()),
    max(SECRETS.values()),
    "mean or worst: plans are valued over the Secrets of the opponent's deck list that may be in play",
    values=SECRETS,
    later=True,
    named=True,
)
"""Option for the model of the opponent's hidden Secrets."""
