"""Which tests reach each drawn place: the suite runs once with a probe in every one of them.

A probe is a call, put around an expression, before a statement, or, for what runs at import, at the beginning
of all functions that mention what it defines. Kernels have probes only where the compiler is off.
"""

import ast
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.planted.drawing import Mutant, find, kernels, made_of, sources
from tests.planted.places import functions_mentioning, line_starts

PROBE = "_planted_reached"
BEFORE, CLOSING = -(2 * 10**9), -(10**9)
"""What is inserted at one place stands in the order of such numbers: statements, ends of expressions, beginnings."""
OF_PYTEST = "fixture ::"
"""Fixtures that belong to no folder are pytest's own."""

FEW = 3
"""So many tests may be those that came first to something that is kept."""


@dataclass
class Reached:
    """What the run with probes found.

    Attributes:
        seconds: of processor time, for each test that passed.
        tests: for each fault, the tests in which its place was reached.
        fixtures: for each fault, the shared fixtures in whose setup it was reached.
        at_import: faults whose place was reached outside of any test.
        users: for each shared fixture, the tests that use it.
        failed: tests that did not pass, although no fault was planted.
        setups: for each test, the first users of its shared fixtures, whose seconds have the setup in them.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    fixtures: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    at_import: set[int] = field(default_factory=set)
    users: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    failed: set[str] = field(default_factory=set)
    setups: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def cost(self, test: str) -> float:
        """Seconds of a test that runs by itself: its shared fixtures have to be set up."""
        return self.seconds.get(test, 1.0) + max(
            (self.seconds.get(one, 0.0) for one in self.setups[test] if one != test), default=0.0
        )

    def candidates(self, number: int) -> list[str]:
        """The tests that may find a fault, the fastest first.

        Where few tests reach it, what they reach may be kept, and seen by others: those of the same files
        follow.
        """
        direct = set(self.tests[number]).union(*(self.users[one] for one in self.fixtures[number]))
        if len(direct) > FEW:
            return self.fastest(direct)
        files = {test.split("::")[0] for test in direct}
        near = {test for test in self.seconds if test.split("::")[0] in files}
        return self.fastest(direct) + self.fastest(near - direct)

    def fastest(self, tests: Iterable[str]) -> list[str]:
        """Those of the tests that passed without a fault, by what they cost."""
        return sorted((one for one in tests if one in self.seconds), key=lambda one: (self.cost(one), one))


def read(lines: Iterable[str]) -> Reached:
    """What the lines say that the suite with probes has written."""
    found, first = Reached(), dict[str, str]()
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:  # the process was killed while it wrote
            continue
        if "reached" in entry:
            where, number = entry["in"], entry["reached"]
            if where is None:
                found.at_import.add(number)
            elif where.startswith("fixture "):
                found.fixtures[number].add(where)
            else:
                found.tests[number].add(where)
        elif "uses" in entry:
            for name in entry["uses"]:
                found.users[name].add(entry["test"])
                if not name.startswith(OF_PYTEST):
                    found.setups[entry["test"]].add(first.setdefault(name, entry["test"]))
        elif "seconds" in entry:
            if entry["outcome"] == "passed":
                found.seconds[entry["test"]] = entry["seconds"]
            elif entry["outcome"] == "failed":
                found.failed.add(entry["test"])
    for test in found.failed:
        found.seconds.pop(test, None)
    return found


def with_probes(tree: Path, mutants: list[Mutant], *, in_kernels: bool) -> dict[str, bytes]:
    """The files that change when every fault's place gets a probe.

    Args:
        tree: the sources. mutants: the faults. in_kernels: the compiler is off. Else no file that has kernels
        gets probes: they would be compiled again.
    """
    without = set() if in_kernels else kernels(tree)[0]
    texts = {file: (tree / file).read_bytes() for file in sources(tree)}
    modules = {file: ast.parse(text) for file, text in texts.items()}
    inserted: dict[str, list[tuple[int, int, bytes]]] = defaultdict(list)
    for mutant in mutants:
        place = find(tree, mutant)
        call = f"{PROBE}({mutant.number})"
        if place.in_function:
            if place.is_statement:
                inserted[mutant.file].append((place.start, BEFORE, f"{call}; ".encode()))
            else:
                width = place.end - place.start
                inserted[mutant.file].append((place.start, -width, f"({call} or (".encode()))
                inserted[mutant.file].append((place.end, width + CLOSING, b"))"))
            continue
        names = made_of(list(modules.values()), place.names)
        for file, module in modules.items():
            for function in functions_mentioning(module, names):
                inserted[file].append(_beginning(texts[file], function, call))
    return {file: _with(texts[file], parts) for file, parts in inserted.items() if file not in without}


def _beginning(text: bytes, function: ast.FunctionDef, call: str) -> tuple[int, int, bytes]:
    """What is inserted for a call at the beginning of a function."""
    first = function.body[0]
    line = first.lineno
    decorators = getattr(first, "decorator_list", [])
    if decorators:
        line = min(one.lineno for one in decorators)
    start = line_starts(text)[line - 1] + first.col_offset
    if first.lineno == function.lineno or isinstance(first, ast.Expr | ast.Return | ast.Assign):
        return start, BEFORE, f"{call}; ".encode()
    return start, BEFORE, f"{call}\n{' ' * first.col_offset}".encode()


def _with(text: bytes, parts: list[tuple[int, int, bytes]]) -> bytes:
    """The text with parts inserted; at one place by their second number, the least of them to the left."""
    for start, _, part in sorted(parts, reverse=True):
        text = text[:start] + part + text[start:]
    return text
