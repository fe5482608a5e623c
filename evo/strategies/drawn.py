"""The base of strategies that draw all individuals anew, and are restored by repeating their history."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from evo.strategies.base import Individual, Strategy, StrategyError
from evo.strategies.population import PopulationStrategy


class DrawnStrategy(PopulationStrategy):
    """Evaluates lambda new individuals in every generation, the first too; the best mu are called parents."""

    @classmethod
    def sizes(cls, mu: int, lambda_: int) -> str:
        """The best mu of lambda; see `evo.strategies.base.Strategy`."""
        return f"{mu} of {lambda_}"

    @classmethod
    def evaluated(cls, mu: int, lambda_: int, generation: int) -> int:  # noqa: ARG003
        """All lambda, in every generation; see `evo.strategies.base.Strategy`."""
        return lambda_

    def restore(self, generations: Iterable[pd.DataFrame]) -> None:
        """Repeat ask() and tell() of every committed generation; see `evo.strategies.base.Strategy`."""
        repeat(self, generations)

    def _select(self, asked: Sequence[Individual]) -> list[Individual]:
        """The best mu; of equal fitness, the earlier ones first."""
        ranked = sorted(asked, key=lambda individual: -individual.fitness.values[0])
        return ranked[: self.parameters.mu]


def bounded(point: np.ndarray) -> list[float]:
    """A point clipped to [0, 1], which rounding may have left."""
    return [float(value) for value in np.clip(point, 0.0, 1.0)]


def repeat(strategy: Strategy, generations: Iterable[pd.DataFrame]) -> None:
    """Restore a strategy by repeating ask() and tell() of every committed generation.

    Raises:
        StrategyError: it asks for other individuals than are written there.
    """
    columns = [f"weight_{name}" for name in strategy.parameters.vector.names()]
    for table in generations:
        asked = np.array(strategy.ask())
        if not np.array_equal(asked, table[columns].to_numpy()):
            raise StrategyError(
                f"generation {strategy.generation} cannot be repeated bit for bit: strategy "
                f'"{strategy.NAME}" resumes only on the machine model and with the locked versions that '
                "started the run. Resume it there, or start a new run"
            )
        strategy.tell(table["fitness"].to_numpy())
