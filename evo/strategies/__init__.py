"""Registry of optimisation strategies: ES, EVA, CMA-ES, SPSA and those of nevergrad."""

from engine.errors import unknown_name
from evo.strategies.base import (
    Candidate,
    GenerationResult,
    Individual,
    Parameters,
    Strategy,
    StrategyError,
    StrategyOptions,
)
from evo.strategies.cma import Cma
from evo.strategies.es import Es, Eva
from evo.strategies.nevergrad import PREFIX, Nevergrad, nevergrad_strategy
from evo.strategies.spsa import Spsa

STRATEGIES: dict[str, type[Strategy]] = {kind.NAME: kind for kind in (Es, Eva, Cma, Spsa)}
"""Built-in strategies by their name in configurations; the first is the default. See `find_strategy`."""

FAMILIES: dict[str, type[Strategy]] = {PREFIX: Nevergrad}
"""Strategies of other packages, by the prefix of their names."""

SECTIONS: dict[str, type[StrategyOptions]] = {
    **{name: kind.OPTIONS for name, kind in STRATEGIES.items() if kind.OPTIONS},
    **{name.rstrip(":"): kind.OPTIONS for name, kind in FAMILIES.items() if kind.OPTIONS},
}
"""Configuration sections with the options of strategies, by section name."""


def find_strategy(name: str) -> type[Strategy]:
    """Find a strategy class by name: one of `STRATEGIES`, or `nevergrad:NAME`.

    Raises:
        UnknownNameError: unknown strategy.
    """
    if name in STRATEGIES:
        return STRATEGIES[name]
    if name.startswith(PREFIX) and name != PREFIX:
        return nevergrad_strategy(name)
    raise unknown_name("strategy", name, (*STRATEGIES, *(kind.NAME for kind in FAMILIES.values())))


def section_name(name: str) -> str:
    """Name of the configuration section with a strategy's options."""
    return name.partition(":")[0]


__all__ = [
    "FAMILIES",
    "SECTIONS",
    "STRATEGIES",
    "Candidate",
    "GenerationResult",
    "Individual",
    "Parameters",
    "Strategy",
    "StrategyError",
    "StrategyOptions",
    "find_strategy",
    "section_name",
]
