"""Interface of compiled agents: play a batch of games without Python per action."""

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from engine.match import OpponentModelData


TURNS = np.dtype(
    [
        ("exact", "i4"),  # solved by the exact solver
        ("search", "i4"),  # solved by the search; each new search within a turn counts
        ("unproven", "i4"),  # of any agent: optimum not proven
    ]
)
"""Numbers of turns that a game's players solved."""


class PlayBatch(Protocol):
    """Kernel that plays a batch of games; each agent kind is compiled when it first plays."""

    def __call__(
        self,
        cards: np.ndarray,
        weights: np.ndarray,
        agents: np.ndarray,
        states: np.ndarray,
        keys: np.ndarray,
        logs: np.ndarray,
        turns: np.ndarray,
        known: "OpponentModelData | None" = None,
    ) -> None:
        """Play each game on while an agent of this kind is to move, whole turns at a time.

        Actions are the same as of the Python agent. Random numbers depend only on `keys` and the state
        (`engine.streams.below` of the key derived for the round), so a game does not depend on the rest of
        the batch.

        Args:
            cards: the card table of all games, dtype `engine.state.CARD`.
            weights: shape (agents, weights and options of the kind): one row per agent, weights before
                options.
            agents: shape (games, 2), rows of `weights` by seat, column 0 first to move; -1 for agents of
                other kinds.
            states: dtype `engine.state.STATE`, shape (games,). Modified in place.
            keys: uint64, shape (games, 2): the agents' streams by seat (`engine.streams.agent_keys`).
            logs: dtype `engine.batches.GAME_LOG`, shape (games,): the games' chance streams, hidden from
                agents, and the actions played so far. Added to in place.
            turns: dtype `TURNS`, shape (games,). Incremented in place.
            known: opponent model, passed only to kinds that use it (`AgentKind.models_opponent`).
        """
        ...


def with_options(weights: np.ndarray, n: int) -> np.ndarray:
    """Pad rows of weights and options to `n` columns; missing trailing options become 0."""
    return np.pad(weights, ((0, 0), (0, max(0, n - weights.shape[1]))))
