"""MCTS: plays the action that most random games of its tree went through (`rivals.mcts_search`).

Source: Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search" (2012). It needs no
weights: games that are played out at random take the place of an evaluation. Every action is searched for
anew, from what the player sees alone.
"""

import threading

import numpy as np

from engine import Action, PlayerView
from engine.streams import key_of
from rivals.mcts_search import SearchMemory, choose, new_memory, play_turns

_LOCAL = threading.local()


def memory_of_thread() -> SearchMemory:
    """This thread's memory, made once: kernels run without the GIL, so no two threads may share it."""
    if not hasattr(_LOCAL, "memory"):
        _LOCAL.memory = new_memory()
    memory: SearchMemory = _LOCAL.memory
    return memory


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,
    chances: np.ndarray,
    turns: np.ndarray,  # noqa: ARG001
) -> None:
    """See `rivals.batch.PlayBatch`."""
    play_turns(cards, weights, agents, states, keys, chances, memory_of_thread())


class MctsAgent:
    """Plays the action that most iterations of its search went through.

    Args:
        budget: playouts for a decision, 1 to `rivals.mcts_search.MOST_PLAYOUTS`.
    """

    name = "mcts"

    def __init__(self, budget: int = 200) -> None:
        self.budget = budget

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        """The action that was visited most."""
        position = view.position
        code = choose(position.states, position.table.array, self.budget, key_of(rng), memory_of_thread())
        return Action.from_code(code)
