"""Run summaries in the terminal: time estimate before, live view during, champion after a run."""

import contextlib
import os
import select
import shlex
import sys
import termios
import time
import tty
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import typer
from rich.console import Console, ConsoleRenderable, Group, RenderableType
from rich.live import Live
from rich.table import Table as RichTable
from rich.text import Text

from engine.terminal import print_error
from evo.analysis.listing import solved_sentence, solved_turns
from evo.analysis.tables import Runs, RunWarning, find_runs, read_runs
from evo.analysis.watching import RunView, view_run
from evo.config.messages import DAY
from evo.config.run_config import RunConfig
from evo.evolution.benchmark import baselines_summary
from evo.play.notation import entrant_text
from evo.play.pool import WorkerPool
from evo.sessions.estimates import print_estimate
from evo.stats.ratings import verdict_of
from evo.storage.champion import read_final
from evo.storage.run_folder import RunError, open_run_read_only
from evo.terminal.console import Column, FittingTable
from ilp_agent import WeightVector
from rivals import read_agent_profile

MOST_COLUMNS, WIDE = 8, 90
"""Most weights shown as columns of a table, and the terminal width that this needs."""

SHARES_HEADING = "share of sum"
"""Heading of weights divided by their sum."""

WEIGHT_COLUMNS = (
    Column("weight"),
    Column("as evolved", 2, right=True),
    Column(SHARES_HEADING, 1, right=True),
    Column("for", 3),
)
OPPONENT_COLUMNS = (
    Column("against"),
    Column("games", 3, right=True),
    Column("won", 4, right=True),
    Column("drawn", 6, right=True),
    Column("lost", 5, right=True),
    Column("win rate", right=True),
    Column("95% interval", 2, right=True),
    Column("", 1),
)


def _final_games_phrase(config: RunConfig, games: int) -> str:
    """Phrase for the games of a champion's score in the final."""
    options = config.opponents
    if not options.fixed:
        return f"of {games:,} games against the other candidates"
    opponents = "fixed opponents and the other candidates" if options.population else "the fixed opponents"
    return f"in {games:,} games against {opponents}, by their shares"


def show_champion(path: Path, console: Console) -> None:
    """Print a run's champion: weights, game record, and results against the benchmark."""
    config = open_run_read_only(path).config
    profile = read_agent_profile(path / "champion.toml", config.vector)
    provenance: Mapping[str, Any] = profile.provenance
    title = f"champion: {provenance.get('candidate', '')}"
    console.print(_weights_table(profile.weights, config, title, console.width))
    final = provenance.get("final")
    if isinstance(final, dict):
        console.print(
            f"final: {final['win_rate']:.1%} {_final_games_phrase(config, int(final['games']))} "
            f"(95% interval {final['low']:.1%} to {final['high']:.1%})",
            highlight=False,
        )
    games = read_final(open_run_read_only(path))
    benchmark = config.found_benchmark
    rows = games[games["stage"] == benchmark.stage]
    if len(rows):
        table = []
        for row in rows.itertuples():
            verdict = verdict_of(row.low, row.high)
            interval = f"{row.low:.1%} to {row.high:.1%}"
            counts = [f"{count:,}" for count in (row.games, row.wins, row.draws, row.losses)]
            table.append([row.opponent, *counts, f"{row.score:.1%}", interval, verdict])
        console.print(FittingTable(OPPONENT_COLUMNS, table))
        record = provenance.get(benchmark.record)
        if isinstance(record, dict):
            console.print(
                f"{benchmark.champion}: {record['win_rate']:.1%} of {rows['games'].sum():,} games "
                f"(95% interval {record['low']:.1%} to {record['high']:.1%})",
                highlight=False,
            )
        beaten = int((rows["low"] > 0.5).sum())
        text = f"beats {beaten} of {benchmark.owner} {len(rows)}"
        console.print(text, style="bold", highlight=False)
        manifest = open_run_read_only(path).manifest()
        baselines = manifest.get("baselines", manifest.get("panel"))  # `panel` in older folders
        sentence = baselines_summary(baselines, benchmark) if isinstance(baselines, dict) else ""
        if sentence:
            console.print(sentence, highlight=False)
    solved = solved_sentence(solved_turns([open_run_read_only(path)]))
    if solved:
        console.print(solved, highlight=False)
    entrant = entrant_text(config.agent, path, config.options)
    console.print(
        f"profile: {path / 'champion.toml'}; play it as {shlex.quote(entrant)}",
        soft_wrap=True,
        markup=False,
    )


def _weights_table(vector: WeightVector, config: RunConfig, title: str, width: int) -> ConsoleRenderable:
    """Table of raw and scale-free weights: as columns if they fit the terminal, else as rows.

    Parameters of an agent from outside are shown as its raw values.
    """
    names, active = vector.names(), vector.active(config.inert_weights)
    if not vector.COMPARABLE:
        named = zip(names, vector.array, vector.MEANINGS, strict=True)
        values_of = [(name, vector.format_share(name, share), bounds) for name, share, bounds in named]
        return FittingTable(
            (Column("parameter"), Column("value", right=True), Column("bounds")), values_of, title
        )
    values = [f"{getattr(vector, name):.3f}" for name in names]
    left_out = {name: "fixed" if name in config.fixed_weights else "inert" for name in names}
    shares = [f"{active[name]:.1%}" if name in active else left_out[name] for name in names]
    if len(names) <= MOST_COLUMNS and width >= WIDE:
        table = RichTable("weight", *names, title=title, title_justify="left")
        table.add_row("as evolved", *values)
        table.add_row(SHARES_HEADING, *shares)
        return table
    rows = list(zip(names, values, shares, vector.MEANINGS[: len(names)], strict=True))
    return FittingTable(WEIGHT_COLUMNS, rows, title)


def confirm_long_runs(config: RunConfig, runs: int, pool: WorkerPool, console: Console, sure: bool) -> None:
    """Print a time estimate of runs longer than an hour; ask for confirmation beyond a day.

    Args:
        config: configuration of the runs.
        runs: number of runs.
        pool: the worker pool of the runs, which plays a sample.
        console: the output.
        sure: begin without asking.

    Raises:
        typer.Exit: with 2, if it takes more than a day and there is no terminal to ask on.
        typer.Abort: the user declined.
    """
    if print_estimate(config, runs, pool, console) < DAY or sure:
        return
    if not sys.stdin.isatty():
        print_error("manaforge: this takes more than a day; to start anyway, add --yes")
        raise typer.Exit(2)
    typer.confirm("Begin?", abort=True)


GRACE_SECONDS = 5.0
"""Seconds without a running run after which a watch ends; runs of a study have gaps between them."""

QUIT_HINT = "press q to quit"


def read_runs_without_warnings(paths: list[Path]) -> Runs:
    """Read runs without Python warnings; commands print the problems themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        return read_runs(paths)


def read_run_views(paths: list[Path]) -> tuple[list[RunView], list[Text]]:
    """Views of the current state of all runs, and warnings about unreadable parts."""
    find_runs(paths)
    try:
        found = read_runs_without_warnings(paths)
    except RunError as error:
        return [], [Text(str(error))]
    problems = [Text(f"warning: {problem}", style="bold red") for problem in found.problems]
    return [view_run(found, name) for name in found.folders], problems


def full_views(views: Sequence[RunView], problems: Sequence[Text]) -> RenderableType:
    """Full views of all runs, then the warnings."""
    return Group(*(view.whole for view in views), *problems)


def views_that_fit(
    console: Console, views: Sequence[RunView], problems: Sequence[Text], height: int
) -> RenderableType:
    """Views of the runs, shortened to fit `height` lines, running runs first.

    First lines of all runs come first, as far as they fit; then the newest generations of each run, as a
    table or a line; then the weights.
    """
    order = sorted(range(len(views)), key=lambda place: views[place].state.word != "running")
    left = height - sum(_lines(console, problem) for problem in problems)
    heads: list[int] = []
    for place in order:
        lines = _lines(console, views[place].head)
        spare = 0 if len(heads) == len(views) - 1 else 1  # for the line that counts the others
        if lines + spare > left:
            break
        heads.append(place)
        left -= lines
    shown: dict[int, list[RenderableType]] = {place: [views[place].head] for place in heads}
    for candidates in (
        lambda view: (view.course, view.newest),
        lambda view: (view.weights,),
    ):
        for place in heads:
            for part in candidates(views[place]):
                lines = _lines(console, part) if part is not None else 0
                if part is not None and lines <= left - (len(heads) < len(views)):
                    shown[place].append(part)
                    left -= lines
                    break
    parts = chain.from_iterable(shown[place] for place in sorted(shown))
    others = len(views) - len(heads)
    rest = [Text(f"and {others} more", style="dim")] if others else []
    return Group(*parts, *rest, *problems)


def watch_runs(console: Console, paths: list[Path], every: float) -> None:
    """Draw runs live until none is running, or until q or Ctrl-C.

    Args:
        console: the terminal.
        paths: run folders, or folders of studies.
        every: seconds between updates.
    """
    leave = Text(QUIT_HINT, style="dim")
    views, problems = read_run_views(paths)
    last_running = time.monotonic() if _any_running(views) else -GRACE_SECONDS
    with (
        contextlib.suppress(KeyboardInterrupt),
        pressed_keys() as pressed,
        Live(console=console, auto_refresh=False, vertical_overflow="crop") as live,
    ):
        while True:
            now = time.monotonic()
            last_running = now if _any_running(views) else last_running
            height = console.height - 1
            over = now - last_running >= GRACE_SECONDS
            drawn = views_that_fit(console, views, problems, height if over else height - 1)
            live.update(drawn if over else Group(drawn, leave), refresh=True)
            if over:
                return
            if "q" in pressed(every).lower():
                live.update(drawn, refresh=True)
                return
            views, problems = read_run_views(paths)


@contextlib.contextmanager
def pressed_keys() -> Iterator[Callable[[float], str]]:
    """Yield a function that waits up to some seconds for pressed keys, and returns them."""
    if not sys.stdin.isatty():
        yield _wait
        return

    def pressed(seconds: float) -> str:
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        return os.read(sys.stdin.fileno(), 64).decode(errors="replace") if ready else ""

    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin, termios.TCSADRAIN)  # keeps keys typed before
        yield pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _wait(seconds: float) -> str:
    time.sleep(seconds)
    return ""


def _any_running(views: Sequence[RunView]) -> bool:
    return any(view.state.word == "running" for view in views)


def _lines(console: Console, part: RenderableType) -> int:
    """Height of a rendered part in lines."""
    return len(console.render_lines(part, pad=False))
