"""A plan of bodies as a flat record for kernels: its steps in order, and what it predicts."""

from enum import IntEnum

import numpy as np

from engine.codes import BOARD_SIZE, HAND_SIZE
from ilp_agent.plan import Attack, PlanAction, Play, PlayCoin, ProblemPlan, Status, terms_of
from ilp_agent.problem import TurnProblem
from ilp_agent.turnrecord import MAX_FRIENDS, MAX_HITS
from ilp_agent.weights import N_TERMS, Weights


class StepKind(IntEnum):
    """What a step of a plan does: play The Coin, play hand minion `source`, attack `target` with `source`."""

    COIN = 0
    PLAY = 1
    ATTACK = 2


MAX_STEPS = MAX_HITS + HAND_SIZE + 1

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


def plan_of(problem: TurnProblem, record: np.void, status: Status, weights: Weights) -> ProblemPlan:
    """A plan from a record of dtype `PLAN`, made with these weights."""
    friends = len(problem.friendly) + len(problem.hand)
    return ProblemPlan(
        status,
        float(record["value"]),
        terms_of(record["terms"], weights),
        tuple(_action(record, step) for step in range(record["n_steps"])),
        bool(record["lethal"]),
        bool(record["cleared"]),
        tuple(place for place in range(len(problem.enemy)) if record["killed"][place]),
        tuple(place for place in range(friends) if record["lost"][place]),
        int(record["damage"]),
        int(record["mana"]),
    )


def _action(record: np.void, step: int) -> PlanAction:
    if record["kind"][step] == StepKind.COIN:
        return PlayCoin()
    if record["kind"][step] == StepKind.ATTACK:
        return Attack(int(record["source"][step]), int(record["target"][step]))
    return Play(int(record["source"][step]))


def step_of(action: PlanAction) -> tuple[int, int, int]:
    """An action as a step of a PLAN record: kind (`StepKind`), source and target."""
    if isinstance(action, Attack):
        return StepKind.ATTACK, action.attacker, action.target
    if isinstance(action, Play):
        return StepKind.PLAY, action.hand, 0
    return StepKind.COIN, 0, 0
