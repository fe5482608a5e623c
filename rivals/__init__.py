"""Other agents behind the engine's `Agent` protocol, to be met in the tournament."""
