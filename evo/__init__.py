"""The evolution of objective weights: strategy, coevolution, runs, tournament, reports."""
