"""Evolution strategies by name, behind one protocol."""

from engine.errors import unknown_name
from evo.strategies.base import (
    Candidate,
    Individual,
    Parameters,
    Strategy,
    StrategyError,
    StrategyOptions,
    Told,
)
from evo.strategies.cma import Cma
from evo.strategies.es import Es, Eva
from evo.strategies.nevergrad import PREFIX, Nevergrad, nevergrad_strategy
from evo.strategies.spsa import Spsa

STRATEGIES: dict[str, type[Strategy]] = {kind.NAME: kind for kind in (Es, Eva, Cma, Spsa)}
"""Every strategy by the name that configurations write; the first is the default. See `find_strategy`."""

FAMILIES: dict[str, type[Strategy]] = {PREFIX: Nevergrad}
"""Strategies of other packages, by how their names begin."""

SECTIONS: dict[str, type[StrategyOptions]] = {
    **{name: kind.OPTIONS for name, kind in STRATEGIES.items() if kind.OPTIONS},
    **{name.rstrip(":"): kind.OPTIONS for name, kind in FAMILIES.items() if kind.OPTIONS},
}
"""Sections of the configuration with options of strategies."""


def find_strategy(name: str) -> type[Strategy]:
    """A strategy by its name, of `STRATEGIES` or `nevergrad:NAME`.

    Raises:
        UnknownNameError: there is none.
    """
    if name in STRATEGIES:
        return STRATEGIES[name]
    if name.startswith(PREFIX) and name != PREFIX:
        return nevergrad_strategy(name)
    raise unknown_name("strategy", name, (*STRATEGIES, *(kind.NAME for kind in FAMILIES.values())))


def section_of(name: str) -> str:
    """The section of a strategy's options, by its name."""
    return name.partition(":")[0]


__all__ = [
    "FAMILIES",
    "SECTIONS",
    "STRATEGIES",
    "Candidate",
    "Individual",
    "Parameters",
    "Strategy",
    "StrategyError",
    "StrategyOptions",
    "Told",
    "find_strategy",
    "section_of",
]
