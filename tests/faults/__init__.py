"""Faults that must not affect results; docs/reliability.md lists them with their tests."""

from pathlib import Path

import pytest

from tests.conftest import BOUNDSCHECK, UNCOMPILED

marks = [
    pytest.mark.faults,
    pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler"),
]

SAMPLE_OF_SCHEMA_1 = Path(__file__).parents[1] / "data" / "run"
"""A run folder of schema 1, kept for the first migration."""

SAMPLE_TOURNAMENT = SAMPLE_OF_SCHEMA_1.parent / "tournament"
"""A tournament's folder of schema 1."""
