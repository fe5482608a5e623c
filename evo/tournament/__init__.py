"""Tournaments, sweeps and arenas: played into a folder, read, drawn."""
