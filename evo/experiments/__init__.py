"""Experiments beside runs: ablation of weights, best responses, and optimiser benchmarks."""
