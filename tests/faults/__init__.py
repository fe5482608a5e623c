"""What may go wrong and must not show in the result; docs/reliability.md names the tests of each row."""

from pathlib import Path

import pytest

from tests.conftest import BOUNDSCHECK, UNCOMPILED

marks = [
    pytest.mark.faults,
    pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler"),
]

SAMPLE_OF_SCHEMA_1 = Path(__file__).parents[1] / "data" / "run"
"""A run folder of schema 1, kept for the first migration."""
