"""How signals stop a command."""

import signal

import pytest
from rich.console import Console

from evo.play.pool import InterruptedRunError
from evo.sessions.progress import Stoppable, stop_on_signals


@pytest.fixture
def display() -> Stoppable:
    made = Stoppable()
    made.console = Console()
    return made


def test_a_signal_asks_what_plays_to_stop(display: Stoppable) -> None:
    with stop_on_signals(display):
        signal.raise_signal(signal.SIGINT)
        assert display.stopping == signal.SIGINT
        with pytest.raises(InterruptedRunError) as stop:
            display.raise_if_stopped()
    assert stop.value.signal == signal.SIGINT


def test_a_signal_is_raised_where_nothing_is_kept_yet(display: Stoppable) -> None:
    """Wherever the program is, as between two kernels that are compiled."""
    display.stops_immediately = True
    with stop_on_signals(display), pytest.raises(KeyboardInterrupt) as stop:
        signal.raise_signal(signal.SIGTERM)
    assert stop.value.args == (signal.SIGTERM,)
    assert display.stopping == signal.SIGTERM
