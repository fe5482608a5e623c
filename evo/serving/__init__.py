"""Web server: runs, tournaments and games in a browser."""
