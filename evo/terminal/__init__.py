"""Terminal output of commands: errors, tables, drawn positions and cards."""
