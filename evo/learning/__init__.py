"""Learning from self-play: linear value functions, and mulligan keep values."""
