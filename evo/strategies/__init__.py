"""Evolution strategies by name, behind one protocol."""

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
from evo.strategies.es import Es
from evo.strategies.eva import Eva
from evo.strategies.spsa import Spsa

STRATEGIES: dict[str, type[Strategy]] = {kind.NAME: kind for kind in (Es, Eva, Cma, Spsa)}
"""Every strategy by the name that configurations write; the first is the default."""

__all__ = [
    "STRATEGIES",
    "Candidate",
    "Individual",
    "Parameters",
    "Strategy",
    "StrategyError",
    "StrategyOptions",
    "Told",
]
