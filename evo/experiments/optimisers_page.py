"""The page of a comparison of optimisers."""

import numpy as np
import pandas as pd

from evo.evolution.run import games_of_generation
from evo.experiments.optimisers import Bench, curves, differences
from evo.experiments.plots import plot_curves
from evo.experiments.quadratic import ON_BOUND, START, STEEPNESS
from evo.figures.page import Section, html_table, image, intervals, make_page
from evo.figures.style import draw, draw_both

FORMATS = {"games": "{:,.0f}", "budget": "{:,}", "Elo": "{:+.1f}", "loss": "{:.1f}"}


def optimisers_page(bench: Bench, points: pd.DataFrame, hills: pd.DataFrame, command: str) -> bytes:
    """The page.

    Args:
        bench: the comparison.
        points: rated, as `evo.experiments.optimisers.rated` makes it.
        hills: as `evo.experiments.quadratic.simulated` makes it.
        command: what repeats it.
    """
    config = bench.contenders[0].config
    decks = ", ".join(config.deck_names)
    against = ", ".join(bench.against)
    rows = [
        {
            "optimiser": one.text,
            "individuals": f"{one.config.mu}, {one.config.lambda_}",
            "games a generation": games_of_generation(one.config, 1),
            "schedule": "ends with the budget" if one.scheduled else "",
        }
        for one in bench.contenders
    ]
    played = Section(
        "What was played",
        f"{bench.seeds} runs of each on {decks}, ruleset {config.ruleset}; "
        f"{len(config.vector.names())} weights of {config.agent}. Every point is where a run stands: "
        "centroid, mean or recommendation. "
        f"It plays {bench.games * len(config.decks) ** 2:,} games against each of {against}, the same deals "
        "for all.",
        [html_table(pd.DataFrame(rows), {"games a generation": "{:,}"}, "Optimisers")],
        "Individuals: mu and lambda. A run whose schedule does not depend on its budget gives the points of "
        "all budgets; the others play every budget anew.",
    )
    sections = [
        _section("Which finds better weights with the same games?", points, "elo", f"Elo against {against}"),
        _section("On a noisy quadratic whose optimum is known", hills, "loss", "Elo below the optimum"),
        played,
    ]
    return make_page(f"Optimisers at equal games: {config.agent} on {decks}", sections, command)


def optimisers_figure(points: pd.DataFrame, label: str) -> bytes:
    """The curves as a PNG file."""
    return draw(plot_curves, curves(points), label, width=7.2, height=3.8).png


def summary(points: pd.DataFrame, value: str = "elo") -> str:
    """Who stands best at the largest budget, and who is told apart from the first."""
    ends, found = differences(points, value), curves(points, value)
    budget, first = int(found["budget"].max()), points["contender"].iloc[0]
    last = found[found["budget"] == budget].set_index("contender")["mean"]
    best = last.idxmax() if value == "elo" else last.idxmin()
    form, unit = ("{:+.1f}", "Elo") if value == "elo" else ("{:.1f}", "Elo below the optimum")
    said = [f"At {budget:,} games {best} stands best ({form.format(last[best])} {unit})."]
    groups: dict[str, list[str]] = {"Better than": [], "Worse than": [], "Not told apart from": []}
    for row in ends[ends["budget"] == budget].itertuples():
        gained = (row.mean, row.low, row.high) if value == "elo" else (-row.mean, -row.high, -row.low)
        interval = f"{row.contender} ({row.mean:+.1f}, {row.low:+.1f} to {row.high:+.1f})"
        kind = "Better than" if gained[1] > 0 else "Worse than" if gained[2] < 0 else "Not told apart from"
        groups[kind].append(row.contender if np.isnan(row.low) else interval)
    said += [f"{kind} {first}: {', '.join(names)}." for kind, names in groups.items() if names]
    return " ".join(said)


def _section(title: str, points: pd.DataFrame, value: str, label: str) -> Section:
    found, ends = curves(points, value), differences(points, value)
    text = summary(points, value)
    name = "Elo" if value == "elo" else "loss"
    table = found[found["budget"] > 0]
    shown = table.assign(interval=intervals(table, "low", "high", FORMATS[name]))
    shown = shown[["contender", "budget", "games", "runs", "mean", "interval"]].rename(
        columns={"contender": "optimiser", "mean": name, "interval": "95% interval"}
    )
    parts = [
        image(draw_both(plot_curves, found, label), label),
        html_table(shown, FORMATS, "At the budgets"),
    ]
    if len(ends):
        first = points["contender"].iloc[0]
        less = ends.assign(interval=intervals(ends, "low", "high", "{:+.1f}"))
        less = less[["contender", "budget", "runs", "mean", "interval"]].rename(
            columns={"contender": "optimiser", "mean": name, "interval": "95% interval"}
        )
        parts.append(html_table(less, FORMATS, f"Less {first}, run by run"))
    note = "Intervals are by Student's t over runs: a run is one observation."
    if value == "loss":
        note += (
            f" Equal weights lose {START:.0f} Elo; the quadratic is {STEEPNESS:.0f} times as steep in "
            f"one direction as in another, and {ON_BOUND:.0%} of the weights are 0 at the optimum. Games are "
            "drawn, not played."
        )
    return Section(title, text, parts, note, text if value == "elo" else f"On the quadratic: {text}")
