"""Options of an agent that looks ahead: their places in a row, which follow its weights, and their limits."""

from ilp_agent.lookahead.records import MAX_ENDS
from ilp_agent.lookahead.weights import REPLY_PART

BUDGET, DEPTH, SAMPLES = range(REPLY_PART.stop, REPLY_PART.stop + 3)
"""Places of the options in a row of `ilp_agent.lookahead.weights.kernel_rows`."""

MOST_BUDGET = MAX_ENDS
DEFAULT_BUDGET = 64
DEFAULT_DEPTH = 2
MOST_SAMPLES = 64
DEFAULT_SAMPLES = 2
