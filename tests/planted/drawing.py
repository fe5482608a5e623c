"""Faults drawn by a seed from the sources of a tree, described so that they are found in another."""

import ast
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from tests.planted.places import Place, find_places, is_kernel, mentioned

PACKAGES = ("engine", "ilp_agent", "rivals", "evo")
KERNEL_PACKAGES = PACKAGES[:3]
WITHOUT = {
    f"engine/{name}.py"
    for name in ["jit", "kernel_cache", "compiler", "compile_progress", "indirect_call", "versions"]
}
"""How kernels are compiled and kept. Tests of that start compilers of their own; it is no part of the measurement."""


@dataclass(frozen=True)
class Mutant:
    """A fault, described by what is there.

    Attributes:
        number: its place in the order of the draw, from 0.
        file: below the tree.
        text: the line, without the spaces around it.
        operator: the kind of change.
        was: what is replaced.
        now: what takes its place.
        occurrence: which of the places of the file that agree in all of these, from 0.
        uncompiled: it is, or may be, a part of kernels: tests run with the compiler off.
    """

    number: int
    file: str
    text: str
    operator: str
    was: str
    now: str
    occurrence: int
    uncompiled: bool

    @property
    def key(self) -> tuple[str, ...]:
        return (self.text, self.operator, self.was, self.now)


def sources(tree: Path) -> list[str]:
    """The files that faults are drawn from."""
    files = (file for package in PACKAGES for file in (tree / package).rglob("*.py"))
    return sorted({str(file.relative_to(tree)) for file in files} - WITHOUT)


def described(file: str, source: bytes) -> Iterator[tuple[tuple[str, ...], int, Place]]:
    """The places of a file with what describes them: a key, and which of those with this key it is."""
    lines, seen = source.splitlines(), Counter[tuple[str, ...]]()
    for place in find_places(source):
        was = source[place.start : place.end].decode()
        key = (lines[place.line - 1].strip().decode(), place.operator, was, place.now)
        yield key, seen[key], place
        seen[key] += 1


def draw(tree: Path, seed: int, number: int, other: Path | None = None) -> list[Mutant]:
    """So many different places, each as likely as any other, in an order by chance.

    Args:
        tree: the sources.
        seed: of the draw.
        number: how many.
        other: another tree; only files that are the same in both are drawn from.
    """
    kernel_files, kernel_names = kernels(tree)
    every: list[tuple[str, tuple[str, ...], int, Place]] = []
    for file in sources(tree):
        source = (tree / file).read_bytes()
        if other is None or ((other / file).is_file() and (other / file).read_bytes() == source):
            every += [(file, *one) for one in described(file, source)]
    mutants = []
    for n, (file, key, occurrence, place) in enumerate(random.Random(seed).sample(every, number)):
        ours = file.split("/")[0] in KERNEL_PACKAGES
        at_import = not place.in_function and bool(set(place.names) & kernel_names)
        mutants.append(Mutant(n, file, *key, occurrence, ours and (file in kernel_files or at_import)))
    return mutants


def find(tree: Path, mutant: Mutant) -> Place:
    """Where a fault is in a tree.

    Raises:
        LookupError: it is not there.
    """
    return _find(tree / mutant.file, mutant)


def has(tree: Path, mutant: Mutant) -> bool:
    """Whether a tree has the place of a fault."""
    try:
        find(tree, mutant)
    except (FileNotFoundError, LookupError):
        return False
    return True


@cache
def _places_of(path: Path) -> list[tuple[tuple[str, ...], int, Place]]:
    return list(described(path.name, path.read_bytes()))


def _find(path: Path, mutant: Mutant) -> Place:
    for key, occurrence, place in _places_of(path):
        if (key, occurrence) == (mutant.key, mutant.occurrence):
            return place
    raise LookupError(f"{mutant.file} has no place {mutant.occurrence} like {mutant.text!r}")


def kernels(tree: Path) -> tuple[set[str], set[str]]:
    """The files that have kernels, and the names that kernels mention."""
    files, names = set(), set[str]()
    modules = []
    for file in sources(tree):
        if file.split("/")[0] not in KERNEL_PACKAGES:
            continue
        module = ast.parse((tree / file).read_bytes())
        modules.append(module)
        found = [node for node in ast.walk(module) if is_kernel(node)]
        if found:
            files.add(file)
            names |= set().union(*map(mentioned, found))
    return files, definers(modules, names)


def definers(modules: list[ast.Module], names: set[str]) -> set[str]:
    """The names, and those that they are made of in statements that run at import."""
    names = set(names)
    assigned = list(_assigned(modules))
    while True:
        more = set().union(*(used for targets, used in assigned if targets & names))
        if more <= names:
            return names
        names |= more


def made_of(modules: list[ast.Module], names: Iterable[str]) -> set[str]:
    """The names, and those that are made of them in statements that run at import."""
    names = set(names)
    assigned = list(_assigned(modules))
    while True:
        more = set().union(*(targets for targets, used in assigned if used & names))
        if more <= names:
            return names
        names |= more


def _assigned(modules: list[ast.Module]) -> Iterator[tuple[set[str], set[str]]]:
    for module in modules:
        for node in module.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield {one.id for one in targets if isinstance(one, ast.Name)}, mentioned(node.value)


def write(file: Path, mutants: list[Mutant]) -> None:
    """Keep a draw, a line of JSON for each fault."""
    file.write_text("".join(json.dumps(asdict(one)) + "\n" for one in mutants))


def read(file: Path) -> list[Mutant]:
    """A draw that was kept."""
    return [Mutant(**json.loads(line)) for line in file.read_text().splitlines()]
