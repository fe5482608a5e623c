"""The game as environments of other packages: optional extras, imported where they are asked for."""
