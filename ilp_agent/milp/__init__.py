"""The turn as a mixed-integer linear program (MILP), in two formulations, with the MILP solver backends."""
