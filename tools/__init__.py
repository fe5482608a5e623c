"""Generators of the files in `engine/data`."""
