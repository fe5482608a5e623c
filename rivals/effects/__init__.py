"""The rivals in games whose cards do what their texts say; imported where such a game is played."""
