"""The report of a learned value: profile.toml, curve.csv, figures and report.html."""

import shlex

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from evo.figures.page import Section, html_table, image, intervals, make_page
from evo.figures.style import (
    BLUE,
    COLOURS,
    GREY,
    MARKERS,
    ORANGE,
    draw,
    draw_both,
    legend_above,
    short_name,
    whole_ticks,
)
from evo.learning.folder import LearningFolder
from evo.learning.methods import METHODS
from evo.learning.run import best_round, curve_of, weights_of
from evo.stats.ratings import elo, exact_rate
from evo.storage.files import LEARNING, csv_bytes
from ilp_agent import Profile
from ilp_agent.features import FEATURES, MEANINGS
from ilp_agent.lookahead.weights import LookaheadWeights


def plot_curve(axes: Axes, curve: pd.DataFrame) -> Axes:
    """Elo against each opponent by round, with 95% intervals.

    Args:
        axes: to draw on.
        curve: as `evo.learning.run.curve_of` makes it.
    """
    opponents = list(dict.fromkeys(curve["opponent"]))
    for place, opponent in enumerate(opponents):
        own = curve[curve["opponent"] == opponent]
        value, low, high = (own[name].map(elo).to_numpy(float) for name in ("score", "low", "high"))
        shift = 0.06 * (place - (len(opponents) - 1) / 2)
        axes.errorbar(
            own["round"] + shift,
            value,
            yerr=np.abs(np.array([value - low, high - value])),
            fmt=f"{MARKERS[place % len(MARKERS)]}-",
            color=COLOURS[place % len(COLOURS)],
            markersize=4.5,
            linewidth=1.4,
            capsize=2,
            label=short_name(opponent),
        )
    axes.axhline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="round (0: the profile it began with)", ylabel="Elo against the opponent")
    whole_ticks(axes.xaxis)
    axes.grid(linewidth=0.4, alpha=0.6)
    legend_above(axes)
    return axes


def plot_weights(axes: Axes, weights: pd.DataFrame) -> Axes:
    """Features by what a usual difference in them is worth, the largest on top.

    Args:
        axes: to draw on.
        weights: columns feature, effect (log-odds of a standard deviation), sorted.
    """
    places = np.arange(len(weights))
    effect = weights["effect"].to_numpy(float)
    axes.barh(places, effect, color=np.where(effect < 0, ORANGE, BLUE), height=0.7)
    axes.set_yticks(places, list(weights["feature"]), fontsize=9)
    axes.set_ylim(len(weights) - 0.4, -0.6)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set(xlabel="log-odds of winning for one standard deviation", ylabel="")
    axes.grid(axis="x", linewidth=0.4, alpha=0.6)
    return axes


def plot_calibration(axes: Axes, groups: pd.DataFrame) -> Axes:
    """What happened by what was predicted, with 95% intervals; the diagonal is perfect.

    Args:
        axes: to draw on.
        groups: columns chance, points, low, high.
    """
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
    errors = np.abs(groups[["low", "high"]].to_numpy().T - groups["points"].to_numpy())
    axes.errorbar(
        groups["chance"], groups["points"], yerr=errors, fmt="o-", color=BLUE, markersize=4.5, capsize=2
    )
    edges = groups[["chance", "low", "high"]].to_numpy()
    margin = 0.05
    limits = max(0.0, float(edges.min()) - margin), min(1.0, float(edges.max()) + margin)
    axes.set(xlim=limits, ylim=limits, xlabel="predicted chance", ylabel="what happened")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.grid(linewidth=0.4, alpha=0.6)
    return axes


def plot_features(axes: Axes, curve: pd.DataFrame) -> Axes:
    """Elo against the value with all features, by how many are left, with 95% intervals.

    Args:
        axes: to draw on.
        curve: columns features, elo, low, high (Elo).
    """
    table = curve.sort_values("features")
    axes.fill_between(table["features"], table["low"], table["high"], color=BLUE, alpha=0.2, linewidth=0)
    axes.plot(table["features"], table["elo"], "o-", color=BLUE, markersize=4, linewidth=1.4)
    axes.axhline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="features that are left", ylabel="Elo against\nthe value with all")
    whole_ticks(axes.xaxis)
    axes.grid(linewidth=0.4, alpha=0.6)
    return axes


SAMPLES_A_WEIGHT = 100
"""Samples that tell, for each weight, below which a report warns."""


def write_learning(folder: LearningFolder, profile: Profile[LookaheadWeights]) -> None:
    """Write the profile, the learning curve and the page; the same rounds give the same bytes."""
    curve = curve_of(folder)
    folder.write("profile.toml", profile.to_toml().encode())
    folder.write("curve.csv", csv_bytes(curve))
    folder.write("report.html", learning_page(folder, curve))


def learning_page(folder: LearningFolder, curve: pd.DataFrame) -> bytes:
    """The page of a learned value."""
    config = folder.config
    sections = [
        *([_strength(folder, curve)] if len(curve) else []),
        _weights(folder),
        *_calibration(folder),
        _what_was_played(folder),
    ]
    title = f"A value learned from games: {config.method} on {', '.join(d.name for d in config.found_decks)}"
    return make_page(title, sections, shlex.join(["manaforge", "learn", LEARNING, "--out", "again"]))


def _strength(folder: LearningFolder, curve: pd.DataFrame) -> Section:
    """The learning curve."""
    number = best_round(folder)
    best = curve[curve["round"] == number]
    scores = ", ".join(
        f"{row.elo:+.0f} Elo ({elo(row.low):+.0f} to {elo(row.high):+.0f}) against {row.opponent}"
        for row in best.itertuples()
    )
    text = f"Round {number} scored best: {scores}."
    shown = curve.assign(
        interval=intervals(
            curve.assign(a=curve["low"].map(elo), b=curve["high"].map(elo)), "a", "b", "{:+.0f}"
        )
    )
    table = shown[["opponent", "round", "games", "test_games", "score", "elo", "interval"]].rename(
        columns={"games": "games learned from", "test_games": "games", "interval": "95% interval"}
    )
    formats = {"score": "{:.1%}", "elo": "{:+.0f}", "games": "{:,}", "games learned from": "{:,}"}
    return Section(
        "How strong is it?",
        text,
        [image(draw_both(plot_curve, curve), "Elo by round"), html_table(table, formats, "Tests")],
        "Every round is tested on the same deals. The best of several rounds is found by its luck, too: "
        "its score on other deals will be a little lower.",
        text,
    )


def _weights(folder: LearningFolder) -> Section:
    """What the features are worth."""
    number = best_round(folder)
    value, start = folder.value(number), folder.config.start
    weights = weights_of(value, start).named()
    table = pd.DataFrame(
        {
            "feature": list(FEATURES),
            "weight": [weights[f"value_{name}"] for name in FEATURES],
            "began as": [start.named()[f"value_{name}"] for name in FEATURES],
            "meaning": list(MEANINGS.values()),
        }
    )
    if value is None:
        text = "No round scored better than the profile it began with, whose weights these are."
        return Section("What is worth how much?", text, [html_table(table, {}, "Weights")], conclusion=text)
    table.insert(1, "effect", value.weights * value.scale)
    known = table[value.scale > 0]
    known = known.loc[known["effect"].abs().sort_values(ascending=False).index]
    rest = len(table) - len(known)
    text = f"What moves it most: {', '.join(known['feature'].head(4))}."
    if rest:
        text += f" {rest} features never differed on these decks and keep the weights they began with."
    told = sum(content["told"] for content in folder.rounds[1 : number + 1])
    if told < SAMPLES_A_WEIGHT * len(known):
        text += f" Only {told:,} samples tell something, for {len(known)} weights: chance is large in them."
    formats = {"effect": "{:+.3f}", "weight": "{:g}", "began as": "{:g}"}
    height = 1.0 + 0.2 * len(known)
    return Section(
        "What is worth how much?",
        text,
        [
            image(draw_both(plot_weights, known, height=height), "Effect of each feature"),
            html_table(known, formats, "Weights"),
        ],
        "Effect: the weight times the standard deviation of what was learned from. A weight is for one of "
        "the feature; all weights together are as large as those it began with.",
        text,
    )


def _calibration(folder: LearningFolder) -> list[Section]:
    """Whether predicted chances come true, on games that were played after the value was learned."""
    groups = folder.rounds[-1].get("calibration") or []
    if not groups:
        return []
    pairs, last = METHODS[folder.config.method].PAIRED, folder.rounds[-1]
    independent = 1.0 if pairs else min(1.0, last["games"] / last["samples"])
    rows = []
    for chance, points, n in groups:
        results = max(1, round(n * independent))
        rate = exact_rate(round(points * results), 0, results)
        rows.append(
            {"chance": chance, "points": points, "low": rate.low, "high": rate.high, "samples": int(n)}
        )
    table = pd.DataFrame(rows)
    off = float(np.average(np.abs(table["chance"] - table["points"]), weights=table["samples"]))
    what = "that the first of two ends comes to more, where they differ" if pairs else "of winning"
    text = f"Predicted chances {what} are {100 * off:.1f} points off in the mean."
    loss = folder.rounds[-1]["loss"]
    return [
        Section(
            "Do its predictions come true?",
            f"{text} Log loss {loss:.4f}; {np.log(2):.4f} is that of a coin.",
            [image(draw_both(plot_calibration, table), "Predicted and seen")],
            "Samples of the last round, in ten groups of as many, predicted by the value of the round "
            "before, which has not seen them. Positions of one game share its result, and count as one.",
            text,
        )
    ]


def _what_was_played(folder: LearningFolder) -> Section:
    """The configuration in a sentence, and what each round gave."""
    config = folder.config
    decks = ", ".join(deck.name for deck in config.found_decks)
    text = (
        f"{METHODS[config.method].SUMMARY.capitalize()}. Rounds of {config.games:,} games of "
        f"lookahead:{config.profile}@{config.options} against itself, on "
        f"{decks}, ruleset {config.ruleset}, seed {config.seed}."
    )
    rows = [
        {name: content[name] for name in ("round", "games", "samples", "told", "loss")}
        for content in folder.rounds[1:]
    ]
    table = pd.DataFrame(rows, columns=["round", "games", "samples", "told", "loss"])
    table = table.rename(columns={"told": "samples that tell", "loss": "log loss before"})
    formats = dict.fromkeys(("games", "samples", "samples that tell"), "{:,}") | {"log loss before": "{:.4f}"}
    return Section(
        "What was learned from", text, [html_table(table.astype({"log loss before": float}), formats)]
    )


def features_page(
    folder: LearningFolder, alone: pd.DataFrame, backward: pd.DataFrame, text: str, command: str
) -> bytes:
    """The page about which features matter.

    Args:
        folder: of the learning.
        alone: every feature left out alone, as `evo.learning.features.table_of` makes it.
        backward: the backward search.
        text: its conclusion.
        command: what repeats it.
    """
    alone, backward = (_in_elo(table) for table in (alone, backward))
    formats = {"elo": "{:+.0f}", "games": "{:,}", "log loss": "{:.4f}"}
    names = {"left_out": "left out", "loss": "log loss", "interval": "95% interval"}
    shown = ["left_out", "features", "elo", "interval", "games", "verdict", "loss"]
    own = alone.sort_values("elo")
    sections = [
        Section(
            "Which features are needed?",
            text,
            [
                image(draw_both(plot_features, backward), "Elo by features left"),
                html_table(backward[shown].rename(columns=names), formats, "Left out one after the other"),
            ],
            "Each set is fitted again on the same samples and plays the value with all features until a "
            "sequential test tells. A test that ends early tells worse from no worse; its Elo is rough.",
            text,
        ),
    ]
    if len(alone):
        missed = f"Missed most where it alone is left out: {', '.join(own['left_out'].head(3))}."
        table = html_table(own[shown].rename(columns=names), formats, "Each left out alone")
        sections.append(Section("What is each worth alone?", missed, [table]))
    return make_page(f"Features of {folder.path.name}", sections, command)


def features_figure(backward: pd.DataFrame) -> bytes:
    """The curve of a backward search as a PNG file; `backward` as of `features_page`."""
    return draw(plot_features, _in_elo(backward), width=7.2, height=3.2).png


def _in_elo(table: pd.DataFrame) -> pd.DataFrame:
    """A table of sets of features with their scores as Elo."""
    elos = table[["score", "low", "high"]].map(elo)
    elos.columns = ["elo", "low", "high"]
    joined = pd.concat([table.drop(columns=["score", "low", "high"]), elos], axis=1)
    return joined.assign(interval=intervals(joined, "low", "high", "{:+.0f}"))
