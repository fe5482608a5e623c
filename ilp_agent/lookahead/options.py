"""Defaults and limits of the options of an agent that looks ahead; a registry reads them without kernels."""

MOST_BUDGET = 512
DEFAULT_BUDGET = 64
DEPTHS = 3
DEFAULT_DEPTH = 2
MOST_SAMPLES = 64
DEFAULT_SAMPLES = 2

PREDICTED = 2
HANDS = {"off": 0, "known": 1, "predicted": PREDICTED, "told": 3}
"""What is taken of the opponent's hand; the values are those of `engine.view.Shown`."""
