"""Compiled games: what a kind of agent offers to whoever plays many of them."""

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from engine.match import Reckoned


TURNS = np.dtype(
    [
        ("exact", "i4"),  # by the exact solver
        ("search", "i4"),  # by the search, those solved again within a turn too
        ("unproven", "i4"),  # of any agent, those whose optimum was not proven
    ]
)
"""Turns that a game's players solved."""


class PlayBatch(Protocol):
    """Plays many games on, compiled; kinds are compiled apart, each when it first plays."""

    def __call__(
        self,
        cards: np.ndarray,
        weights: np.ndarray,
        agents: np.ndarray,
        states: np.ndarray,
        keys: np.ndarray,
        chances: np.ndarray,
        turns: np.ndarray,
        known: "Reckoned | None" = None,
    ) -> None:
        """Play each game on while an agent of this kind is to move, whole turns at a time.

        The kind plays as its Python agent does, action by action. What it draws comes from `keys` and from
        the state alone (`engine.streams.below` of the key derived for the round), so that a game does not
        depend on the games beside it.

        Args:
            cards: the card table of all games, dtype `engine.state.CARD`.
            weights: shape (agents, weights and options of the kind): a row an agent, all weights first.
            agents: who plays, shape (games, 2) integers into `weights`; column 0 goes first; -1 for other
                kinds.
            states: dtype `engine.state.STATE`, shape (games,). Modified in place.
            keys: uint64, shape (games, 2): the agents' streams by seat (`engine.streams.agent_keys`).
            chances: uint64, shape (games,): the games' own streams, for `engine.effects.chance.draw_for`; an
                agent does not look at them.
            turns: dtype `TURNS`, shape (games,). Added to in place: turns solved.
            known: for kinds that ask for it (`AgentKind.asks_for_cards`); others are called without.
        """
        ...


def with_options(weights: np.ndarray, n: int) -> np.ndarray:
    """Rows with `n` places; options that are left out at the end are 0."""
    return np.pad(weights, ((0, 0), (0, max(0, n - weights.shape[1]))))
