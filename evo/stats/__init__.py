"""Statistics of games: ratings, sequential tests, equilibria, standings."""
