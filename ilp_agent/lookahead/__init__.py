"""Looking ahead: different ends of a turn, the opponent's reply to each, and what is left."""
