"""Versions of the engine parts that affect games; those of solvers: `ilp_agent.backends.library_versions`."""

import hashlib
import re
import sys
from functools import cache
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numba
import numpy as np

from engine.codes import RULES_VERSION
from engine.jit import config

KERNEL_PACKAGES = ("engine", "ilp_agent", "rivals")

_IMPORT = re.compile(
    r"(?:\bfrom[ \t]*([.\w]+)[ \t]+)?\bimport\b(?=[ \t]*(\((?:[^)#]|#[^\n]*)*\)|(?:[^\\\n]|\\.)*))", re.DOTALL
)
"""Pattern of imports; it may also match inside strings."""
_NAME = re.compile(r"[\w.]+")
_COMMENT = re.compile(r"#.*")


@cache
def engine_versions() -> dict[str, str]:
    """Versions of package, Python, numerical libraries, rules, cards and kernels."""
    data = resources.files("engine") / "data"
    cards = b"".join((data / name).read_bytes() for name in ("cards.csv", "other_cards.csv", "rulesets.toml"))
    try:
        package = version("manaforge")
    except PackageNotFoundError:  # a source tree that is not installed
        package = "not installed"
    libraries = {name: version(name) for name in ("numba", "numpy")}
    return {
        "manaforge": package,
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        **libraries,
        "rules": str(RULES_VERSION),
        "cards": hashlib.blake2b(cards, digest_size=6).hexdigest(),
        "kernels": fingerprint(Path(__file__).resolve().parents[1]),
    }


def fingerprint(root: Path) -> str:
    """Hash of all kernel sources under `root` and of the compiler settings; 16 hex digits."""
    digest = hashlib.blake2b(digest_size=8)
    compiler = (numba.__version__, np.__version__, sys.version_info[:2], config.BOUNDSCHECK, config.OPT)
    digest.update(repr(compiler).encode())
    for path in kernel_sources(root):
        digest.update(f"\0{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def kernel_sources(root: Path) -> list[Path]:
    """List the source files that can change the result of a kernel under `root`, sorted.

    These are the files that import `engine.jit` and, transitively, the files of the project's packages that
    they import.
    """
    files = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for package in KERNEL_PACKAGES
        for path in (root / package).rglob("*.py")
    }
    imports = {module: _imports(module, path) for module, path in files.items()}
    queue = [module for module, imported in imports.items() if "engine.jit" in imported]
    reached: set[str] = set()
    while queue:
        module = queue.pop()
        if module in files and module not in reached:
            reached.add(module)
            queue += imports[module]
    return sorted(files[module] for module in reached)


def _imports(module: str, path: Path) -> set[str]:
    """Dotted names that a source file may import; names that are not modules are harmless."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    for origin, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
        level = len(origin) - len(origin.lstrip("."))
        parents = package.split(".")[: len(package.split(".")) - level + 1] if level else []
        base = ".".join([*parents, *([origin[level:]] if origin[level:] else [])])
        for name in _NAME.findall(_COMMENT.sub("", names)):
            found |= {base, f"{base}.{name}"} if base else {name}
    return found
