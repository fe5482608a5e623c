"""The exact solver of the sequential formulation: a compiled dynamic program over subsets of attackers."""
