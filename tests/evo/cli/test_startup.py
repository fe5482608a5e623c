"""Help texts and completed names come at once: nothing heavy is imported for them."""

import importlib
import os
import pkgutil
import subprocess
import sys

import pytest

import engine
import ilp_agent
import rivals
from engine.lazy import exported_names
from evo.cli.main import COMMANDS

HEAVY = {"numba", "pandas", "scipy", "ray", "matplotlib", "sklearn", "llvmlite", "pyarrow"}

HELP = """
import contextlib, io, sys
from {module} import {name}
for words in {commands}:
    sys.argv = ["manaforge", *words.split(), "--help"]
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as text:
        {name}()
    assert "--help" in text.getvalue(), words
    print(words, *sorted({heavy} & set(sys.modules)), sep=",")
"""


def heavy(program: str, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | (environment or {}),
    )
    assert not done.stderr, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("module", "name", "commands"),
    [
        ("evo.cli.main", "main", ["", "config", *COMMANDS]),
        ("evo.cli.engine_commands", "app", ["", "show", "deck", "card", "perft"]),
    ],
)
def test_help_imports_nothing_heavy(module: str, name: str, commands: list[str]) -> None:
    lines = heavy(HELP.format(module=module, name=name, commands=commands, heavy=HEAVY)).splitlines()
    assert lines == commands


@pytest.mark.parametrize(
    ("line", "number", "completed"),
    [("manaforge to", 1, "tournament"), ("manaforge tournament --see", 2, "--seed")],
)
def test_names_are_completed_without_anything_heavy(line: str, number: int, completed: str) -> None:
    program = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print(*sorted({HEAVY} & set(sys.modules))))\n"
        "from evo.cli.main import main; main()"
    )
    asked = {"_MANAFORGE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(number)}
    first, *_, last = heavy(program, asked).split("\n")[:-1]
    assert (first, last) == (completed, "")


@pytest.mark.parametrize("package", [engine, ilp_agent, rivals], ids=lambda package: package.__name__)
def test_a_package_exports_what_it_says(package: object) -> None:
    name = package.__name__  # type: ignore[attr-defined]
    names = exported_names(name)
    assert sorted(names) == sorted(package.__all__)  # type: ignore[attr-defined]
    assert set(names) <= set(dir(package))
    for export, place in names.items():
        module, _, name_there = place.partition(":")
        assert getattr(package, export) is getattr(importlib.import_module(module), name_there)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}  # type: ignore[attr-defined]
    assert not modules & set(names), "an imported module would hide the export"
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        package.nothing  # type: ignore[attr-defined]  # noqa: B018
