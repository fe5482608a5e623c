"""Statistics of games: win rates with intervals. Pure."""

from typing import NamedTuple

from scipy.special import ndtri  # scipy.stats takes half a second to import


class Rate(NamedTuple):
    """A score per game with an interval, all in [0, 1]."""

    value: float
    low: float
    high: float


def win_rate(wins: int, draws: int, games: int, confidence: float = 0.95) -> Rate:
    """Score per game, draws half, with Wilson's interval; (nan, 0, 1) without games.

    Draws make the score vary less than Wilson's binomial, so the interval is a little wide.
    """
    if games == 0:
        return Rate(float("nan"), 0.0, 1.0)
    value = (wins + draws / 2) / games
    z = float(ndtri(0.5 + confidence / 2))
    middle = (value + z * z / (2 * games)) / (1 + z * z / games)
    half = z / (1 + z * z / games) * (value * (1 - value) / games + z * z / (4 * games * games)) ** 0.5
    return Rate(value, max(0.0, middle - half), min(1.0, middle + half))
