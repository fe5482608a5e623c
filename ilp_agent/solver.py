"""solve(): one problem, two formulations, any backend behind one protocol.

A backend is a module with a class that has `name`, `formulations` and `solve`; `BACKENDS` names it. It is
imported when it is first asked for, so that a missing solver troubles only those who want it. To add one,
copy `ilp_agent/milp/highs.py`, put its line here, and run `tests/ilp_agent/test_solver_contract.py`.
"""

from functools import cache
from importlib import import_module
from typing import Protocol

from engine import ManaforgeError
from engine.errors import unknown_name
from ilp_agent.plan import Plan
from ilp_agent.problem import ProblemError, TurnProblem
from ilp_agent.weights import WeightError, Weights

FORMULATIONS = ("sequential", "thesis")
BACKENDS = {
    "exact": ("ilp_agent.exact.backend", "ExactSolver"),
    "gurobi": ("ilp_agent.milp.gurobi", "GurobiSolver"),
    "highs": ("ilp_agent.milp.highs", "HighsSolver"),
}


class SolverError(ManaforgeError, RuntimeError):
    """A solver that is missing, not licensed, too small for the model, or without an answer."""


class Solver(Protocol):
    """A backend: deterministic, and never falling back to another in silence."""

    name: str
    formulations: tuple[str, ...]

    def solve(self, problem: TurnProblem, weights: Weights, formulation: str) -> Plan:
        """Find the best plan.

        Raises:
            SolverError: there is no answer; the message says why and names the other backends.
        """
        ...


def solve(
    problem: TurnProblem, weights: Weights, backend: str = "exact", formulation: str = "sequential"
) -> Plan:
    """The best plan of a turn.

    Args:
        problem: the turn.
        weights: of the objective; only their proportions matter.
        backend: "exact", "gurobi" or "highs".
        formulation: "sequential", whose plans come true, or "thesis", solved by gurobi and highs.

    Raises:
        ProblemError: `problem` is no TurnProblem.
        WeightError: `weights` is no Weights.
        UnknownNameError: no such backend or formulation.
        SolverError: the backend cannot solve it; the message names those that can.
    """
    if not isinstance(problem, TurnProblem):
        raise ProblemError(f"problem must be a TurnProblem, got {problem!r}")
    if not isinstance(weights, Weights):
        raise WeightError(f"weights must be Weights, got {weights!r}")
    return solver_for(backend, formulation).solve(problem, weights, formulation)


def solver_for(backend: str, formulation: str) -> Solver:
    """The backend of this name, if it solves this formulation.

    Raises:
        UnknownNameError: no such backend or formulation.
        SolverError: it cannot start, or does not solve the formulation.
    """
    if formulation not in FORMULATIONS:
        raise unknown_name("formulation", str(formulation), FORMULATIONS)
    solver = find_solver(str(backend))
    if formulation not in solver.formulations:
        able = [name for name in BACKENDS if name != backend]
        raise SolverError(f"backend {backend!r} does not solve {formulation!r}; {' and '.join(able)} do")
    return solver


@cache
def find_solver(backend: str) -> Solver:
    """The backend of this name, one for each process.

    Raises:
        UnknownNameError: there is none.
        SolverError: its package is missing or it cannot start.
    """
    if backend not in BACKENDS:
        raise unknown_name("backend", str(backend), BACKENDS)
    module, name = BACKENDS[backend]
    try:
        made: Solver = getattr(import_module(module), name)()
    except ImportError as error:
        raise SolverError(f"backend {backend!r} is not installed ({error}); {others(backend)}") from None
    return made


def others(backend: str) -> str:
    """The advice every failing backend gives."""
    rest = [name for name in BACKENDS if name != backend]
    return f"use {' or '.join(rest)} instead (--backend, or an entrant's @{rest[0]})"
