"""Card effects: the table of effect rows, and the compiled interpreter that applies them."""
