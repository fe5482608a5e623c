"""Mixed-integer linear programs: solver-independent, with named variables and constraints."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from ilp_agent.plan import Status
from ilp_agent.weights import Weights


@dataclass
class Milp:
    """A program: maximise offset + c x subject to lower <= A x <= upper, bounds on x, some x integer.

    Rows are sparse: `add` takes (variable, coefficient) pairs and sums repeated variables.
    """

    names: list[str] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    integer: list[bool] = field(default_factory=list)
    offset: float = 0.0
    rows: list[dict[int, float]] = field(default_factory=list)
    row_names: list[str] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Lines printed before the program: a legend of its numbers."""

    def binary(self, name: str, cost: float = 0.0, high: float = 1.0) -> int:
        """Add a 0-1 variable (fixed at 0 with `high=0`); returns its number."""
        return self._variable(name, cost, high, True)

    def continuous(self, name: str, high: float, cost: float = 0.0) -> int:
        """Add a continuous variable in [0, high]; returns its number."""
        return self._variable(name, cost, high, False)

    def add(
        self, name: str, terms: Iterable[tuple[int, float]], lower: float = -np.inf, upper: float = np.inf
    ) -> None:
        """Add a constraint, named by the rule or equation number it implements."""
        row: dict[int, float] = {}
        for variable, coefficient in terms:
            row[variable] = row.get(variable, 0.0) + coefficient
        row = {variable: coefficient for variable, coefficient in row.items() if coefficient}
        if row:
            self.rows.append(row)
            self.row_names.append(name)
            self.lower.append(lower)
            self.upper.append(upper)

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = 0) -> str:
        """Format the program as text: the objective, then each constraint under its name.

        Args:
            width: maximum line length; 0 for no limit.
        """
        lines = [f"maximise {self._sum(dict(enumerate(self.cost)))} + {self.offset:g}"]
        heading = ""
        for row, name, lower, upper in zip(self.rows, self.row_names, self.lower, self.upper, strict=True):
            if name != heading:
                lines.append(f"{name}:")
                heading = name
            least = f"{lower:g} <= " if np.isfinite(lower) and lower != upper else ""
            most = f" = {upper:g}" if lower == upper else f" <= {upper:g}" if np.isfinite(upper) else ""
            lines.append(f"    {least}{self._sum(row)}{most}")
        for low, high in sorted(set(zip(self.low, self.high, strict=True))):
            variables = zip(self.names, self.low, self.high, self.integer, strict=True)
            named = [(name, whole) for name, a, b, whole in variables if (a, b) == (low, high)]
            for whole in (True, False):
                names = [name for name, integer in named if integer == whole]
                if names:
                    separator = ", " if self.notes else " "
                    kind = "integer" if whole else "real"
                    lines.append(f"{kind} in [{low:g}, {high:g}]: {separator.join(names)}")
        folded = [part for line in lines for part in _fold(line, width)]
        return "\n".join([*self.notes, *folded])

    def _sum(self, row: dict[int, float]) -> str:
        """Format a linear form: "2 x[1] - z[0]"."""
        parts = []
        for variable, value in row.items():
            if value:
                size = "" if abs(value) == 1 else f"{abs(value):g} "
                parts.append(f"{'-' if value < 0 else '+'} {size}{self.names[variable]}")
        return " ".join(parts).removeprefix("+ ") or "0"

    def matrix(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The constraint matrix in CSR format: starts (rows + 1,), columns and values (entries,)."""
        starts = np.cumsum([0, *(len(row) for row in self.rows)]).astype(np.int32)
        columns = np.array([variable for row in self.rows for variable in row], np.int32)
        values = np.array([value for row in self.rows for value in row.values()], np.float64)
        return starts, columns, values

    def _variable(self, name: str, cost: float, high: float, integer: bool) -> int:
        self.names.append(name)
        self.cost.append(cost)
        self.low.append(0.0)
        self.high.append(high)
        self.integer.append(integer)
        return len(self.names) - 1


def _fold(line: str, width: int) -> list[str]:
    """Wrap a line to at most `width` characters, broken before a sign or after a comma and a space."""
    if not width or len(line) <= width:
        return [line]
    lines, current = [], ""
    for part in re.split(r"(?<=\S)(?= [+-] )|(?<=, )|(?<=: )", line):
        if current.strip() and len(current) + len(part.rstrip()) > width:
            lines.append(current.rstrip())
            current = " " * 8 + part.lstrip()
        else:
            current += part
    return [*lines, current]


RunSolver = Callable[[Milp], tuple[Status, np.ndarray]]
"""Function that solves a program; returns a status and a value for each variable (empty without solution)."""


class NoPlanError(Exception):
    """A solver gave no usable solution; the backend reports it as a `SolverError` with its name."""


def solve_rounded(run: RunSolver, milp: Milp) -> tuple[Status, np.ndarray]:
    """Solve a program; returns the status, and the variables' values rounded to integers.

    Raises:
        NoPlanError: no solution.
    """
    status, values = run(milp)
    if status not in (Status.OPTIMAL, Status.FEASIBLE) or not np.isfinite(values).all():
        raise NoPlanError(f"the solver ended with status {status}")
    return status, np.rint(values).astype(np.int64)


def scaled_weights(weights: Weights) -> Weights:
    """Weights scaled to a maximum of 1, since solvers use absolute tolerances. Terms use the true weights."""
    largest = weights.array.max()
    return Weights.from_array(weights.array / largest) if largest > 0 else weights


MAX_WEIGHT_RATIO = 1e8
"""Largest ratio of weights at which a status OPTIMAL is trusted; from 1e10 on solvers lose the smallest."""


def trusted_status(status: Status, weights: Weights) -> Status:
    """Solver status, downgraded from OPTIMAL to FEASIBLE if the weights' ratio exceeds `MAX_WEIGHT_RATIO`."""
    positive = weights.array[weights.array > 0.0]
    if status == Status.OPTIMAL and positive.size and positive.max() > MAX_WEIGHT_RATIO * positive.min():
        return Status.FEASIBLE
    return status
