"""solve(): one problem, two formulations, any backend of `ilp_agent.backends` behind one protocol."""

from functools import cache
from importlib import import_module
from typing import Protocol

from engine.errors import ManaforgeError, unknown_name
from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND, FORMULATIONS, installed_backends, listed
from ilp_agent.plan import Plan
from ilp_agent.problem import ProblemError, TurnProblem
from ilp_agent.weights import WeightError, Weights


class SolverError(ManaforgeError, RuntimeError):
    """A solver that is missing, not licensed, too small for the model, or without an answer."""


class Solver(Protocol):
    """A loaded backend: deterministic, and never falling back to another in silence."""

    name: str

    def solve(self, problem: TurnProblem, weights: Weights, formulation: str) -> Plan:
        """Find the best plan.

        Raises:
            SolverError: there is no answer; the message says why and names the other backends.
        """
        ...


def solve(
    problem: TurnProblem,
    weights: Weights,
    backend: str = DEFAULT_BACKEND,
    formulation: str = FORMULATIONS[0],
) -> Plan:
    """The best plan of a turn.

    Args:
        problem: the turn.
        weights: of the objective; only their proportions matter.
        backend: a name of `BACKENDS`.
        formulation: "sequential", whose plans come true, or "thesis", which some backends solve too.

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
    if formulation not in BACKENDS[backend].formulations:
        able = [entry.name for entry in installed_backends() if formulation in entry.formulations]
        raise SolverError(f"backend {backend!r} does not solve {formulation!r}; {listed(able, 'and')} do")
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
    entry = BACKENDS[backend]
    try:
        made: Solver = getattr(import_module(entry.module), entry.solver)()
    except ImportError as error:
        way = f"; {entry.missing}" if entry.missing else ""
        raise SolverError(f"backend {backend!r} is not installed ({error}{way}); {others(backend)}") from None
    return made


def others(backend: str) -> str:
    """The advice every failing backend gives."""
    rest = [entry.name for entry in installed_backends() if entry.name != backend]
    return f"use {listed(rest, 'or')} instead (--backend, or an entrant's @{rest[0]})"
