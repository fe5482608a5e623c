"""The turn as a mixed-integer linear program, in two formulations, and the solvers of such programs."""
