"""Outcomes of games as words and as points: the one definition of what a win, a draw and a loss count."""

import numpy as np

from engine import Outcome

OUTCOMES = {Outcome.FIRST_WINS: "first", Outcome.SECOND_WINS: "second", Outcome.DRAW: "draw"}
"""Outcomes of finished games as tables write them."""


def outcome_codes(words: np.ndarray) -> np.ndarray:
    """Codes of `engine.Outcome` for the words of tables; int8, the same shape."""
    codes = np.zeros(len(words), np.int8)
    for code, word in OUTCOMES.items():
        codes[words == word] = code
    return codes


def points_of_first(outcomes: np.ndarray) -> np.ndarray:
    """Points of the player who went first: 1 for a win, 1/2 a draw, 0 a loss; float64, the same shape.

    Args:
        outcomes: codes of `engine.Outcome` of finished games, any shape.
    """
    won, drawn = outcomes == Outcome.FIRST_WINS, outcomes == Outcome.DRAW
    points: np.ndarray = np.where(drawn, 0.5, np.where(won, 1.0, 0.0))
    return points


def points_of(outcomes: np.ndarray, went_first: np.ndarray) -> np.ndarray:
    """Points of one side of games; float64, the same shape.

    Args:
        outcomes: codes of `engine.Outcome` of finished games.
        went_first: whether that side went first, the same shape.
    """
    points = points_of_first(outcomes)
    sided: np.ndarray = np.where(went_first, points, 1.0 - points)
    return sided
