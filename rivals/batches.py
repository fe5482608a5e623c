"""Whole games between any compiled agents: each kind in turn plays all games of a batch while it is to move.

Kinds are compiled separately, so that a process compiles only those that play.
"""

import numpy as np

from ilp_agent import selfplay
from ilp_agent.selfplay import RESULT
from rivals import aggro, eva, greedy, hearthsim
from rivals.hearthsim_node import BUDGET

COMPILED = ("ilp", "greedy-ilp", "hearthsim", "eva", "aggro")
"""Agents whose games run compiled, without Python's lock; "ilp" with the solver "exact"."""


def play_turns(
    kind: str,
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    unproven: np.ndarray,
) -> None:
    """Play each game on while an agent of a kind is to move.

    Args:
        kind: a name of `COMPILED`.
        cards: the card table, dtype `engine.state.CARD`.
        weights: shape (agents, weights of the kind); not looked at for "aggro".
        agents: who plays, shape (games, 2) integers into `weights`; column 0 goes first; -1 for other kinds.
        states: dtype `engine.state.STATE`, shape (games,). Modified in place.
        unproven: integers, shape (games,). Added to in place: turns played by a plan not proven the best.
    """
    if kind == "ilp":
        results = np.zeros(len(states), RESULT)
        selfplay.play_turns(cards, weights, agents, states, results)
        unproven += results["unproven"]
    elif kind == "hearthsim":
        use = np.zeros(len(states), hearthsim.USE)
        tree = hearthsim.tree_of_thread()
        hearthsim.play_turns(cards, weights, agents, states, tree, use, BUDGET)
        unproven += use["unproven"]
    elif kind == "eva":
        eva.play_turns(cards, weights, agents, states)
    elif kind == "greedy-ilp":
        greedy.play_turns(cards, weights, agents, states)
    else:
        assert kind == "aggro", kind
        aggro.play_turns(cards, agents, states)
