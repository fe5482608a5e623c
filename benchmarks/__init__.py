"""Benchmarks: compiled first, then timed. `make bench` runs them."""
