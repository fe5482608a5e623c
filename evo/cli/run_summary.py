"""What commands print about a run: estimate before, progress while watched, champion at its end."""

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
from typing import Any, NamedTuple

import typer
from rich.console import Console, ConsoleRenderable, Group, RenderableType
from rich.live import Live
from rich.table import Table as RichTable
from rich.text import Text

from engine.compile_progress import processors
from engine.terminal import say_error
from evo.analysis.listing import solved_sentence, solved_turns
from evo.analysis.tables import Runs, RunWarning, find_runs, read_runs
from evo.analysis.watching import RunView, view_run
from evo.config.messages import DAY, HOUR, duration
from evo.config.run_config import RunConfig
from evo.evolution.champion import CHAMPION_AGAINST_SEVEN, THESIS_SEVEN, panel_sentence
from evo.evolution.records import new_strategy
from evo.evolution.run import games_to_play, memory_of
from evo.play.games import Player, roster_of
from evo.play.matchups import Matchups, make_pairings
from evo.play.notation import entrant_text
from evo.play.pool import Pool
from evo.seeds import Stream
from evo.stats.ratings import verdict_of
from evo.storage.champion import read_final
from evo.storage.run_folder import RunError, peek_run
from evo.terminal.console import Column, FittingTable
from ilp_agent import WeightVector
from rivals import read_agent_profile

MOST_COLUMNS, WIDE = 8, 90
"""Most weights whose table has a column each, and the width that it needs."""

SHARES = "share of sum"
"""What weights are called that are divided by their sum, at any width."""

WEIGHT_COLUMNS = (
    Column("weight"),
    Column("as evolved", 2, right=True),
    Column(SHARES, 1, right=True),
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


def _whom(config: RunConfig, games: int) -> str:
    """What a champion's score in the final is of."""
    options = config.opponents
    if not options.fixed:
        return f"of {games:,} games against the other candidates"
    whom = "fixed opponents and the other candidates" if options.population else "the fixed opponents"
    return f"in {games:,} games against {whom}, by their shares"


def show_champion(path: Path, console: Console) -> None:
    """Print the champion's weights, its record, and its games against the thesis's seven."""
    config = peek_run(path).config
    profile = read_agent_profile(path / "champion.toml", config.vector)
    provenance: Mapping[str, Any] = profile.provenance
    title = f"champion: {provenance.get('candidate', '')}"
    console.print(_weights_table(profile.weights, config.inert_weights, title, console.width))
    final = provenance.get("final")
    if isinstance(final, dict):
        console.print(
            f"final: {final['win_rate']:.1%} {_whom(config, int(final['games']))} "
            f"(95% interval {final['low']:.1%} to {final['high']:.1%})",
            highlight=False,
        )
    games = read_final(peek_run(path))
    rows = games[games["stage"] == "thesis"]
    if len(rows):
        table = []
        for row in rows.itertuples():
            verdict = verdict_of(row.low, row.high)
            interval = f"{row.low:.1%} to {row.high:.1%}"
            counts = [f"{count:,}" for count in (row.games, row.wins, row.draws, row.losses)]
            table.append([row.opponent, *counts, f"{row.score:.1%}", interval, verdict])
        console.print(FittingTable(OPPONENT_COLUMNS, table))
        seven = provenance.get("against_thesis_seven")
        if isinstance(seven, dict):
            console.print(
                f"{CHAMPION_AGAINST_SEVEN}: {seven['win_rate']:.1%} of {rows['games'].sum():,} games "
                f"(95% interval {seven['low']:.1%} to {seven['high']:.1%})",
                highlight=False,
            )
        beaten = int((rows["low"] > 0.5).sum())
        console.print(f"beats {beaten} of the thesis's {len(THESIS_SEVEN)}", style="bold", highlight=False)
        panel = peek_run(path).manifest().get("panel")
        sentence = panel_sentence(panel) if isinstance(panel, dict) else ""
        if sentence:
            console.print(sentence, highlight=False)
    solved = solved_sentence(solved_turns([peek_run(path)]))
    if solved:
        console.print(solved, highlight=False)
    entrant = entrant_text(config.agent, path, config.options)
    console.print(
        f"profile: {path / 'champion.toml'}; play it as {shlex.quote(entrant)}",
        soft_wrap=True,
        markup=False,
    )


def _weights_table(vector: WeightVector, inert: frozenset[str], title: str, width: int) -> ConsoleRenderable:
    """Weights as evolved and scale-free: a column each if they fit a terminal, else a row each.

    Parameters of an outside agent are shown as it has them.
    """
    names, active = vector.names(), vector.active(inert)
    if not vector.COMPARABLE:
        named = zip(names, vector.array, vector.MEANINGS, strict=True)
        values_of = [(name, vector.shown(name, share), bounds) for name, share, bounds in named]
        return FittingTable(
            (Column("parameter"), Column("value", right=True), Column("bounds")), values_of, title
        )
    values = [f"{getattr(vector, name):.3f}" for name in names]
    shares = [f"{active[name]:.1%}" if name in active else "inert" for name in names]
    if len(names) <= MOST_COLUMNS and width >= WIDE:
        table = RichTable("weight", *names, title=title, title_justify="left")
        table.add_row("as evolved", *values)
        table.add_row(SHARES, *shares)
        return table
    rows = list(zip(names, values, shares, vector.MEANINGS[: len(names)], strict=True))
    return FittingTable(WEIGHT_COLUMNS, rows, title)


SLOWEST, SLOWEST_CARDS, SLOWEST_PYTHON = 500.0, 2.0, 0.3
"""Games a second of slow machines, compiled on bodies and on real cards, and in Python.

Less than an hour at these is not measured.
"""

SAMPLE_SECONDS = 0.5
SAMPLE_STAGE = 1002
"""Part of the address of the sample's deals."""

BUSY = 0.8
"""A machine that gives less than this part of the processors that a pool could use does other work too."""

FILE_BYTES, INDIVIDUAL_BYTES, CELL_BYTES = 14_000, 160, 3
"""Bytes of a generation's two files: a part of their own, a row of an individual, a row of `pairings/`."""


class Speed(NamedTuple):
    """Games a second of a pool.

    Attributes:
        now: as measured.
        share: of the processors that the pool could use, the part that it got meanwhile; 1 where that cannot
            be told, on Ray.
    """

    now: float
    share: float = 1.0


def begin_or_refuse(config: RunConfig, runs: int, pool: Pool, console: Console, sure: bool) -> None:
    """Say how long runs of more than an hour will take; of more than a day, ask first.

    Args:
        config: of the runs.
        runs: how many.
        pool: that will play them; plays a sample.
        console: for the sentence.
        sure: begin without asking.

    Raises:
        typer.Exit: 2: longer than a day, not confirmed, and nobody to ask.
        typer.Abort: asked, and refused.
    """
    games = runs * games_to_play(config, 0)
    real = any(deck.effects for deck in config.found_decks)
    compiled = SLOWEST_CARDS if real else SLOWEST
    player = Player(backend=config.backend, kind=config.agent)
    if games / (compiled if player.compiled else SLOWEST_PYTHON) < HOUR:
        return
    speed = games_a_second(config, pool)
    seconds = games / speed.now
    if seconds < HOUR:
        return
    megabytes = disk_of(config) * runs / 1e6
    rate = f"{speed.now:,.0f}" if speed.now >= 10 else f"{speed.now:.2g}"
    said = f"{games:,} games: about {duration(seconds)} at {rate} games a second"
    console.print(f"{said}, {megabytes:,.0f} MB on disk", markup=False, highlight=False)
    if speed.share < BUSY:
        alone = f"without that work about {duration(seconds * speed.share)}"
        busy = (
            f"this machine does other work too: the sample had {speed.share:.0%} of the processors; {alone}"
        )
        console.print(busy, markup=False, highlight=False)
    if seconds < DAY or sure:
        return
    if not sys.stdin.isatty():
        say_error("manaforge: more than a day; to begin it all the same: --yes")
        raise typer.Exit(2)
    typer.confirm("Begin?", abort=True)


def refuse_without_memory(config: RunConfig) -> None:
    """Refuse a run that needs more memory than this machine has.

    Raises:
        RunError: it does.
    """
    need, memory = memory_of(config), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if need > memory:
        raise RunError(
            f"this run needs about {need / 1e9:,.0f} GB of memory, for the games of a generation or of the "
            f"final, and this machine has {memory / 1e9:,.0f} GB; choose less of mu, lambda, games, "
            "final.games or decks"
        )


def games_a_second(config: RunConfig, pool: Pool) -> Speed:
    """Speed of a pool on this configuration's games, between its first individuals."""
    individuals = new_strategy(config).ask()
    pairings = make_pairings(len(individuals), "round-robin", ())
    matchups = Matchups(pairings, len(config.decks), 10**6, config.seed, (Stream.FINAL, SAMPLE_STAGE))
    roster, count = roster_of(config, individuals), 2 * pool.workers
    if not all(player.compiled for player in roster.players):  # what is started or loaded first is no game
        pool.play(roster, matchups.schedule(0, pool.workers)[0], lambda _: None)
    while True:
        schedule, _ = matchups.schedule(0, count)
        began, used = time.perf_counter(), time.process_time()
        pool.play(roster, schedule, lambda _: None)
        seconds, used = time.perf_counter() - began, time.process_time() - used
        if seconds > SAMPLE_SECONDS:
            here = pool.name == "local" and bool(roster.compiled(schedule).all())
            return Speed(
                count / seconds, min(used / seconds / min(pool.workers, processors()), 1.0) if here else 1.0
            )
        count *= 4


def disk_of(config: RunConfig) -> float:
    """About how many bytes a whole run takes."""
    n = config.mu + config.lambda_
    cells = n * (n - 1) / 2 * len(config.decks) ** 2
    return (config.generations + 1) * (FILE_BYTES + INDIVIDUAL_BYTES * n + CELL_BYTES * cells)


GRACE_SECONDS = 5.0
"""How long no run may go on before a watch ends: between two runs of a study there is a moment without."""

LEAVE = "q leaves"


def read_quietly(paths: list[Path]) -> Runs:
    """Read runs without Python warnings; the command prints their problems itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        return read_runs(paths)


def look(paths: list[Path]) -> tuple[list[RunView], list[Text]]:
    """The present state of all runs, and what cannot be read."""
    find_runs(paths)
    try:
        found = read_quietly(paths)
    except RunError as error:
        return [], [Text(str(error))]
    problems = [Text(f"warning: {problem}", style="bold red") for problem in found.problems]
    return [view_run(found, name) for name in found.folders], problems


def whole(views: Sequence[RunView], problems: Sequence[Text]) -> RenderableType:
    """All of all runs; below it what cannot be read."""
    return Group(*(view.whole for view in views), *problems)


def fitting(
    console: Console, views: Sequence[RunView], problems: Sequence[Text], height: int
) -> RenderableType:
    """As much as so many lines hold, running runs first.

    Every run has its first line as long as they fit; then come the newest generations of one run after the
    other, as a table or in a line, and at last their weights.
    """
    order = sorted(range(len(views)), key=lambda place: views[place].state.word != "running")
    left = height - sum(_lines(console, problem) for problem in problems)
    heads: list[int] = []
    for place in order:
        lines = _lines(console, views[place].head)
        spare = 0 if len(heads) == len(views) - 1 else 1  # for the line on those without
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


def watch(console: Console, paths: list[Path], every: float) -> None:
    """Draw runs until none of them goes on any more, or someone leaves by q or Ctrl-C.

    Args:
        console: the terminal.
        paths: of the runs, or of studies.
        every: seconds between two looks.
    """
    leave = Text(LEAVE, style="dim")
    views, problems = look(paths)
    last_running = time.monotonic() if _any_runs(views) else -GRACE_SECONDS
    with (
        contextlib.suppress(KeyboardInterrupt),
        pressed_keys() as pressed,
        Live(console=console, auto_refresh=False, vertical_overflow="crop") as live,
    ):
        while True:
            now = time.monotonic()
            last_running = now if _any_runs(views) else last_running
            height = console.height - 1
            over = now - last_running >= GRACE_SECONDS
            drawn = fitting(console, views, problems, height if over else height - 1)
            live.update(drawn if over else Group(drawn, leave), refresh=True)
            if over:
                return
            if "q" in pressed(every).lower():
                live.update(drawn, refresh=True)
                return
            views, problems = look(paths)


@contextlib.contextmanager
def pressed_keys() -> Iterator[Callable[[float], str]]:
    """A function that waits for so many seconds, or until a key is pressed, and returns what was typed."""
    if not sys.stdin.isatty():
        yield _wait
        return

    def pressed(seconds: float) -> str:
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        return os.read(sys.stdin.fileno(), 64).decode(errors="replace") if ready else ""

    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin, termios.TCSADRAIN)  # what was typed before is kept
        yield pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _wait(seconds: float) -> str:
    time.sleep(seconds)
    return ""


def _any_runs(views: Sequence[RunView]) -> bool:
    return any(view.state.word == "running" for view in views)


def _lines(console: Console, part: RenderableType) -> int:
    """Lines that a part takes."""
    return len(console.render_lines(part, pad=False))
