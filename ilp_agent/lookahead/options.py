"""Defaults and limits of the options of an agent that looks ahead; a registry reads them without kernels."""

MOST_BUDGET = 512
DEFAULT_BUDGET = 64
DEPTHS = 3
DEFAULT_DEPTH = 2
MOST_SAMPLES = 64
DEFAULT_SAMPLES = 2
