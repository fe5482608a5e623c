"""Learning from games: values of positions, keep values of opening cards, decks of the opponent."""
