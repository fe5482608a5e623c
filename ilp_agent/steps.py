"""A plan as a flat record for kernels: its steps in order, and what it predicts (see `ilp_agent.plan`)."""

from enum import IntEnum

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE
from ilp_agent.turn import MAX_FRIENDS, MAX_HITS
from ilp_agent.weights import N_TERMS


class StepKind(IntEnum):
    """What a step of a plan does: play The Coin, play hand minion `source`, attack `target` with `source`."""

    COIN = 0
    PLAY = 1
    ATTACK = 2


MAX_STEPS = MAX_HITS + HAND_SIZE + 1

TURNS = np.dtype(
    [
        ("exact", "i4"),  # by the exact solver
        ("search", "i4"),  # by the search, those solved again within a turn too
        ("unproven", "i4"),  # of any agent, those whose optimum was not proven
    ]
)
"""Turns that a game's players solved."""

PLAN = np.dtype(
    [
        ("n_steps", "i2"),  # steps of the plan
        ("unproven", "i2"),  # 1: its optimum was not proven (`ilp_agent.exact.kernel`)
        ("kind", "i2", (MAX_STEPS,)),  # a StepKind
        ("source", "i2", (MAX_STEPS,)),  # hand number of a play; friend of an attack
        ("target", "i2", (MAX_STEPS,)),  # enemy place or HERO
        ("lethal", "i2"),  # 1: the enemy hero dies
        ("cleared", "i2"),  # 1: the enemy board is empty afterwards
        ("killed", "i2", (BOARD_SIZE,)),  # 1: enemy dies
        ("lost", "i2", (MAX_FRIENDS,)),  # 1: friend dies
        ("damage", "i2"),  # damage to the enemy hero
        ("mana", "i2"),  # mana left
        ("terms", "f8", (N_TERMS,)),  # the signed weighted terms of the objective, indexed by Term
        ("value", "f8"),  # their sum
    ]
)
"""A plan and what it predicts."""
