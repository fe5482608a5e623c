"""The ILP agent with the compiled backend, in batches of games."""

import numpy as np

from ilp_agent.selfplay import RESULT, play_turns


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    chances: np.ndarray,  # noqa: ARG001
    unproven: np.ndarray,
) -> None:
    """See `rivals.registry.PlayBatch`."""
    results = np.zeros(len(states), RESULT)
    play_turns(cards, weights, agents, states, results)
    unproven += results["unproven"]
