"""A turn solved by a memoised search on the engine's own states: real cards, chance and all."""
