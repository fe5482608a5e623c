"""Plans of a turn: `Plan` as engine actions, `ProblemPlan` in the indices of a `TurnProblem`."""

from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from engine import Action
from engine.codes import HERO
from ilp_agent.weights import EXTENDED_NAMES, FULL_NAMES, WEIGHT_NAMES, Weights


class Status(StrEnum):
    """Solver status, the same for all backends."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    LIMIT = "limit"
    ERROR = "error"


class PlayCoin(NamedTuple):
    """Play The Coin."""


class Play(NamedTuple):
    """Play the minion with index `hand` in the problem's hand."""

    hand: int


class Attack(NamedTuple):
    """Attack with a friendly minion: `attacker` is its index on board, or m + its index in hand.

    `target` is an enemy minion's index or `HERO`; m is the number of friendly minions on board.
    """

    attacker: int
    target: int

    def __repr__(self) -> str:
        return f"Attack(attacker={self.attacker}, target={'HERO' if self.target == HERO else self.target})"


PlanAction = PlayCoin | Play | Attack


if TYPE_CHECKING:

    class Terms(tuple[float, ...]):
        """The signed weighted terms of the objective, by the names of the weights."""

        def __getattr__(self, name: str) -> float: ...
        @classmethod
        def _make(cls, terms: Iterable[float]) -> "Terms": ...
        def _asdict(self) -> dict[str, float]: ...

    class ExtendedTerms(Terms):
        """The terms of the sixteen weights of turns on real cards."""

    class FullTerms(Terms):
        """The terms of all weights."""

else:
    # Fields are named like the weights, which type checkers cannot see.
    Terms = namedtuple("Terms", WEIGHT_NAMES)
    Terms.__doc__ = "The signed weighted terms of the objective, by the names of the weights."
    ExtendedTerms = namedtuple("ExtendedTerms", EXTENDED_NAMES)
    ExtendedTerms.__doc__ = "The terms of the sixteen weights of turns on real cards."
    FullTerms = namedtuple("FullTerms", FULL_NAMES)
    FullTerms.__doc__ = "The terms of all weights."


def name_terms(values: Iterable[float], weights: Weights) -> Terms:
    """Name the terms: those of the sets of weights that are in use.

    Args:
        values: values of all terms, in the order of `Term`.
        weights: the weights they were computed with.
    """
    found = [float(value) + 0.0 for value in values][: len(weights.named())]
    kinds = {len(WEIGHT_NAMES): Terms, len(EXTENDED_NAMES): ExtendedTerms, len(FULL_NAMES): FullTerms}
    return kinds[len(found)]._make(found)


@dataclass(frozen=True)
class Plan:
    """The best plan for the rest of a turn as engine actions, up to the next chance outcome.

    Attributes:
        status: OPTIMAL, or FEASIBLE if a limit was reached or optimality is not proven.
        objective: the sum of `terms`; an expected value if chance is involved.
        terms: one signed weighted term for each weight of the sets in use: eight, sixteen, or all.
        actions: engine actions in playing order, without the end of the turn.
        again: whether the turn must be solved again after the last action, because a drawn card, a chance
            outcome or the healing by an enemy with Lifesteal is known only then.
        states: positions searched; 0 for solvers that do not search.
        bound: proven upper bound on the objective of every plan; None if it was not computed, or is infinite.
    """

    status: Status
    objective: float
    terms: Terms
    actions: tuple[Action, ...]
    again: bool = False
    states: int = 0
    bound: float | None = None


CardPlan = Plan
"""Former name of `Plan`, kept for callers."""


@dataclass(frozen=True)
class ProblemPlan:
    """The best plan of a `TurnProblem`, in its indices, with the predicted outcome.

    Attributes:
        status: OPTIMAL, or FEASIBLE if a limit was reached or optimality is not proven.
        objective: the sum of `terms`.
        terms: one signed weighted term for each weight of the sets in use: eight, sixteen, or all.
        actions: actions in playing order; indices are those of the problem.
        lethal: whether the enemy hero dies.
        cleared: whether the enemy board is empty afterwards.
        killed: indices of the enemies that die.
        lost: indices of the friendly minions that die: on board, or m + in hand.
        damage: attack spent on the enemy hero.
        mana: mana left.
        playable: whether every action is legal when played; False only for the `thesis` formulation.
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
