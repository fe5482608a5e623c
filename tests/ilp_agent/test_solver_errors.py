"""What solve() and its arguments refuse, each with our error that names the argument."""

import dataclasses
from types import SimpleNamespace

import pytest

from engine import CardError, MinionSpec, UnknownNameError, parse_position
from ilp_agent import (
    BACKENDS,
    DEFAULT_BACKEND,
    WEIGHT_NAMES,
    IlpAgent,
    ProblemError,
    SolverError,
    Status,
    TurnProblem,
    WeightError,
    Weights,
    find_solver,
    solve,
)
from ilp_agent.milp import program_solver
from ilp_agent.milp.program import Milp

ALL = Weights(lethal=20, clear=1, face=1, threat=1, survive=1, damage=1, trade=0.5, play=1)
M = MinionSpec


def only(**weights: float) -> Weights:
    return Weights(**(dict.fromkeys(WEIGHT_NAMES, 0.0) | weights))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"mana": -1}, ProblemError, "mana must be an integer from 0 to 10, got -1"),
        ({"mana": 11}, ProblemError, "mana must be"),
        ({"mana": 2.0}, ProblemError, "mana must be"),
        ({"mana": True}, ProblemError, "mana must be"),
        ({"enemy_hero": 0}, ProblemError, "enemy_hero must be an integer from 1 to 1029, got 0"),
        ({"enemy_hero": float("nan")}, ProblemError, "enemy_hero must be"),
        ({"coin": 1}, ProblemError, "coin must be True or False"),
        ({"friendly": [M(1, 1)] * 8}, ProblemError, "friendly must have at most 7 minions, got 8"),
        ({"enemy": [M(1, 1)] * 8}, ProblemError, "enemy must have at most 7 minions, got 8"),
        ({"hand": [M(1, 1)] * 11}, ProblemError, "hand must have at most 10 minions, got 11"),
        ({"hand": [M(1, 1)] * 10, "coin": True}, ProblemError, "at most 9 minions beside The Coin, got 10"),
        ({"friendly": [3]}, ProblemError, r"friendly\[0\] must be a MinionSpec, got 3"),
        ({"hand": 3}, ProblemError, "hand must be a list of MinionSpec, got 3"),
    ],
)
def test_bad_problems_are_refused_by_name(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TurnProblem.build(**({"mana": 1, "enemy_hero": 30} | arguments))


def test_indices_of_what_is_barred_are_checked() -> None:
    with pytest.raises(ProblemError, match="no_hero must hold friendly minion indices"):
        TurnProblem((), (), (), 1, 30, no_hero=frozenset({3}))
    with pytest.raises(ProblemError, match="barred must hold"):
        TurnProblem((M(1, 1),), (), (), 1, 30, barred=frozenset({(0, 40)}))


def test_positions_that_are_no_turn_are_refused() -> None:
    with pytest.raises(ProblemError, match="hand of the player to move has hidden cards"):
        TurnProblem.from_position(parse_position("hero 20 hand [?] | hero 12"))
    with pytest.raises(ProblemError, match="the game is over"):
        TurnProblem.from_position(parse_position("hero 20 | hero 0"))


def test_agents_are_checked_when_they_are_made() -> None:
    with pytest.raises(UnknownNameError, match="unknown formulation 'thess'"):
        IlpAgent(ALL, DEFAULT_BACKEND, "thess")
    with pytest.raises(SolverError, match="does not solve formulation 'thesis'"):
        IlpAgent(ALL, DEFAULT_BACKEND, "thesis")
    with pytest.raises(WeightError, match="must be a Profile or Weights"):
        IlpAgent([1.0] * 8)


def test_build_takes_keywords_only_and_specs_refuse_negatives() -> None:
    with pytest.raises(TypeError):
        TurnProblem.build([], mana=1, enemy_hero=30)
    with pytest.raises(CardError, match="attack must be from 0 to 999, got -1"):
        M(-1, 1)


def test_solve_refuses_what_it_cannot_solve() -> None:
    problem = TurnProblem.build(mana=1, enemy_hero=30)
    with pytest.raises(UnknownNameError, match="unknown backend 'gorubi'; nearest: gurobi"):
        solve(problem, ALL, "gorubi")
    with pytest.raises(UnknownNameError, match="unknown backend"):
        solve(problem, ALL, [DEFAULT_BACKEND])
    with pytest.raises(UnknownNameError, match="unknown formulation 'theses'; nearest: thesis"):
        solve(problem, ALL, DEFAULT_BACKEND, "theses")
    with pytest.raises(WeightError, match="weights must be Weights"):
        solve(problem, [1.0] * 8)
    with pytest.raises(ProblemError, match="problem must be a TurnProblem"):
        solve("problem", ALL)
    with pytest.raises(WeightError, match="lethal must be a finite number"):
        dataclasses.replace(ALL, lethal=float("nan"))


def test_a_licence_that_does_not_serve_names_the_other_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    import gurobipy

    from ilp_agent.milp import gurobi

    def refuse(*_: object, **__: object) -> None:
        raise gurobipy.GurobiError(10009, "License expired")

    with monkeypatch.context() as patch:
        patch.setattr(gurobi.gurobipy, "Env", refuse)
        with pytest.raises(SolverError, match="cannot start: License expired; use auto"):
            gurobi.GurobiSolver()
    # The wheel's licence takes 2,000 variables; one more is refused by Gurobi itself, at optimize().
    large = Milp()
    variables = [large.binary(f"b[{n}]", 1.0) for n in range(2_100)]
    large.add("some", [(variable, 1.0) for variable in variables], upper=5)
    solver = gurobi.GurobiSolver()
    monkeypatch.setattr(program_solver, "thesis_model", lambda problem, weights: SimpleNamespace(milp=large))
    with pytest.raises(SolverError, match="too large.*use auto"):
        solver.solve_thesis(TurnProblem.build(mana=1, enemy_hero=9), ALL)


HARD = TurnProblem.build(friendly=[M(2, 3, windfury=True)] * 5, enemy=[M(2, 3)] * 5, mana=0, enemy_hero=30)


def test_a_limit_with_an_incumbent_is_feasible(monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS stopped after its first solution, Gurobi and SCIP likewise: a plan, but none called optimal."""
    from ilp_agent.milp import highs

    monkeypatch.setitem(highs._OPTIONS, "mip_max_improving_sols", 1)
    assert solve(HARD, ALL, "highs").status == Status.FEASIBLE
    solver = find_solver("gurobi")
    solver._environment.setParam("SolutionLimit", 1)
    try:
        assert solve(HARD, ALL, "gurobi").status == Status.FEASIBLE
    finally:
        solver._environment.setParam("SolutionLimit", 2_000_000_000)


def test_a_limit_of_scip_with_an_incumbent_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyscipopt", reason=BACKENDS["scip"].missing or None)
    from ilp_agent.milp import scip

    with monkeypatch.context() as patch:
        patch.setitem(scip._OPTIONS, "limits/solutions", 1)
        assert solve(HARD, ALL, "scip").status == Status.FEASIBLE
    monkeypatch.setitem(scip._OPTIONS, "limits/time", 0.0)
    with pytest.raises(SolverError, match="'scip' found no plan: the solver ended with status limit"):
        solve(HARD, ALL, "scip")
