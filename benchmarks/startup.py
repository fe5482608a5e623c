"""Time to the help text of every command, in a process of its own, seconds: the least of several.

Run with `python -m benchmarks.startup`. What is measured is the import: nothing of the help is computed but
the text.
"""

import subprocess
import sys
import time

from evo.cli.main import COMMANDS

REPEATS = 5
PROGRAM = [sys.executable, "-c", "from evo.cli.main import main; main()"]


def seconds(*arguments: str) -> float:
    """The least time of a command, of `REPEATS` after one that is not counted."""
    times = []
    for _ in range(REPEATS + 1):
        began = time.perf_counter()
        subprocess.run([*PROGRAM, *arguments], check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return min(times[1:])


if __name__ == "__main__":
    for words in ([], *(name.split() for name in COMMANDS)):
        print(f"manaforge {' '.join([*words, '--help']):<20} {seconds(*words, '--help'):.2f} s", flush=True)
