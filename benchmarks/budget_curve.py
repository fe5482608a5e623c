"""Strength of `lookahead` by its budget: Elo against two opponents and CPU time a turn, and a figure.

    python -m benchmarks.budget_curve --games 4000 --out docs/figures/lookahead-budget.png

Paired games on the four minion decks, each entrant on the same deals (`benchmarks.strength`).
"""

import argparse
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from benchmarks.strength import DECKS, measure, play_chunk
from engine import find_deck
from evo.figures.style import BLUE, GREY, ORANGE, draw, legend_above
from evo.play.entrants import find_entrant
from evo.play.games import compile_games

BUDGETS = {2: (1, 2, 4, 8, 16, 32, 64, 128, 256, 512), 3: (2, 4, 8, 16, 32, 64, 128, 256)}
OPPONENTS = ("ilp:configs/champions/study.toml", "hearthsim:balanced")
LABELLED = (1, 2, 4, 8, 16, 64, 512)
TICKS = (10, 20, 50, 100, 200, 400)


def plot_budgets(axes: Axes, table: pd.DataFrame) -> Axes:
    """Elo by CPU time a turn, a line for each opponent and depth; budgets stand beside their points.

    Args:
        axes: to draw on.
        table: columns budget, depth, opponent, us, elo, low, high.
    """
    for opponent, colour in zip(OPPONENTS, (BLUE, ORANGE), strict=True):
        for depth, style in ((2, "o-"), (3, "s--")):
            own = table[(table["opponent"] == opponent) & (table["depth"] == depth)]
            errors = [own["elo"] - own["low"], own["high"] - own["elo"]]
            name = "the champion" if opponent == OPPONENTS[0] else opponent
            axes.errorbar(
                own["us"],
                own["elo"],
                yerr=errors,
                fmt=style,
                color=colour,
                markersize=4,
                linewidth=1.3,
                capsize=2,
                label=f"{name}, depth {depth}",
            )
            named = own["budget"].isin(LABELLED) & (depth == 2) & (opponent == OPPONENTS[0])
            for row in own[named].itertuples():
                place, text = (row.us, row.elo), str(row.budget)
                axes.annotate(text, place, (-5, 4), textcoords="offset points", size=8, ha="right")
    axes.axhline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    axes.set_xticks(TICKS, list(map(str, TICKS)))
    axes.minorticks_off()
    axes.set_xlabel("CPU time of a turn, microseconds (numbers: budgets at depth 2)")
    axes.set_ylabel("Elo against the opponent")
    axes.grid(linewidth=0.4, alpha=0.6)
    legend_above(axes)
    return axes


def main() -> None:
    """Measure every budget, print a line for each, and write the figure."""
    parser = argparse.ArgumentParser(description="Elo of lookahead by budget.")
    parser.add_argument("--games", type=int, default=4_000)
    parser.add_argument("--profile", default="", help="of lookahead; its default")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--out", type=Path, help="PNG file to write")
    given = parser.parse_args()
    others = [find_entrant(text) for text in OPPONENTS]
    decks, rows = DECKS["minions"], []
    name = f"lookahead:{given.profile}" if given.profile else "lookahead"
    compile_games([find_entrant(name).player, *(one.player for one in others)], list(map(find_deck, decks)))
    for depth, budgets in BUDGETS.items():
        for budget in budgets:
            one = find_entrant(f"{name}@{budget},depth={depth}")
            for other in others:
                play_chunk((one, other), decks, 0, 8, given.seed, "thesis")
                score = measure(one, other, decks, given.games, given.seed, "thesis")
                rating, low, high = score.elo
                us = 1e6 * score.seconds[0]
                rows.append((budget, depth, other.text, us, rating, low, high))
                print(
                    f"{one.text} against {other.text}: {rating:+.0f} Elo ({low:+.0f} to {high:+.0f}), "
                    f"{us:,.0f} us a turn",
                    flush=True,
                )
    columns = ["budget", "depth", "opponent", "us", "elo", "low", "high"]
    if given.out:
        given.out.write_bytes(
            draw(plot_budgets, pd.DataFrame(rows, columns=columns), height=4.2, width=7.2).png
        )


if __name__ == "__main__":
    main()
