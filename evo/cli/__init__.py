"""The command `manaforge`."""
