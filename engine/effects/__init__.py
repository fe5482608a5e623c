"""Effects of cards: their vocabulary, and the compiled interpreter that carries them out."""
