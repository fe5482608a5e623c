"""The page of an ablation."""

import pandas as pd

from evo.experiments.ablation import Ablation
from evo.experiments.plots import plot_worth
from evo.figures.page import Section, html_table, image, intervals, make_page
from evo.figures.style import draw, draw_both

FORMATS = {"share": "{:.1%}", "score": "{:.1%}", "Elo": "{:+.1f}", "games": "{:,}", "value": "{:.3g}"}


def ablation_page(
    entrant: str, ablation: Ablation, single: pd.DataFrame, pairs: pd.DataFrame, command: str
) -> bytes:
    """The page.

    Args:
        entrant: whose weights were left out, as typed.
        ablation: what was played.
        single: as `evo.experiments.ablation.ablate` makes it.
        pairs: likewise; may be empty.
        command: what repeats it.
    """
    decks = ", ".join(deck.name for deck in ablation.decks)
    most = single.iloc[0]
    interval = f"{most['low']:.1f} to {most['high']:.1f}"
    text = f"Most is lost without {most['weight']}: {most['elo']:.1f} Elo ({interval})."
    none = single[(single["low"] <= 0) & (single["high"] >= 0)]["weight"]
    if len(none):
        text += f" No worth can be shown for {', '.join(none)}."
    shown = single.assign(interval=intervals(single, "low", "high", "{:+.1f}")).drop(columns=["low", "high"])
    sections = [
        Section(
            "What is each weight worth?",
            text,
            [
                image(
                    draw_both(plot_worth, single, height=1.0 + 0.28 * len(single)),
                    "Elo lost without each weight",
                ),
                html_table(
                    shown.rename(columns={"elo": "Elo", "interval": "95% interval"}), FORMATS, "Weights"
                ),
            ],
            f"{entrant} against copies of itself with that weight 0, on the same deals for all: decks "
            f"{decks}, ruleset {ablation.ruleset.name}. Score: of the whole profile. Share: of the sum of "
            "the weights' sizes.",
            text,
        )
    ]
    if len(pairs):
        sections.append(_pairs_section(pairs))
    return make_page(f"What the weights of {entrant} are worth", sections, command)


def ablation_figure(single: pd.DataFrame) -> bytes:
    """The worth of each weight as a PNG file."""
    return draw(plot_worth, single, width=6.2, height=1.0 + 0.28 * len(single)).png


def _pairs_section(pairs: pd.DataFrame) -> Section:
    sure = pairs[(pairs["interaction_low"] > 0) | (pairs["interaction_high"] < 0)]
    more = sure[sure["interaction"] > 0]
    text = (
        f"{len(sure)} of {len(pairs)} pairs are worth more or less together than their two alone; "
        f"{len(more)} of them more: one makes up for the other."
    )
    table = pairs.assign(interval=intervals(pairs, "interaction_low", "interaction_high", "{:+.1f}"))
    table = table[["weight", "other", "games", "score", "elo", "interaction", "interval"]].rename(
        columns={"elo": "Elo", "interaction": "more than alone, Elo", "interval": "95% interval"}
    )
    return Section(
        "Which weights stand in for each other?",
        text,
        [html_table(table, FORMATS | {"more than alone, Elo": "{:+.1f}"}, "Pairs")],
        "Intervals are of each pair alone: of a hundred without interaction, five lie outside of theirs.",
        text,
    )
