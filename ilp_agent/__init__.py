"""One turn of the game as an integer program, and the agent that plays by it."""
