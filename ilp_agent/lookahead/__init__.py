"""Two-ply search agent: candidate ends of a turn, the opponent's reply, and a linear evaluation.

`body_ends` and `card_ends` find the candidates and evaluate them after the reply, without and with card
effects. `determinization` samples hidden cards, `deck_prediction` predicts decks, `selfplay` plays batches of
games, `agent` plays in Python.
"""

MAX_BUDGET = 512
DEFAULT_BUDGET = 64
DEPTHS = 3
DEFAULT_DEPTH = 2
MAX_SAMPLES = 64
DEFAULT_SAMPLES = 2

PREDICTED = 2
HANDS = {"off": 0, "known": 1, "predicted": PREDICTED, "told": 3}
"""Model of the opponent's hand; the values are those of `engine.view.OpponentInfo`."""
