"""What decides how a game goes, by version: two machines that agree on all of it play the same games."""

import hashlib
import sys
from functools import cache
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from engine.codes import RULES_VERSION
from engine.jit import fingerprint


@cache
def play_versions() -> dict[str, str]:
    """Versions of all that decides results: package, Python, libraries, rules, cards, kernels."""
    data = resources.files("engine") / "data"
    cards = b"".join((data / name).read_bytes() for name in ("cards.csv", "other_cards.csv", "rulesets.toml"))
    try:
        package = version("manaforge")
    except PackageNotFoundError:  # a source tree that is not installed
        package = "not installed"
    libraries = {name: version(name) for name in ("numba", "numpy", "highspy", "gurobipy")}
    return {
        "manaforge": package,
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        **libraries,
        "rules": str(RULES_VERSION),
        "cards": hashlib.blake2b(cards, digest_size=6).hexdigest(),
        "kernels": fingerprint(Path(__file__).resolve().parents[1]),
    }
