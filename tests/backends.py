"""Backends of the registry as parameters of tests; those not installed are skipped with the reason."""

import pytest

from ilp_agent import BACKENDS
from tests.conftest import BOUNDSCHECK, UNCOMPILED


def backends(formulation: str = "sequential", outside: bool = False) -> list:
    """Names of the backends that solve a formulation; `outside`: those that solve the integer program."""
    found = []
    for entry in BACKENDS.values():
        reason = entry.missing
        if UNCOMPILED and entry.name == "search":
            reason = "too slow without the compiler"
        if BOUNDSCHECK and entry.name == "search":
            reason = "tests/ilp_agent/search has its bounds checked; compiling it twice takes minutes"
        if formulation in entry.formulations and not (outside and entry.compiled):
            found.append(pytest.param(entry.name, marks=pytest.mark.skipif(bool(reason), reason=reason)))
    return found
