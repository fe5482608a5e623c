"""What compiling costs: commands from an empty cache, after edits, from another checkout; and each kernel.

    python -m benchmarks.compile_time [--workloads quickstart,real] [--edits real] [--kernels 30] [--tree DIR]

Seconds are of the processor, summed over all processes of a command, beside the seconds on the clock.
`--tree` measures another checkout, with its own virtual environment: the commit before, in one session.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("engine", "ilp_agent", "rivals", "evo", "configs")

COMMAND = "from evo.cli.main import main; main()"

TWO_DECKS = ("--decks", "basic-mage,basic-warrior", "--games", "2")

WORKLOADS = {
    "quickstart": (
        "evolve", "quickstart", "--out", "run", "--set", "generations=1", "--set", "games=2",
        "--set", "final.games=40", "--set", "final.benchmark_games=2",
    ),
    "bodies": ("tournament", "ilp:board-clear", "random", "--decks", "thesis-paladin", "--games", "2"),
    "real": ("tournament", "hearthsim", "eva", "aggro", "greedy-ilp", "random", *TWO_DECKS),
    "ilp on real cards": ("tournament", "ilp:board-clear", "aggro", *TWO_DECKS),
    "lookahead": ("tournament", "lookahead:hearthsim", "aggro", *TWO_DECKS),
    "a game in Python": ("play", "ilp:board-clear", "hearthsim", "--decks", "basic-mage,basic-warrior"),
}  # fmt: skip
"""Commands of manaforge that compile; next to nothing of their time is games."""

EDITS = {
    "a docstring of rivals/eva.py": ("rivals/eva.py", '"""', '"""Again: '),
    "rivals/eva.py": ("rivals/eva.py", "return chosen", "return int(chosen)"),
    "ilp_agent/search/chance.py": (
        "ilp_agent/search/chance.py",
        "| np.uint64(1)",
        "| (np.uint64(1) * np.uint64(1))",
    ),
    "engine/rules.py": ("engine/rules.py", "return ILLEGAL", "return int(ILLEGAL)"),
}
"""What is changed in a copy of the tree: a file, a text, and what then stands where that occurs last."""


class Cost(NamedTuple):
    """What a command took."""

    processor: float
    wall: float


def run(tree: Path, python: Path, cache: Path, arguments: tuple[str, ...]) -> Cost:
    """Run a command of `tree` in an empty folder with this cache."""
    environment = {**os.environ, "MANAFORGE_CACHE_DIR": str(cache), "PYTHONPATH": str(tree), "COLUMNS": "200"}
    with tempfile.TemporaryDirectory() as folder:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            [str(python), "-c", COMMAND, *arguments],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"manaforge {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return Cost(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall)


@contextmanager
def copy_of(tree: Path) -> Iterator[Path]:
    """A copy of a tree's packages that may be changed."""
    with tempfile.TemporaryDirectory() as folder:
        for package in PACKAGES:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(tree / package, Path(folder) / package, ignore=ignored)
        yield Path(folder)


def show(name: str, *costs: Cost) -> None:
    """A row of the table."""
    cells = " | ".join(f"{cost.processor:.1f} ({cost.wall:.1f})" for cost in costs)
    print(f"| {name} | {cells} |", flush=True)


def measure(tree: Path, python: Path, names: list[str]) -> None:
    """Each command from an empty cache, and again."""
    print("| command | empty cache, processor seconds (on the clock) | again |\n| --- | --- | --- |")
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            cold = run(tree, python, Path(cache), WORKLOADS[name])
            show(name, cold, run(tree, python, Path(cache), WORKLOADS[name]))


def measure_edits(tree: Path, python: Path, name: str) -> None:
    """A command after edits of a file, and from another checkout."""
    print(f"\n| `{name}` after a change of | processor seconds (on the clock) |\n| --- | --- |")
    with tempfile.TemporaryDirectory() as cache:
        run(tree, python, Path(cache), WORKLOADS[name])
        show("nothing", run(tree, python, Path(cache), WORKLOADS[name]))
        with copy_of(tree) as other:
            show("the checkout", run(other, python, Path(cache), WORKLOADS[name]))
            for what, (file, old, new) in EDITS.items():
                path = other / file
                text = path.read_text()
                place = text.rindex(old) if old != '"""' else text.index(old)
                path.write_text(text[:place] + new + text[place + len(old) :])
                show(what, run(other, python, Path(cache), WORKLOADS[name]))
                path.write_text(text)


def kernels(name: str, n: int) -> None:
    """The kernels that take longest, in this process: functions that are read, machine code that is made."""
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
        os.environ["MANAFORGE_CACHE_DIR"] = cache
        os.chdir(folder)
        from engine import compiler  # noqa: PLC0415 - after the cache is chosen

        read: dict[str, list[float]] = {}
        made: dict[str, float] = {}
        inner: list[float] = []
        compile_one = compiler.CPUDispatcher.compile

        def timed(self: Any, sig: Any) -> Any:
            began, label = time.process_time(), f"{self.py_func.__module__}.{self.py_func.__qualname__}"
            inner.append(0.0)
            try:
                return compile_one(self, sig)
            finally:
                total, within = time.process_time() - began, inner.pop()
                if inner:
                    inner[-1] += total
                row = read.setdefault(label, [0.0, 0.0, 0])
                row[0], row[1], row[2] = row[0] + total - within, max(row[1], total), row[2] + 1

        make = compiler.MachineCode.make.__func__  # type: ignore[attr-defined]

        def timed_make(cls: Any, name: str, library: Any, symbol: str, cres: Any) -> Any:
            began = time.process_time()
            found = make(cls, name, library, symbol, cres)
            label = f"{cres.fndesc.modname}.{cres.fndesc.qualname.split('$')[0]}"
            made[label] = made.get(label, 0.0) + time.process_time() - began
            return found

        compiler.CPUDispatcher.compile = timed
        compiler.MachineCode.make = classmethod(timed_make)  # type: ignore[assignment,method-assign]
        from evo.cli.main import main  # noqa: PLC0415

        sys.argv = ["manaforge", *WORKLOADS[name]]
        try:
            main()
        except SystemExit:
            pass
        finally:
            os.chdir("/")
    print(f"\nread: {sum(row[0] for row in read.values()):.1f} s, made: {sum(made.values()):.1f} s")
    print("| kernel | read: self, total, times | machine code |\n| --- | --- | --- |")
    worth = {label: read.get(label, [0.0])[0] + made.get(label, 0.0) for label in {*read, *made}}
    for label in sorted(worth, key=lambda one: -worth[one])[:n]:
        own, total, times = read.get(label, [0.0, 0.0, 0])
        print(f"| {label} | {own:.2f}, {total:.2f}, {times:.0f} | {made.get(label, 0.0):.2f} |")


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workloads", default=",".join(WORKLOADS), help=f"of {', '.join(WORKLOADS)}")
    parser.add_argument("--edits", metavar="WORKLOAD", help="also after edits, of this command")
    parser.add_argument("--kernels", type=int, default=0, help="show so many kernels of the first command")
    parser.add_argument("--tree", type=Path, default=ROOT, help="another checkout, with .venv")
    chosen = parser.parse_args()
    names = [name for name in chosen.workloads.split(",") if name]
    if unknown := [name for name in names if name not in WORKLOADS]:
        sys.exit(f"--workloads: no workload {json.dumps(unknown[0])}; there are {', '.join(WORKLOADS)}")
    tree = chosen.tree.resolve()
    python = tree / ".venv" / "bin" / "python"
    measure(tree, python, names)
    if chosen.edits:
        measure_edits(tree, python, chosen.edits)
    if chosen.kernels:
        kernels(names[0], chosen.kernels)


if __name__ == "__main__":
    main()
