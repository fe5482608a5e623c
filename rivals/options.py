"""Options of agents: what an entrant may say after `@`, such as how far an agent looks ahead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.errors import WrongValueError, unknown_name


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
