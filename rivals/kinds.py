"""Kinds of agents: what they do, what they may observe, and their options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from engine.errors import WrongValueError, unknown_name
from engine.lazy import loaded
from ilp_agent import lookahead as looking
from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND, solver_version

if TYPE_CHECKING:
    from engine.decks import Deck
    from engine.game_session import Agent
    from ilp_agent.weights import WeightVector
    from rivals.batch import PlayBatch


class OptionError(WrongValueError, ValueError):
    """A text that is no value of an option."""


@dataclass(frozen=True)
class Option:
    """A whole number that changes how an agent plays.

    Attributes:
        name: as entrants write it, `name=VALUE`.
        default: where an entrant does not say.
        least: smallest value.
        most: largest value.
        help: what it is, in a few words.
        values: names of the values, where they have names; these are written then, not numbers.
        peeks: names of values with which an agent looks at hidden cards.
        most_received: the largest value with which a server plays an agent that a file describes, where by a
            larger one it may think for many seconds about a decision; None: any.
        later: whether agents were saved before it existed: definitions leave it out at its default.
    """

    name: str
    default: int
    least: int
    most: int
    help: str
    values: Mapping[str, int] = field(default_factory=dict)
    peeks: frozenset[str] = frozenset()
    later: bool = False
    most_received: int | None = None

    def read(self, text: str) -> int:
        """The value that a text means.

        Raises:
            OptionError, UnknownNameError: it means none.
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
        """A value as entrants write it."""
        return next((name for name, number in self.values.items() if number == value), str(value))


def read_options(options: Sequence[Option], text: str) -> tuple[int, ...]:
    """Values of an agent's options, from what stands after `@`: `64`, `depth=3` or `64,depth=3`.

    Args:
        options: of the agent, in their order; a number alone is the first one's.
        text: options by name, with commas between them; "" for the defaults.

    Raises:
        OptionError, UnknownNameError: the text names another option, one twice, or a value it cannot have.
    """
    found: dict[str, int] = {}
    known = {option.name: option for option in options}
    for part in text.split(",") if text else []:
        name, equals, value = part.partition("=")
        if not equals:
            name, value = options[0].name, part
        if name not in known:
            raise unknown_name("option", name, known)
        if name in found:
            raise OptionError(f"{name} is given twice in {text!r}")
        found[name] = known[name].read(value)
    return tuple(found.get(option.name, option.default) for option in options)


def write_options(options: Sequence[Option], values: Sequence[int]) -> str:
    """The shortest text that means these values; "" for the defaults."""
    parts = [
        option.write(value) if option is options[0] else f"{option.name}={option.write(value)}"
        for option, value in zip(options, values, strict=True)
        if value != option.default
    ]
    return ",".join(parts)


class Sight(StrEnum):
    """What an agent may look at."""

    VIEW = "what its player knows"
    EVERYTHING = "hidden cards too"


@dataclass(frozen=True)
class AgentKind:
    """All that is known of a kind of agent.

    Attributes:
        name: as entrants and configurations write it.
        make: the agent in Python; called with its weights where it has any, then with the backend where it
            takes one. This and the next two may be given as MODULE:NAME.
        help: what it does, in a few words.
        vector: the class of its weights; None where it plays without. Asked for as `weights`.
        default_profile: what the bare name means; "" where a profile must be named.
        batch: plays whole games compiled, without the GIL; None where only Python plays it, and of a kind
            that takes a backend, which has its own. Asked for as `play_batch`.
        random: whether it draws from its own stream of the game.
        sees: what it may look at.
        takes_backend: whether `@BACKEND` chooses its solver; it then runs compiled with compiled ones alone.
        options: what an entrant may say after `@`; they follow the weights in the rows of compiled games.
        budget: limits of its search that are part of what it is, by name, as tournaments write them down;
            numbers, or MODULE:NAME.
        effects: whether it plays decks with a class, whose cards do what they say.
        version: of its play; raised where it may choose other actions than before. Folders of games written
            by another version are read, and not continued.
        declares: whether it says by itself, when it starts, which weights it has; `vector` is None then.
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
    declares: bool = False

    @property
    def summary(self) -> str:
        """What it does, for help texts."""
        return f"{self.name}: {self.help}"

    @property
    def weighted(self) -> bool:
        """Whether it plays by weights, which can evolve."""
        return self.vector is not None

    @property
    def weights(self) -> "type[WeightVector] | None":
        """The class of its weights; None where it plays without."""
        return loaded(self.vector)

    def play_batch(self, backend: str = DEFAULT_BACKEND) -> "PlayBatch | None":
        """Plays whole games compiled with a backend; None where only Python plays it."""
        return loaded((BACKENDS[backend].batch or None) if self.takes_backend else self.batch)

    @property
    def owner(self) -> str:
        """Whose profiles it plays: those of the agent its weights are named after; "" without weights."""
        return self.weights.AGENT if self.weights else ""

    def compiled(self, backend: str = DEFAULT_BACKEND) -> bool:
        """Whether whole games of it run compiled with a backend."""
        return BACKENDS[backend].compiled if self.takes_backend else self.batch is not None

    def agent(
        self,
        weights: object = None,
        backend: str = DEFAULT_BACKEND,
        options: Sequence[int] = (),
        further: "Sequence[Deck]" = (),
    ) -> "Agent":
        """The agent as it plays.

        Args:
            weights: numbers in the order of its weights; not looked at where it has none. Of a kind that
                declares them, () for its own.
            backend: its solver, where it takes one.
            options: values of all its options; () for their defaults.
            further: decks that an opponent may play beside the shipped ones, for kinds that predict decks.

        Raises:
            WeightError: the weights are not allowed.
            SolverError: the backend cannot start.
        """
        arguments: list[object] = [self.weights.from_array(weights)] if self.weights else []
        arguments += [weights] if self.declares else []
        make: Callable[..., Agent] = loaded(self.make)
        solver = [backend] if self.takes_backend else []
        library = [further] if self.asks_for_cards else []
        return make(*arguments, *solver, *self.settings(options), *library)

    def settings(self, options: Sequence[int] = ()) -> tuple[int, ...]:
        """Values of all options: those given, and for those that are left out at the end the defaults."""
        return (*options, *(option.default for option in self.options[len(options) :]))

    def definition(self, backend: str = DEFAULT_BACKEND, options: Sequence[int] = ()) -> dict[str, Any]:
        """What decides its play beside its weights, as a tournament writes it down."""
        named = zip(self.options, self.settings(options), strict=True)
        return (
            ({"solver": solver_version(backend)} if self.takes_backend else {})
            | ({"version": self.version} if self.version > 1 else {})
            | {name: loaded(limit) for name, limit in self.budget.items()}
            | {
                option.name: option.write(value) if option.values else value
                for option, value in named
                if not option.later or value != option.default
            }
        )

    @property
    def versioned(self) -> str:
        """Its name, with the version of its play where that is not the first: "hearthsim 2"."""
        return f"{self.name} {self.version}" if self.version > 1 else self.name

    def sight(self, options: Sequence[int] = ()) -> Sight:
        """What it may look at with these options; () for their defaults."""
        named = zip(self.options, self.settings(options), strict=True)
        if any(option.write(value) in option.peeks for option, value in named):
            return Sight.EVERYTHING
        return self.sees

    @property
    def asks_for_cards(self) -> bool:
        """Whether it may reckon with the opponent's cards, so that its compiled games take `known`."""
        return HANDS in self.options


HANDS = Option(
    "hands",
    looking.HANDS["off"],
    min(looking.HANDS.values()),
    max(looking.HANDS.values()),
    "known: the opponent's hand is drawn from its deck list, predicted: from likely decks, told: it is seen",
    values=looking.HANDS,
    peeks=frozenset({"told"}),
    later=True,
)
"""How an agent reckons with the opponent's hand."""
