"""Analysis of runs: tables, clusters, comparisons, figures, reports, exported profiles."""
