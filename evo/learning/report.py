"""Report of a learning run: profile.toml, curve.csv, figures and report.html."""

import shlex

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from engine.decks import cached_card_table
from engine.match import card_id_or_name
from evo.figures.page import Section, html_table, image, interval_cells, make_page
from evo.figures.style import (
    BLUE,
    COLOURS,
    GREY,
    MARKERS,
    ORANGE,
    draw,
    draw_wide_and_narrow,
    integer_ticks,
    legend_above,
    short_name,
)
from evo.learning.folder import LearningFolder
from evo.learning.methods import METHODS
from evo.learning.run import agent_card_values, agent_weights, best_round, learning_curve
from evo.stats.ratings import elo, exact_rate
from evo.storage.files import LEARNING, csv_bytes
from ilp_agent import Profile
from ilp_agent.features import FEATURES, MEANINGS
from ilp_agent.lookahead.weights import LookaheadWeights


def plot_curve(axes: Axes, curve: pd.DataFrame) -> Axes:
    """Plot Elo against each opponent by round, with 95% intervals.

    Args:
        axes: to draw on.
        curve: table of `evo.learning.run.learning_curve`.
    """
    opponents = list(dict.fromkeys(curve["opponent"]))
    for i, opponent in enumerate(opponents):
        own = curve[curve["opponent"] == opponent]
        value, low, high = (own[name].map(elo).to_numpy(float) for name in ("score", "low", "high"))
        shift = 0.06 * (i - (len(opponents) - 1) / 2)
        axes.errorbar(
            own["round"] + shift,
            value,
            yerr=np.abs(np.array([value - low, high - value])),
            fmt=f"{MARKERS[i % len(MARKERS)]}-",
            color=COLOURS[i % len(COLOURS)],
            markersize=4.5,
            linewidth=1.4,
            capsize=2,
            label=short_name(opponent),
        )
    axes.axhline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="round (0: the initial profile)", ylabel="Elo against the opponent")
    integer_ticks(axes.xaxis)
    axes.grid(linewidth=0.4, alpha=0.6)
    legend_above(axes)
    return axes


def plot_weights(axes: Axes, weights: pd.DataFrame) -> Axes:
    """Plot the effect of one standard deviation of each feature, the largest on top.

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
    """Calibration plot: observed results by predicted win probability, with 95% intervals.

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
    axes.set(xlim=limits, ylim=limits, xlabel="predicted probability", ylabel="observed points")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.grid(linewidth=0.4, alpha=0.6)
    return axes


def plot_features(axes: Axes, curve: pd.DataFrame) -> Axes:
    """Plot Elo against the value with all features by number of features, with 95% intervals.

    Args:
        axes: to draw on.
        curve: columns features, elo, low, high (Elo).
    """
    table = curve.sort_values("features")
    axes.fill_between(table["features"], table["low"], table["high"], color=BLUE, alpha=0.2, linewidth=0)
    axes.plot(table["features"], table["elo"], "o-", color=BLUE, markersize=4, linewidth=1.4)
    axes.axhline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="number of features", ylabel="Elo against\nall features")
    integer_ticks(axes.xaxis)
    axes.grid(linewidth=0.4, alpha=0.6)
    return axes


MIN_SAMPLES_PER_WEIGHT = 100
"""Informative samples per weight below which the report warns."""


def write_learning(folder: LearningFolder, profile: Profile[LookaheadWeights]) -> None:
    """Write profile, learning curve and report page; the same rounds give the same files."""
    curve = learning_curve(folder)
    folder.write("profile.toml", profile.to_toml().encode())
    folder.write("curve.csv", csv_bytes(curve))
    folder.write("report.html", learning_page(folder, curve))


def learning_page(folder: LearningFolder, curve: pd.DataFrame) -> bytes:
    """The report page of a learning run, HTML."""
    config = folder.config
    sections = [
        *([_curve_section(folder, curve)] if len(curve) else []),
        _weights_section(folder),
        *_cards_section(folder),
        *_calibration_section(folder),
        _games_section(folder),
    ]
    title = f"A value learned from games: {config.method} on {', '.join(d.name for d in config.found_decks)}"
    return make_page(title, sections, shlex.join(["manaforge", "learn", LEARNING, "--out", "again"]))


def _curve_section(folder: LearningFolder, curve: pd.DataFrame) -> Section:
    """Section with the learning curve."""
    number = best_round(folder)
    best = curve[curve["round"] == number]
    scores = ", ".join(
        f"{row.elo:+.0f} Elo ({elo(row.low):+.0f} to {elo(row.high):+.0f}) against {row.opponent}"
        for row in best.itertuples()
    )
    text = f"Round {number} scored best: {scores}."
    shown = curve.assign(
        interval=interval_cells(
            curve.assign(a=curve["low"].map(elo), b=curve["high"].map(elo)), "a", "b", "{:+.0f}"
        )
    )
    table = shown[["opponent", "round", "games", "test_games", "score", "elo", "interval"]].rename(
        columns={"games": "training games", "test_games": "games", "interval": "95% interval"}
    )
    formats = {"score": "{:.1%}", "elo": "{:+.0f}", "games": "{:,}", "training games": "{:,}"}
    return Section(
        "How strong is it?",
        text,
        [image(draw_wide_and_narrow(plot_curve, curve), "Elo by round"), html_table(table, formats, "Tests")],
        "Every round is tested on the same deals. The best of several rounds is partly chosen by chance: "
        "expect a slightly lower score on other deals.",
        text,
    )


def _weights_section(folder: LearningFolder) -> Section:
    """Section with the learned weights."""
    number = best_round(folder)
    value, start = folder.value(number), folder.config.initial_weights
    weights = agent_weights(value, start).named()
    table = pd.DataFrame(
        {
            "feature": list(FEATURES),
            "weight": [weights[f"value_{name}"] for name in FEATURES],
            "initial": [start.named()[f"value_{name}"] for name in FEATURES],
            "meaning": list(MEANINGS.values()),
        }
    )
    if value is None:
        text = "No round scored better than the initial profile; these are its weights."
        return Section("Feature weights", text, [html_table(table, {}, "Weights")], conclusion=text)
    table.insert(1, "effect", value.weights * value.scale)
    known = table[value.scale > 0]
    known = known.loc[known["effect"].abs().sort_values(ascending=False).index]
    n_constant = len(table) - len(known)
    text = f"Largest effects: {', '.join(known['feature'].head(4))}."
    if n_constant:
        text += f" {n_constant} features never differed on these decks and keep their initial weights."
    informative = sum(content["told"] for content in folder.rounds[1 : number + 1])
    if informative < MIN_SAMPLES_PER_WEIGHT * len(known):
        text += f" Only {informative:,} informative samples for {len(known)} weights: estimates are noisy."
    formats = {"effect": "{:+.3f}", "weight": "{:g}", "initial": "{:g}"}
    height = 1.0 + 0.2 * len(known)
    return Section(
        "Feature weights",
        text,
        [
            image(draw_wide_and_narrow(plot_weights, known, height=height), "Effect of each feature"),
            html_table(known, formats, "Weights"),
        ],
        "Effect: the weight times the standard deviation of the feature in the samples. A weight is per unit "
        "of the feature; the weights are scaled to the total size of the initial ones.",
        text,
    )


SHOWN_CARDS = 15
"""Number of cards with the largest values that the report shows, in hand and on board."""


def _cards_section(folder: LearningFolder) -> list[Section]:
    """Section with the largest learned card values; none without card values."""
    number = best_round(folder)
    value = folder.value(number)
    if not folder.config.card_values or value is None:
        return []
    values, learned = agent_card_values(value, folder.config).tables(), folder.cards_json(value)
    names = {
        card_id_or_name(card): card.name for card in cached_card_table(folder.config.found_decks)[0].cards
    }
    tables, largest = [], []
    for zone, cards in learned.items():
        rows = [(names[card], card, values[zone][card], *fitted) for card, fitted in cards.items()]
        table = pd.DataFrame(rows, columns=["card", "id", "value", "log-odds", "pairs"])
        table = table.loc[table["value"].abs().sort_values(ascending=False, kind="stable").index]
        formats = {"value": "{:+g}", "log-odds": "{:+.3f}", "pairs": "{:,}"}
        title = f"Largest of {len(table)} values {'in hand' if zone == 'hand' else 'on board'}"
        tables.append(html_table(table.head(SHOWN_CARDS), formats, title))
        largest += [f"{', '.join(table['card'].head(3))} {'in hand' if zone == 'hand' else 'on board'}"]
    text = f"Largest values: {'; '.join(largest)}."
    return [
        Section(
            "Card values",
            text,
            tables,
            "A value is that of one copy, beside what the features say of it, on the scale of the feature "
            "weights; on board, enemy copies count against. Log-odds: as fitted. Pairs: informative samples "
            "whose two ends differ in the card. The penalty card_ridge holds cards in few pairs near 0.",
            text,
        )
    ]


def _calibration_section(folder: LearningFolder) -> list[Section]:
    """Section on the calibration of predicted win probabilities, on games played after the fit."""
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
    mean_error = float(np.average(np.abs(table["chance"] - table["points"]), weights=table["samples"]))
    event = "that the first of two ends is better" if pairs else "of winning"
    text = f"Predicted probabilities {event} are off by {100 * mean_error:.1f} percentage points on average."
    loss = folder.rounds[-1]["loss"]
    return [
        Section(
            "Are its predictions calibrated?",
            f"{text} Log loss {loss:.4f} (coin toss: {np.log(2):.4f}).",
            [image(draw_wide_and_narrow(plot_calibration, table), "Predicted and observed")],
            "Samples of the last round in ten groups of equal size, predicted by the value of the round "
            "before, which was not fitted on them. Positions of a game share its result and count as one.",
            text,
        )
    ]


def _games_section(folder: LearningFolder) -> Section:
    """Section with the configuration and the rounds."""
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
    table = table.rename(columns={"told": "informative", "loss": "log loss before"})
    formats = dict.fromkeys(("games", "samples", "informative"), "{:,}") | {"log loss before": "{:.4f}"}
    return Section("Training games", text, [html_table(table.astype({"log loss before": float}), formats)])


def features_page(
    folder: LearningFolder, alone: pd.DataFrame, backward: pd.DataFrame, text: str, command: str
) -> bytes:
    """The report page of feature selection, HTML.

    Args:
        folder: learning folder.
        alone: leave-one-out results, a table of `evo.learning.features.subsets_table`.
        backward: results of the backward elimination, a table likewise.
        text: conclusion.
        command: command that repeats it.
    """
    alone, backward = (_in_elo(table) for table in (alone, backward))
    formats = {"elo": "{:+.0f}", "games": "{:,}", "log loss": "{:.4f}"}
    names = {"left_out": "left out", "loss": "log loss", "interval": "95% interval"}
    shown = ["left_out", "features", "elo", "interval", "games", "verdict", "loss"]
    ranked = alone.sort_values("elo")
    sections = [
        Section(
            "Which features are needed?",
            text,
            [
                image(draw_wide_and_narrow(plot_features, backward), "Elo by number of features"),
                html_table(backward[shown].rename(columns=names), formats, "Left out one after the other"),
            ],
            "Each subset is fitted again on the same samples and plays against the value with all features "
            "until a sequential test decides. An early decision is sound; its Elo estimate is rough.",
            text,
        ),
    ]
    if len(alone):
        largest = f"Largest loss when left out alone: {', '.join(ranked['left_out'].head(3))}."
        table = html_table(ranked[shown].rename(columns=names), formats, "Each left out alone")
        sections.append(Section("What does each feature add?", largest, [table]))
    return make_page(f"Features of {folder.path.name}", sections, command)


def features_figure(backward: pd.DataFrame) -> bytes:
    """Figure of Elo by number of features in the backward elimination, a PNG file."""
    return draw(plot_features, _in_elo(backward), width=7.2, height=3.2).png


def _in_elo(table: pd.DataFrame) -> pd.DataFrame:
    """Convert scores and intervals of a table of feature subsets to Elo."""
    elos = table[["score", "low", "high"]].map(elo)
    elos.columns = ["elo", "low", "high"]
    joined = pd.concat([table.drop(columns=["score", "low", "high"]), elos], axis=1)
    return joined.assign(interval=interval_cells(joined, "low", "high", "{:+.0f}"))
