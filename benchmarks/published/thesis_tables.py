"""The kept tables of the thesis's tournament: all players, and what is measured on them."""

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.published.correlation import true_correlation
from benchmarks.thesis_published import DEPARTURES, PROFILES

PUBLISHED, RULES = "published", "rules"
WITHOUT = {departure: f"without {departure}" for departure in DEPARTURES}
ONLY = {departure: f"only {departure}" for departure in DEPARTURES}
ENGINE = "engine"


class Tables:
    """The tables of all players."""

    def __init__(self, file: Path) -> None:
        self._table = pd.read_csv(file)

    def of(self, player: str) -> pd.DataFrame:
        """The 49 rows of a player."""
        return self._table[self._table["player"] == player]

    def wins(self, player: str) -> tuple[int, int]:
        """Wins of the first player, and games."""
        own = self.of(player)
        return int(own["first_wins"].sum()), int(own["games"].sum())

    def rates(self, player: str) -> np.ndarray:
        """Share of games that the first player wins; shape (7, 7), by first and second."""
        own = self.of(player)
        rates: np.ndarray = (own["first_wins"] / own["games"]).to_numpy().reshape(len(PROFILES), -1)
        return rates

    def scores(self, player: str) -> np.ndarray:
        """Share of games that each profile wins from both seats, without those against itself; shape (7,)."""
        rates = self.rates(player).copy()
        np.fill_diagonal(rates, np.nan)
        scores: np.ndarray = (np.nanmean(rates, axis=1) + 1 - np.nanmean(rates, axis=0)) / 2
        return scores

    def rounds(self, player: str) -> float:
        """Mean of the rounds of a game."""
        return float(self.of(player)["mean_turns"].mean())

    def alike(self, one: str, other: str) -> tuple[float, float, float]:
        """Rank correlation of two players' true cells, with its 95% interval."""
        both = [self.of(player) for player in (one, other)]
        wins, games = (np.array([own[name] for own in both]) for name in ("first_wins", "games"))
        return true_correlation(wins, games, np.random.default_rng(1))

    def apart(self, one: str, other: str) -> float:
        """Mean distance of two players' cells."""
        return float(np.abs(self.rates(one) - self.rates(other)).mean())
