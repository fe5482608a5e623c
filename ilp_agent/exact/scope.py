"""For which turns and weights a turn of bodies has all that the objective counts.

Of the weights beside the thesis's eight, `body` and `wound` are solved for. On a turn of minions with
keywords alone nothing draws, equips, freezes, casts or overloads, so those weights count nothing. `hero`
does: own Lifesteal heals, and a turn's record does not have the own hero's health.
"""

import numpy as np

from engine.codes import BOARD_SIZE, Keyword
from engine.jit import njit
from ilp_agent.backends import SolverError
from ilp_agent.exact.plays import can_attack_from_hand
from ilp_agent.weights import EXTENDED_NAMES, N_TERMS, Term, Weights

N_KNOWN = Term.OVERLOAD + 1
"""Terms that the program for bodies counts, or that count nothing there; it knows no later weight."""


@njit
def applies(turn: np.void, weights: np.ndarray) -> bool:
    """Whether the sequential turn program counts all that these weights count on this turn.

    Args:
        turn: dtype `ilp_agent.turnrecord.TURN`.
        weights: all of them, indexed by `Term`.

    Returns:
        False where `hero` counts and a minion with Lifesteal may attack: one on board with attacks left, or
        one that can be played to attack; and where a weight counts that is not of the first `N_KNOWN`.
    """
    for term in range(N_KNOWN, N_TERMS):
        if weights[term] != 0.0:
            return False
    if weights[Term.HERO] == 0.0:
        return True
    from_hand = can_attack_from_hand(turn) if turn["n_board"] < BOARD_SIZE else 0
    for index in range(turn["n_board"] + turn["n_hand"]):
        friend = turn["friends"][index]
        able = friend["attacks"] > 0
        if index >= turn["n_board"]:
            able = (from_hand >> (index - turn["n_board"])) & 1 == 1
        if able and friend["keywords"] & Keyword.LIFESTEAL:
            return False
    return True


def check_scope(turn: np.void, weights: Weights) -> None:
    """Refuse a turn, dtype `TURN`, with a weight that the sequential turn program cannot count on it.

    Raises:
        SolverError: the message names the weight and the backends that take it.
    """
    check_known(weights)
    if not applies(turn, weights.everything):
        raise SolverError(
            f"the turn program cannot count the weight 'hero' ({weights.hero:g}) on a turn in which a minion "
            "with Lifesteal may attack; use backend 'search' or 'auto', or set 'hero' to 0"
        )


def check_known(weights: Weights) -> None:
    """Refuse a weight that programs do not have.

    Raises:
        SolverError: the message names the weight and the backends that take it.
    """
    for name in EXTENDED_NAMES[N_KNOWN:]:
        if getattr(weights, name):
            raise SolverError(
                f"programs do not count the weight {name!r}; use 'search' or 'auto', or set it to 0"
            )
