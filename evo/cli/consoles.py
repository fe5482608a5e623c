"""Where commands write: a live display, or plain lines without a terminal; and how signals stop them."""

import contextlib
import importlib.util
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from types import FrameType

from rich.console import Console

from engine.console import plain_width
from engine.rich_screen import Screen
from evo.play.pool import InterruptedRunError

PLAIN_WIDTH = 140
"""Characters of a table without a terminal."""


class Output(Screen):
    """A console that stops what is being played when nobody reads it any more, as after `| head -1`.

    Attributes:
        stoppable: what stops then, and says how to go on; None: the command ends without a word.
    """

    stoppable: "Stoppable | None" = None

    def on_no_reader(self) -> None:
        """Stop.

        Raises:
            SystemExit: nothing is there to be stopped.
        """
        if self.stoppable is None:
            super().on_no_reader()
        else:
            self.stoppable.stopping = signal.SIGPIPE


class Stoppable:
    """Something that a signal can ask to stop, or the end of who reads its output.

    Attributes:
        stopping: number of the signal; 0 without one.
        at_once: whether a signal raises `KeyboardInterrupt` wherever the program is, as nothing is kept yet.
        parent: a signal to it stops this one too.
    """

    console: Console
    stopping = 0
    at_once = False
    parent: "Stoppable | None" = None

    def raise_if_stopped(self) -> None:
        """Stop if a signal asked for it.

        Raises:
            InterruptedRunError: a signal asked to stop.
        """
        if self.stopping:
            raise InterruptedRunError(self.stopping)
        if self.parent is not None:
            self.parent.raise_if_stopped()


@contextlib.contextmanager
def stop_on_signals(display: Stoppable) -> Iterator[None]:
    """In this context Ctrl-C and SIGTERM ask the run to stop; a second one ends the process at once.

    So does the end of who reads its output. Only the main thread may handle signals.

    Raises:
        KeyboardInterrupt: at a signal while the display is to stop `at_once`; its argument is the signal.
    """
    if isinstance(display.console, Output):
        display.console.stoppable = display
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, _: FrameType | None) -> None:
        if display.stopping:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        display.stopping = number
        if display.at_once:
            raise KeyboardInterrupt(number)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def output_console(stderr: bool = False) -> Console:
    """Standard output or error: live on a terminal and in a notebook, plain lines of any length elsewhere.

    Tables elsewhere are as wide as COLUMNS says, or `PLAIN_WIDTH`. A notebook is live with ipywidgets alone.
    """
    if (sys.stderr if stderr else sys.stdout).isatty():
        return Output(stderr=stderr)
    notebook = Screen().is_jupyter
    if notebook and importlib.util.find_spec("ipywidgets"):
        return Output()
    terminal = False if notebook else None  # kernels ask for colours, which are for terminals
    return Output(
        soft_wrap=True,
        width=plain_width(PLAIN_WIDTH),
        stderr=stderr,
        force_jupyter=False,
        force_terminal=terminal,
    )


def is_live(console: Console) -> bool:
    """Whether a console shows bars that move."""
    return console.is_terminal or console.is_jupyter


def print_problems(console: Console, problems: Iterable[str]) -> None:
    """A warning for each, such as damage that was found in a folder."""
    for problem in problems:
        console.print(f"warning: {problem}", markup=False, highlight=False, style="bold red")
