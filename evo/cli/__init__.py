"""Command line of `manaforge`."""
