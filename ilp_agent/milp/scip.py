"""Backend `scip`: SCIP by PySCIPOpt, open source, installed by `pip install 'manaforge[scip]'`."""

import numpy as np
import pyscipopt

from ilp_agent.milp.program import Milp
from ilp_agent.milp.program_solver import ProgramSolver
from ilp_agent.plan import Status

TOLERANCE = 1e-9

_OPTIONS: dict[str, bool | int | float | str] = {
    "misc/catchctrlc": False,  # Python handles Ctrl-C
    "lp/threads": 1,
    "parallel/maxnthreads": 1,
    "randomization/randomseedshift": 0,
    "randomization/permutationseed": 0,
    "randomization/lpseed": 0,
    "limits/gap": 0.0,
    "limits/absgap": 0.0,
    "numerics/feastol": TOLERANCE,  # also the integrality tolerance
    "numerics/dualfeastol": TOLERANCE,
    "numerics/epsilon": TOLERANCE / 10,  # numbers this close are equal; finer than the feasibility tolerance
    "numerics/sumepsilon": TOLERANCE,
}

_STATUS = {
    "optimal": Status.OPTIMAL,
    "infeasible": Status.INFEASIBLE,
    "inforunbd": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
    "timelimit": Status.LIMIT,
    "nodelimit": Status.LIMIT,
    "totalnodelimit": Status.LIMIT,
    "stallnodelimit": Status.LIMIT,
    "gaplimit": Status.LIMIT,
    "memlimit": Status.LIMIT,
    "sollimit": Status.LIMIT,
    "bestsollimit": Status.LIMIT,
    "restartlimit": Status.LIMIT,
    "primallimit": Status.LIMIT,
    "duallimit": Status.LIMIT,
    "userinterrupt": Status.LIMIT,
    "terminate": Status.LIMIT,
}
"""SCIP's status codes; all others are errors."""


class ScipSolver(ProgramSolver):
    """SCIP on one thread, to proven optimality; a fresh model for every turn."""

    name = "scip"

    def run(self, milp: Milp) -> tuple[Status, np.ndarray]:
        """Solve a program; see `ilp_agent.milp.program.RunSolver`."""
        model = pyscipopt.Model()
        model.hideOutput()
        model.setParams(_OPTIONS)
        infinite = model.infinity()
        x = [
            model.addVar(vtype="I" if integer else "C", lb=low, ub=min(high, infinite), obj=cost)
            for low, high, cost, integer in zip(milp.low, milp.high, milp.cost, milp.integer, strict=True)
        ]
        model.setMaximize()
        model.addObjoffset(milp.offset)
        for row, lower, upper in zip(milp.rows, milp.lower, milp.upper, strict=True):
            terms = pyscipopt.quicksum(value * x[variable] for variable, value in row.items())
            model.addCons((max(lower, -infinite) <= terms) <= min(upper, infinite))
        model.optimize()
        status = _STATUS.get(model.getStatus(), Status.ERROR)
        if status == Status.LIMIT and model.getNSols():
            status = Status.FEASIBLE
        if status not in (Status.OPTIMAL, Status.FEASIBLE):
            return status, np.empty(0)
        best = model.getBestSol()
        return status, np.array([model.getSolVal(best, variable) for variable in x])
