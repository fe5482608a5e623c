"""Backends of the registry as parameters of tests; those not installed are skipped with the reason."""

import pytest

from ilp_agent import BACKENDS


def backends(formulation: str = "sequential", outside: bool = False) -> list:
    """Names of the backends that solve a formulation; `outside`: those that solve the integer program."""
    return [
        pytest.param(entry.name, marks=pytest.mark.skipif(bool(entry.missing), reason=entry.missing))
        for entry in BACKENDS.values()
        if formulation in entry.formulations and not (outside and entry.compiled)
    ]
