"""A solver's best plans one after the other: the program is solved, the plan is cut off, and so on."""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from ilp_agent.exact.scope import check_scope
from ilp_agent.exact.steps import plan_of
from ilp_agent.milp.interpret import sequential_plan
from ilp_agent.milp.program import Run, UnanswerableError, proven, rounded, scaled_weights
from ilp_agent.milp.sequential import SequentialModel, sequential_model
from ilp_agent.plan import ProblemPlan, Status
from ilp_agent.problem import TurnProblem
from ilp_agent.weights import Weights


def best_plans(problem: TurnProblem, weights: Weights, run: Run, most: int) -> Iterator[ProblemPlan]:
    """Different plans of a turn, the best first: in who hits whom, who pops a shield, or who is played.

    Args:
        problem: the turn.
        weights: of the objective.
        run: the solver.
        most: plans that are cut off at most (no-good cuts); then it ends.

    Raises:
        SolverError: a weight is set that the program cannot count on this turn.
    """
    check_scope(problem.record, weights)
    model = sequential_model(problem, scaled_weights(weights))
    decisions = decisions_of(model)
    for _ in range(most + 1):
        try:
            status, chosen = rounded(run, model.milp)
        except UnanswerableError:
            return
        if status != Status.OPTIMAL:
            return
        with suppress(UnanswerableError):  # no order serves these attacks
            record = sequential_plan(model, weights, chosen, whole=True)[0]
            yield plan_of(problem, record, proven(status, weights), weights)
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
