"""Texts that users read."""

import pytest

from evo.config.messages import counted, duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "0 s"),
        (119.4, "119 s"),
        (120, "2 min"),
        (3_590, "1 h"),
        (7_200, "2 h"),
        (43_055, "11 h 58 min"),
        (86_399, "1 day"),
        (216_000, "2 days 12 h"),
        (1e9, "11,574 days 2 h"),
    ],
)
def test_durations_have_at_most_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_one_thing_is_not_plural() -> None:
    assert [counted(n, "run") for n in (0, 1, 2, 2000)] == ["0 runs", "1 run", "2 runs", "2,000 runs"]
