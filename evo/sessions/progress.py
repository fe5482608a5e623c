"""Progress displays of commands: a live bar, or plain lines without a terminal; stops by signals."""

import contextlib
import importlib.util
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Table
from rich.text import Text

from engine.decks import coverage_sentence
from engine.terminal import print_error
from evo.config.benchmarks import SEVEN
from evo.config.messages import duration
from evo.evolution.fitness import Tally
from evo.evolution.validation import StopDecision, Validation
from evo.play.pool import InterruptedRunError
from evo.storage.run_folder import RunFolder
from evo.strategies import GenerationResult, Strategy, find_strategy
from evo.terminal.console import SafeConsole, table_width

PLAIN_WIDTH = 140
"""Width in characters of a table without a terminal."""


class CommandConsole(SafeConsole):
    """Console that stops the running games when the reader of its output closes the pipe: `| head -1`.

    Attributes:
        stoppable: the display whose games stop; None: the command exits silently.
    """

    stoppable: "Stoppable | None" = None

    def on_no_reader(self) -> None:
        """Stop the running games; exit if there are none.

        Raises:
            SystemExit: there are no games to stop.
        """
        if self.stoppable is None:
            super().on_no_reader()
        else:
            self.stoppable.stopping = signal.SIGPIPE


class Stoppable:
    """Base of progress displays; the displayed games stop on a signal or a closed pipe.

    Attributes:
        stopping: number of the signal received; 0 for none.
        stops_immediately: whether a signal raises `KeyboardInterrupt`, since there is nothing to save yet.
        parent: a display whose stop also stops this one.
        telling: whether the message of a signal is still to be printed.
    """

    console: Console
    stopping = 0
    stops_immediately = False
    parent: "Stoppable | None" = None
    telling = False

    def raise_if_stopped(self) -> None:
        """Raise if a signal was received, once its message is printed: what follows it is printed later.

        Raises:
            InterruptedRunError: a signal was received.
        """
        if self.stopping:
            until = time.monotonic() + MESSAGE_SECONDS
            while self.telling and time.monotonic() < until:
                time.sleep(0.001)
            raise InterruptedRunError(self.stopping)
        if self.parent is not None:
            self.parent.raise_if_stopped()


MESSAGE_SECONDS = 1.0
"""Longest time to wait for a message to be printed: standard error may be a full pipe."""

STOPPING = "stopping after the games in play; a second signal ends the program at once"


def _print_messages(display: Stoppable, messages: "SimpleQueue[str]") -> None:
    """Print the messages of a signal handler, which may not print itself: it may interrupt a print.

    Lines go above a live bar; without one they go to standard error. An empty message is the last.
    """
    for message in iter(messages.get, ""):
        if is_live(display.console):
            display.console.print(message, markup=False, highlight=False)
        elif not display.console.quiet:
            print_error(message)
        display.telling = False


@contextlib.contextmanager
def stop_on_signals(display: Stoppable) -> Iterator[None]:
    """Context in which Ctrl-C, SIGTERM or a closed pipe stops the displayed games; a second signal kills.

    The first signal prints `STOPPING`. Signals are handled in the main thread only.

    Raises:
        KeyboardInterrupt: a signal while `stops_immediately` is set; its argument is the signal.
    """
    if isinstance(display.console, CommandConsole):
        display.console.stoppable = display
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    messages: SimpleQueue[str] = SimpleQueue()  # its `put` is safe in a signal handler
    printing = threading.Thread(target=_print_messages, args=(display, messages), daemon=True)
    printing.start()

    def handle(number: int, _: FrameType | None) -> None:
        if display.stopping:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        display.stopping = number
        if display.stops_immediately:
            raise KeyboardInterrupt(number)
        display.telling = True
        messages.put(STOPPING)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        messages.put("")
        printing.join()


def output_console(stderr: bool = False) -> Console:
    """Console on standard output or error: live on a terminal or in a notebook, else plain lines.

    Plain tables have the width of COLUMNS, or `PLAIN_WIDTH`. A notebook needs ipywidgets for live output.
    """
    if (sys.stderr if stderr else sys.stdout).isatty():
        return CommandConsole(stderr=stderr)
    notebook = SafeConsole().is_jupyter
    if notebook and importlib.util.find_spec("ipywidgets"):
        return CommandConsole()
    terminal = False if notebook else None  # notebook kernels claim colours, which need a terminal
    return CommandConsole(
        soft_wrap=True,
        width=table_width(PLAIN_WIDTH),
        stderr=stderr,
        force_jupyter=False,
        force_terminal=terminal,
    )


def is_live(console: Console) -> bool:
    """Whether a console shows live progress bars."""
    return console.is_terminal or console.is_jupyter


def print_problems(console: Console, problems: Iterable[str]) -> None:
    """Print a warning for each problem, such as damage found in a folder."""
    for problem in problems:
        console.print(f"warning: {problem}", markup=False, highlight=False, style="bold red")


SHORTEST_BAR, LONGEST_BAR = 8, 40
"""Least and greatest width of a bar in characters."""


class LinePart(NamedTuple):
    """Part of a progress line.

    Attributes:
        column: draws the part.
        importance: 0: always shown; of the others the highest number is dropped first.
    """

    column: ProgressColumn
    importance: int = 0


class TimeLeft(ProgressColumn):
    """Column with the time left; empty while it is unknown."""

    max_refresh = 0.5  # seconds

    def render(self, task: Task) -> Text:
        """Text such as "11 h 58 min left"."""
        left = task.time_remaining
        return Text("" if left is None else f"{duration(left)} left", style="progress.remaining")


class FittedProgress(Progress):
    """One-line progress bar that drops its least important parts to fit the terminal.

    Args:
        parts: the parts from left to right.
        console: the terminal.
    """

    def __init__(self, parts: Sequence[LinePart], console: Console) -> None:
        self._parts, self._terminal = parts, console
        super().__init__(*(part.column for part in parts), console=console, transient=True)

    def make_tasks_table(self, tasks: Iterable[Task]) -> Table:
        """Table of the parts that fit the terminal, for the only task."""
        shown = list(tasks)
        left, places = self._terminal.width + 1, set()  # no space after the last
        for place in sorted(range(len(self._parts)), key=lambda place: self._parts[place].importance):
            part = self._parts[place]
            width = max((self._width(part.column, task) for task in shown), default=0) + 1
            if width > 1 and (part.importance == 0 or width <= left):
                places.add(place)
                left -= width
        chosen = [self._parts[place].column for place in sorted(places)]
        for column in chosen:
            if isinstance(column, BarColumn):
                column.bar_width = min(LONGEST_BAR, SHORTEST_BAR + max(0, left))
        self.columns = tuple(chosen)
        return super().make_tasks_table(shown)

    def _width(self, column: ProgressColumn, task: Task) -> int:
        """Width of a progress column in characters."""
        if isinstance(column, BarColumn):
            return SHORTEST_BAR
        return Measurement.get(self._terminal, self._terminal.options, column(task)).maximum


def fitted_line(parts: Sequence[tuple[str, int]], width: int) -> str:
    """Join parts by commas, dropping the least important ones until they fit a width.

    Args:
        parts: texts with importance: 0 is always kept; of the others the highest number is dropped first.
        width: of the line, in characters.
    """
    kept = list(parts)
    while len(", ".join(text for text, _ in kept)) > width:
        least = max(kept, key=lambda part: part[1])
        if least[1] == 0:
            break
        kept.remove(least)
    return ", ".join(text for text, _ in kept)


LEGEND = (
    "{best}\n"
    "spread: standard deviation of weight shares among parents; step: median step size; "
    "new: parents created in this generation"
)
"""Meaning of the numbers in a generation's line, printed once."""

BEST_LEGEND = (
    "best: win rate of a generation's best against its own generation, which does not rise with strength"
)
BEST_LEGEND_CHOSEN = "best: score of a generation's best against its opponents, by their shares"

VALIDATION_LEGEND = (
    "{best}: its score against {opponents}, which rises with strength; centre: that of the mean of the "
    "parents, or the strategy's mean"
)
"""Meaning of the numbers that only runs with validation show."""

SPEED_WINDOW = 20.0
"""Time window of the speed, in seconds."""

LINE_SECONDS = 10.0
"""Seconds between progress lines of a tournament without a terminal."""


class RunDisplay(Stoppable):
    """Progress display of an evolution run: generation, speed, time left, best, spread and step sizes.

    Args:
        console: the output; without a terminal, one plain line per generation.
        tensorboard: whether to write scalars into the run folder's `tensorboard/`.
        name: of one run among several, printed before each plain line; "" for a live display.
    """

    def __init__(self, console: Console, tensorboard: bool = False, name: str = "") -> None:
        self.console = console
        self._before = f"{name}: " if name else ""
        self._tensorboard = tensorboard
        self._writer: Any = None
        self._bar: Progress | None = None
        self._task: Any = None
        self._left = 0
        self._recent: deque[tuple[float, int]] = deque()
        self._generations = 0
        self._inert: frozenset[str] = frozenset()
        self._benchmark = SEVEN
        self._validated = ""

    def of_run(self, name: str) -> "RunDisplay":
        """Plain-line display for one run among several; a stop of this display stops that one too."""
        display = RunDisplay(self.console, self._tensorboard, name)
        display.parent = self
        return display

    def say(self, text: str) -> None:
        """Print a line; nothing if the text is empty."""
        if text:
            self.console.print(text, markup=False, highlight=False)

    def begin(self, folder: RunFolder, games: int) -> None:
        """Show the heading of a run that starts or resumes; start a bar for the `games` left to play."""
        config = folder.config
        self._generations = config.generations
        self._inert = config.inert_weights
        self._benchmark = config.found_benchmark
        self._left = games
        print_problems(self.console, folder.problems)
        sizes = find_strategy(config.strategy).sizes(config.mu, config.lambda_)
        if not games:
            text = f"run {folder.path}: finished, {config.generations} generations"
            self.console.print(text, markup=False, highlight=False)
            return
        begin = f"from generation {folder.committed} of" if folder.committed else "of"
        self.console.print(
            f"run {folder.path}: {config.agent}, strategy {config.strategy}, {sizes}, "
            f"{begin} {config.generations} generations, {games:,} games to play",
            markup=False,
            highlight=False,
        )
        coverage = coverage_sentence(config.found_decks)
        self.console.print(coverage, markup=False, highlight=False)
        if games and not self._before:
            best = BEST_LEGEND_CHOSEN if config.opponents.beside else BEST_LEGEND
            self.console.print(LEGEND.format(best=best), markup=False, highlight=False)
            if config.validation.every:
                benchmark = self._benchmark
                self.say(VALIDATION_LEGEND.format(best=benchmark.best, opponents=benchmark.long))
        if self._tensorboard:
            from tensorboardX import SummaryWriter

            self._writer = SummaryWriter(str(folder.path / "tensorboard"))
        if is_live(self.console) and not self._before:
            self._bar = FittedProgress(
                (
                    LinePart(TextColumn("generation {task.fields[generation]}")),
                    LinePart(BarColumn(), 4),
                    LinePart(TextColumn("{task.completed:,.0f}/{task.total:,.0f} games"), 5),
                    LinePart(TextColumn("{task.fields[speed]}"), 1),
                    LinePart(TimeLeft()),
                    LinePart(TextColumn("{task.fields[best]}"), 3),
                    LinePart(TextColumn("{task.fields[validated]}"), 2),
                    LinePart(TextColumn("{task.fields[rest]}"), 6),
                ),
                self.console,
            )
            at = f"{folder.committed}/{config.generations}"
            texts: dict[str, Any] = dict.fromkeys(("speed", "validated", "best", "rest"), "")
            self._task = self._bar.add_task("", total=games, generation=at, **texts)
            self._bar.start()

    def advance(self, games: int) -> None:
        """Count finished games; stop if a signal was received.

        Raises:
            InterruptedRunError: a signal was received.
        """
        self.raise_if_stopped()
        self._left -= games
        now = time.monotonic()
        self._recent.append((now, games))
        while now - self._recent[0][0] > SPEED_WINDOW:
            self._recent.popleft()
        if self._bar is not None:
            self._bar.update(self._task, advance=games, speed=f"{self.speed():,.0f} games/s")

    def speed(self) -> float:
        """Finished games per second, over the last `SPEED_WINDOW` seconds."""
        if not self._recent:
            return 0.0
        seconds = time.monotonic() - self._recent[0][0]
        return sum(games for _, games in list(self._recent)[1:]) / seconds if seconds > 0 else 0.0

    def generation(
        self,
        told: GenerationResult,
        strategy: Strategy,
        tally: Tally,
        seconds: float,
        validation: Validation | None,
    ) -> None:
        """Show a committed generation, and the generation's validation if there is one."""
        n = len(told.individuals)
        games = int(tally.played(max(n, 1 + int(tally.pairings.max())))[:n].sum(axis=(1, 2)).max())
        vector = strategy.parameters.vector
        shares = np.nan_to_num(vector.active_shares(np.array(strategy.parents), self._inert))
        active = [name not in self._inert for name in vector.names()]
        scalars = {
            "best win rate": told.fitness.max() / games,
            "mean win rate of parents": float(np.mean(told.fitness[told.survived])) / games,
            "spread of weights": float(shares[:, active].std(axis=0).mean()),
            "median step size": strategy.step_size(),
            "games a second": float(tally.games.sum()) / seconds,
        }
        if told.generation:  # in generation 0 all parents are new
            scalars["new parents"] = float(
                sum(parent.birth == told.generation for parent in strategy.parents)
            )
        if validation is not None:
            scalars[self._benchmark.best] = validation.score
            if validation.centre is not None:
                scalars[self._benchmark.centre] = validation.centre
        if self._writer is not None:
            for name, value in scalars.items():
                self._writer.add_scalar(name, value, told.generation)
            for place, weight in enumerate(vector.names()):
                self._writer.add_scalar(f"weight/{weight}", shares[:, place].mean(), told.generation)
            own = np.array([strategy.values(parent) for parent in strategy.parents])
            for place, column in enumerate(strategy.columns(vector.names())):
                name = column.replace("_", "/", 1)  # sigma_face is shown in the group sigma
                self._writer.add_scalar(name, np.median(own[:, place]), told.generation)
        best = f"best {scalars['best win rate']:.1%}"
        spread = f"spread {scalars['spread of weights']:.3f}"
        step = f"step {scalars['median step size']:.3f}"
        seven = "" if validation is None else f"{self._benchmark.best} {validation.score:.1%}"
        centre = "" if validation is None or validation.centre is None else f"centre {validation.centre:.1%}"
        if self._bar is not None:
            at = f"{min(told.generation + 1, self._generations)}/{self._generations}"
            rest = f"{spread}, {step}"
            if seven:
                both = ", ".join(filter(None, (seven, centre)))
                self._validated = f"{both} ({told.generation})"  # stays beside later generations
            self._bar.update(self._task, generation=at, validated=self._validated, best=best, rest=rest)
            return
        left = self._left / self.speed() if self.speed() else 0.0
        parts = [(best, 3)] + ([(seven, 2)] if seven else []) + ([(centre, 2)] if centre else [])
        parts += [(spread, 5), (step, 6)]
        parts += [(f"{int(scalars['new parents'])} new", 4)] if told.generation else []
        parts += [(f"{scalars['games a second']:,.0f} games/s", 1), (f"{duration(left)} left", 0)]
        head = f"{self._before}generation {told.generation}/{self._generations}: "
        width = self.console.width - len(head) if self.console.is_terminal else sys.maxsize
        line = head + fitted_line(parts, width)
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def stopped(self, stop: StopDecision) -> None:
        """Print why the stop rule ends the run."""
        self.console.print(f"{self._before}{stop.sentence}", markup=False, highlight=False, soft_wrap=True)

    def final(self) -> None:
        """Show that the final has started."""
        if self._bar is not None:
            self._bar.update(self._task, best="the final", rest="")
        else:
            self.console.print(f"{self._before}the final", highlight=False)

    def close(self) -> None:
        """Clear the live display, and finish the TensorBoard file."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class GameCounter(Stoppable):
    """Progress display that counts games: a bar, or a line every `LINE_SECONDS` without a terminal.

    Args:
        console: the output.
        total: games to play.
        unit: what is counted.

    Attributes:
        total: games to play.
    """

    def __init__(self, console: Console, total: int, unit: str = "games") -> None:
        self.console = console
        self.total = total
        self._unit = unit
        self._played = 0
        self._began: float | None = None
        self._next_line = 0.0
        self._bar: Progress | None = None
        self._lock = threading.Lock()

    def begin(self, total: int) -> None:
        """Begin another part of the work, of `total` games, with a bar and a time left of its own."""
        self.close()
        self.total, self._played, self._began = total, 0, None

    def advance(self, games: int) -> None:
        """Count finished games; stop if a signal was received.

        Raises:
            InterruptedRunError: a signal was received.
        """
        self.raise_if_stopped()
        with self._lock:  # runs side by side share a counter
            self._advance(games)

    def _advance(self, games: int) -> None:
        now = time.monotonic()
        if self._began is None:
            self._began, self._next_line = now, now + LINE_SECONDS
            self._start_bar()
        self._played += games
        speed = self._played / (now - self._began) if now > self._began else 0.0
        if self._bar is not None:
            self._bar.update(self._task, advance=games, speed=f"{speed:,.0f} {self._unit}/s" if speed else "")
        elif now >= self._next_line and self.total:
            self._next_line = now + LINE_SECONDS
            left = f", {duration((self.total - self._played) / speed)} left" if speed else ""
            text = f"{self._played:,} of {self.total:,} {self._unit}, {speed:,.0f} a second{left}"
            self.console.print(text, highlight=False)

    def _start_bar(self) -> None:
        """Start the bar at the first games; earlier steps, such as compiling, have their own messages."""
        if is_live(self.console) and self.total:
            self._bar = FittedProgress(
                (
                    LinePart(BarColumn(), 2),
                    LinePart(TextColumn("{task.completed:,.0f}/{task.total:,.0f} " + self._unit)),
                    LinePart(TextColumn("{task.fields[speed]}"), 1),
                    LinePart(TimeLeft()),
                ),
                self.console,
            )
            self._task = self._bar.add_task("", total=self.total, speed="")
            self._bar.start()

    def close(self) -> None:
        """Clear the progress bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def default_folder(config: Path | str) -> Path:
    """Default run folder: `runs/<config>-<UTC time>`, below the current folder."""
    return Path("runs") / f"{Path(config).stem}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}"
