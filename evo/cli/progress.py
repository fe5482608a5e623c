"""The progress of runs: a live display, or plain lines without a terminal; TensorBoard; signals."""

import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from engine.decks import coverage_of
from evo.cli.bars import FittingProgress, Part, TimeLeft, fitted_line
from evo.cli.consoles import Stoppable, is_live, print_problems
from evo.evolution.fitness import Tally
from evo.evolution.stopping import Stop
from evo.evolution.validation import BEST_AGAINST_SEVEN, CENTRE_AGAINST_SEVEN, Validation
from evo.storage.store import RunFolder
from evo.strategies import Strategy, Told, find_strategy
from evo.wording import duration

LEGEND = (
    "{best}\n"
    "spread: how far the parents' shares lie apart; step: their median step size; new: parents born just now"
)
"""What the numbers of a generation mean, said once."""

BEST_LEGEND = (
    "best: win rate of a generation's best against its own generation, which does not rise with strength"
)
BEST_LEGEND_CHOSEN = "best: score of a generation's best against its opponents, by their shares"

VALIDATION_LEGEND = (
    f"{BEST_AGAINST_SEVEN}: its score against the thesis's seven profiles, which rises with strength; "
    "centre: that of the mean of the parents, or where else the strategy stands"
)
"""The same of what only runs with validation show."""

SPEED_WINDOW = 20.0
"""Seconds over which the speed is measured."""

LINE_SECONDS = 10.0
"""Seconds between progress lines of a tournament without a terminal."""


class Display(Stoppable):
    """Shows a run on a console: generation, games a second, time left, best, spread and step sizes.

    Args:
        console: the output; without a terminal, one plain line a generation.
        tensorboard: whether to write scalars into the run folder's `tensorboard/`.
        name: of a run among several, printed before each line, without a live display.
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
        self._validated = ""

    def of_run(self, name: str) -> "Display":
        """A display of plain lines for one run among several, which stops when this one does."""
        display = Display(self.console, self._tensorboard, name)
        display.parent = self
        return display

    def say(self, text: str) -> None:
        """Print a line, if there is something to say."""
        if text:
            self.console.print(text, markup=False, highlight=False)

    def begin(self, folder: RunFolder, games: int) -> None:
        """A run starts or is resumed."""
        config = folder.config
        self._generations = config.generations
        self._inert = config.inert_weights
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
        coverage = coverage_of(config.found_decks)
        self.console.print(coverage, markup=False, highlight=False)
        if games and not self._before:
            best = BEST_LEGEND_CHOSEN if config.opponents.beside else BEST_LEGEND
            self.console.print(LEGEND.format(best=best), markup=False, highlight=False)
            if config.validation.every:
                self.console.print(VALIDATION_LEGEND, markup=False, highlight=False)
        if self._tensorboard:
            from tensorboardX import SummaryWriter

            self._writer = SummaryWriter(str(folder.path / "tensorboard"))
        if is_live(self.console) and not self._before:
            self._bar = FittingProgress(
                (
                    Part(TextColumn("generation {task.fields[generation]}")),
                    Part(BarColumn(), 4),
                    Part(TextColumn("{task.completed:,.0f}/{task.total:,.0f} games"), 5),
                    Part(TextColumn("{task.fields[speed]}"), 1),
                    Part(TimeLeft()),
                    Part(TextColumn("{task.fields[best]}"), 3),
                    Part(TextColumn("{task.fields[validated]}"), 2),
                    Part(TextColumn("{task.fields[rest]}"), 6),
                ),
                self.console,
            )
            at = f"{folder.committed}/{config.generations}"
            texts: dict[str, Any] = dict.fromkeys(("speed", "validated", "best", "rest"), "")
            self._task = self._bar.add_task("", total=games, generation=at, **texts)
            self._bar.start()

    def advance(self, games: int) -> None:
        """Count finished games; stop if a signal asked for it.

        Raises:
            InterruptedRunError: a signal asked to stop.
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
        """Games a second, over the last `SPEED_WINDOW` seconds."""
        if not self._recent:
            return 0.0
        seconds = time.monotonic() - self._recent[0][0]
        return sum(games for _, games in list(self._recent)[1:]) / seconds if seconds > 0 else 0.0

    def generation(
        self, told: Told, strategy: Strategy, tally: Tally, seconds: float, validation: Validation | None
    ) -> None:
        """Show a committed generation, and its validation if it has one."""
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
        if told.generation:  # in the first all are
            scalars["new parents"] = float(
                sum(parent.birth == told.generation for parent in strategy.parents)
            )
        if validation is not None:
            scalars[BEST_AGAINST_SEVEN] = validation.score
            if validation.centre is not None:
                scalars[CENTRE_AGAINST_SEVEN] = validation.centre
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
        seven = "" if validation is None else f"{BEST_AGAINST_SEVEN} {validation.score:.1%}"
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

    def stopped(self, stop: Stop) -> None:
        """Say why the stop rule ends the run."""
        self.console.print(f"{self._before}{stop.sentence}", markup=False, highlight=False, soft_wrap=True)

    def final(self) -> None:
        """Show that the final starts."""
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


class Counter(Stoppable):
    """Shows how many games of a tournament are played: a bar, or occasional lines without a terminal.

    Args:
        console: the output.
        total: games to play.

    Attributes:
        total: games to play.
    """

    def __init__(self, console: Console, total: int) -> None:
        self.console = console
        self.total = total
        self._played = 0
        self._began: float | None = None
        self._next_line = 0.0
        self._bar: Progress | None = None
        self._lock = threading.Lock()

    def advance(self, games: int) -> None:
        """Count finished games; stop if a signal asked for it.

        Raises:
            InterruptedRunError: a signal asked to stop.
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
            self._bar.update(self._task, advance=games, speed=f"{speed:,.0f} games/s" if speed else "")
        elif now >= self._next_line and self.total:
            self._next_line = now + LINE_SECONDS
            left = f", {duration((self.total - self._played) / speed)} left" if speed else ""
            text = f"{self._played:,} of {self.total:,} games, {speed:,.0f} a second{left}"
            self.console.print(text, highlight=False)

    def _start_bar(self) -> None:
        """Begin the bar with the first games: what comes before, such as compiling, has its own messages."""
        if is_live(self.console) and self.total:
            self._bar = FittingProgress(
                (
                    Part(BarColumn(), 2),
                    Part(TextColumn("{task.completed:,.0f}/{task.total:,.0f} games")),
                    Part(TextColumn("{task.fields[speed]}"), 1),
                    Part(TimeLeft()),
                ),
                self.console,
            )
            self._task = self._bar.add_task("", total=self.total, speed="")
            self._bar.start()

    def close(self) -> None:
        """Clear the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def default_folder(config: Path | str) -> Path:
    """`runs/<config>-<UTC time>`, below the current folder."""
    return Path("runs") / f"{Path(config).stem}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}"
