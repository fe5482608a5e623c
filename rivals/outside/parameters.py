"""Declared parameters of an agent from outside: numbers between bounds, which can evolve."""

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

MAX_PARAMETERS = 1000

DIGITS = 12
"""Significant digits of a bound."""

STEPS = 1e9
"""Number of steps between bounds on which values lie; coarse enough that files reproduce them exactly."""

EXACT = 14
"""Digits that arithmetic keeps exact."""


class ParameterError(ManaforgeError, ValueError):
    """Invalid declaration of parameters, or a value out of bounds; the message says which."""


@dataclass(frozen=True)
class Parameter:
    """A tunable number of an agent from outside.

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
            raise ParameterError(f"parameter {self.name}: low and high must be numbers with low < high")

    @property
    def steps(self) -> float:
        """Number of steps between the bounds: `STEPS`, or fewer if digits do not suffice."""
        digits = math.log10((self.high - self.low) / max(abs(self.low), abs(self.high))) + EXACT
        return min(STEPS, 10.0 ** max(math.floor(digits), 0))

    def value(self, weight: float) -> float:
        """Value at a position from 0 to 1 between the bounds, rounded to a step."""
        part = round(weight * self.steps) / self.steps
        value = float(f"{self.low * (1 - part) + self.high * part:.15g}")
        return min(max(value, self.low), self.high)

    def weight(self, value: float) -> float:
        """Position from 0 to 1 of a value between the bounds, rounded to a step."""
        place = round((value - self.low) / (self.high - self.low) * self.steps) / self.steps
        return min(max(place, 0.0), 1.0)


def read_parameters(declared: object) -> tuple[Parameter, ...]:
    """Parse declared parameters, from an agent or a file.

    Args:
        declared: a list of tables or objects with name, low and high.

    Raises:
        ParameterError: invalid declaration.
    """
    if not isinstance(declared, list | tuple):
        raise ParameterError(f"parameters must be a list, got {str(declared)[:100]}")
    found = tuple(map(_read, declared))
    names = [parameter.name for parameter in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ParameterError(f"parameters: duplicate name {twice[0]!r}")
    if len(found) > MAX_PARAMETERS:
        raise ParameterError(f"parameters: at most {MAX_PARAMETERS:,}, got {len(found):,}")
    return found


def _read(declared: object) -> Parameter:
    """Parse the declaration of one parameter."""
    if isinstance(declared, Parameter):
        return declared
    shown = str(declared)[:100]
    if not isinstance(declared, Mapping) or not {"name", "low", "high"} <= set(declared):
        raise ParameterError(f"a parameter must have name, low and high, got {shown}")
    name = declared["name"]
    reserved = keyword.iskeyword(name) if isinstance(name, str) else True
    if reserved or not re.fullmatch(r"[a-z][a-z0-9_]{0,59}", name) or hasattr(WeightVector, name):
        raise ParameterError(
            "a parameter's name is up to 60 lower-case letters, digits and _, starting with a letter, and no "
            f"Python keyword or reserved word (such as {', '.join(_RESERVED)}), got {name!r}"
        )
    low, high = (_rounded(_number(declared[key])) for key in ("low", "high"))
    if low is None or high is None or not low < high:
        raise ParameterError(f"parameter {name}: low and high must be numbers with low < high, got {shown}")
    return Parameter(name, low, high)


_RESERVED = ("names", "shares", "array")


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def _number(value: object) -> float | None:
    """The value if it is a finite number, else None."""
    known = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return float(value) if known and abs(value) <= MAX_WEIGHT else None  # type: ignore[arg-type]


def differences(declared: Sequence[Parameter], kept: Sequence[Parameter]) -> str:
    """Text of the differences between two lists of parameters, for messages; "" if they are equal."""
    both = [dict.fromkeys(parameters) for parameters in (declared, kept)]
    only = [[_describe(one) for one in own if one not in other] for own, other in (both, both[::-1])]
    parts = [f"{what} {', '.join(own)}" for what, own in zip(("now", "there"), only, strict=True) if own]
    if not parts and tuple(declared) != tuple(kept):
        return "another order"
    return "; ".join(parts)


def parameters_text(parameters: Sequence[Parameter]) -> str:
    """Text of parameters with their bounds, for messages."""
    return ", ".join(map(_describe, parameters)) or "none"


def _describe(parameter: Parameter) -> str:
    return f"{parameter.name} ({parameter.low:g} to {parameter.high:g})"


@dataclass(frozen=True, slots=True)
class DeclaredWeights(WeightVector):
    """Weights of an agent from outside: each parameter's position between its bounds, from 0 to 1.

    Attributes:
        PARAMETERS: in the order of the fields.

    Raises:
        WeightError: a weight is not a number from 0 to 1.
    """

    SCALE: ClassVar[str] = "values between their bounds"
    MEASURE: ClassVar[str] = "place between the bounds"
    COMPARABLE: ClassVar[bool] = False
    PARAMETERS: ClassVar[tuple[Parameter, ...]] = ()

    @classmethod
    def scale_free(cls, weights: np.ndarray) -> np.ndarray:
        """The weights unchanged, since parameters have absolute values."""
        return np.array(weights, np.float64)

    @classmethod
    def format_share(cls, name: str, share: float) -> str:
        """Parameter value, for tables."""
        return "" if math.isnan(share) else f"{cls._of(name).value(share):.4g}"

    @classmethod
    def label(cls, name: str) -> str:
        """Text of a parameter's name and bounds."""
        return _describe(cls._of(name))

    def written(self) -> dict[str, float]:
        """Parameter values by name, for files."""
        return {one.name: one.value(getattr(self, one.name)) for one in self.PARAMETERS}

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Self:
        """Weights from parameter values by name.

        Raises:
            WeightError: a value is not a number between its bounds.
        """
        for one in cls.PARAMETERS:
            value = written[one.name]
            if _number(value) is None or not one.low <= value <= one.high:
                bounds = f"from {one.low:g} to {one.high:g}"
                raise WeightError(f"{one.name} must be a number {bounds}, got {value!r}")
        return cls(*(one.weight(written[one.name]) for one in cls.PARAMETERS))

    @classmethod
    def _checked(cls, name: str, value: object) -> float:
        """Weight rounded to its parameter's steps, so that files reproduce it exactly."""
        weight = _number(value)
        if weight is None or not 0 <= weight <= 1:
            raise WeightError(f"{name} must be from 0 (the parameter's low) to 1 (its high), got {value!r}")
        parameter = cls._of(name)
        return parameter.weight(parameter.value(weight))

    @classmethod
    def _of(cls, name: str) -> Parameter:
        return next(one for one in cls.PARAMETERS if one.name == name)


@cache
def declared_weights(agent: str, parameters: tuple[Parameter, ...]) -> type[DeclaredWeights]:
    """Weight class of an agent from outside with these parameters."""
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
    """Parameter values by name, from the parameters' positions between their bounds.

    Raises:
        ParameterError: the number of weights is not that of the parameters.
    """
    if len(parameters) != len(weights):
        known = ", ".join(one.name for one in parameters) or "none"
        raise ParameterError(
            f"got {len(weights)} parameter values, but the agent declares {len(parameters)} ({known})"
        )
    return {one.name: one.value(weight) for one, weight in zip(parameters, weights, strict=True)}
