"""The backend `exact`: the compiled exact solver, and a check of the turns and weights it supports.

Of the further weights it optimises those of minions, of the enemy hero and of cards in hand. On a turn
without card effects nothing draws, equips, freezes, casts or overloads, so those weights have no effect. Two
are left to the search: `hero` where own Lifesteal may heal, as the turn's record does not hold the own hero's
health, and `shield` where an own Divine Shield may be lost.
"""

import threading
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from engine import Action
from engine.codes import BOARD_SIZE, Keyword
from engine.jit import njit
from engine.state import EVENTS
from ilp_agent.backends import SolverError
from ilp_agent.exact.kernel import solve_exact_turn_arrays
from ilp_agent.exact.knapsack import playable_attackers
from ilp_agent.exact.plan_record import MAX_STEPS, PLAN, TRACKER, execute_plan
from ilp_agent.exact.work import WORK, new_layers
from ilp_agent.plan import Plan, Status, name_terms
from ilp_agent.problem import excluded_attacks
from ilp_agent.turn import TURN, ProblemError, Turn, read_turn
from ilp_agent.weights import FULL_NAMES, N_TERMS, Term, Weights

N_SUPPORTED_TERMS = Term.SECRETS + 1
"""Number of leading terms that the turn program supports, or that are always 0 in it; later ones are not."""


@njit
def supports_weights(turn: np.void, weights: np.ndarray) -> bool:
    """Whether the sequential turn program supports these weights on this turn.

    Args:
        turn: dtype `ilp_agent.turn.TURN`.
        weights: all of them, indexed by `Term`.

    Returns:
        False if `hero` is set and a minion with Lifesteal may attack (on board with attacks left, or played
        to attack), if `shield` is set and one with Divine Shield may, or if a weight beyond the first
        `N_SUPPORTED_TERMS` is set.
    """
    for term in range(N_SUPPORTED_TERMS, N_TERMS):
        if weights[term] != 0.0:
            return False
    refused = Keyword.LIFESTEAL if weights[Term.HERO] != 0.0 else 0
    refused |= Keyword.DIVINE_SHIELD if weights[Term.SHIELD] != 0.0 else 0
    if refused == 0:
        return True
    from_hand = playable_attackers(turn) if turn["n_board"] < BOARD_SIZE else 0
    for index in range(turn["n_board"] + turn["n_hand"]):
        friend = turn["friends"][index]
        able = friend["attacks"] > 0
        if index >= turn["n_board"]:
            able = (from_hand >> (index - turn["n_board"])) & 1 == 1
        if able and friend["keywords"] & refused:
            return False
    return True


def check_weights_on_turn(turn: np.void, weights: Weights) -> None:
    """Raise an error if the sequential turn program does not support the weights on a turn, dtype `TURN`.

    Raises:
        SolverError: the message names the weight and the backends that support it.
    """
    check_known_weights(weights)
    if not supports_weights(turn, weights.full_array):
        able = replace(weights, shield=0.0)
        name, keyword = (
            ("shield", "Divine Shield") if supports_weights(turn, able.full_array) else ("hero", "Lifesteal")
        )
        raise SolverError(
            f"the turn program does not support weight {name!r} ({getattr(weights, name):g}) on a turn in "
            f"which a minion with {keyword} may attack; use backend 'search' or 'auto', or set {name!r} to 0"
        )


def check_known_weights(weights: Weights) -> None:
    """Raise an error if a weight is set that no program supports.

    Raises:
        SolverError: the message names the weight and the backends that support it.
    """
    for name in FULL_NAMES[N_SUPPORTED_TERMS:]:
        value = getattr(weights, name)
        if value:
            raise SolverError(
                f"the turn program does not support weight {name!r} ({value:g}); "
                f"use backend 'search' or 'auto', or set {name!r} to 0"
            )


class Memory(NamedTuple):
    """Working memory of the exact solver: arrays of shape (1,), and the layers. Modified by kernels."""

    turns: np.ndarray
    plans: np.ndarray
    works: np.ndarray
    layers: np.ndarray


_LOCAL = threading.local()


def memory_of_thread() -> Memory:
    """This thread's working memory, allocated once. Kernels run without the GIL: threads cannot share it."""
    if not hasattr(_LOCAL, "memory"):
        _LOCAL.memory = Memory(np.zeros(1, TURN), np.zeros(1, PLAN), np.zeros(1, WORK), new_layers())
    memory: Memory = _LOCAL.memory
    return memory


@njit
def read_turn_arrays(states: np.ndarray, cards: np.ndarray, turns: np.ndarray) -> None:
    """`read_turn` for arrays of shape (1,). `turns` is modified in place."""
    read_turn(states[0], cards, turns[0])


@njit
def execute_plan_arrays(
    states: np.ndarray,
    cards: np.ndarray,
    turns: np.ndarray,
    plans: np.ndarray,
    trackers: np.ndarray,
    chances: np.ndarray,
    codes: np.ndarray,
) -> tuple[int, bool]:
    """`execute_plan` for arrays of shape (1,), whose memory the caller keeps."""
    return execute_plan(states[0], cards, turns[0], plans[0], trackers[0], chances[0], codes)


def read_problem(turn: Turn, turns: np.ndarray) -> None:
    """Read a turn without card effects, with its excluded attacks, into `turns`.

    Args:
        turn: the turn.
        turns: dtype `TURN`, shape (1,). Modified in place.

    Raises:
        ProblemError: the turn has card effects, or excludes a card.
    """
    position = turn.position
    if position.table.effects:
        raise ProblemError(
            f"backend 'exact' does not support card effects; use backend 'auto'; in {position}"
        )
    read_turn_arrays(position.states, position.table.array, turns)
    no_hero, pairs = excluded_attacks(turn)
    for friend in no_hero:
        turns[0]["friends"][friend]["hits_hero"] = 0
    for friend, enemy in pairs:
        turns[0]["friends"][friend]["barred"] |= 1 << enemy


def plan_from_record(
    turn: Turn, turns: np.ndarray, record: np.ndarray, status: Status, weights: Weights
) -> Plan:
    """Convert a plan record to engine actions, up to the first healing by an enemy's Lifesteal.

    Args:
        turn: the turn that was solved.
        turns: the turn as a record, dtype `TURN`, shape (1,).
        record: the plan, dtype `PLAN`, shape (1,).
        status: the solver's status.
        weights: of the objective.
    """
    replayed, codes = turn.position.copy(), np.zeros(MAX_STEPS, np.int64)
    trackers, chances = np.zeros(1, TRACKER), np.zeros(1, EVENTS)
    n, again = execute_plan_arrays(
        replayed.states, replayed.table.array, turns, record, trackers, chances, codes
    )
    actions = tuple(map(Action.from_code, codes[:n].tolist()))
    terms = name_terms(record[0]["terms"], weights)
    return Plan(status, float(record[0]["value"]), terms, actions, again)


class ExactSolver:
    """Dynamic programming over sets of hits; hundreds of times faster than a MILP solver.

    The status is FEASIBLE for a legal plan without proof of optimality: for example with so many Windfury
    minions that the tables do not fit into memory (`ilp_agent.exact.kernel`).
    """

    name = "exact"

    def solve(self, turn: Turn, weights: Weights) -> Plan:
        """The best plan of a turn without card effects, by the sequential formulation.

        Raises:
            ProblemError: the turn has card effects, or excludes a card, not an attack.
            SolverError: a weight is set that the turn program does not support on this turn.
        """
        memory = memory_of_thread()
        read_problem(turn, memory.turns)
        check_weights_on_turn(memory.turns[0], weights)
        solve_exact_turn_arrays(memory.turns, weights.full_array, memory.works, memory.layers, memory.plans)
        status = Status.FEASIBLE if memory.plans[0]["unproven"] else Status.OPTIMAL
        return plan_from_record(turn, memory.turns, memory.plans, status, weights)
