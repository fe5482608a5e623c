"""Plan: what a solver's choice means in actions, and what it predicts, computed from the choice itself."""

from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.codes import HERO
from ilp_agent.problem import TurnProblem
from ilp_agent.steps import StepKind
from ilp_agent.weights import EXTENDED_NAMES, WEIGHT_NAMES, Weights


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


if TYPE_CHECKING:

    class Terms(tuple[float, ...]):
        """The signed weighted terms of the objective, named like its weights; they sum to it."""

        def __getattr__(self, name: str) -> float: ...
        @classmethod
        def _make(cls, terms: Iterable[float]) -> "Terms": ...
        def _asdict(self) -> dict[str, float]: ...

    class ExtendedTerms(Terms):
        """The same of all sixteen weights."""

else:
    # The names are those of the weights, which type checkers cannot see.
    Terms = namedtuple("Terms", WEIGHT_NAMES)
    Terms.__doc__ = "The signed weighted terms of the objective, named like its weights; they sum to it."
    ExtendedTerms = namedtuple("ExtendedTerms", EXTENDED_NAMES)
    ExtendedTerms.__doc__ = "The same of all sixteen weights."


def terms_of(values: Iterable[float], weights: Weights) -> Terms:
    """Terms by name: of the thesis's weights, or of all where another one is set.

    Args:
        values: of all terms, in the order of `Term`.
        weights: that they were computed with.
    """
    found = [float(value) + 0.0 for value in values]
    names = weights.named()
    return Terms._make(found[: len(names)]) if len(names) < len(found) else ExtendedTerms._make(found)


@dataclass(frozen=True)
class Plan:
    """A turn's actions in order, and what they come to.

    Attributes:
        status: OPTIMAL, or FEASIBLE where a limit was met or optimality is not proven.
        objective: the sum of `terms`.
        terms: one signed weighted term for each weight: the thesis's eight, or sixteen where another is set.
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


def plan_of(problem: TurnProblem, record: np.void, status: Status, weights: Weights) -> Plan:
    """A plan from a record of dtype `ilp_agent.steps.PLAN`, made with these weights."""
    friends = len(problem.friendly) + len(problem.hand)
    return Plan(
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
