"""What every backend must refuse, and how each of its native answers is mapped."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from engine import MinionSpec
from ilp_agent import BACKENDS, FORMULATIONS, SolverError, Status, TurnProblem, Weights, find_solver, solve
from ilp_agent.backends import installed_backends, join_names, solver_version
from ilp_agent.milp.program import Milp
from tests.backends import backends

ALL = Weights(lethal=20, clear=1, face=1, threat=1, survive=1, damage=1, trade=0.5, play=1)
M = MinionSpec
EMPTY = TurnProblem.build(mana=1, enemy_hero=30)


@pytest.mark.parametrize("entry", BACKENDS.values(), ids=BACKENDS)
def test_an_entry_is_complete(entry) -> None:
    assert BACKENDS[entry.name] is entry
    assert re.fullmatch("[a-z]+", entry.name), "entrants write it behind @"
    assert entry.help
    assert entry.formulations
    assert set(entry.formulations) <= set(FORMULATIONS)
    assert not entry.extra or entry.library
    assert solver_version(entry.name) == f"{entry.name} {entry.library_version}".strip()


@pytest.mark.parametrize("name", BACKENDS)
def test_the_document_of_backends_has_a_row_for_it(name: str) -> None:
    table = (Path(__file__).parents[2] / "docs" / "turn-program.md").read_text(encoding="utf-8")
    assert f"\n| `{name}` | " in table


@pytest.mark.parametrize("backend", backends())
def test_it_is_made_once_under_its_own_name(backend: str) -> None:
    assert find_solver(backend).name == backend
    assert find_solver(backend) is find_solver(backend)


@pytest.mark.parametrize("backend", backends())
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_numpy_numbers_are_taken_and_other_formulations_refused(backend: str, formulation: str) -> None:
    problem = TurnProblem.build(friendly=np.array([M(3, 2)]), mana=np.int64(1), enemy_hero=np.int16(9))
    if formulation in BACKENDS[backend].formulations:
        assert solve(problem, ALL, backend, formulation).damage == 3
        return
    able = [entry.name for entry in installed_backends() if formulation in entry.formulations]
    told = f"{backend!r} does not solve formulation {formulation!r}; use backend {join_names(able, 'or')}"
    with pytest.raises(SolverError, match=re.escape(told)):
        solve(problem, ALL, backend, formulation)


@pytest.mark.parametrize("name", BACKENDS)
def test_a_missing_package_names_the_other_backends(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find_solver.cache_clear()
    monkeypatch.setitem(sys.modules, BACKENDS[name].module, None)
    rest = [entry.name for entry in installed_backends() if entry.name != name]
    told = f"{name!r} is not installed .*use {join_names(rest, 'or')} instead .*@{rest[0]}"
    with pytest.raises(SolverError, match=told):
        find_solver(name)
    find_solver.cache_clear()


@pytest.mark.parametrize(
    ("checkout", "way"), [(True, "make setup-extras"), (False, "pip install 'manaforge[{}]'")]
)
def test_a_missing_extra_tells_how_to_install_it(
    checkout: bool, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a checkout by make, whose locked versions pip would not take."""
    from ilp_agent import backends, solver

    entry = next(entry for entry in BACKENDS.values() if entry.extra)
    find_solver.cache_clear()
    assert backends.in_checkout()
    monkeypatch.setattr(backends, "in_checkout", lambda: checkout)
    monkeypatch.setitem(sys.modules, entry.module, None)
    monkeypatch.setattr(
        backends, "_installed_version", lambda library: "" if library == entry.library else "1"
    )
    with pytest.raises(SolverError, match=re.escape(way.format(entry.extra))):
        find_solver(entry.name)
    other = next(name for name in BACKENDS if name != entry.name)
    assert f"{entry.name} " not in solver.advise_other_backends(other), "nobody is sent to what is not there"
    find_solver.cache_clear()


def small_program(lower: float = -np.inf, cost: float = 1.0) -> Milp:
    """Two bits of which at most one may be set; `lower` demands more."""
    milp = Milp()
    pair = [(milp.binary("a", cost), 1.0), (milp.binary("b", cost), 1.0)]
    milp.add("one of them", pair, lower=lower, upper=1)
    return milp


@pytest.mark.parametrize("backend", backends(outside=True))
def test_native_statuses_are_mapped(backend: str) -> None:
    solver = find_solver(backend)
    assert solver.run(small_program())[0] == Status.OPTIMAL
    impossible = small_program()
    impossible.add("both", [(0, 1.0), (1, 1.0)], lower=2)
    assert solver.run(impossible)[0] == Status.INFEASIBLE
    endless = Milp()
    endless.names, endless.cost, endless.low, endless.high = ["x"], [1.0], [0.0], [np.inf]
    endless.integer = [False]
    assert solver.run(endless)[0] in (Status.UNBOUNDED, Status.INFEASIBLE)  # presolve may not tell which


@pytest.mark.parametrize("backend", backends(outside=True))
def test_what_a_limit_or_no_answer_becomes(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = TurnProblem.build(
        friendly=[M(2, 3)] * 5, enemy=[M(2, 3)] * 5, hand=[M(1, 1, cost=1)] * 4, mana=4, enemy_hero=30
    )
    solver, best = find_solver(backend), solve(problem, ALL)
    run = solver.run
    for status, found, expected in (
        (Status.LIMIT, False, "no plan: .*limit"),
        (Status.INFEASIBLE, False, "infeasible"),
        (Status.ERROR, False, "error"),
        (Status.FEASIBLE, True, None),
    ):
        monkeypatch.setattr(
            solver,
            "run",
            lambda milp, status=status, found=found: (status, run(milp)[1] if found else np.empty(0)),
        )
        if expected is None:
            plan = solve(problem, ALL, backend)
            assert plan.status == Status.FEASIBLE
            assert plan.objective == pytest.approx(best.objective)
        else:
            with pytest.raises(SolverError, match=expected):
                solve(problem, ALL, backend)
