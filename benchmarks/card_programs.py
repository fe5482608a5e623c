"""Turns of class A by the search and by the integer programs, the same turns in one run, on one core.

Run with `make bench`. Turns are those of games of class decks that the program accepts; each time is that of
a whole Python call of `solve`. All is compiled, and every solver started, before it is timed.
"""

import time

import numpy as np

from ilp_agent import solve
from ilp_agent.backends import installed_backends
from tests.ilp_agent.milp.card_turns import Turn, in_play

TURNS = 1_000
BACKENDS = ["search", *(entry.name for entry in installed_backends() if entry.cards == "some")]


def seconds(backend: str, turns: tuple[Turn, ...]) -> np.ndarray:
    """What each turn takes; shape (turns,)."""
    found = np.zeros(len(turns))
    for place, (turn, weights) in enumerate(turns):
        began = time.perf_counter()
        solve(turn, weights, backend)
        found[place] = time.perf_counter() - began
    return found


def main() -> None:
    """Print a line for each solver, and its ratio to the search."""
    turns = in_play(TURNS, 7).turns
    for backend in BACKENDS:
        seconds(backend, turns[:3])
    found = {backend: seconds(backend, turns) for backend in BACKENDS}
    print(f"{TURNS:,} turns of class A    median ms    mean ms     99% ms    ratio of medians to the search")
    for backend, times in found.items():
        ratio = np.median(times) / np.median(found["search"])
        print(
            f"{backend:<24} {1e3 * np.median(times):>12.3f} {1e3 * times.mean():>10.3f} "
            f"{1e3 * np.percentile(times, 99):>10.3f} {ratio:>18.1f}"
        )


if __name__ == "__main__":
    main()
