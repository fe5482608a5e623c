"""`solve`: the best plan of a turn, by any backend of `ilp_agent.backends` and either formulation."""

from functools import cache
from importlib import import_module
from typing import Protocol, cast, overload

from engine import Position
from engine.errors import unknown_name
from ilp_agent.backends import (
    BACKENDS,
    DEFAULT_BACKEND,
    FORMULATIONS,
    SolverError,
    advise_other_backends,
    installed_backends,
    join_names,
)
from ilp_agent.plan import Plan, ProblemPlan
from ilp_agent.problem import TurnProblem
from ilp_agent.replay import legal_part, to_problem_plan, turn_from_problem
from ilp_agent.turn import ProblemError, Turn
from ilp_agent.weights import WeightError, Weights


class Solver(Protocol):
    """Protocol of a loaded backend: deterministic, without silent fallback to another."""

    name: str

    def solve(self, turn: Turn, weights: Weights) -> Plan:
        """Find the best plan for the rest of a turn.

        Raises:
            SolverError: no plan was found, or the backend does not support a card; the message gives the
                reason and names the other backends.
        """
        ...


class ThesisSolver(Protocol):
    """Additional protocol of a backend that supports the formulation "thesis"."""

    def solve_thesis(self, problem: TurnProblem, weights: Weights) -> ProblemPlan:
        """Find the best plan under the formulation "thesis".

        Raises:
            SolverError: no plan was found; the message gives the reason and names the other backends.
        """
        ...


@overload
def solve(
    problem: TurnProblem, weights: Weights, backend: str = ..., formulation: str = ...
) -> ProblemPlan: ...
@overload
def solve(problem: Turn, weights: Weights, backend: str = ..., formulation: str = ...) -> Plan: ...
@overload
def solve(
    problem: TurnProblem | Turn, weights: Weights, backend: str = ..., formulation: str = ...
) -> Plan | ProblemPlan: ...
def solve(
    problem: TurnProblem | Turn,
    weights: Weights,
    backend: str = DEFAULT_BACKEND,
    formulation: str = FORMULATIONS[0],
) -> Plan | ProblemPlan:
    """Find the best plan of a turn.

    Args:
        problem: a `Turn` (with or without card effects), or a `TurnProblem`, whose plan is in its indices.
        weights: of the objective; only their proportions matter.
        backend: a name of `BACKENDS`.
        formulation: "sequential", whose plans are always legal; or "thesis", without card effects and only
            for some backends: illegal actions of its plans are dropped from a `Plan`, and stay in a
            `ProblemPlan`.

    Raises:
        ProblemError: `problem` is not a turn, or excludes a card where only attacks can be excluded.
        WeightError: `weights` is not a `Weights`.
        UnknownNameError: unknown backend or formulation.
        SolverError: the backend cannot solve it; the message names those that can.
    """
    if not isinstance(problem, TurnProblem | Turn):
        raise ProblemError(f"problem must be a TurnProblem or a Turn, got {problem!r}")
    if not isinstance(weights, Weights):
        raise WeightError(f"weights must be Weights, got {weights!r}")
    if isinstance(problem, Turn) and problem.position.table.effects:
        return find_solver_for_cards(backend, formulation).solve(problem, weights)
    solver = find_solver_for_formulation(backend, formulation)
    if formulation == "thesis":
        thesis_solver = cast(ThesisSolver, solver)
        if isinstance(problem, TurnProblem):
            return thesis_solver.solve_thesis(problem, weights)
        bodies = TurnProblem.from_turn(problem)
        return legal_part(problem, bodies, thesis_solver.solve_thesis(bodies, weights))
    if isinstance(problem, Turn):
        return solver.solve(problem, weights)
    turn = turn_from_problem(problem)
    return to_problem_plan(problem, turn, solver.solve(turn, weights))


def turn_of(position: Position) -> TurnProblem | Turn:
    """Solver input for the player to move: a `Turn` with card effects, a `TurnProblem` without.

    Raises:
        ProblemError: the game is over, or a card in the player's own hand is hidden.
    """
    return Turn(position) if position.table.effects else TurnProblem.from_position(position)


def find_solver_for_formulation(backend: str, formulation: str) -> Solver:
    """Load a backend and check that it supports a formulation.

    Raises:
        UnknownNameError: unknown backend or formulation.
        SolverError: the backend cannot start, or does not support the formulation.
    """
    if formulation not in FORMULATIONS:
        raise unknown_name("formulation", str(formulation), FORMULATIONS)
    solver = find_solver(str(backend))
    if formulation not in BACKENDS[backend].formulations:
        able = [entry.name for entry in installed_backends() if formulation in entry.formulations]
        raise SolverError(
            f"backend {backend!r} does not solve formulation {formulation!r}; "
            f"use backend {join_names(able, 'or')}"
        )
    return solver


def find_solver_for_cards(backend: str, formulation: str) -> Solver:
    """Load a backend and check that it supports card effects.

    Raises:
        UnknownNameError: unknown backend or formulation.
        SolverError: the backend cannot start, or does not support card effects.
    """
    solver = find_solver_for_formulation(backend, formulation)
    if formulation != FORMULATIONS[0] or not BACKENDS[backend].cards:
        subject = f"formulation {formulation!r}" if BACKENDS[backend].cards else f"backend {backend!r}"
        able = [entry.name for entry in installed_backends() if entry.cards == "all"]
        raise SolverError(f"{subject} does not support card effects; use backend {join_names(able, 'or')}")
    return solver


@cache
def find_solver(backend: str) -> Solver:
    """Load a backend by name, once per process.

    Raises:
        UnknownNameError: unknown backend.
        SolverError: its package is missing or it cannot start.
    """
    if backend not in BACKENDS:
        raise unknown_name("backend", str(backend), BACKENDS)
    entry = BACKENDS[backend]
    try:
        solver: Solver = getattr(import_module(entry.module), entry.solver)()
    except ImportError as error:
        hint = f"; {entry.missing}" if entry.missing else ""
        raise SolverError(
            f"backend {backend!r} is not installed ({error}{hint}); {advise_other_backends(backend)}"
        ) from None
    return solver
