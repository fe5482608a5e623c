"""`eva`: the strategy of the paper on evolving Hearthstone agents by coevolution, as in its code.

Source: "Optimizing Hearthstone agents using an evolutionary algorithm" (EVA), Algorithm 2, Eqs. 9 to 12. As
printed, Eq. 9 adds where the authors' code multiplies; this follows the code.
"""

import math
from typing import ClassVar

import numpy as np

from evo.strategies.plus import MIN_SIGMA, PlusStrategy, clamp, copy_parent


class Eva(PlusStrategy):
    """Every parent makes one child; weights and step sizes start uniform on (0, 1)."""

    NAME: ClassVar[str] = "eva"
    SUMMARY: ClassVar[str] = "as in the paper on Hearthstone by coevolution"

    @classmethod
    def check(cls, mu: int, lambda_: int) -> None:
        """Accept as many children as parents.

        Raises:
            ValueError: lambda is not mu.
        """
        if lambda_ != mu:
            raise ValueError(f'strategy "eva" requires lambda = mu, got {lambda_} and {mu}')

    def _register(self) -> None:
        self.toolbox.register("mate", copy_parent)
        self.toolbox.register("mutate", mutate_eva, tau=self.tau, shared_tau=self.shared_tau)

    def _first_sigmas(self, stream: np.random.Generator) -> list[float]:
        return [max(stream.random(), MIN_SIGMA) for _ in range(self.n_weights)]


def mutate_eva(
    weights: list[float], sigmas: list[float], stream: np.random.Generator, tau: float, shared_tau: float
) -> tuple[list[float], list[float]]:
    """Mutation of EVA's code: both draws of a step size are made for every weight; weights clamped to [0, 1].

    sigma' = max(sigma exp(tau N_i + tau' N), 1e-5); w' = clamp(w + N(0, sigma')).
    """
    moved, steps = [], []
    for weight, sigma in zip(weights, sigmas, strict=True):
        own, shared, step = (stream.standard_normal() for _ in range(3))
        steps.append(max(sigma * math.exp(tau * own + shared_tau * shared), MIN_SIGMA))
        moved.append(clamp(weight + steps[-1] * step))
    return moved, steps
