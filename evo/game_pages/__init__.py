"""HTML pages to step through games."""
