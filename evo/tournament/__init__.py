"""Tournaments, parameter sweeps and arenas: definitions, folders, the game loop, reports."""
