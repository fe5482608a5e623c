"""Run folders on disk: atomic writes, checksums, validated tables, reading and resuming."""
