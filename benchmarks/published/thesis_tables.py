"""The tables of the thesis's tournament: the printed one and all players', and what is measured on them."""

from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd

from benchmarks.published.correlation import draw_true_rates, middle, rank_correlation
from benchmarks.published.thesis_paper import GAMES, TURNS, WINS
from benchmarks.thesis_published import DEPARTURES, PROFILES

PUBLISHED, RULES = "published", "rules"
WITHOUT = {departure: f"without {departure}" for departure in DEPARTURES}
ONLY = {departure: f"only {departure}" for departure in DEPARTURES}
ENGINE = "engine"
PRINTED = "the thesis"
"""Its printed table, as one more player."""


class Tables:
    """The tables of all players."""

    def __init__(self, file: Path) -> None:
        cells = [(first, second) for first in range(len(PROFILES)) for second in range(len(PROFILES))]
        printed = pd.DataFrame(
            {
                "player": PRINTED,
                "games": GAMES,
                "first_wins": [WINS[first][second] for first, second in cells],
                "mean_turns": [TURNS[first][second] for first, second in cells],
            }
        )
        self._table = pd.concat([pd.read_csv(file), printed])
        self._drawn: dict[tuple[str, str], np.ndarray] = {}

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

    def turns(self, player: str) -> np.ndarray:
        """Mean rounds of a game; shape (7, 7), by first and second."""
        return self.of(player)["mean_turns"].to_numpy().reshape(len(PROFILES), -1)

    def alike(self, one: str, other: str, without: str | None = None) -> tuple[float, float, float]:
        """Rank correlation of two players' true cells, with its 95% interval.

        Args:
            one: a player.
            other: another.
            without: a third player: the correlation less that of this player with `other`.
        """
        found = self._correlations(one, other)
        return middle(found if without is None else found - self._correlations(without, other))

    def _correlations(self, one: str, other: str) -> np.ndarray:
        drawn = self._true_rates(one, other)
        return rank_correlation(drawn[:, 0], drawn[:, 1])

    def error(self, player: str, without: str | None = None) -> tuple[float, float, float]:
        """Mean distance of a player's true cells from those of the printed table, with its 95% interval.

        Args:
            player: whose.
            without: another player: its distance less this one's.
        """
        found = self._errors(player)
        return middle(found if without is None else self._errors(without) - found)

    def _errors(self, player: str) -> np.ndarray:
        drawn = self._true_rates(player, PRINTED)
        return np.abs(drawn[:, 0] - drawn[:, 1]).mean(axis=-1)

    def _true_rates(self, one: str, other: str) -> np.ndarray:
        """Drawn true rates of two players' cells; shape (draws, 2, 49)."""
        if (one, other) not in self._drawn:
            both = [self.of(player) for player in (one, other)]
            wins, games = (np.array([own[name] for own in both]) for name in ("first_wins", "games"))
            self._drawn[one, other] = draw_true_rates(
                wins, games, np.random.default_rng(crc32(f"{one}, {other}".encode()))
            )
        return self._drawn[one, other]

    def apart(self, one: str, other: str) -> float:
        """Mean distance of two players' cells."""
        return float(np.abs(self.rates(one) - self.rates(other)).mean())


def interval(found: tuple[float, float, float], times: float = 1.0, places: int = 2) -> str:
    """A number with its interval."""
    value, low, high = (times * part for part in found)
    return f"{value:.{places}f} ({low:.{places}f} to {high:.{places}f})"
