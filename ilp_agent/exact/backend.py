"""Our own backend: compiled, exact, no licence needed (`ilp_agent.exact.kernel`)."""

import threading
from typing import NamedTuple

import numpy as np

from engine import Action
from engine.events import EVENTS
from engine.jit import njit
from ilp_agent.exact.kernel import solve_turns
from ilp_agent.exact.scope import check_scope
from ilp_agent.exact.steps import MAX_STEPS, PLAN
from ilp_agent.exact.tracker import TRACKER, follow
from ilp_agent.exact.work import WORK, new_layers
from ilp_agent.plan import Plan, Status, terms_of
from ilp_agent.problem import left_out
from ilp_agent.turn import ProblemError, Turn
from ilp_agent.turnrecord import TURN, read_turn
from ilp_agent.weights import Weights


class Memory(NamedTuple):
    """What a turn is solved in; arrays of shape (1,) but for the layers. Modified in place by the kernels."""

    turns: np.ndarray
    plans: np.ndarray
    works: np.ndarray
    layers: np.ndarray


_LOCAL = threading.local()


def memory_of_thread() -> Memory:
    """This thread's memory, made once: kernels run without the GIL, so no two threads may share it."""
    if not hasattr(_LOCAL, "memory"):
        _LOCAL.memory = Memory(np.zeros(1, TURN), np.zeros(1, PLAN), np.zeros(1, WORK), new_layers())
    memory: Memory = _LOCAL.memory
    return memory


@njit
def read_turns(states: np.ndarray, cards: np.ndarray, turns: np.ndarray) -> None:
    """`read_turn` for arrays of shape (1,). `turns` is modified in place."""
    read_turn(states[0], cards, turns[0])


@njit
def write_codes(
    states: np.ndarray,
    cards: np.ndarray,
    turns: np.ndarray,
    plans: np.ndarray,
    trackers: np.ndarray,
    luck: np.ndarray,
    codes: np.ndarray,
) -> tuple[int, bool]:
    """`follow` for arrays of shape (1,), of which the caller keeps the memory."""
    return follow(states[0], cards, turns[0], plans[0], trackers[0], luck[0], codes)


def read_problem(turn: Turn, turns: np.ndarray) -> None:
    """Read a turn of bodies, with what it leaves out.

    Args:
        turn: the turn.
        turns: dtype `TURN`, shape (1,). Modified in place.

    Raises:
        ProblemError: it is one on real cards, or leaves out a card.
    """
    position = turn.position
    if position.table.effects:
        raise ProblemError(f"the turn program reads bodies with keywords, not real cards, in {position}")
    read_turns(position.states, position.table.array, turns)
    no_hero, pairs = left_out(turn)
    for friend in no_hero:
        turns[0]["friends"][friend]["hits_hero"] = 0
    for friend, enemy in pairs:
        turns[0]["friends"][friend]["barred"] |= 1 << enemy


def plan_in_game(turn: Turn, turns: np.ndarray, record: np.ndarray, status: Status, weights: Weights) -> Plan:
    """A plan of bodies in the engine's actions, as far as its predictions hold.

    Args:
        turn: what is solved.
        turns: the same as a record, dtype `TURN`, shape (1,).
        record: the plan, dtype `PLAN`, shape (1,).
        status: of the solver.
        weights: of the objective.
    """
    here, codes = turn.position.copy(), np.zeros(MAX_STEPS, np.int64)
    trackers, luck = np.zeros(1, TRACKER), np.zeros(1, EVENTS)
    n, again = write_codes(here.states, here.table.array, turns, record, trackers, luck, codes)
    actions = tuple(map(Action.from_code, codes[:n].tolist()))
    terms = terms_of(record[0]["terms"], weights)
    return Plan(status, float(record[0]["value"]), terms, actions, again)


class ExactSolver:
    """Dynamic programming over sets of hits; hundreds of times faster than a general solver.

    The status is FEASIBLE for a legal plan that is unproven: when seven Windfury minions attack so many
    different enemies that the tables do not fit memory (`ilp_agent.exact.kernel`).
    """

    name = "exact"

    def solve(self, turn: Turn, weights: Weights) -> Plan:
        """The best plan of the sequential formulation, for a turn of bodies.

        Raises:
            ProblemError: it is one on real cards, or leaves out a card, not an attack.
            SolverError: a weight is set that the turn program cannot count on this turn.
        """
        memory = memory_of_thread()
        read_problem(turn, memory.turns)
        check_scope(memory.turns[0], weights)
        solve_turns(memory.turns, weights.everything, memory.works, memory.layers, memory.plans)
        status = Status.FEASIBLE if memory.plans[0]["unproven"] else Status.OPTIMAL
        return plan_in_game(turn, memory.turns, memory.plans, status, weights)
