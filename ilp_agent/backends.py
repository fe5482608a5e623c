"""The backends: one entry for each, which tells everything else about it.

Nothing beyond this file lists them. A backend is a module with a class that has `name` and `solve`
(`ilp_agent.solver.Solver`). The module is imported when it is first asked for, so that a missing solver
troubles only those who want it. To add one, copy `ilp_agent/milp/highs.py`, write its entry here, and run
`tests/contracts/test_backends.py`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from engine.errors import ManaforgeError
from ilp_agent.shipped import in_checkout

FORMULATIONS = ("sequential", "thesis")


class SolverError(ManaforgeError, RuntimeError):
    """A solver that is missing, not licensed, too small for the model, or without an answer."""


@dataclass(frozen=True)
class Backend:
    """All that is known of a backend before it is loaded.

    Attributes:
        name: as entrants, configurations and commands write it.
        module: where it is.
        solver: the class in it, made without arguments once a process; see `Solver`.
        formulations: of `FORMULATIONS`, those it solves.
        help: what it is, in a few words.
        library: distribution it needs; another version may choose another plan among equals. "" for none.
        extra: optional dependency of this package that installs the library; "" where it is always there.
        licence: what its licence asks of the user; "" for nothing.
        batch: plays whole games with it compiled (`rivals.batch.PlayBatch`), as MODULE:NAME; "" where only
            Python does.
        cards: whether it takes turns on real cards: all of them, some, or none.
    """

    name: str
    module: str
    solver: str
    formulations: tuple[str, ...]
    help: str
    library: str = ""
    extra: str = ""
    licence: str = ""
    batch: str = ""
    cards: Literal["all", "some", ""] = ""

    @property
    def compiled(self) -> bool:
        """Whether whole games with it run compiled."""
        return bool(self.batch)

    @property
    def summary(self) -> str:
        """What it is and what its licence asks, for help texts."""
        return f"{self.name}: {self.help}" + (f" ({self.licence})" if self.licence else "")

    @property
    def library_version(self) -> str:
        """Version of the installed library; "" where it is missing or none is needed."""
        return _installed_version(self.library) if self.library else ""

    @property
    def missing(self) -> str:
        """What is missing here and how to get it; "" where nothing is."""
        if not self.library or self.library_version:
            return ""
        way = f"pip install '{self.library}'"
        if self.extra:
            way = "make setup-extras" if in_checkout() else f"pip install 'manaforge[{self.extra}]'"
        return f"backend {self.name!r} needs {self.library}: {way}"


_ENTRIES = (
    Backend(
        "auto",
        "ilp_agent.auto",
        "AutoSolver",
        ("sequential",),
        "exact where it applies, search elsewhere",
        batch="ilp_agent.selfplay:auto_batch",
        cards="all",
    ),
    Backend(
        "exact",
        "ilp_agent.exact.backend",
        "ExactSolver",
        ("sequential",),
        "ours, for minions with keywords alone, hundreds of times faster than programs",
        batch="ilp_agent.selfplay:exact_batch",
    ),
    Backend(
        "search",
        "ilp_agent.search.backend",
        "SearchSolver",
        ("sequential",),
        "ours, for real cards: a memoised search on the game itself",
        batch="ilp_agent.selfplay:searched_batch",
        cards="all",
    ),
    Backend(
        "gurobi",
        "ilp_agent.milp.gurobi",
        "GurobiSolver",
        FORMULATIONS,
        "Gurobi, with your licence or the one inside its wheel",
        library="gurobipy",
        licence="the wheel's is for non-production use, to 2,000 variables and constraints",
        cards="some",
    ),
    Backend(
        "highs",
        "ilp_agent.milp.highs",
        "HighsSolver",
        FORMULATIONS,
        "HiGHS, open source",
        library="highspy",
        cards="some",
    ),
    Backend(
        "scip",
        "ilp_agent.milp.scip",
        "ScipSolver",
        FORMULATIONS,
        "SCIP, open source, an optional extra",
        library="pyscipopt",
        extra="scip",
        cards="some",
    ),
)

BACKENDS = {entry.name: entry for entry in _ENTRIES}
"""Every backend by its name: the one list of them."""

DEFAULT_BACKEND = "auto"


def settled(backend: str, bodies: bool, thesis: bool) -> str:
    """The backend that plays: `auto` is `exact` where nothing else could be needed.

    So results with decks of bodies and the thesis's weights say `exact`, as they did before there was `auto`.

    Args:
        backend: a name of `BACKENDS`.
        bodies: whether all decks are minions with keywords alone.
        thesis: whether no weight beside the thesis's eight is set.
    """
    return "exact" if backend == "auto" and bodies and thesis else backend


def installed_backends() -> list[Backend]:
    """The backends whose libraries this installation has."""
    return [entry for entry in BACKENDS.values() if not entry.missing]


def listed(names: Iterable[str], word: str) -> str:
    """Names in a sentence: "exact, gurobi or highs"."""
    *first, last = list(names)
    return f"{', '.join(first)} {word} {last}" if first else last


def others(backend: str) -> str:
    """The advice every failing backend gives."""
    rest = [entry.name for entry in installed_backends() if entry.name != backend]
    return f"use {listed(rest, 'or')} instead (--backend, or an entrant's @{rest[0]})"


def solver_version(backend: str) -> str:
    """A backend with the version of its library: another may choose another plan among equals."""
    return f"{backend} {BACKENDS[backend].library_version}".strip()


def library_versions(backends: Sequence[str] | None = None) -> dict[str, str]:
    """Versions of the libraries behind backends.

    Args:
        backends: names; by default all that are installed.
    """
    entries = installed_backends() if backends is None else [BACKENDS[name] for name in backends]
    return {entry.library: entry.library_version or "not installed" for entry in entries if entry.library}


@cache
def _installed_version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""
