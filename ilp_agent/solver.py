"""solve(): one problem, two formulations, any backend of `ilp_agent.backends` behind one protocol."""

from functools import cache
from importlib import import_module
from typing import Protocol, cast, overload

from engine import Position
from engine.errors import ManaforgeError, unknown_name
from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND, FORMULATIONS, installed_backends, listed
from ilp_agent.cardturn import CardPlan, CardTurn
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


class CardSolver(Protocol):
    """What a backend offers beside `Solver` where its entry says that it takes real cards."""

    def solve_cards(self, turn: CardTurn, weights: Weights) -> CardPlan:
        """Find the best way to go on with a turn on real cards.

        Raises:
            SolverError: there is no answer, or a card is outside of what it takes; the message names it.
        """
        ...


@overload
def solve(problem: TurnProblem, weights: Weights, backend: str = ..., formulation: str = ...) -> Plan: ...
@overload
def solve(problem: CardTurn, weights: Weights, backend: str = ..., formulation: str = ...) -> CardPlan: ...
@overload
def solve(
    problem: TurnProblem | CardTurn, weights: Weights, backend: str = ..., formulation: str = ...
) -> Plan | CardPlan: ...
def solve(
    problem: TurnProblem | CardTurn,
    weights: Weights,
    backend: str = DEFAULT_BACKEND,
    formulation: str = FORMULATIONS[0],
) -> Plan | CardPlan:
    """The best plan of a turn.

    Args:
        problem: the turn: bodies with keywords, or real cards.
        weights: of the objective; only their proportions matter.
        backend: a name of `BACKENDS`.
        formulation: "sequential", whose plans come true, or "thesis", which some backends solve too.

    Raises:
        ProblemError: `problem` is no TurnProblem.
        WeightError: `weights` is no Weights.
        UnknownNameError: no such backend or formulation.
        SolverError: the backend cannot solve it; the message names those that can.
    """
    if not isinstance(problem, TurnProblem | CardTurn):
        raise ProblemError(f"problem must be a TurnProblem or a CardTurn, got {problem!r}")
    if not isinstance(weights, Weights):
        raise WeightError(f"weights must be Weights, got {weights!r}")
    if isinstance(problem, CardTurn):
        return card_solver_for(backend, formulation).solve_cards(problem, weights)
    return solver_for(backend, formulation).solve(problem, weights, formulation)


def turn_of(position: Position) -> TurnProblem | CardTurn:
    """The turn of the player to move: of the program for bodies, or on real cards.

    Raises:
        ProblemError: the game is over, or a card in the player's own hand is hidden.
    """
    return CardTurn(position) if position.table.effects else TurnProblem.from_position(position)


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


def card_solver_for(backend: str, formulation: str) -> CardSolver:
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
    return cast(CardSolver, solver)


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
