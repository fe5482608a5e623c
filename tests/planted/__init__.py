"""How many planted faults the fast suite finds: `make planted`, and `python -m tests.planted --help`.

A fault (a mutant) is one small change of one place in the four packages: `<` for `<=`, a call left out. The
faults are drawn by a seed. The suite runs once with a probe at every drawn place, which tells which tests
reach it. Then each fault is planted by itself in a private copy of the sources, and the tests that reach it
run, fastest first, until one fails.
"""
