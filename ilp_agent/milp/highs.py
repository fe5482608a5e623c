"""Backend `highs`: HiGHS, open source. A template for further MILP backends."""

import highspy
import numpy as np

from ilp_agent.milp.program import Milp
from ilp_agent.milp.program_solver import ProgramSolver
from ilp_agent.plan import Status

TOLERANCE = 1e-9

_OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",  # in HiGHS 1.15.1 it ends some of these small programs with kSolveError
    "random_seed": 0,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
    "mip_feasibility_tolerance": TOLERANCE,
    "primal_feasibility_tolerance": TOLERANCE,
    "dual_feasibility_tolerance": TOLERANCE,
}

_STATUS = {
    highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE,
    highspy.HighsModelStatus.kUnboundedOrInfeasible: Status.INFEASIBLE,
    highspy.HighsModelStatus.kUnbounded: Status.UNBOUNDED,
    highspy.HighsModelStatus.kTimeLimit: Status.LIMIT,
    highspy.HighsModelStatus.kIterationLimit: Status.LIMIT,
    highspy.HighsModelStatus.kSolutionLimit: Status.LIMIT,
    highspy.HighsModelStatus.kInterrupt: Status.LIMIT,
}
"""HiGHS's status codes; all others are errors."""


class HighsSolver(ProgramSolver):
    """HiGHS on one thread, to proven optimality; a fresh model for every turn."""

    name = "highs"

    def run(self, milp: Milp) -> tuple[Status, np.ndarray]:
        """Solve a program; see `ilp_agent.milp.program.RunSolver`."""
        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in _OPTIONS.items():
            solver.setOptionValue(name, value)
        starts, columns, values = milp.matrix()
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(milp.names), len(milp.rows)
        model.sense_ = highspy.ObjSense.kMaximize
        model.offset_ = milp.offset
        model.col_cost_ = np.array(milp.cost)
        model.col_lower_, model.col_upper_ = np.array(milp.low), np.array(milp.high)
        model.row_lower_, model.row_upper_ = np.array(milp.lower), np.array(milp.upper)
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = starts, columns, values
        kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
        model.integrality_ = [kinds[integer] for integer in milp.integer]
        solver.passModel(model)
        solver.run()
        status = _STATUS.get(solver.getModelStatus(), Status.ERROR)
        solution = solver.getSolution()
        if status == Status.LIMIT and solution.value_valid:
            status = Status.FEASIBLE
        return status, np.array(solution.col_value)
