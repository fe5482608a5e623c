"""Plan: the best way to go on with a turn, as the engine's actions; ProblemPlan: in a problem's indices."""

from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from engine import Action
from engine.codes import HERO
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
    """The best way to go on with a turn, up to what only the game decides.

    Attributes:
        status: OPTIMAL, or FEASIBLE where a limit was met or optimality is not proven.
        objective: the sum of `terms`; expected, where chance has a part in it.
        terms: one signed weighted term for each weight: the thesis's eight, or sixteen where another is set.
        actions: in the order to play them, as the engine has them, the end of the turn left out.
        again: whether the turn is to be solved again after the last of them: what it draws, what chance does,
            or that an enemy with Lifesteal heals its hero, is seen only then.
        states: positions that a search looked at; 0 of a solver that is none.
    """

    status: Status
    objective: float
    terms: Terms
    actions: tuple[Action, ...]
    again: bool = False
    states: int = 0


CardPlan = Plan
"""Its name of the time when plans of bodies were in a problem's indices alone."""


@dataclass(frozen=True)
class ProblemPlan:
    """The best plan of a `TurnProblem`, in its indices, and what it comes to.

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
