"""Recorded steps of another engine, played again here: `make test-reference MANAFORGE_REFERENCE=DIR`."""
