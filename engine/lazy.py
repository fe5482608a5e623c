"""Imports at first use: packages and registries name what they hold, and load it when it is asked for.

So a help text, which needs names and sentences alone, does not wait for compilers and libraries.
"""

import ast
import importlib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def loaded(place: T | str) -> T:
    """What stands at MODULE:NAME, imported now; anything but a text is itself."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    found: T = getattr(importlib.import_module(module), name)
    return found


def exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package that imports what it exports when it is first asked for.

    What it exports is written down once: as the imports below `if TYPE_CHECKING:` in its file. None of these
    names may be that of a module of the package, which would hide it once it is imported.
    """

    def find(name: str) -> Any:
        place = exported(package).get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return loaded(place)

    return find, lambda: sorted(exported(package))


@cache
def exported(package: str) -> dict[str, str]:
    """What a package exports on demand: MODULE:NAME by name, from its source."""
    spec = find_spec(package)
    body = ast.parse(Path(spec.origin).read_bytes()).body if spec and spec.origin else []
    blocks = [node for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: f"{node.module}:{alias.name}" for node in imports for alias in node.names}
