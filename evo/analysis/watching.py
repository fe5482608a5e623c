"""A running run, drawn for the terminal from its tables."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from evo.analysis.progress import validated_progress
from evo.analysis.tables import Runs, last_population, names_of, newcomers, shares_of, sigmas_of
from evo.storage.champion import read_champion_file

BARS = "▁▂▃▄▅▆▇█"
WIDEST = 48
"""Most bars in a line."""


def bars(values: Sequence[float] | np.ndarray, width: int = WIDEST) -> str:
    """Values as a line of bars from their least to their greatest, at most `width` of them."""
    array = np.asarray(values, float)
    if len(array) > width:
        array = np.array([part.mean() for part in np.array_split(array, width)])
    low, high = array.min(), array.max()
    steps = np.zeros(len(array)) if high <= low else (array - low) / (high - low) * (len(BARS) - 1)
    return "".join(BARS[round(step)] for step in steps)


def draw_run(runs: Runs, name: str) -> RenderableType:
    """One run: its state, its course by generation, and its weights."""
    folder = runs.folders[name]
    own = runs.individuals[runs.individuals["run"] == name]
    if own.empty:
        return Text(f"{name}: no generation yet")
    last = int(own["generation"].max())
    ended = last == folder.config.generations and read_champion_file(folder.path).finishes(folder.config)
    state = "finished" if ended else f"{last / max(folder.config.generations, 1):.0%}"
    head = Text(f"{name}: generation {last} of {folder.config.generations}, {state}", style="bold")
    survivors = own[own["survived"]].groupby("generation")
    validated = validated_progress(runs)
    by_generation = {
        "against the seven": validated[validated["run"] == name].set_index("generation")["score"],
        "best": own.groupby("generation")["win_rate"].max(),
        "spread": survivors[shares_of(own)].std(ddof=0).mean(axis=1),
        "step": own[own["survived"]].groupby("generation")[sigmas_of(own)].apply(_median),
        "mean age": survivors["age"].mean(),
        "new": newcomers(own).set_index("generation")["newcomers"],
    }
    table = RichTable("by generation", "first", "", "now")
    for what, values in by_generation.items():
        known = values.dropna()
        if len(known):
            first, now = (_number(what, known.iloc[place]) for place in (0, -1))
            table.add_row(what, first, bars(known.to_numpy()), now)
    inert = Text(", ".join(sorted(runs.inert_weights)))
    note = [Text("inert with these decks, and left out: ") + inert] if inert else []
    return Group(head, table, _weights(own, survivors), *note)


def _weights(own: pd.DataFrame, survivors: "pd.api.typing.DataFrameGroupBy") -> RichTable:
    """Mean shares by generation, and their middle half now."""
    means = survivors[shares_of(own)].mean()
    now = last_population(own)
    table = RichTable("weight", "first", "mean share by generation", "now", "middle half of the population")
    for name, column in zip(names_of(own), shares_of(own), strict=True):
        known = means[column].dropna()
        low, high = now[column].quantile([0.25, 0.75])
        if len(known):
            first, last = known.iloc[0], known.iloc[-1]
            table.add_row(
                name, f"{first:.1%}", bars(known.to_numpy()), f"{last:.1%}", f"{low:.1%} to {high:.1%}"
            )
    return table


def _median(values: pd.DataFrame) -> float:
    """The median of all values of a table; NaN of none."""
    return float(np.median(values.to_numpy())) if values.size else float("nan")


def _number(what: str, value: float) -> str:
    """A value as `evolve` writes it."""
    if what in ("best", "against the seven"):
        return f"{value:.1%}"
    return f"{value:.0f}" if what == "new" else f"{value:.1f}" if what == "mean age" else f"{value:.3f}"
