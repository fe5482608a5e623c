"""Games told step by step, for pages."""
