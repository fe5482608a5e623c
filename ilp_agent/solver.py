"""solve(): one problem, two formulations, any backend of `ilp_agent.backends` behind one protocol."""

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
    installed_backends,
    listed,
    others,
)
from ilp_agent.plan import Plan, ProblemPlan
from ilp_agent.problem import TurnProblem
from ilp_agent.replay import plan_in, playable_part, turn_for
from ilp_agent.turn import ProblemError, Turn
from ilp_agent.weights import WeightError, Weights


class Solver(Protocol):
    """A loaded backend: deterministic, and never falling back to another in silence."""

    name: str

    def solve(self, turn: Turn, weights: Weights) -> Plan:
        """Find the best way to go on with a turn.

        Raises:
            SolverError: there is no answer, or a card is outside of what it takes; the message says why and
                names the other backends.
        """
        ...


class ThesisSolver(Protocol):
    """What a backend offers beside `Solver` where its entry names the formulation "thesis"."""

    def solve_thesis(self, problem: TurnProblem, weights: Weights) -> ProblemPlan:
        """Find the best plan of that formulation.

        Raises:
            SolverError: there is no answer; the message says why and names the other backends.
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
    """The best plan of a turn.

    Args:
        problem: the turn: a position, of real cards or bodies; or a problem of bodies, whose plan is in the
            problem's indices.
        weights: of the objective; only their proportions matter.
        backend: a name of `BACKENDS`.
        formulation: "sequential", whose plans come true, or "thesis", for bodies, which some backends solve
            too: illegal actions of its plans are left out of a `Plan`, and stay in a `ProblemPlan`.

    Raises:
        ProblemError: `problem` is no turn, or one of bodies that leaves out a card where only attacks can be.
        WeightError: `weights` is no Weights.
        UnknownNameError: no such backend or formulation.
        SolverError: the backend cannot solve it; the message names those that can.
    """
    if not isinstance(problem, TurnProblem | Turn):
        raise ProblemError(f"problem must be a TurnProblem or a Turn, got {problem!r}")
    if not isinstance(weights, Weights):
        raise WeightError(f"weights must be Weights, got {weights!r}")
    if isinstance(problem, Turn) and problem.position.table.effects:
        return card_solver_for(backend, formulation).solve(problem, weights)
    solver = solver_for(backend, formulation)
    if formulation == "thesis":
        of_thesis = cast(ThesisSolver, solver)
        if isinstance(problem, TurnProblem):
            return of_thesis.solve_thesis(problem, weights)
        bodies = TurnProblem.from_turn(problem)
        return playable_part(problem, bodies, of_thesis.solve_thesis(bodies, weights))
    if isinstance(problem, Turn):
        return solver.solve(problem, weights)
    turn = turn_for(problem)
    return plan_in(problem, turn, solver.solve(turn, weights))


def turn_of(position: Position) -> TurnProblem | Turn:
    """The turn of the player to move: of the program for bodies, or on real cards.

    Raises:
        ProblemError: the game is over, or a card in the player's own hand is hidden.
    """
    return Turn(position) if position.table.effects else TurnProblem.from_position(position)


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


def card_solver_for(backend: str, formulation: str) -> Solver:
    """The backend of this name, if it takes turns on real cards.

    Raises:
        UnknownNameError: no such backend or formulation.
        SolverError: it cannot start, or reads bodies alone.
    """
    solver = solver_for(backend, formulation)
    if formulation != FORMULATIONS[0] or not BACKENDS[backend].cards:
        what = f"formulation {formulation!r}" if BACKENDS[backend].cards else f"backend {backend!r}"
        able = [entry.name for entry in installed_backends() if entry.cards == "all"]
        raise SolverError(f"{what} reads bodies with keywords, not real cards; use {listed(able, 'or')}")
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
