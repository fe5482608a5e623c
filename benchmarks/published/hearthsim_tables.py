"""The kept tables of HearthSim's experiments, and what is measured on them."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student

from benchmarks.published.pages import Share

FORMULA, POSTED = "formula", "program"
"""Players: with the formula that the posts print, and with that of the program behind their results."""

PLAYERS = {FORMULA: "by the posts' formula", POSTED: "by their program's formula"}
SHIELD = "divine shield"
THROWN = "smite thrown"

DIFFERENCES = {
    "aggressiveness": ((0.9, 1.0), (0.5, 1.0)),
    "taunt": ((16, 0), (30, 16)),
    SHIELD: ((1.0, 0.0), (2.0, 1.0)),
    "smite 1": ((1, 0), (16, 0)),
}
"""Values of each curve that are compared deal by deal."""

BEST = {"aggressiveness": 0.9, "taunt": 16.0, SHIELD: 1.0, "smite 1": 6.0}
"""The posts' best values; each is compared with the best here, where that is another."""

COPIED = ("smite 0.5", "smite 2", THROWN)
"""Curves whose best number of copies is compared with none."""


def pairs_of(name: str, scores: pd.Series) -> list[tuple[float, float]]:
    """Values of a curve that are compared deal by deal, by its scores (index: the value)."""
    pairs: list[tuple[float, float]] = list(DIFFERENCES.get(name, ()))
    if (best := float(scores.idxmax())) != BEST.get(name, best):
        pairs.append((BEST[name], best))
    if name in COPIED:
        pairs.append((float(scores.drop(0.0).idxmax()), 0.0))
    return pairs


def paired(points: pd.DataFrame, one: float, other: float) -> tuple[float, float, float]:
    """Difference of two values' scores with its 95% interval, by Student's t over the deals.

    Args:
        points: of the first player; a row a deal, a column a value.
        one: a value.
        other: another.
    """
    apart = (points[one] - points[other]).to_numpy()
    half = student.ppf(0.975, len(apart) - 1) * apart.std(ddof=1) / np.sqrt(len(apart))
    return float(apart.mean()), float(apart.mean() - half), float(apart.mean() + half)


class Tables:
    """What was kept."""

    def __init__(self, folder: Path) -> None:
        self.curves = pd.read_csv(folder / "hearthsim.csv")
        self.differences = pd.read_csv(folder / "hearthsim-differences.csv")
        self.lengths = pd.read_csv(folder / "hearthsim-lengths.csv")
        self.seats = pd.read_csv(folder / "hearthsim-seats.csv", index_col=["games of", "player"])

    def curve(self, name: str, player: str) -> pd.DataFrame:
        """A player's curve, its index the value."""
        own = self.curves
        return own[(own["curve"] == name) & (own["player"] == player)].set_index("value")

    def best(self, name: str, player: str, above: float = -np.inf) -> float:
        """The value that scores most, of those above one."""
        rates = self.curve(name, player)["win_rate"]
        return float(rates[rates.index > above].idxmax())

    def at(self, name: str, player: str, value: float) -> Share:
        """Score at a value."""
        row = self.curve(name, player).loc[value]
        return Share(float(row["win_rate"]), float(row["low"]), float(row["high"]))

    def seat(self, name: str, player: str) -> Share:
        """Score of the first player in games without a curve."""
        row = self.seats.loc[name, player]
        return Share.of(float(row["points"]), int(row["games"]))

    def gain(self, name: str, player: str, one: float, other: float) -> tuple[float, float, float]:
        """Difference of two values, with its interval."""
        own = self.differences
        chosen = (own["curve"] == name) & (own["player"] == player)
        row = own[chosen & (own["value"] == one) & (own["other"] == other)].iloc[0]
        return float(row["difference"]), float(row["low"]), float(row["high"])

    def rounds(self, player: str, value: float) -> float:
        """Mean of the rounds of games with a weight of Divine Shield."""
        own = self.lengths[(self.lengths["value"] == value) & (self.lengths["player"] == player)]
        return float(np.average(own["rounds"], weights=own["games"]))
