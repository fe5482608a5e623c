"""What is proven about a turn: lethal, the best plan, all other ends of the same value, and the gap.

The best plan is the turn search's own. Its ties and the next best value come from a second search that defers
no action, so that every end of the turn has its exact value, and from the candidate plans over its
transposition table (`ilp_agent.search.candidate_plans`), listed best first. Two plans have the same end if
they reach the same final position, or the same action with a chance outcome or new information.
"""

from dataclasses import dataclass, replace

import numpy as np

from engine import Action
from engine.state import STATE
from ilp_agent.plan import Plan, Status
from ilp_agent.search.backend import SearchSolver, search_position, thread_searcher
from ilp_agent.search.candidate_plans import CANDIDATE, CandidatePool, list_candidate_plans
from ilp_agent.search.kernel import tie_tolerance
from ilp_agent.search.lethal import DEFAULT_LETHAL_LIMIT, Lethal, find_lethal
from ilp_agent.search.work import SOLUTION
from ilp_agent.turn import Turn
from ilp_agent.weights import Weights

MAX_PARTIAL_PLANS = 65_536
"""Partial plans in memory while ends of a turn are listed."""

MAX_EXPANDED_POSITIONS = 8_192
"""Positions expanded while ends of a turn are listed."""

DEFAULT_ENDS = 8
"""Default number of ends of a turn to list."""

VALUE_TOLERANCE = 1e-9
"""Tolerance of equal values, as a share of the largest, beside the search's tolerance of ties."""


@dataclass(frozen=True)
class TurnEnd:
    """An end of the turn, with one line of play.

    Attributes:
        value: of the objective; an expected value if chance is involved.
        actions: engine actions in playing order, without the end of the turn.
        again: whether the turn goes on after the last action, by its chance outcome or new information.
    """

    value: float
    actions: tuple[Action, ...]
    again: bool


@dataclass(frozen=True)
class TurnProof:
    """What is proven about a turn.

    Attributes:
        lethal: of the lethal search.
        plan: the best plan; its status tells whether it is proven.
        ties: distinct ends of the turn of the plan's value, one of them the plan's; () if they are unknown.
        more_ties: whether there may be more ties than the listed ones.
        next_best: the best end of a lower value; None if there is none, or if it is unknown.
        ends_known: whether the search that defers no action was complete, so that ties and `next_best` hold.
    """

    lethal: Lethal
    plan: Plan
    ties: tuple[TurnEnd, ...]
    more_ties: bool
    next_best: TurnEnd | None
    ends_known: bool

    @property
    def proven(self) -> bool:
        """Whether no plan has a larger value."""
        return self.plan.status == Status.OPTIMAL

    @property
    def gap(self) -> float | None:
        """Value of the plan minus that of the next best end; None if there is none, or if it is unknown."""
        return None if self.next_best is None else self.plan.objective - self.next_best.value

    @property
    def bound_gap(self) -> float | None:
        """Largest amount by which a better plan may exceed this one: 0 if it is proven; None if unknown."""
        if self.proven:
            return 0.0
        return None if self.plan.bound is None else max(self.plan.bound - self.plan.objective, 0.0)


def prove_turn(
    turn: Turn, weights: Weights, limit: int = DEFAULT_LETHAL_LIMIT, n_ends: int = DEFAULT_ENDS
) -> TurnProof:
    """Prove what can be proven about a turn: lethal, the best plan, its ties, the gap to the next best end.

    Args:
        turn: the turn.
        weights: of the objective.
        limit: of positions, for each search, at least 1.
        n_ends: largest number of ties to list, at least 1.
    """
    turn = _without_enemy_attacks(turn)
    lethal = find_lethal(turn.position, limit)
    plan = SearchSolver().solve(turn, weights, limit, bounded=True)
    ends, complete, full = list_ends(turn, weights, limit, n_ends + 1)
    if not complete or plan.status != Status.OPTIMAL:
        return TurnProof(lethal, plan, (), False, None, ends_known=False)
    array = weights.full_array
    tolerance = float(tie_tolerance(array)) + VALUE_TOLERANCE * max(abs(plan.objective), 1.0)
    ties = tuple(end for end in ends if end.value >= plan.objective - tolerance)
    lower = next((end for end in ends if end.value < plan.objective - tolerance), None)
    more = lower is None and (full or len(ties) > n_ends)
    return TurnProof(lethal, plan, ties[:n_ends], more, lower, ends_known=True)


def _without_enemy_attacks(turn: Turn) -> Turn:
    """The same turn without what enemy minions have left of their own turn, which cannot matter in this one.

    Otherwise ends would differ by which of two equal enemies is new.
    """
    position = turn.position.copy()
    board = position.state["sides"][1 - position.active]["board"]
    board["attacks_left"], board["arrived"] = 0, 0
    return replace(turn, position=position)


def list_ends(turn: Turn, weights: Weights, limit: int, wanted: int) -> tuple[list[TurnEnd], bool, bool]:
    """List the best distinct ends of a turn, the best first.

    Args:
        turn: the turn.
        weights: of the objective.
        limit: of positions, at least 1.
        wanted: largest number of ends, at least 1.

    Returns:
        The ends; whether the search of all positions was complete; and whether memory for partial plans ran
        out, so that ends may be missing after the last.
    """
    searcher, array = thread_searcher(), weights.full_array
    searcher.search(turn.position, array, limit)  # grows the memory and computes the facts of the cards
    memory = searcher.memory
    memory.start["reduced"] = 0
    kernel_arguments = searcher.cards, array, searcher.facts
    search_position(turn.position.states, *kernel_arguments, *memory, searcher.solved)
    complete = not searcher.solved[0]["unproven"]
    pool = CandidatePool(
        np.zeros(MAX_PARTIAL_PLANS, CANDIDATE),
        np.zeros(MAX_EXPANDED_POSITIONS, np.int64),
        np.zeros(MAX_EXPANDED_POSITIONS, STATE),
        np.zeros(MAX_EXPANDED_POSITIONS, np.uint64),
        np.zeros(wanted, SOLUTION),
        np.zeros(wanted, np.uint64),
        np.zeros(1, STATE),
    )
    pool.ways["parent"] = -1
    n = list_candidate_plans(
        *kernel_arguments,
        memory.work[0],
        memory.memo,
        memory.slots,
        searcher.solved[0],
        wanted,
        pool,
    )
    full = bool(pool.ways["parent"][-1] >= 0 or pool.opened[-1] != 0)
    ends = [
        TurnEnd(
            float(end["value"]),
            tuple(map(Action.from_code, end["actions"][: end["n"]].tolist())),
            bool(end["again"]),
        )
        for end in pool.listed[:n]
    ]
    return sorted(ends, key=lambda end: -end.value), complete, full
