"""Registry of the turn solver's backends.

This file is the only list of them. A backend is a module with a class that has `name` and `solve`
(`ilp_agent.solver.Solver`). The module is imported on first use, so that a missing solver library affects
only its own backend. To add one, copy `ilp_agent/milp/highs.py`, write its entry below, and run
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
    """The solver is missing, not licensed, too small for the model, or found no plan."""


@dataclass(frozen=True)
class Backend:
    """Registry entry of a backend: its class, formulations, library and capabilities.

    Attributes:
        name: the name in entrants, configurations and commands.
        module: the module of its class.
        solver: the class's name, instantiated without arguments once per process; see `Solver`.
        formulations: the `FORMULATIONS` it solves.
        help: a short description.
        library: required distribution; another version may choose another plan among equals. "" for none.
        extra: optional dependency of this package that installs the library; "" if always installed.
        licence: licence restrictions for the user; "" for none.
        batch: compiled player of whole games (`rivals.batch.PlayBatch`), as MODULE:NAME; "" for none.
        cards: which turns with card effects it solves: "all", "some" or none ("").
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
        """Whether whole games with this backend run compiled."""
        return bool(self.batch)

    @property
    def summary(self) -> str:
        """Description of the backend and the restrictions of its licence, for help texts."""
        return f"{self.name}: {self.help}" + (f" ({self.licence})" if self.licence else "")

    @property
    def library_version(self) -> str:
        """Version of the installed solver library; "" if the library is missing or not needed."""
        return _installed_version(self.library) if self.library else ""

    @property
    def missing(self) -> str:
        """The missing library and how to install it; "" if nothing is missing."""
        if not self.library or self.library_version:
            return ""
        command = f"pip install '{self.library}'"
        if self.extra:
            command = "make setup-extras" if in_checkout() else f"pip install 'manaforge[{self.extra}]'"
        return f"backend {self.name!r} needs {self.library}: {command}"


_ENTRIES = (
    Backend(
        "auto",
        "ilp_agent.search.backend",
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
        "ours, for minions with keywords alone, hundreds of times faster than integer programs",
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
"""All backends by name."""

DEFAULT_BACKEND = "auto"


def resolved_backend(backend: str, bodies: bool, thesis: bool) -> str:
    """Resolve `auto` to `exact` if search is never needed.

    Results with keyword-only decks and the thesis's weights then say `exact`, as before `auto` existed.

    Args:
        backend: a name of `BACKENDS`.
        bodies: whether all decks hold only minions with keywords, without card effects.
        thesis: whether only the thesis's eight weights are set.
    """
    return "exact" if backend == "auto" and bodies and thesis else backend


def installed_backends() -> list[Backend]:
    """The backends whose libraries are installed."""
    return [entry for entry in BACKENDS.values() if not entry.missing]


def join_names(names: Iterable[str], word: str) -> str:
    """Join names for a sentence: "exact, gurobi or highs"."""
    *first, last = list(names)
    return f"{', '.join(first)} {word} {last}" if first else last


def advise_other_backends(backend: str) -> str:
    """Advice to use another installed backend, for the error message of one that failed."""
    rest = [entry.name for entry in installed_backends() if entry.name != backend]
    return f"use {join_names(rest, 'or')} instead (--backend, or an entrant's @{rest[0]})"


def refuse_secrets(backend: str) -> None:
    """Refuse the option `secrets` with a backend that does not search real cards itself.

    Raises:
        SolverError: it does not; the message names those that do.
    """
    if not BACKENDS[backend].compiled:
        able = join_names([entry.name for entry in BACKENDS.values() if entry.compiled], "or")
        raise SolverError(f"backend {backend!r} does not support the option secrets; use backend {able}")


def solver_version(backend: str) -> str:
    """Name of a backend with the version of its library, on which ties between plans may depend."""
    return f"{backend} {BACKENDS[backend].library_version}".strip()


def library_versions(backends: Sequence[str] | None = None) -> dict[str, str]:
    """Versions of the backends' solver libraries.

    Args:
        backends: names; by default all installed backends.
    """
    entries = installed_backends() if backends is None else [BACKENDS[name] for name in backends]
    return {entry.library: entry.library_version or "not installed" for entry in entries if entry.library}


@cache
def _installed_version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""
