"""Output of commands on a terminal: errors, tables, drawn positions and cards."""
