"""The best different ends of a turn without card effects by any backend, to compare with."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine import Action, IllegalActionError, Position
from engine.codes import COIN
from engine.errors import WrongValueError
from engine.jit import njit
from ilp_agent.backends import SolverError
from ilp_agent.exact.backend import check_weights_on_turn
from ilp_agent.exact.plan_record import problem_plan_from_record
from ilp_agent.lookahead.body_ends import find_ends, write_end_actions
from ilp_agent.lookahead.body_positions import (
    MAX_ENDS,
    MAX_NODES,
    MAX_TURN_ACTIONS,
    EndPool,
    new_end_pool,
)
from ilp_agent.milp.formulations import SequentialModel, sequential_model
from ilp_agent.milp.program import (
    NoPlanError,
    RunSolver,
    scaled_weights,
    solve_rounded,
    trusted_status,
)
from ilp_agent.milp.program_solver import sequential_plan
from ilp_agent.plan import ProblemPlan, Status
from ilp_agent.problem import TurnProblem
from ilp_agent.replay import position_from_problem, replay
from ilp_agent.solver import find_solver
from ilp_agent.weights import Weights


def best_plans(problem: TurnProblem, weights: Weights, run: RunSolver, most: int) -> Iterator[ProblemPlan]:
    """Different plans of a turn, the best first: in who hits whom, who pops a shield, or who is played.

    Args:
        problem: the turn.
        weights: of the objective.
        run: the solver.
        most: plans that are cut off at most (no-good cuts); then it ends.

    Raises:
        SolverError: a weight is set that the program cannot count on this turn.
    """
    check_weights_on_turn(problem.record, weights)
    model = sequential_model(problem, scaled_weights(weights))
    decisions = decisions_of(model)
    for _ in range(most + 1):
        try:
            status, chosen = solve_rounded(run, model.milp)
        except NoPlanError:
            return
        if status != Status.OPTIMAL:
            return
        with suppress(NoPlanError):  # no order serves these attacks
            record = sequential_plan(model, weights, chosen, whole=True)[0]
            yield problem_plan_from_record(problem, record, trusted_status(status, weights), weights)
        cut_off(model, decisions, chosen)


def decisions_of(model: SequentialModel) -> list[tuple[int, ...]]:
    """Groups of 0-1 variables, one of each at most; two plans are alike where all groups are."""
    groups: dict[tuple[int, int, int, bool], list[int]] = {}
    for (source, number, target), kinds in model.hits.items():
        for kind, variable in kinds:
            groups.setdefault((source, number, target, kind == "p"), []).append(variable)
    return [*map(tuple, groups.values()), *((variable,) for variable in model.plays)]


def cut_off(model: SequentialModel, decisions: list[tuple[int, ...]], chosen: np.ndarray) -> None:
    """Forbid a plan: some decision must be another. `model` is modified in place."""
    terms, made = [], 0
    for group in decisions:
        is_made = any(chosen[variable] for variable in group)
        made += is_made
        terms += [(variable, -1.0 if is_made else 1.0) for variable in group]
    model.milp.add("another plan", terms, lower=1.0 - made)


CUTS_EACH = 50
"""Plans that a program may cut off for each end that is wanted."""


@dataclass(frozen=True)
class End:
    """An end of a turn.

    Attributes:
        value: the objective of the best way to it.
        position: before the turn is ended.
    """

    value: float
    position: Position

    @property
    def key(self) -> tuple[object, ...]:
        """What two ends share that are the same: boards and hand as multisets, and the heroes."""
        return key_of(self.position)


def key_of(position: Position) -> tuple[object, ...]:
    """What positions share that are the same to the player to move, boards and hand compared as multisets."""
    state = position.state
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    boards = (
        tuple(sorted(_minion(minion) for minion in side["board"][: side["n_board"]])) for side in (own, enemy)
    )
    hand = tuple(sorted(_card(position, number) for number in own["hand"][: own["n_hand"]].tolist()))
    heroes = (int(own["health"]), int(own["armour"]), int(enemy["health"]), int(enemy["armour"]))
    return (*boards, hand, heroes)


def _minion(minion: Any) -> tuple[int, int, int]:
    return int(minion["attack"]), int(minion["health"]), int(minion["keywords"])


def _card(position: Position, number: int) -> tuple[object, ...]:
    if number == COIN:
        return ("",)
    spec = position.table.cards[number].spec
    return ("card", spec.attack, spec.health, spec.cost, spec.worth, spec.keywords)


def best_ends(problem: TurnProblem, weights: Weights, wanted: int, backend: str = "exact") -> list[End]:
    """The best different ends of a turn, the best first.

    Ends in which minions hold back are among them. A program's solver is asked for one plan after the other,
    at most `CUTS_EACH` for each end that is wanted, and may find fewer ends.

    Args:
        problem: the turn.
        weights: of the objective.
        wanted: ends, 1 to `MAX_ENDS`.
        backend: "exact", or one that solves the program.

    Raises:
        UnknownNameError: no such backend.
        SolverError: the backend cannot start, or lists no ends.
    """
    if not 1 <= wanted <= MAX_ENDS:
        raise WrongValueError(f"wanted must be from 1 to {MAX_ENDS}, got {wanted}")
    if backend == "exact":
        return _by_kernel(problem, weights, wanted)
    run = getattr(find_solver(backend), "run", None)
    if run is None:
        raise SolverError(f"backend {backend!r} lists no ends of turns; exact and the programs' solvers do")
    found: dict[tuple[object, ...], End] = {}
    for plan in best_plans(problem, weights, run, CUTS_EACH * wanted):
        try:
            end = End(plan.objective, replay(problem, plan.actions))
        except IllegalActionError as error:
            raise AssertionError(f"a plan of {backend} is not legal: {error}") from None
        found.setdefault(end.key, end)
        if len(found) == wanted:
            break
    return list(found.values())


def _by_kernel(problem: TurnProblem, weights: Weights, wanted: int) -> list[End]:
    position, pool = position_from_problem(problem), new_end_pool()
    cards = position.table.array
    found = list_ends(position.states, cards, weights.full_array, wanted, pool)
    if pool.unproven[0]:
        raise SolverError(
            f"the turn has more than {MAX_NODES} positions, so that its best ends are not known"
        )
    return [
        End(float(pool.ends[number]["value"]), _carried_out(position, number, pool))
        for number in sorted(range(found), key=lambda number: -pool.ends[number]["value"])
    ]


def _carried_out(position: Position, number: int, pool: EndPool) -> Position:
    """An end's position, reached action by action in the engine."""
    codes = np.zeros(MAX_TURN_ACTIONS, np.int64)
    n = write_end_actions(number, position.table.array, pool, codes)
    here = position.copy()
    for code in codes[:n].tolist():
        here.play(Action.from_code(code))
    return here


@njit
def list_ends(states: np.ndarray, cards: np.ndarray, weights: np.ndarray, wanted: int, pool: EndPool) -> int:
    """`find_ends` with all ends of a turn, for an array of shape (1,). `pool` is modified in place."""
    return find_ends(states[0], cards, weights, wanted, MAX_NODES, True, pool)
