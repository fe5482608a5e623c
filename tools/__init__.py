"""Generators of the data files in `engine/data`."""
