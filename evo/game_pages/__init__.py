"""Games as pages, step by step."""
