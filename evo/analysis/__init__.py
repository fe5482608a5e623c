"""Runs as tables: clusters, comparisons, figures, reports, exported profiles."""
