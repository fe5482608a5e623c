"""Plan: what a solver's choice means in actions, and what it predicts, computed from the choice itself."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from engine.codes import HERO
from ilp_agent.exact.order import ATTACK_STEP, COIN_STEP
from ilp_agent.problem import TurnProblem


class Status(StrEnum):
    """What a solver says of its answer, whichever solver it is."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    LIMIT = "limit"
    ERROR = "error"


class PlayCoin(NamedTuple):
    """Play The Coin."""


class Play(NamedTuple):
    """Play hand minion `hand` of the problem."""

    hand: int


class Attack(NamedTuple):
    """Attack with a friendly minion: `attacker` is its index on board, or m + its index in hand.

    `target` is an enemy's index or `HERO`.
    """

    attacker: int
    target: int

    def __repr__(self) -> str:
        return f"Attack(attacker={self.attacker}, target={'HERO' if self.target == HERO else self.target})"


PlanAction = PlayCoin | Play | Attack


class Terms(NamedTuple):
    """The eight signed weighted terms of the objective, W1 to W8; they sum to it."""

    lethal: float
    clear: float
    face: float
    threat: float
    survive: float
    damage: float
    trade: float
    play: float


@dataclass(frozen=True)
class Plan:
    """A turn's actions in order, and what they come to.

    Attributes:
        status: OPTIMAL, or FEASIBLE where a limit was met or optimality is not proven.
        objective: the sum of `terms`.
        terms: the eight signed weighted terms.
        actions: in the order to play them; indices are the problem's throughout.
        lethal: whether the enemy hero dies.
        cleared: whether the enemy board is empty afterwards.
        killed: indices of the enemies that die.
        lost: indices of the friendly minions that die: on board, or m + in hand.
        damage: attack spent on the enemy hero.
        mana: mana left.
        playable: whether every action is legal where it stands; False only for the `thesis` formulation.
    """

    status: Status
    objective: float
    terms: Terms
    actions: tuple[PlanAction, ...]
    lethal: bool
    cleared: bool
    killed: tuple[int, ...]
    lost: tuple[int, ...]
    damage: int
    mana: int
    playable: bool = True


def plan_of(problem: TurnProblem, record: np.void, status: Status) -> Plan:
    """A plan from a record of dtype `ilp_agent.exact.order.PLAN`."""
    friends = len(problem.friendly) + len(problem.hand)
    return Plan(
        status,
        float(record["value"]),
        Terms(*(float(term) + 0.0 for term in record["terms"])),
        tuple(_action(record, step) for step in range(record["n_steps"])),
        bool(record["lethal"]),
        bool(record["cleared"]),
        tuple(place for place in range(len(problem.enemy)) if record["killed"][place]),
        tuple(place for place in range(friends) if record["lost"][place]),
        int(record["damage"]),
        int(record["mana"]),
    )


def _action(record: np.void, step: int) -> PlanAction:
    if record["kind"][step] == COIN_STEP:
        return PlayCoin()
    if record["kind"][step] == ATTACK_STEP:
        return Attack(int(record["source"][step]), int(record["target"][step]))
    return Play(int(record["source"][step]))
