"""Live view of a run for the terminal, made from the run's tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from rich.console import Group, RenderableType
from rich.text import Text

from evo.analysis.listing import RunState, state_of
from evo.analysis.progress import validated_progress
from evo.analysis.tables import Runs, last_population, names_of, newcomers, read_validation, shares_of
from evo.config.messages import duration
from evo.evolution.validation import BEST, CENTRE
from evo.terminal.console import Column, FittingTable
from ilp_agent.weights import WeightVector

BARS = "▁▂▃▄▅▆▇█"
MOST_BARS = 48
"""Most bars in a sparkline."""

FEWEST_BARS = 12
"""Fewest bars to which a sparkline is resampled."""


def resample(bars: str, width: int) -> str:
    """Shorten a sparkline to `width` bars: each is the mean of those that it stands for, none is dropped."""
    if len(bars) <= width:
        return bars
    parts = np.array_split([BARS.index(bar) for bar in bars], width)
    return "".join(BARS[round(part.mean())] for part in parts)


def history_columns(first: int, last: int) -> tuple[Column, ...]:
    """Headings of the table of measures by generation."""
    return (
        Column("by generation"),
        Column(f"generation {first}", 2),
        Column("", 1, shortest=FEWEST_BARS, shorten=resample),
        Column(f"generation {last}"),
    )


def weight_columns(first: int, last: int, what: str = "share") -> tuple[Column, ...]:
    """Headings of the table of weights by generation."""
    return (
        Column("weight"),
        Column(f"generation {first}", 3),
        Column(f"mean {what} by generation", 1, shortest=FEWEST_BARS, shorten=resample),
        Column(f"generation {last}"),
        Column("interquartile range", 2, folds=True),
    )


def sparkline(values: Sequence[float] | np.ndarray, width: int = MOST_BARS) -> str:
    """Sparkline: values as bars from the least to the greatest, at most `width` of them."""
    array = np.asarray(values, float)
    if len(array) > width:
        array = np.array([part.mean() for part in np.array_split(array, width)])
    low, high = array.min(), array.max()
    steps = np.zeros(len(array)) if high <= low else (array - low) / (high - low) * (len(BARS) - 1)
    return "".join(BARS[round(step)] for step in steps)


@dataclass(frozen=True)
class RunView:
    """Live view of one run, in parts that can be left out.

    Attributes:
        state: whether it is running, with speed and time left.
        head: a line with name, generation, state, speed and time left.
        newest: a line with the measures of the newest generation; None before the first.
        course: table of the measures by generation, the newest at the right; None before the first.
        weights: table of the weights; None before the first.
    """

    state: RunState
    head: Text
    newest: Text | None = None
    course: RenderableType | None = None
    weights: RenderableType | None = None

    @property
    def whole(self) -> RenderableType:
        """The full view: heading, measures and weights."""
        return Group(*(part for part in (self.head, self.course, self.weights) if part is not None))


def view_run(runs: Runs, name: str) -> RunView:
    """Make the live view of one run."""
    folder = runs.folders[name]
    own = runs.individuals[runs.individuals["run"] == name]
    state = state_of(folder)
    if own.empty:
        return RunView(state, Text(f"{name}: no generation yet, {state.word}"))
    begin, last = int(own["generation"].min()), int(own["generation"].max())
    share = f"{last / max(folder.config.generations, 1):.0%}"
    words = {"running": [share], "stopped": [share, "stopped"], "finished": ["finished"]}[state.word]
    if state.word == "running" and state.speed:
        words += [f"{state.speed:,.0f} games/s", f"{duration(state.seconds_left)} left"]
    head = Text(f"{name}: generation {last} of {folder.config.generations}, {', '.join(words)}", style="bold")
    survivors = own[own["survived"]].groupby("generation")
    scores, benchmark = read_validation(runs, [name]), folder.config.found_benchmark
    validated = {
        who: validated_progress(scores, who).set_index("generation")["score"] for who in (BEST, CENTRE)
    }
    by_generation = {
        "best": own.groupby("generation")["win_rate"].max(),
        benchmark.best: validated[BEST],
        benchmark.centre: validated[CENTRE],
        "spread": survivors[shares_of(own)].std(ddof=0).mean(axis=1),
        "step": own[own["survived"]]
        .groupby("generation")[[name for name in own.columns if str(name).startswith("sigma_")]]
        .apply(_median),
        "mean age": survivors["age"].mean(),
        "new": newcomers(own).set_index("generation")["newcomers"],
    }
    rows, newest = [], []
    for what, values in by_generation.items():
        known = values.dropna()
        if len(known):
            first = _measure_text(what, known[begin]) if begin in known.index else ""
            at = int(known.index[-1])
            now = _measure_text(what, known.iloc[-1]) + (f" ({at})" if at != last else "")
            rows.append([what, first, sparkline(known.to_numpy()), now])
            newest.append(f"{what} {now}")
    inert = Text(", ".join(sorted(runs.inert_weights)))
    note = [Text("left out, since fixed or without effect with these decks: ") + inert] if inert else []
    course = FittingTable(history_columns(begin, last), rows)
    return RunView(
        state,
        head,
        Text(", ".join(newest)),
        course,
        Group(_weights_table(own, survivors, runs.vector), *note),
    )


def _weights_table(
    own: pd.DataFrame, survivors: "pd.api.typing.DataFrameGroupBy", vector: type[WeightVector]
) -> FittingTable:
    """Table of mean weight shares by generation, and the current interquartile range of each share."""
    means = survivors[shares_of(own)].mean()
    now = last_population(own)
    rows = []
    for name, column in zip(names_of(own), shares_of(own), strict=True):
        known = means[column].dropna()
        low, high = now[column].quantile([0.25, 0.75])
        if len(known):
            first, last = known.iloc[0], known.iloc[-1]
            first, last, low, high = (vector.format_share(name, share) for share in (first, last, low, high))
            rows.append([name, first, sparkline(known.to_numpy()), last, f"{low} to {high}"])
    what = "share" if vector.COMPARABLE else "value"
    return FittingTable(weight_columns(int(means.index[0]), int(means.index[-1]), what), rows)


def _median(values: pd.DataFrame) -> float:
    """Median of all values of a table; nan for an empty one."""
    return float(np.median(values.to_numpy())) if values.size else float("nan")


def _measure_text(what: str, value: float) -> str:
    """Format a measure of a generation, as `evolve` prints it."""
    if what == "best" or " against " in what:
        return f"{value:.1%}"
    return f"{value:.0f}" if what == "new" else f"{value:.1f}" if what == "mean age" else f"{value:.3f}"
