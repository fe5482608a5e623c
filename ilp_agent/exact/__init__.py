"""The exact solver of the sequential formulation: a compiled subset dynamic program."""
