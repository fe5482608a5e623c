"""Lethal puzzles: made from games, proven again from their text, and solved; on one core.

`python -m benchmarks.puzzles 1000`. Every puzzle is proven unique again by plain enumeration from its line of
notation. Solving is the lethal search alone, and all that `manaforge solve` proves. All is compiled before it
is timed.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable

import numpy as np

from evo.puzzles import Puzzle, check_puzzle, make_puzzles
from ilp_agent import find_profile
from ilp_agent.search.lethal import find_lethal
from ilp_agent.search.turn_proof import prove_turn
from ilp_agent.turn import Turn

SEED = 1
WEIGHTS = find_profile("true-balanced").weights


def seconds(solve: Callable[[Puzzle], object], puzzles: list[Puzzle]) -> np.ndarray:
    """What solving each puzzle takes; shape (puzzles,)."""
    found = np.zeros(len(puzzles))
    for place, puzzle in enumerate(puzzles):
        began = time.perf_counter()
        solve(puzzle)
        found[place] = time.perf_counter() - began
    return found


def main() -> None:
    """Print how many puzzles a minute are made and proven, and the times of solving them."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    solvers = {
        "find_lethal": lambda puzzle: find_lethal(puzzle.start()),
        "prove_turn": lambda puzzle: prove_turn(Turn(puzzle.start()), WEIGHTS),
    }
    for puzzle in make_puzzles(1, seed=SEED):
        check_puzzle(puzzle)
        for solve in solvers.values():
            solve(puzzle)
    began = time.perf_counter()
    puzzles = make_puzzles(n, seed=SEED)
    made = time.perf_counter() - began
    began = time.perf_counter()
    for puzzle in puzzles:
        check_puzzle(puzzle)
    checked = time.perf_counter() - began
    print(f"{len(puzzles):,} puzzles in {made:.0f} s, {60 * len(puzzles) / made:.0f} a minute")
    print(f"all proven unique again in {checked:.0f} s, {sum(one.positions for one in puzzles):,} positions")
    for name, counts in (
        ("grade", Counter(one.grade for one in puzzles)),
        ("actions", Counter(len(one.solution) for one in puzzles)),
    ):
        print(f"{name}: {', '.join(f'{key}: {counts[key]:,}' for key in sorted(counts))}")
    print("solving        median ms     99% ms     most ms    under 1 s")
    for name, solve in solvers.items():
        times = seconds(solve, puzzles)
        print(
            f"{name:<12} {1e3 * np.median(times):>11.2f} {1e3 * np.percentile(times, 99):>10.2f} "
            f"{1e3 * times.max():>11.2f} {(times < 1).mean():>12.1%}"
        )


if __name__ == "__main__":
    main()
