"""Sessions that play games, of commands and of the Python API: workers, signals, progress, estimates."""
