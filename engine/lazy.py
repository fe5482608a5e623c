"""Lazy imports: packages and registries name their members and import them at first use.

So a help text, which needs only names and sentences, does not import compilers and libraries.
"""

import ast
import importlib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def lazy_import(place: T | str) -> T:
    """Import the object at "module:name"; any other object is returned as it is."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    found: T = getattr(importlib.import_module(module), name)
    return found


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Build `__getattr__` and `__dir__` of a package that imports its exports at first use.

    The exports are the imports below `if TYPE_CHECKING:` in the package's file. None of them may have the
    name of a module of the package, which would hide it once imported.
    """

    def find(name: str) -> Any:
        place = exported_names(package).get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return lazy_import(place)

    return find, lambda: sorted(exported_names(package))


@cache
def exported_names(package: str) -> dict[str, str]:
    """Lazy exports of a package, read from its source: "module:name" by name."""
    spec = find_spec(package)
    body = ast.parse(Path(spec.origin).read_bytes()).body if spec and spec.origin else []
    blocks = [node for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {
        alias.asname or alias.name: f"{node.module}:{alias.name}" for node in imports for alias in node.names
    }
