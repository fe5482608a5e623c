"""How signals stop a command."""

import io
import signal

import pytest
from rich.console import Console

from evo.play.pool import InterruptedRunError
from evo.sessions.progress import STOPPING, GameCounter, Stoppable, stop_on_signals


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


def test_the_first_signal_says_at_once_what_happens(
    display: Stoppable, capfd: pytest.CaptureFixture[str]
) -> None:
    with stop_on_signals(display):
        signal.raise_signal(signal.SIGTERM)
    assert capfd.readouterr() == ("", STOPPING + "\n")


def test_the_line_of_a_signal_is_above_a_live_bar(capfd: pytest.CaptureFixture[str]) -> None:
    counter = GameCounter(Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None), 8)
    with stop_on_signals(counter):
        counter.advance(1)
        signal.raise_signal(signal.SIGINT)
    counter.close()
    lines = counter.console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert [line for line in lines if line.rstrip().endswith(STOPPING)]
    assert not any(STOPPING in line and "games " + STOPPING in line for line in lines)
    assert capfd.readouterr() == ("", "")


def test_a_signal_is_raised_where_nothing_is_kept_yet(display: Stoppable) -> None:
    """Wherever the program is, as between two kernels that are compiled."""
    display.stops_immediately = True
    with stop_on_signals(display), pytest.raises(KeyboardInterrupt) as stop:
        signal.raise_signal(signal.SIGTERM)
    assert stop.value.args == (signal.SIGTERM,)
    assert display.stopping == signal.SIGTERM
