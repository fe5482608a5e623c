"""Run folders on disk: files written whole, checked tables, one reader of a history."""
