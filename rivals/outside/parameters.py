"""Parameters that an outside agent declares: numbers between bounds, which can evolve."""

import keyword
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np

from engine.errors import ManaforgeError
from ilp_agent.weights import MAX_WEIGHT, WeightError, WeightVector

MOST_PARAMETERS = 1000

DIGITS = 12
"""Significant digits of a bound."""

STEPS = 1e9
"""Steps between bounds on which values lie: fine for any use, and coarse, so that files give them back."""

EXACT = 14
"""Digits of a number that arithmetic leaves exact."""


class ParameterError(ManaforgeError, ValueError):
    """What is declared is no list of parameters, or a value is out of bounds; the message says which."""


@dataclass(frozen=True)
class Parameter:
    """A number that an agent plays by.

    Attributes:
        name: lower-case letters, digits and _, a letter first.
        low: its smallest value.
        high: its largest value.
    """

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ParameterError(f"parameter {self.name}: low and high are numbers, low the smaller one")

    @property
    def steps(self) -> float:
        """How many steps between the bounds its values lie on: `STEPS`, fewer where digits do not suffice."""
        digits = math.log10((self.high - self.low) / max(abs(self.low), abs(self.high))) + EXACT
        return min(STEPS, 10.0 ** max(math.floor(digits), 0))

    def value(self, weight: float) -> float:
        """The value at a place between the bounds, 0 to 1, on the nearest of its steps."""
        part = round(weight * self.steps) / self.steps
        value = float(f"{self.low * (1 - part) + self.high * part:.15g}")
        return min(max(value, self.low), self.high)

    def weight(self, value: float) -> float:
        """The place of a value between the bounds, 0 to 1, on the nearest of its steps."""
        place = round((value - self.low) / (self.high - self.low) * self.steps) / self.steps
        return min(max(place, 0.0), 1.0)


def read_parameters(declared: object) -> tuple[Parameter, ...]:
    """Parameters as an agent declares them, or a file keeps them.

    Args:
        declared: a list of tables, or objects, with name, low and high.

    Raises:
        ParameterError: it is none.
    """
    if not isinstance(declared, list | tuple):
        raise ParameterError(f"parameters must be a list, got {str(declared)[:100]}")
    found = tuple(map(_read, declared))
    names = [parameter.name for parameter in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ParameterError(f"parameters: two of the name {twice[0]!r}")
    if len(found) > MOST_PARAMETERS:
        raise ParameterError(f"parameters: at most {MOST_PARAMETERS:,}, got {len(found):,}")
    return found


def _read(declared: object) -> Parameter:
    """One parameter."""
    if isinstance(declared, Parameter):
        return declared
    shown = str(declared)[:100]
    if not isinstance(declared, Mapping) or not {"name", "low", "high"} <= set(declared):
        raise ParameterError(f"a parameter has name, low and high, got {shown}")
    name = declared["name"]
    taken = keyword.iskeyword(name) if isinstance(name, str) else True
    if taken or not re.fullmatch(r"[a-z][a-z0-9_]{0,59}", name) or hasattr(WeightVector, name):
        raise ParameterError(
            "a parameter's name is up to 60 lower-case letters, digits and _, a letter first, and no word of "
            f"Python or of ours (such as {', '.join(_TAKEN)}), got {name!r}"
        )
    low, high = (_rounded(_number(declared[key])) for key in ("low", "high"))
    if low is None or high is None or not low < high:
        raise ParameterError(f"parameter {name}: low and high are numbers, low the smaller one, got {shown}")
    return Parameter(name, low, high)


_TAKEN = ("names", "shares", "array")


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def _number(value: object) -> float | None:
    """A finite number; None if it is none."""
    known = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return float(value) if known and abs(value) <= MAX_WEIGHT else None  # type: ignore[arg-type]


def differences(declared: Sequence[Parameter], kept: Sequence[Parameter]) -> str:
    """What two lists of parameters do not share, in words; "" if they are the same."""
    both = [dict.fromkeys(parameters) for parameters in (declared, kept)]
    only = [[_told(one) for one in own if one not in other] for own, other in (both, both[::-1])]
    said = [f"{what} {', '.join(own)}" for what, own in zip(("now", "there"), only, strict=True) if own]
    if not said and tuple(declared) != tuple(kept):
        return "another order"
    return "; ".join(said)


def parameters_text(parameters: Sequence[Parameter]) -> str:
    """Parameters with their bounds in words."""
    return ", ".join(map(_told, parameters)) or "none"


def _told(parameter: Parameter) -> str:
    return f"{parameter.name} ({parameter.low:g} to {parameter.high:g})"


@dataclass(frozen=True, slots=True)
class DeclaredWeights(WeightVector):
    """Places of an outside agent's parameters between their bounds, each from 0 to 1. Nothing is divided.

    Attributes:
        PARAMETERS: in the order of the fields.

    Raises:
        WeightError: one is no number from 0 to 1.
    """

    SCALE: ClassVar[str] = "values between their bounds"
    MEASURE: ClassVar[str] = "place between the bounds"
    COMPARABLE: ClassVar[bool] = False
    PARAMETERS: ClassVar[tuple[Parameter, ...]] = ()

    @classmethod
    def scale_free(cls, weights: np.ndarray) -> np.ndarray:
        """The same: a parameter means something by itself."""
        return np.array(weights, np.float64)

    @classmethod
    def shown(cls, name: str, share: float) -> str:
        """The value that the agent plays by."""
        return "" if math.isnan(share) else f"{cls._of(name).value(share):.4g}"

    @classmethod
    def label(cls, name: str) -> str:
        """The name with its bounds."""
        return _told(cls._of(name))

    def written(self) -> dict[str, float]:
        """The values by name."""
        return {one.name: one.value(getattr(self, one.name)) for one in self.PARAMETERS}

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Self:
        """Weights from values by name.

        Raises:
            WeightError: a value is no number between its bounds.
        """
        for one in cls.PARAMETERS:
            value = written[one.name]
            if _number(value) is None or not one.low <= value <= one.high:
                bounds = f"from {one.low:g} to {one.high:g}"
                raise WeightError(f"{one.name} must be a number {bounds}, got {value!r}")
        return cls(*(one.weight(written[one.name]) for one in cls.PARAMETERS))

    @classmethod
    def _checked(cls, name: str, value: object) -> float:
        """The place of the value that it stands for, so that files give it back exactly."""
        weight = _number(value)
        if weight is None or not 0 <= weight <= 1:
            raise WeightError(f"{name} must be a place between its bounds, 0 to 1, got {value!r}")
        parameter = cls._of(name)
        return parameter.weight(parameter.value(weight))

    @classmethod
    def _of(cls, name: str) -> Parameter:
        return next(one for one in cls.PARAMETERS if one.name == name)


@cache
def declared_weights(agent: str, parameters: tuple[Parameter, ...]) -> type[DeclaredWeights]:
    """The class of the weights of an outside agent with these parameters."""
    return make_dataclass(
        "OutsideWeights",
        [(one.name, float) for one in parameters],
        bases=(DeclaredWeights,),
        namespace={
            "AGENT": agent,
            "PARAMETERS": parameters,
            "MEANINGS": tuple(f"from {one.low:g} to {one.high:g}" for one in parameters),
            "ALIASES": MappingProxyType({}),
        },
        frozen=True,
        slots=True,
    )


def values_of(parameters: Sequence[Parameter], weights: Sequence[float]) -> dict[str, float]:
    """Values by name from places between the bounds.

    Raises:
        ParameterError: there are more or fewer weights than parameters.
    """
    if len(parameters) != len(weights):
        known = ", ".join(one.name for one in parameters) or "none"
        raise ParameterError(f"given {len(weights)} parameters, and it declares {len(parameters)} ({known})")
    return {one.name: one.value(weight) for one, weight in zip(parameters, weights, strict=True)}
