"""Backend `gurobi`, with your licence or that of its wheel (2,000 variables and rows, non-production)."""

import threading

import gurobipy
import numpy as np
from gurobipy import GRB

from ilp_agent.backends import SolverError, advise_other_backends
from ilp_agent.milp.program import Milp, NoPlanError
from ilp_agent.milp.program_solver import ProgramSolver
from ilp_agent.plan import Status

TOLERANCE = 1e-9

_STATUS = {
    GRB.OPTIMAL: Status.OPTIMAL,
    GRB.SUBOPTIMAL: Status.FEASIBLE,
    GRB.INFEASIBLE: Status.INFEASIBLE,
    GRB.INF_OR_UNBD: Status.INFEASIBLE,
    GRB.UNBOUNDED: Status.UNBOUNDED,
    GRB.TIME_LIMIT: Status.LIMIT,
    GRB.ITERATION_LIMIT: Status.LIMIT,
    GRB.NODE_LIMIT: Status.LIMIT,
    GRB.SOLUTION_LIMIT: Status.LIMIT,
    GRB.WORK_LIMIT: Status.LIMIT,
    GRB.MEM_LIMIT: Status.LIMIT,
    GRB.INTERRUPTED: Status.LIMIT,
}
"""Gurobi's status codes; all others are errors."""


class GurobiSolver(ProgramSolver):
    """Gurobi on one thread, to proven optimality; one environment a process, a fresh model for every turn.

    A reused model chose another optimum in 8 of 200 turns. Environments and models cannot be pickled.
    """

    name = "gurobi"

    def __init__(self) -> None:
        self._lock = threading.Lock()  # an environment serves one thread at a time
        try:
            self._environment = gurobipy.Env(
                params={"OutputFlag": 0, "LogToConsole": 0, "Threads": 1, "Seed": 0}
            )
        except gurobipy.GurobiError as error:
            raise SolverError(
                f"backend 'gurobi' cannot start: {error}; {advise_other_backends('gurobi')}"
            ) from None

    def run(self, milp: Milp) -> tuple[Status, np.ndarray]:
        """Solve a program; see `ilp_agent.milp.program.RunSolver`.

        Raises:
            NoPlanError: the licence does not cover the program, or Gurobi failed.
        """
        try:
            with self._lock:
                return self._run(milp)
        except gurobipy.GurobiError as error:
            raise NoPlanError(str(error)) from None

    def _run(self, milp: Milp) -> tuple[Status, np.ndarray]:
        with gurobipy.Model(env=self._environment) as model:
            model.Params.MIPGap = 0
            model.Params.MIPGapAbs = 0
            model.Params.FeasibilityTol = TOLERANCE
            model.Params.IntFeasTol = TOLERANCE
            model.Params.OptimalityTol = TOLERANCE
            kinds = [GRB.INTEGER if integer else GRB.CONTINUOUS for integer in milp.integer]
            x = [
                model.addVar(lb=low, ub=high, obj=cost, vtype=kind)
                for low, high, cost, kind in zip(milp.low, milp.high, milp.cost, kinds, strict=True)
            ]
            model.ModelSense = GRB.MAXIMIZE
            model.ObjCon = milp.offset
            for row, lower, upper in zip(milp.rows, milp.lower, milp.upper, strict=True):
                terms = gurobipy.LinExpr(list(row.values()), [x[variable] for variable in row])
                if lower == upper:
                    model.addLConstr(terms, GRB.EQUAL, lower)
                    continue
                if np.isfinite(lower):
                    model.addLConstr(terms, GRB.GREATER_EQUAL, lower)
                if np.isfinite(upper):
                    model.addLConstr(terms, GRB.LESS_EQUAL, upper)
            model.optimize()
            status = _STATUS.get(model.Status, Status.ERROR)
            if status == Status.LIMIT and model.SolCount:
                status = Status.FEASIBLE
            if status not in (Status.OPTIMAL, Status.FEASIBLE):
                return status, np.empty(0)
            return status, np.array([variable.X for variable in x])
