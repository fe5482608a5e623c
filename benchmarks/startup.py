"""Time to the help text of every command, and to completed names, each in a process of its own.

Run with `python -m benchmarks.startup`. What is measured is the import: nothing of a help text is computed
but the text. Each time is the least of several.
"""

import os
import subprocess
import sys
import time
from collections.abc import Mapping

from evo.cli.engine_commands import app as engine
from evo.cli.main import COMMANDS, GROUPS

REPEATS = 5
MANAFORGE = ("-c", "from evo.cli.main import main; main()")
ENGINE = ("-m", "engine")


def seconds(*arguments: str, environment: Mapping[str, str] | None = None) -> float:
    """The least time of Python with these arguments, of `REPEATS` after one that is not counted."""
    times = []
    for _ in range(REPEATS + 1):
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments],
            check=True,
            capture_output=True,
            env=os.environ | (environment or {}),
        )
        times.append(time.perf_counter() - began)
    return min(times[1:])


def completing(words: str) -> dict[str, str]:
    """The environment by which bash asks for what may follow the words of a command line."""
    number = len(words.split()) - (not words.endswith(" "))
    return {
        "_MANAFORGE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(number),
    }


def commands_of_engine() -> list[str]:
    """The commands of `python -m engine`."""
    functions = [(command.name, command.callback) for command in engine.registered_commands]
    return [name or function.__name__ for name, function in functions if function]


if __name__ == "__main__":
    for words in ([], *([name] for name in GROUPS), *(name.split() for name in COMMANDS)):
        line = " ".join(["manaforge", *words, "--help"])
        print(f"{seconds(*MANAFORGE, *words, '--help'):.2f} s  {line}", flush=True)
    for words in ([], *([name] for name in commands_of_engine())):
        line = " ".join(["python -m engine", *words, "--help"])
        print(f"{seconds(*ENGINE, *words, '--help'):.2f} s  {line}", flush=True)
    for line in ("manaforge ", "manaforge tournament --"):
        print(f"{seconds(*MANAFORGE, environment=completing(line)):.2f} s  {line}<TAB>", flush=True)
