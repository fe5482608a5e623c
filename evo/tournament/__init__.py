"""Tournaments, sweeps and arenas: their definitions, folders, games and output."""
