"""Two-ply search: candidate ends of a turn, the opponent's reply, and the value of the result.

`pool` finds the ends, `judge` says what follows one and what that is worth by `features`, `kernel` chooses a
turn, `selfplay` plays games in batches and `agent` in Python.
"""

MOST_BUDGET = 512
DEFAULT_BUDGET = 64
DEPTHS = 3
DEFAULT_DEPTH = 2
MOST_SAMPLES = 64
DEFAULT_SAMPLES = 2

PREDICTED = 2
HANDS = {"off": 0, "known": 1, "predicted": PREDICTED, "told": 3}
"""What is taken of the opponent's hand; the values are those of `engine.view.Shown`."""
