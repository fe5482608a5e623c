"""Benchmarks, which compile first and then time. `make bench` runs them."""
